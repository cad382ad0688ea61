"""The answers to forms of a walk: checked as the study would, led on to what comes next, and forgotten."""

from collections.abc import Callable
from dataclasses import replace

from django.http import HttpResponse

from annotator.models import Step
from annotator.services.work.leave import MAX_COMMENTS
from annotator.views.draft import draft_fields
from annotator.views.shared.texts import NOTICES
from annotator.views.walkthrough.pages import (
    SERIES,
    comments_page,
    current_item,
    feedback_page,
    item_page,
    next_place,
    series_of,
    station_page,
)
from annotator.views.walkthrough.state import WalkState
from annotator.views.walkthrough.stations import BETWEEN, END
from annotator.views.walkthrough.walk import Walk
from annotator.views.walkthrough.walked_study import CannotShow, WalkedItem
from evaluation.forms.input.posted_fields import LOOK, read_fields
from evaluation.models import Role
from evaluation.protocols import AnswersInvalid, AnswerValue


def answer_form(walk: Walk, act: str) -> HttpResponse:
    """The answer to a form of this station; one that it does not have shows the station again."""
    found = ACTS.get((walk.station, act))
    return found(walk) if found else station_page(walk)


def choose(walk: Walk) -> HttpResponse:
    choice = walk.request.POST.get("choice")
    if choice == "decline":
        return walk.go(f"{END}no_consent", walk.state.afresh())
    if choice != "agree":
        return station_page(walk)
    return replace(walk, state=walk.state.but(visit=1)).go_to_step(walk.walked.first)


def continue_way(walk: Walk) -> HttpResponse:
    """From the instructions, from a practice item's feedback, or from what can't be shown."""
    if walk.station == "instructions":
        return walk.go_to_step(walk.walked.after(Step.INSTRUCTIONS))
    return _next_of_series(walk) if walk.station in SERIES else _next_item(walk, _counted(walk))


def _next_of_series(walk: Walk, *, right: int = 0) -> HttpResponse:
    step = SERIES[walk.station]
    state = walk.state.but(at=walk.state.at + 1, right=walk.state.right + right, notice="")
    if state.at < len(series_of(walk)):
        return walk.go(walk.station, state)
    rule = walk.walked.steps.get("qualification")
    if step == Step.QUALIFICATION and rule and series_of(walk) and state.right < rule["pass_mark"]:
        if state.attempt + 1 < rule.get("attempts", 1):
            return walk.go(
                walk.station, state.but(at=0, right=0, attempt=state.attempt + 1, notice="try-again")
            )
        return walk.go(f"{END}failed_qualification", state.afresh())
    return walk.go_to_step(walk.walked.after(step))


def submit(walk: Walk) -> HttpResponse:
    """The form is cleaned as the study would clean it; what is wrong is shown with what was filled in."""
    try:
        item = _item(walk)
    except CannotShow:
        return station_page(walk)
    if item is None:
        return station_page(walk)
    fields = draft_fields(walk.request.POST.dict())
    if fields.pop(LOOK, ""):
        return item_page(walk, item, fields=fields, notice=str(NOTICES["shown-again"]))
    walked = walk.walked
    try:
        answers = walked.protocol.clean(walked.spec, item.stimulus, read_fields(fields), source="form")
    except AnswersInvalid as invalid:
        return item_page(walk, item, fields=fields, problems=tuple(invalid.problems))
    if walk.station == "training":
        return feedback_page(walk, item, answers)
    passed = _passed(walk, item, answers)
    if walk.station == "qualification":
        return _next_of_series(walk, right=int(passed))
    return _after_item(walk, item, passed=passed)


def _item(walk: Walk) -> WalkedItem | None:
    if walk.station not in SERIES:
        return current_item(walk)
    found = series_of(walk)
    return walk.walked.item(found[walk.state.at]) if walk.state.at < len(found) else None


def _passed(walk: Walk, item: WalkedItem, answers: list[AnswerValue]) -> bool:
    return walk.walked.protocol.compare_gold(item.stimulus, item.gold, answers).passed


