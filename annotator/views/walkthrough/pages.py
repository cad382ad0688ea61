"""The pages of a walk, each by the templates and parts that participants get."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse

from annotator.models import ParticipantOutcome, Step
from annotator.selectors.quota import count_with_checks
from annotator.views.shared.parts import (
    about_study,
    closed_context,
    comments_form,
    done_context,
    feedback_context,
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
from annotator.views.shared.screens import WARN_SECONDS
from annotator.views.shared.texts import AWAY
from annotator.views.walkthrough.endings import consequences, departure_for, example_arrival, platform_of
from annotator.views.walkthrough.stations import BETWEEN, END, TURNED_AWAY
from annotator.views.walkthrough.walk import Walk
from annotator.views.walkthrough.walked_study import CannotShow, WalkedItem
from evaluation import design
from evaluation.forms.input.draft_merge import held_fields
from evaluation.forms.input.posted_fields import read_fields, read_trace
from evaluation.forms.screen import build_screen
from evaluation.protocols import AnswerValue, Problem

Fields = Mapping[str, str]
SERIES = {"training": Step.TRAINING, "qualification": Step.QUALIFICATION}


def station_page(walk: Walk) -> HttpResponse:
    """The page of the walk's station as a participant comes to it."""
    key = walk.station
    if key.startswith(END):
        return end_page(walk, key.removeprefix(END))
    if key.startswith(TURNED_AWAY):
        return away_page(walk, key.removeprefix(TURNED_AWAY))
    return PAGES[key](walk)


def entry_page(walk: Walk) -> HttpResponse:
    walked = walk.walked
    about = about_study(walk.study, walked.spec, walked.quota or walk.study.items_per_participant)
    # A hidden field, so that the page offers no way back to what this browser did as a participant.
    context = {"about": about, "visit": {"walk": "1"}}
    platform, _ = platform_of(walk.study)
    said = f"In the words for participants who come from: {platform.label}"
    return walk.page("annotator/entry.html", context, said=(said,))


def instructions_page(walk: Walk) -> HttpResponse:
    context = {"texts": instruction_texts(walk.study, walk.walked.spec), "continue_url": walk.act("continue")}
    return walk.page("annotator/page_instructions.html", context)


def series_page(walk: Walk) -> HttpResponse:
    """Practice or qualification: the item at the walk's place."""
    step = SERIES[walk.station]
    found = series_of(walk)
    if walk.state.at >= len(found):
        return nothing_page(walk, step)
    try:
        item = walk.walked.item(found[walk.state.at])
    except CannotShow as problem:
        return broken_page(walk, str(problem))
    return item_page(walk, item)


def series_of(walk: Walk) -> Any:
    return walk.walked.training if walk.station == "training" else walk.walked.qualification


def items_page(walk: Walk) -> HttpResponse:
    try:
        item = current_item(walk)
    except CannotShow as problem:
        return broken_page(walk, str(problem))
    if item is None:
        return nothing_page(walk, Step.ITEMS)
    return item_page(walk, item)


def next_place(walk: Walk) -> tuple[Any, bool] | None:
    """The next item and whether it is an attention check, as participants get them; None after the last."""
    walked, state = walk.walked, walk.state
    due = sum(position <= state.judged for position in walked.check_positions)
    if state.checked < min(due, len(walked.checks)):
        return walked.checks[state.checked], True
    place = state.judged + state.skipped
    if state.judged >= walked.quota or place >= len(walked.mains):
        return None
    return walked.mains[place], False


def current_item(walk: Walk) -> WalkedItem | None:
    """Raises CannotShow."""
    found = next_place(walk)
    return walk.walked.item(found[0]) if found else None


def item_page(
    walk: Walk,
    item: WalkedItem,
    *,
    fields: Fields | None = None,
    problems: tuple[Problem, ...] = (),
    notice: str = "",
) -> HttpResponse:
    """An item's form; with what was filled in of it, and what is wrong with that."""
    walked = walk.walked
    protocol, spec, fields = walked.protocol, walked.spec, fields or {}
    data = read_fields(fields)
    screen = build_screen(
        protocol,
        spec,
        item.stimulus,
        order_of(walk, item),
        data=data,
        problems=problems,
        trace=read_trace(fields),
    )
    minutes = walk.study.lease_minutes
    context: dict[str, Any] = {
        "screen": screen,
        "undo": {"url": walk.act("undo"), "form": "judge"} if walk.state.undo else None,
        "item": {
            "submit": walk.act("submit"),
            "skip": _skip(walk),
            "draft": walk.act("draft"),
            "visible_ms": "0",
            "screen": "",
            "lease_seconds": str(minutes * 60),
            "lease_minutes": minutes,
            "warn_seconds": str(min(WARN_SECONDS, minutes * 12)),
        },
        "held": held_fields(protocol.questions(spec, item.stimulus), data) if data else "",
        "help": {
            "problem": walk.act("problem"),
            "guideline": guideline(protocol, spec, item.stimulus),
            "shortcuts": True,
        },
    }
    if notice:
        context["notice"] = notice
    elif problems:
        context["notice"] = ""
    status = 422 if problems else 200
    return walk.page("annotator/page_item.html", context, bar=_bar(walk), item=item, status=status)


def order_of(walk: Walk, item: WalkedItem) -> str:
    """The orders take turns, so that both are seen."""
    place = walk.state.at + walk.state.judged + walk.state.checked + walk.state.skipped
    return design.presented_order(len(item.stimulus["responses"]), place)


