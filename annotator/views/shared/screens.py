"""The screens of a participant's way, each from the state they are in. Reads only: a GET never changes anything."""

from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from math import ceil
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext, ngettext

from annotator.models import Assignment, Participant, ParticipantOutcome, Step
from annotator.panels.platforms import Departure, Platform, get_platform
from annotator.panels.services.arrivals import departure_of
from annotator.selectors import count_with_checks, last_skipped, last_submitted, next_release
from annotator.services.slots.claim import lease_end
from annotator.services.work.leave import MAX_COMMENTS
from annotator.services.work.revision import answers_on_record, revision_of
from annotator.services.work.skip import may_be_skipped, skips_allowed, skips_left
from annotator.views.shared.access import address_of, render_for
from annotator.views.shared.revision_rounds import drafting_of, earlier_rounds
from annotator.views.shared.texts import (
    LINK_STOPPED,
    LINK_TODO,
    NOTICES,
    OUTCOMES,
    REFUSED,
    STEP_LABELS,
)
from evaluation import design
from evaluation.forms import (
    INSTRUCTION,
    VISIBLE_MS,
    answers_as_data,
    build_feedback,
    build_screen,
    held_fields,
    read_fields,
    read_trace,
)
from evaluation.models import GoingBack, Item, Role, Status, Study
from evaluation.protocols import AnswersInvalid, Problem
from evaluation.protocols.base import Data
from evaluation.rendering import render_markdown

# How long before its end a lease is announced; a short lease, in its last fifth.
WARN_SECONDS = 300


def current_screen(participant: Participant, assignment: Assignment | None, notice: str = "") -> HttpResponse:
    """The participant's current screen: this assignment, or the one of their step."""
    if participant.step in SIMPLE:
        return SIMPLE[Step(participant.step)](participant, notice)
    if assignment is not None:
        return item_screen(participant, assignment, notice)
    if participant.step == Step.TRAINING:
        done = last_submitted(participant, Role.TRAINING)
        if done is not None:
            return feedback_screen(participant, done, notice)
    return waiting_screen(participant, notice)


def item_screen(participant: Participant, assignment: Assignment, notice: str = "") -> HttpResponse:
    """The item with what was filled in so far; after a form that was refused, with what is still wrong with that."""
    draft, stimulus = assignment.draft, _stimulus(assignment)
    data = read_fields(draft)
    problems = _problems(participant, stimulus, data) if notice == REFUSED else []
    screen = build_screen(
        participant.study.protocol_object,
        participant.revision.spec,
        stimulus,
        assignment.order,
        data=data,
        problems=problems,
        trace=read_trace(draft),
        drafting=drafting_of(participant, assignment, draft.get(INSTRUCTION, "")),
    )
    role = assignment.item.role
    # What is wrong is said by the summary.
    context = _around(participant, "" if problems else notice, role=role) | {
        "screen": screen,
        "undo": _undo(participant, assignment),
        "item": _item(participant, assignment, draft.get(VISIBLE_MS, "")),
        "held": _held(participant, stimulus, data),
    }
    context["help"] |= {
        "problem": _address("problem", participant, assignment),
        "guideline": guideline(participant, assignment.item.stimulus),
        "shortcuts": True,
    }
    return render_for(participant.study, "annotator/page_item.html", context)


def _held(participant: Participant, stimulus: dict[str, Any], data: Data) -> str:
    """Names of a form's fields that are filled in; empty on most pages."""
    if not data:
        return ""
    protocol, spec = participant.study.protocol_object, participant.revision.spec
    return held_fields(protocol.questions(spec, stimulus), data)


def _problems(participant: Participant, stimulus: dict[str, Any], data: Data) -> list[Problem]:
    """The problems that keep the draft from being submitted, found again: they may have been put right meanwhile."""
    try:
        participant.study.protocol_object.clean(participant.revision.spec, stimulus, data, source="form")
    except AnswersInvalid as invalid:
        return list(invalid.problems)
    return []