def _after_item(walk: Walk, item: WalkedItem, *, passed: bool) -> HttpResponse:
    state = _counted(walk)
    if item.role != Role.ATTENTION or passed:
        return _next_item(walk, state)
    rule = walk.walked.steps.get("attention") or {}
    allowed, state = rule.get("allowed_failures"), state.but(failed=state.failed + 1)
    if allowed is not None and state.failed > allowed:
        return walk.go(f"{END}failed_attention", state.afresh())
    return _next_item(walk, state.but(notice="check-failed" if rule.get("warn") else ""))


def _next_item(walk: Walk, state: WalkState) -> HttpResponse:
    """To what comes next in this state: an item, or the step after the items."""
    if next_place(replace(walk, state=state)) is None:
        return walk.go_to_step(walk.walked.after(Step.ITEMS))
    return walk.go("items", state)


def _counted(walk: Walk) -> WalkState:
    """The state when what is before the participant is done."""
    state, found = walk.state.but(undo=False, notice=""), next_place(walk)
    if found is not None and found[1]:
        return state.but(checked=state.checked + 1)
    return state.but(judged=state.judged + 1)


def keep_fields(notice: str) -> Callable[[Walk], HttpResponse]:
    """The item's page once more with what was filled in, and a notice."""

    def answer(walk: Walk) -> HttpResponse:
        try:
            item = _item(walk)
        except CannotShow:
            item = None
        if item is None:
            return station_page(walk)
        fields = draft_fields(walk.request.POST.dict())
        return item_page(walk, item, fields=fields, notice=str(NOTICES[notice]))

    return answer


def ask_skip(walk: Walk) -> HttpResponse:
    return walk.go("skip", walk.state.but(notice=""))


def skip(walk: Walk) -> HttpResponse:
    found = next_place(walk)
    if found is not None and found[1]:
        return _next_item(walk, _counted(walk))
    skipped = min(walk.state.skipped + 1, walk.walked.skips_allowed)
    return _next_item(walk, walk.state.but(skipped=skipped, undo=True, notice=""))


def undo(walk: Walk) -> HttpResponse:
    skipped = max(0, walk.state.skipped - 1)
    return walk.go("items", walk.state.but(skipped=skipped, undo=False, notice="unskipped"))


def check_again(walk: Walk) -> HttpResponse:
    return walk.go("items", walk.state.afresh())


def finish_now(walk: Walk) -> HttpResponse:
    return walk.go_to_step(walk.walked.after(Step.ITEMS))


def withdraw(walk: Walk) -> HttpResponse:
    return walk.go(f"{END}withdrawn", walk.state.afresh())


def start_visit(walk: Walk) -> HttpResponse:
    """The next visit, which begins with items unless the study has practice in each."""
    step = walk.walked.first if walk.study.practice_each_visit else Step.ITEMS
    return replace(walk, state=walk.state.but(visit=walk.state.visit + 1)).go_to_step(step)


def comment(walk: Walk) -> HttpResponse:
    text = walk.request.POST.get("comments", "").replace("\r\n", "\n")
    if len(text) > MAX_COMMENTS:
        return comments_page(walk, text)
    return walk.go_to_step(Step.DONE)


# By the station and the act that its forms name.
ACTS: dict[tuple[str, str], Callable[[Walk], HttpResponse]] = {
    ("entry", ""): choose,
    ("instructions", "continue"): continue_way,
    **{
        (station, act): answer
        for station in (*SERIES, "items")
        for act, answer in {
            "continue": continue_way,
            "submit": submit,
            "draft": keep_fields("more-time"),
            "problem": keep_fields("reported"),
        }.items()
    },
    ("items", "ask-skip"): ask_skip,
    ("items", "undo"): undo,
    ("waiting", "check"): check_again,
    ("waiting", "finish"): finish_now,
    ("skip", "skip"): skip,
    ("withdraw", "withdraw"): withdraw,
    ("comments", "comments"): comment,
    (BETWEEN, "start"): start_visit,
}
