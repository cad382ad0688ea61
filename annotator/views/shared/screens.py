"""The screens of a participant's way, each from the state they are in. Reads only: a GET never changes anything."""

from collections.abc import Callable
from datetime import datetime
from math import ceil
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext

from annotator.models import Assignment, Participant, ParticipantOutcome, Step
from annotator.panels.platforms import get_platform
from annotator.panels.services.arrivals import departure_of
from annotator.selectors.participants import last_skipped, last_submitted
from annotator.selectors.slots import next_release
from annotator.selectors.visits import has_items_left, is_named_by_panel, may_come_again
from annotator.services.slots.claim import lease_end
from annotator.services.work.revision import answers_on_record, revision_of
from annotator.services.work.skip import may_be_skipped, skips_allowed, skips_left
from annotator.views.shared.access import address_of, render_for
from annotator.views.shared.parts import (
    comments_form,
    contact,
    done_context,
    feedback_context,
    form_problems,
    guideline,
    instruction_texts,
    items_bar,
    next_visit,
    skip_question,
    skips_said,
    step_bar,
    thanks_of,
    visit_done_words,
    wait_for_others,
    way_to_next_visit,
)
from annotator.views.shared.revision_rounds import drafting_of, earlier_rounds
from annotator.views.shared.texts import (
    NOTICES,
    REFUSED,
)
from evaluation import design
from evaluation.forms.input.draft_merge import held_fields
from evaluation.forms.input.posted_fields import INSTRUCTION, VISIBLE_MS, read_fields, read_trace
from evaluation.forms.input.recorded_answers import answers_as_data
from evaluation.forms.input.screen_record import SCREEN
from evaluation.forms.screen import build_screen
from evaluation.models import GoingBack, Item, Role, Status, Study
from evaluation.protocols.base import Data

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
    protocol, spec = participant.study.protocol_object, participant.revision.spec
    problems = form_problems(protocol, spec, stimulus, data) if notice == REFUSED else []
    screen = build_screen(
        protocol,
        spec,
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
        "item": _item(participant, assignment, draft),
        "held": _held(participant, stimulus, data),
    }
    context["help"] |= {
        "problem": _address("problem", participant, assignment),
        "guideline": guideline(protocol, spec, stimulus),
        "shortcuts": True,
    }
    return render_for(participant.study, "annotator/page_item.html", context)


def _held(participant: Participant, stimulus: dict[str, Any], data: Data) -> str:
    """Names of a form's fields that are filled in; empty on most pages."""
    if not data:
        return ""
    protocol, spec = participant.study.protocol_object, participant.revision.spec
    return held_fields(protocol.questions(spec, stimulus), data)


