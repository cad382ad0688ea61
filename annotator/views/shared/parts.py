"""The parts of participants' pages, from a spec, an item and numbers: no participant needs to be there."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from django.utils.translation import gettext, ngettext

from annotator.models import ParticipantOutcome
from annotator.panels.platforms import Departure, Platform
from annotator.selectors.quota import count_with_checks
from annotator.services.admission.entry import consent_version
from annotator.services.work.leave import MAX_COMMENTS
from annotator.views.shared.money import money_text
from annotator.views.shared.texts import LINK_STOPPED, LINK_TODO, OUTCOMES, STEP_LABELS, Words
from evaluation.forms.feedback import build_feedback
from evaluation.forms.screen import build_screen
from evaluation.models import Role, Study
from evaluation.protocols import AnswersInvalid, AnswerValue, Problem, Protocol
from evaluation.protocols.base import Data, Spec, Stimulus, sees_context
from evaluation.rendering.markdown import render_markdown

# Up to so many minutes, waiting for an item is proposed before finishing without it.
SHORT_WAIT = 2


@lru_cache(maxsize=512)
def rendered(text: str) -> str:
    """A study's own text as HTML, rendered once per process; the text itself is the key, so a revision can't mix up."""
    return render_markdown(text)


def contact(address: str) -> dict[str, str] | None:
    return {"href": f"mailto:{address}"} if "@" in address else None


def about_study(study: Study, spec: Spec, items: int) -> dict[str, Any]:
    """The words of the door; `items`: as many as a participant is asked to judge."""
    texts, minutes, shown = spec["texts"], study.paid_minutes, count_with_checks(items, spec)
    facts = [
        (gettext("Time"), ngettext("about %(n)s minute", "about %(n)s minutes", minutes) % {"n": minutes}),
        (gettext("Items"), ngettext("up to %(n)s", "up to %(n)s", shown) % {"n": shown}),
    ]
    if study.pay is not None:
        facts.append((gettext("Pay"), money_text(study.pay, study.currency)))
    return {
        "html": rendered(texts.get("about", "")),
        "checks": [*_visits(study), *_checks(spec["steps"])],
        "facts": [{"label": label, "value": value} for label, value in facts],
        "consent": rendered(texts.get("consent", "")) if spec["steps"].get("consent") else "",
        "version": consent_version(dict(spec)),
    }


def _visits(study: Study) -> Iterator[str]:
    if study.visits > 1:
        yield ngettext(
            "You can take part up to %(n)s time. The time, items and pay are those of one visit.",
            "You can take part up to %(n)s times, with different items each time. The time, items and pay are those "
            "of one visit.",
            study.visits,
        ) % {"n": study.visits}


def _checks(steps: Mapping[str, Any]) -> Iterator[str]:
    """The tests on the way, named so that nobody is surprised by an early end."""
    if qualification := steps.get("qualification"):
        mark: int = qualification["pass_mark"]
        yield gettext("The study begins with a qualification.")
        yield ngettext(
            "You need at least %(n)s right answer in it to continue; otherwise the study ends there.",
            "You need at least %(n)s right answers in it to continue; otherwise the study ends there.",
            mark,
        ) % {"n": mark}
    if attention := steps.get("attention"):
        yield gettext("Some items check that you read carefully.")
        allowed = attention.get("allowed_failures")
        if allowed == 0:
            yield gettext("If you fail one of them, the study ends early.")
        elif allowed is not None:
            yield ngettext(
                "If you fail more than %(n)s of them, the study ends early.",
                "If you fail more than %(n)s of them, the study ends early.",
                allowed,
            ) % {"n": allowed}


def closed_context(words: tuple[Words, Words], **more: Words) -> dict[str, Any]:
    """A door that stays shut; `more`: reward and pay (what it is called, and what becomes of it), todo."""
    title, text = words
    return {"closed": {"title": title, "text": text, **more}}


def wait_for_others(minutes: int, finish_url: str = "", *, is_paid: bool = False) -> dict[str, Any]:
    """All that is left is in others' hands. `finish_url`, where somebody may finish now; after a short wait they get
    an item sooner than they would find another study, so waiting comes first."""
    text = ngettext(
        "Other people are working on the remaining items. Please check again in %(n)s minute.",
        "Other people are working on the remaining items. Please check again in %(n)s minutes.",
        minutes,
    ) % {"n": minutes}
    waiting = {"title": gettext("A short wait"), "text": text, "button": gettext("Check again")}
    if not finish_url:
        return waiting
    finish = {"url": finish_url, "text": _finish_words(is_paid), "button": gettext("Finish now")}
    if minutes <= SHORT_WAIT:
        return {**waiting, "finish": finish}
    return {**waiting, "title": gettext("You can finish now"), "finish": {**finish, "is_main": True}}


def _finish_words(is_paid: bool) -> str:
    if is_paid:
        return gettext("If you finish now, the pay is the same as if you had judged every item.")
    return gettext("If you finish now, it counts the same as if you had judged every item.")


def instruction_texts(study: Study, spec: Spec) -> dict[str, Any]:
    """The guideline on contexts is for studies that show one, as it is in judges' prompts."""
    left_out = () if shows_contexts(study, spec) else ("guideline_context",)
    return {
        "instructions": rendered(spec["texts"].get("instructions", "")),
        "guidelines": [
            {"title": title, "html": rendered(spec["texts"][key])}
            for key, title in (
                ("guideline", gettext("How to judge")),
                ("guideline_context", gettext("Judging with context")),
            )
            if spec["texts"].get(key) and key not in left_out
        ],
    }