def feedback_page(walk: Walk, item: WalkedItem, answers: list[AnswerValue]) -> HttpResponse:
    """The feedback on what was just sent, which nothing keeps."""
    walked = walk.walked
    context = feedback_context(
        walked.protocol, walked.spec, item.stimulus, order_of(walk, item), item.gold, answers
    )
    context["continue_url"] = walk.act("continue")
    return walk.page("annotator/page_feedback.html", context, bar=_bar(walk), item=item)


def waiting_page(walk: Walk) -> HttpResponse:
    """All items that are left are reserved by others, for as long as a study reserves one."""
    study = walk.study
    waiting = wait_for_others(study.lease_minutes, walk.act("finish"), is_paid=study.pay is not None)
    context = {"waiting": waiting, "continue_url": walk.act("check")}
    said = (
        "Participants come here when others are working on all items that are left.",
        "Who has judged an item in this visit can finish: the visit is completed and paid as any other.",
    )
    return walk.page("annotator/page_waiting.html", context, bar=_bar(walk), said=said)


def skip_page(walk: Walk) -> HttpResponse:
    left = walk.walked.skips_allowed - walk.state.skipped
    question = skip_question(walk.act("skip"), walk.url("items"), max(left, 1), in_dialog=False)
    return walk.page("annotator/skip.html", {"skip": question}, bar=_bar(walk))


def withdraw_page(walk: Walk) -> HttpResponse:
    context = {"withdraw": walk.act("withdraw"), "home": walk.url("items")}
    return walk.page("annotator/withdraw.html", context)


def comments_page(walk: Walk, value: str = "") -> HttpResponse:
    form = comments_form(walk.act("comments"), value)
    status = 422 if form["error"] else 200
    return walk.page("annotator/page_comments.html", {"comments": form}, bar=_bar(walk), status=status)


def end_page(walk: Walk, outcome: str) -> HttpResponse:
    """Of several visits, a completed one is the last."""
    visits = walk.study.visits
    if outcome == ParticipantOutcome.COMPLETED and visits > 1:
        return _end_page(walk, outcome, visits, visit_done_words(visits, visits, _judged(walk)))
    return _end_page(walk, outcome, 1, {})


def between_page(walk: Walk) -> HttpResponse:
    """The end of a visit that is not the last."""
    study, number = walk.study, min(walk.state.visit, walk.study.visits - 1)
    (platform, _), came = platform_of(study), example_arrival(study)
    is_named = bool(came.session_id)
    way_back = way_to_next_visit(platform, is_named=is_named, is_known=bool(came.external_id))
    again = next_visit(number + 1, study.visits, "" if is_named else walk.act("start"), way_back)
    words = {**visit_done_words(number, study.visits, _judged(walk)), "again": again}
    return _end_page(walk, ParticipantOutcome.COMPLETED, number, words)


def _judged(walk: Walk) -> int:
    """The number of items of a whole visit, attention checks among them."""
    return count_with_checks(walk.walked.quota, walk.walked.spec)


def _end_page(walk: Walk, outcome: str, visit_number: int, words: Mapping[str, Any]) -> HttpResponse:
    platform, _ = platform_of(walk.study)
    leave = departure_for(walk.study, outcome, visit_number, sees_codes=walk.sees_codes)
    done = done_context(outcome, leave, platform, thanks_of(walk.walked.spec, outcome))
    # Nothing leaves this walk.
    here = walk.url()
    done |= {"link": here if leave.link else "", "post_to": here if leave.post_to else "", **words}
    said = tuple(consequences(platform, outcome, leave, sees_codes=walk.sees_codes))
    return walk.page("annotator/page_done.html", {"done": done}, said=said)


def away_page(walk: Walk, reason: str) -> HttpResponse:
    platform, _ = platform_of(walk.study)
    ending = platform.away[reason]
    context = closed_context(AWAY[reason], reward=platform.reward, pay=ending.pay, todo=ending.stay)
    return walk.page("annotator/entry_closed.html", context)


def nothing_page(walk: Walk, step: Step) -> HttpResponse:
    """In place of a step that has nothing in it, or after its last item."""
    text = {
        Step.TRAINING: "There are no practice items: participants skip this step.",
        Step.QUALIFICATION: "There are no qualification items: participants skip this step.",
        Step.ITEMS: "There is no item for participants here.",
    }[step]
    note = {"title": "Nothing to show", "text": text, "url": walk.act("continue")}
    return walk.page("annotator/walkthrough/note.html", {"note": note}, bar=_bar(walk))


def broken_page(walk: Walk, problem: str) -> HttpResponse:
    text = f"It can't be judged yet: {problem}. Participants meet it once this is put right."
    note = {"title": "This item can't be shown", "text": text, "url": walk.act("continue")}
    return walk.page("annotator/walkthrough/note.html", {"note": note}, bar=_bar(walk))


def _bar(walk: Walk) -> dict[str, Any]:
    spec, state = walk.walked.spec, walk.state
    if walk.station in ("items", "waiting", "skip"):
        return items_bar(spec, state.judged + state.checked, walk.walked.quota, on_item=True)
    return step_bar(spec, SERIES.get(walk.station, Step.COMMENTS))


def _skip(walk: Walk) -> dict[str, str] | None:
    if walk.station != "items" or walk.walked.skips_allowed < 1:
        return None
    left = walk.walked.skips_allowed - walk.state.skipped
    return {"url": walk.act("ask-skip") if left > 0 else "", "left": skips_said(left)}


PAGES = {
    "entry": entry_page,
    "instructions": instructions_page,
    "training": series_page,
    "qualification": series_page,
    "items": items_page,
    "waiting": waiting_page,
    "skip": skip_page,
    "withdraw": withdraw_page,
    "comments": comments_page,
    BETWEEN: between_page,
}