def _item(participant: Participant, assignment: Assignment, draft: dict[str, str]) -> dict[str, Any]:
    now = timezone.now()
    lease = _leased_until(participant, assignment) - now
    return {
        "submit": _address("submit", participant, assignment),
        "skip": _skip(participant, assignment),
        "draft": _address("draft", participant, assignment),
        "visible_ms": draft.get(VISIBLE_MS) or "0",
        "screen": draft.get(SCREEN, ""),
        "lease_seconds": str(int(lease.total_seconds())),
        "lease_minutes": max(0, round(lease.total_seconds() / 60)),
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
    url = _address("skip", participant, assignment) if left > 0 else ""
    return {"url": url, "left": skips_said(left)}


def skip_screen(participant: Participant, assignment: Assignment, *, fragment: bool) -> HttpResponse:
    """Ask before an item is skipped: as a page, or as what a dialog on the item's page holds."""
    url, home = _address("skip", participant, assignment), _address("page", participant)
    context = {"skip": skip_question(url, home, skips_left(participant), in_dialog=fragment)}
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
    problems = form_problems(protocol, spec, stimulus, data) if notice == REFUSED else []
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
    context = _around(participant, notice) | {
        "texts": instruction_texts(participant.study, participant.revision.spec),
        "continue_url": _address("advance", participant),
    }
    return render_for(participant.study, "annotator/page_instructions.html", context)


def feedback_screen(participant: Participant, done: Assignment, notice: str = "") -> HttpResponse:
    """The item's gold beside what was answered."""
    protocol, spec = participant.study.protocol_object, participant.revision.spec
    feedback = feedback_context(
        protocol, spec, _stimulus(done), done.order, done.item.gold or {}, answers_on_record(done)
    )
    around = _around(participant, notice, role=Role.TRAINING)
    context = around | feedback | {"continue_url": _address("advance", participant)}
    return render_for(participant.study, "annotator/page_feedback.html", context)


def waiting_screen(participant: Participant, notice: str = "") -> HttpResponse:
    """Nothing before them: the study rests, others hold what is left, or the next thing only needs fetching."""
    now = timezone.now()
    release = next_release(participant, now)
    waiting: dict[str, Any] = {
        "title": gettext("Ready to continue?"),
        "text": gettext("There are more items for you."),
        "button": gettext("Continue"),
    }
    if participant.study.status == Status.PAUSED:
        waiting = {
            "title": gettext("This study is paused"),
            "text": gettext(
                "Your place and your answers are kept. Come back to this page later to continue where you stopped."
            ),
            "button": gettext("Check again"),
        }
    elif release is None or participant.study.status == Status.CLOSED:
        waiting["text"] = gettext("There is nothing more to judge at the moment.")
    elif release > now:
        may_finish = participant.step == Step.ITEMS and participant.judged > 0
        waiting = wait_for_others(
            max(1, ceil((release - now).total_seconds() / 60)),
            _address("finish-now", participant) if may_finish else "",
            is_paid=participant.study.pay is not None,
        )
    context = _around(participant, notice) | {
        "waiting": waiting,
        "undo": _undo(participant, None),
        "continue_url": _address("advance", participant),
    }
    return render_for(participant.study, "annotator/page_waiting.html", context)


def comments_screen(participant: Participant, notice: str = "") -> HttpResponse:
    context = _around(participant, notice) | {
        "comments": comments_form(_address("comments", participant), participant.unsent_comments),
        "undo": _undo(participant, None),
    }
    return render_for(participant.study, "annotator/page_comments.html", context)


def done_screen(participant: Participant, notice: str = "") -> HttpResponse:
    leave = departure_of(participant)
    thanks = thanks_of(participant.revision.spec, participant.outcome)
    done = done_context(participant.outcome, leave, get_platform(participant.platform), thanks)
    if participant.erasure_asked_at is not None:
        done["text"] = gettext(
            "Thank you for your time. Everything that this study has stored about you is deleted as soon as your "
            "submission is settled."
        )
    context = _around(participant, notice) | {"done": done | _visit_done(participant)}
    return render_for(participant.study, "annotator/page_done.html", context, leave=leave)


def _visit_done(participant: Participant) -> dict[str, Any]:
    """The words that differ where one person has several visits, and the next one."""
    visits, number = participant.study.visits, participant.visit_number
    if visits == 1 or participant.outcome != ParticipantOutcome.COMPLETED:
        return {}
    again = _next_visit(participant) if may_come_again(participant) else None
    if again is None and number < visits:
        return {}
    judged = participant.judged + participant.checked
    return {**visit_done_words(number, visits, judged), "again": again}


def _next_visit(participant: Participant) -> dict[str, Any] | None:
    """The next visit of somebody who may come again; None where the study is over, or has nothing left for them."""
    study = participant.study
    if study.status == Status.CLOSED or not has_items_left(participant, timezone.now()):
        return None
    is_named, platform = is_named_by_panel(participant), get_platform(participant.platform)
    url = "" if is_named else _address("visit", participant)
    way_back = way_to_next_visit(platform, is_named=is_named, is_known=bool(participant.external_id))
    if study.status == Status.PAUSED:
        url, way_back = "", gettext("The study is paused. You can come again when it continues.")
    return next_visit(participant.visit_number + 1, study.visits, url, way_back)


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


def _bar(participant: Participant, role: str) -> dict[str, Any]:
    spec = participant.revision.spec
    if participant.step != Step.ITEMS:
        return step_bar(spec, participant.step)
    done = participant.judged + participant.checked
    return items_bar(spec, done, participant.quota, on_item=bool(role))