def _item(participant: Participant, assignment: Assignment, visible_ms: str) -> dict[str, Any]:
    now = timezone.now()
    lease = _leased_until(participant, assignment) - now
    return {
        "submit": _address("submit", participant, assignment),
        "skip": _skip(participant, assignment),
        "draft": _address("draft", participant, assignment),
        "visible_ms": visible_ms or "0",
        "lease_seconds": str(int(lease.total_seconds())),
        "lease_minutes": str(max(0, round(lease.total_seconds() / 60))),
        "warn_seconds": str(min(WARN_SECONDS, participant.study.lease_minutes * 12)),
    }


def _leased_until(participant: Participant, assignment: Assignment) -> datetime:
    until = assignment.slot.leased_until if assignment.slot else None
    return until or lease_end(participant, assignment.reserved_at)


def _skip(participant: Participant, assignment: Assignment) -> dict[str, str] | None:
    """The button that skips, also where it has been used up; None where nothing can be skipped."""
    if skips_allowed(participant) < 1 or not may_be_skipped(assignment):
        return None
    left = skips_left(participant)
    words = ngettext("%(n)s skip left", "%(n)s skips left", left) if left > 0 else gettext("No skips left")
    url = _address("skip", participant, assignment) if left > 0 else ""
    return {"url": url, "left": words % {"n": left}}


def skip_screen(participant: Participant, assignment: Assignment, *, fragment: bool) -> HttpResponse:
    """Ask before an item is skipped: as a page, or as what a dialog on the item's page holds."""
    left = skips_left(participant)
    context = {
        "skip": {
            "url": _address("skip", participant, assignment),
            "home": _address("page", participant),
            "left": ngettext(
                "This is the last item that you can skip in this study.",
                "You can skip %(n)s more items in this study, this one included.",
                left,
            )
            % {"n": left},
            "in_dialog": fragment,
        }
    }
    if fragment:
        return render_for(participant.study, "annotator/_skip.html", context)
    return render_for(participant.study, "annotator/skip.html", _around(participant, "") | context)


def _undo(participant: Participant, assignment: Assignment | None) -> dict[str, str] | None:
    """The address that undoes the latest skip; the database is asked only for participants who skipped."""
    skipped = last_skipped(participant) if participant.skipped else None
    if skipped is None:
        return None
    url = _address("unskip", participant, skipped)
    return {
        "url": f"{url}?from={assignment.pk}" if assignment else url,
        "form": "judge" if assignment else "",
    }


def answer_revision_screen(
    participant: Participant, done: Assignment, notice: str = "", *, may_revise: bool
) -> HttpResponse:
    """A submitted item with its answers, or with what was filled in of it and not recorded."""
    protocol, spec, stimulus = participant.study.protocol_object, participant.revision.spec, _stimulus(done)
    questions = protocol.questions(spec, stimulus)
    data = read_fields(done.draft) if done.draft else answers_as_data(questions, answers_on_record(done))
    problems = _problems(participant, stimulus, data) if notice == REFUSED else []
    screen = build_screen(
        protocol,
        spec,
        stimulus,
        done.order,
        data=data,
        problems=problems,
        drafting=earlier_rounds(participant, done) if may_revise else None,
    )
    context = _around(participant, "" if problems else notice) | {
        "screen": screen,
        "held": _held(participant, stimulus, data),
        "again": {
            "url": _address("answer-revision", participant, done) if may_revise else "",
            "draft": f"{_address('answer-revision-draft', participant, done)}?of={revision_of(done)}",
            "begun": bool(done.draft) and not notice,
            "home": _address("page", participant),
        },
    }
    return render_for(participant.study, "annotator/page_answer_revision.html", context)


def back_screen(participant: Participant, done: list[Assignment]) -> HttpResponse:
    """The items whose answers can be revised, the latest first."""
    items = [
        {"url": _address("answer-revision", participant, each), "text": _stimulus(each)["query"]["text"]}
        for each in done
    ]
    context = _around(participant, "") | {"items": items, "home": _address("page", participant)}
    return render_for(participant.study, "annotator/page_back.html", context)