def shows_contexts(study: Study, spec: Spec) -> bool:
    """True where an item of the study is judged with its context; of a study without items, where one could be."""
    arms = [arm["key"] for arm in spec["arms"] if arm["context_at_judging"]]
    main = study.items.filter(role=Role.MAIN)
    return bool(arms) and (
        main.filter(arm__key__in=arms, context__isnull=False).exists() or not main.exists()
    )


def guideline(protocol: Protocol, spec: Spec, stimulus: Stimulus) -> str:
    return rendered(protocol.guideline(spec, with_context=sees_context(spec, stimulus), translate=gettext))


def form_problems(protocol: Protocol, spec: Spec, stimulus: Stimulus, data: Data) -> list[Problem]:
    """The problems that keep a form from being submitted."""
    try:
        protocol.clean(spec, stimulus, data, source="form")
    except AnswersInvalid as invalid:
        return list(invalid.problems)
    return []


def feedback_context(
    protocol: Protocol, spec: Spec, stimulus: Stimulus, order: str, gold: Data, answers: list[AnswerValue]
) -> dict[str, Any]:
    """The item's gold beside what was answered, and the item once more."""
    result = protocol.compare_gold(stimulus, gold, answers)
    return {
        "feedback": build_feedback(protocol, spec, stimulus, order, result),
        "screen": build_screen(protocol, spec, stimulus, order),
    }


def skips_said(left: int) -> str:
    """Beside the button that skips."""
    if left < 1:
        return gettext("No skips left")
    return ngettext("%(n)s skip left", "%(n)s skips left", left) % {"n": left}


def skip_question(url: str, home: str, left: int, *, in_dialog: bool) -> dict[str, Any]:
    """The question before an item is skipped."""
    words = ngettext(
        "This is the last item that you can skip in this study.",
        "You can skip %(n)s more items in this study, this one included.",
        left,
    )
    return {"url": url, "home": home, "left": words % {"n": left}, "in_dialog": in_dialog}


def comments_form(url: str, value: str) -> dict[str, Any]:
    """The form for final comments; with those that were too long, and their limit."""
    error = gettext("This is too long; please keep it under %(limit)s characters.") % {"limit": MAX_COMMENTS}
    return {
        "url": url,
        "value": value,
        "error": error if len(value) > MAX_COMMENTS else "",
        "limit": str(MAX_COMMENTS),
    }


def done_context(outcome: str, leave: Departure, platform: Platform, thanks: str = "") -> dict[str, Any]:
    """The end of a visit, with how to get back to the platform."""
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


def visit_of(number: int, of: int) -> str:
    return gettext("Visit %(n)s of %(all)s") % {"n": number, "all": of}


def visit_done_words(number: int, of: int, judged: int) -> dict[str, str]:
    """Title and text of the end of one of several visits, in place of those of a study that is done once. Attention
    checks are among those judged, as in the bar above items."""
    if number < of:
        said = ngettext(
            "You judged %(n)s item in this visit.", "You judged %(n)s items in this visit.", judged
        )
        title = gettext("Visit %(n)s of %(all)s is done") % {"n": number, "all": of}
        return {"title": title, "text": said % {"n": judged}}
    return {
        "text": ngettext("You have done your %(n)s visit.", "You have done all your %(n)s visits.", of)
        % {"n": of}
    }


def next_visit(number: int, of: int, url: str, way_back: str) -> dict[str, Any]:
    """The next visit and how to begin it: by a button, or without an address as `way_back` says."""
    return {
        "title": visit_of(number, of),
        "number": number,
        "url": url,
        "text": gettext("Next time you get different items."),
        "way_back": way_back,
        "button": gettext("Start visit %(n)s") % {"n": number},
    }


def way_to_next_visit(platform: Platform, *, is_named: bool, is_known: bool) -> str:
    """The way to come again: through a panel that names each visit, or else from their own page, to which the same
    link leads whom it knows."""
    if is_named and platform.key == "link":
        return gettext("To come again, take the study once more where you found it.")
    if is_named:
        return gettext("To come again, take the study once more on %(platform)s.") % {
            "platform": platform.label
        }
    if is_known:
        return gettext("You can start now, or come back later with the same link.")
    return gettext("You can start now or later. Keep the address of this page: it is your only way back.")


def thanks_of(spec: Spec, outcome: str) -> str:
    completed = outcome == ParticipantOutcome.COMPLETED
    return rendered(spec["texts"].get("thanks", "")) if completed else ""


def step_bar(spec: Spec, step: str) -> dict[str, Any]:
    """The bar above a page where there is nothing to count."""
    label = STEP_LABELS.get(step, "")
    return {"title": spec["title"], "label": label, "done": 0, "total": 0, "progress": ""}


def items_bar(spec: Spec, done: int, quota: int, *, on_item: bool) -> dict[str, Any]:
    """The bar above items. Attention checks count in both numbers, so that they can't be told by a meter that stands
    still."""
    total = count_with_checks(quota, spec)
    numbers = {"n": min(done + 1, total), "done": done, "all": total}
    label = gettext("%(n)s of %(all)s") if on_item else gettext("%(done)s of %(all)s done")
    return {
        "title": spec["title"],
        "label": label % numbers,
        "done": str(done),
        "total": str(total),
        "progress": gettext("%(done)s of %(all)s done") % numbers,
    }