def instructions_screen(participant: Participant, notice: str = "") -> HttpResponse:
    spec = participant.revision.spec
    texts = {
        "instructions": rendered(spec["texts"].get("instructions", "")),
        "guidelines": [
            {"title": title, "html": rendered(spec["texts"][key])}
            for key, title in (
                ("guideline", gettext("How to judge")),
                ("guideline_context", gettext("When we also show what the person told us")),
            )
            if spec["texts"].get(key)
        ],
    }
    context = _around(participant, notice) | {
        "texts": texts,
        "continue_url": _address("advance", participant),
    }
    return render_for(participant.study, "annotator/page_instructions.html", context)


def feedback_screen(participant: Participant, done: Assignment, notice: str = "") -> HttpResponse:
    """The item's gold beside what was answered."""
    protocol, spec = participant.study.protocol_object, participant.revision.spec
    stimulus = _stimulus(done)
    result = protocol.compare_gold(stimulus, done.item.gold or {}, answers_on_record(done))
    context = _around(participant, notice, role=Role.TRAINING) | {
        "feedback": build_feedback(protocol, spec, stimulus, done.order, result),
        "screen": build_screen(protocol, spec, stimulus, done.order),
        "continue_url": _address("advance", participant),
    }
    return render_for(participant.study, "annotator/page_feedback.html", context)


def waiting_screen(participant: Participant, notice: str = "") -> HttpResponse:
    """Nothing before them: the study rests, others hold what is left, or the next thing only needs fetching."""
    now = timezone.now()
    release = next_release(participant, now)
    title, text, button = (
        gettext("Ready to continue?"),
        gettext("There are more items for you."),
        gettext("Continue"),
    )
    if participant.study.status == Status.PAUSED:
        title, button = gettext("This study is paused"), gettext("Check again")
        text = gettext(
            "Your place and your answers are kept. Come back to this page later to continue where you stopped."
        )
    elif release is None or participant.study.status == Status.CLOSED:
        text = gettext("There is nothing more to judge at the moment.")
    elif release > now:
        minutes = max(1, ceil((release - now).total_seconds() / 60))
        title, button = gettext("A short wait"), gettext("Check again")
        text = ngettext(
            "Other people are working on the remaining items. Please check again in %(n)s minute.",
            "Other people are working on the remaining items. Please check again in %(n)s minutes.",
            minutes,
        ) % {"n": minutes}
    context = _around(participant, notice) | {
        "waiting": {"title": title, "text": text, "button": button},
        "undo": _undo(participant, None),
        "continue_url": _address("advance", participant),
    }
    return render_for(participant.study, "annotator/page_waiting.html", context)


def comments_screen(participant: Participant, notice: str = "") -> HttpResponse:
    """The form for final comments; with those that were too long, and their limit."""
    value = participant.unsent_comments
    error = gettext("This is too long; please keep it under %(limit)s characters.") % {"limit": MAX_COMMENTS}
    context = _around(participant, notice) | {
        "comments": {
            "url": _address("comments", participant),
            "value": value,
            "error": error if len(value) > MAX_COMMENTS else "",
            "limit": str(MAX_COMMENTS),
        },
        "undo": _undo(participant, None),
    }
    return render_for(participant.study, "annotator/page_comments.html", context)


def done_screen(participant: Participant, notice: str = "") -> HttpResponse:
    thanks = ""
    if participant.outcome == "completed":
        thanks = rendered(participant.revision.spec["texts"].get("thanks", ""))
    leave = departure_of(participant)
    done = done_context(participant.outcome, leave, get_platform(participant.platform), thanks)
    context = _around(participant, notice) | {"done": done}
    return render_for(participant.study, "annotator/page_done.html", context, leave=leave)


def done_context(outcome: str, leave: Departure, platform: Platform, thanks: str = "") -> dict[str, Any]:
    """The end of a way, with how to get back to the platform."""
    title, text = OUTCOMES[outcome]
    pay, todo = platform.ending(outcome, leave)
    if platform.key == "personal" and outcome == ParticipantOutcome.RETURNED:
        (title, text), todo = LINK_STOPPED, LINK_TODO
    return {
        "title": str(title),
        "text": str(text),
        "html": thanks,
        "reward": str(platform.reward),
        "pay": str(pay),
        "todo": str(todo),
        "completed": outcome == ParticipantOutcome.COMPLETED,
        "code": leave.code,
        "link": leave.link,
        "post_to": leave.post_to,
        "fields": dict(leave.fields),
        # Of a link nobody knows where it leads.
        "platform": "" if platform.key == "link" else platform.label,
    }


def example_screen(study: Study) -> Any:
    """An item as its participants meet it, for a preview: a training item, or else the first of the others."""
    items = Item.objects.filter(study=study, withdrawn_at=None, stimulus__isnull=False)
    by_role = items.filter(role=Role.TRAINING).order_by("position", "pk").first()
    item = by_role or items.filter(role=Role.MAIN).order_by("position", "pk").first()
    if item is None:
        return None
    stimulus: dict[str, Any] = dict(item.stimulus or {})
    spec = study.revisions.order_by("-number")[0].spec
    order = design.presented_order(len(stimulus["responses"]), 0)
    return build_screen(study.protocol_object, spec, stimulus, order)


SIMPLE: dict[Step, Callable[[Participant, str], HttpResponse]] = {
    Step.INSTRUCTIONS: instructions_screen,
    Step.COMMENTS: comments_screen,
    Step.DONE: done_screen,
}


@lru_cache(maxsize=512)
def rendered(text: str) -> str:
    """A study's own text as HTML, rendered once per process; the text itself is the key, so a revision can't mix up."""
    return render_markdown(text)


def guideline(participant: Participant, stimulus: Any) -> str:
    spec = participant.revision.spec
    arms = {arm["key"]: arm for arm in spec["arms"]}
    with_context = bool(stimulus["context"]) and arms[stimulus["arm"]]["context_at_judging"]
    return rendered(participant.study.protocol_object.guideline(spec, with_context=with_context))


def _stimulus(assignment: Assignment) -> dict[str, Any]:
    stimulus = assignment.item.stimulus
    assert stimulus is not None  # only frozen items are assigned
    return dict(stimulus)


def _address(name: str, participant: Participant, assignment: Assignment | None = None) -> str:
    return address_of(name, participant.token, assignment.pk if assignment else None)


def _around(participant: Participant, notice: str, *, role: str = "") -> dict[str, Any]:
    """The variables of the frame around every page."""
    may_go_back = (
        participant.study.going_back != GoingBack.NONE and participant.judged + participant.checked > 0
    )
    return {
        "back": _address("back", participant)
        if may_go_back and participant.step in (Step.ITEMS, Step.COMMENTS)
        else "",
        "bar": _bar(participant, role),
        "notice": NOTICES.get(notice, ""),
        "help": {
            "contact": contact(participant.study.contact),
            "withdraw": "" if participant.outcome else _address("withdraw", participant),
        },
        "remember": participant.platform == "link" and not participant.external_id,
        "slug": participant.study.slug,
    }


def contact(address: str) -> dict[str, str] | None:
    return {"href": f"mailto:{address}"} if "@" in address else None


def _bar(participant: Participant, role: str) -> dict[str, Any]:
    spec = participant.revision.spec
    bar = {"title": spec["title"], "label": "", "done": 0, "total": 0, "progress": ""}
    if participant.step != Step.ITEMS:
        return bar | {"label": STEP_LABELS.get(participant.step, "")}
    done, total = _progress(participant)
    numbers = {"n": min(done + 1, total), "done": done, "all": total}
    label = gettext("%(n)s of %(all)s") if role else gettext("%(done)s of %(all)s done")
    return bar | {
        "label": label % numbers,
        "done": str(done),
        "total": str(total),
        "progress": gettext("%(done)s of %(all)s done") % numbers,
    }


def _progress(participant: Participant) -> tuple[int, int]:
    """Items done and to do. Attention checks count in both, so that they can't be told by a meter that stands still."""
    return participant.judged + participant.checked, count_with_checks(
        participant.quota, participant.revision.spec
    )
