"""Runs: started, paused, resumed, cancelled, retried and brought to their end."""

from collections.abc import Collection
from decimal import Decimal
from typing import Any, Final

from django.db import transaction
from django.db.models import Count, F, Q, QuerySet
from django.utils import timezone

from evaluation.models import Item, Judgment, Outcome, Rater, Status, Study
from evaluation.protocols import Kind
from evaluation.refusals import Refused, WrongState
from evaluation.services import assign_orders
from judging.models import (
    ACTIVE,
    Call,
    CallState,
    Judge,
    Orders,
    Purpose,
    Run,
    RunState,
    Verdict,
)
from judging.services.calls.judged_items import drawn_items, judged_items
from judging.services.endpoints.access import private_refusal
from judging.services.judges import answered_questions, judge_problems

UNCHANGED: Final[Any] = object()
# What may be tried again. Never "inconsistent": retrying until consistent would bias the judge.
RETRIED = (Outcome.FAILED, Outcome.UNPARSED, Outcome.TRUNCATED)
JUDGED_STATUSES = (Status.LIVE, Status.PAUSED, Status.CLOSED)


def run_in_flight(run: Run) -> int:
    """Calls that one worker process keeps in flight: never more than the endpoint allows."""
    endpoint = run.judge.endpoint
    allowed = endpoint.max_in_flight if endpoint else 1
    return min(run.in_flight or allowed, allowed)


def sampling_seed(study: Study, replicate: int, unread: int = 0) -> int:
    """The seed sent with a request: the same for every item, another for every sample and for asking once more."""
    return (study.seed * 1_000_003 + replicate * 101 + unread) % 2**31


def start_run(
    study: Study,
    judge: Judge,
    *,
    user: Any = None,
    purpose: str = Purpose.MAIN,
    budget: Decimal | None = None,
    max_items: int | None = None,
    in_flight: int | None = None,
) -> Run:
    """A new run with its rater; its calls are dealt by whoever works on it."""
    # Of revisions, each item is looked at when it is asked about.
    to_send = judged_items(study).none() if purpose == Purpose.REVISION else _to_judge(study, max_items)
    problems = _refusals(study, judge, to_send)
    if purpose not in Purpose.values:
        problems.append(f"There is no purpose {purpose!r}.")
    if purpose == Purpose.REVISION and (not judge.asks_model or not has_revisable_entries(study)):
        problems.append("Revisions need a model, and a study in which entries are calibrated.")
    problems += [
        f"The {what} must be more than zero."
        for what, value in (
            ("budget", budget),
            ("number of items", max_items),
            ("number in flight", in_flight),
        )
        if value is not None and value <= 0
    ]
    if problems:
        raise Refused(*problems)
    if judged_items(study).filter(start_order=None).exists():
        assign_orders(study)  # a study that was imported closed has had no use for orders before
    with transaction.atomic():
        # An edit of the judge waits, and finds that it has run.
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        before = latest_revisions(study, judge) if purpose == Purpose.REVISION else None
        if before is not None and before.state not in (RunState.CANCELLED, RunState.COMPLETE):
            raise Refused(f"Run {before.pk} already holds the revisions of {judge.name}.")
        revision = study.revisions.order_by("-number")[0]
        rater = Rater.objects.create(
            study=study, kind=Rater.Kind.JUDGE, label=str(judge), in_figures=False,
            about=_about(judge, purpose, revision.spec),
        )  # fmt: skip
        return Run.objects.create(
            study=study,
            judge=judge,
            revision=revision,
            rater=rater,
            purpose=purpose,
            budget=budget,
            max_items=max_items,
            in_flight=in_flight,
            price_prompt=judge.price_prompt,
            price_completion=judge.price_completion,
            created_by=user,
            **(_opened() if purpose == Purpose.REVISION else {}),
        )


def _opened() -> dict[str, Any]:
    """Nothing to deal, and open at once."""
    return {"state": RunState.RUNNING, "dealt_to": None, "started_at": timezone.now()}


def latest_revisions(study: Study, judge: Judge) -> Run | None:
    """The latest run that holds what participants asked of this judge, of whatever version."""
    runs = Run.objects.filter(study=study, judge__name=judge.name, purpose=Purpose.REVISION)
    return runs.select_related("judge").order_by("-pk").first()


def close_revisions(run: Run) -> None:
    """End what was asked of a version that is asked no more."""
    with transaction.atomic():
        _close(run)


def has_revisable_entries(study: Study) -> bool:
    """True if participants work on entries that a model could revise."""
    spec = study.revisions.order_by("-number").values_list("spec", flat=True).first() or {"questions": []}
    return any(question["kind"] == Kind.ENTRIES for question in spec["questions"])


def run_refusals(study: Study, judge: Judge, max_items: int | None = None) -> list[str]:
    """Why the judge can't judge this study, or so many of its items, as sentences."""
    return _refusals(study, judge, _to_judge(study, max_items))


def _refusals(study: Study, judge: Judge, to_send: QuerySet[Item]) -> list[str]:
    if judge.study_id != study.pk:
        return ["The judge belongs to another study."]
    if study.status not in JUDGED_STATUSES:
        return ["Judges need frozen items: launch the study first."]
    problems = [sentence for each in judge_problems(judge).values() for sentence in each]
    if not judged_items(study).exists():
        problems.append("The study has no items to judge.")
    if judge.endpoint is not None and (private := private_refusal(judge.endpoint, to_send)):
        problems.append(private)
    return problems


def _to_judge(study: Study, max_items: int | None) -> QuerySet[Item]:
    if max_items is None or max_items <= 0:
        return judged_items(study)
    return Item.objects.filter(pk__in=drawn_items(study, max_items))


def _about(judge: Judge, purpose: str, spec: Any) -> dict[str, Any]:
    """Facts for the report about this rater (see `evaluation.models.Rater.about`)."""
    heuristic = not judge.asks_model
    return {
        "judge": judge.name,
        "version": judge.version,
        "model": judge.get_backend_display() if heuristic else judge.model,
        "reference": judge.with_reference and not heuristic,
        "orders": str(judge.orders),
        "samples": judge.samples,
        "reduction": reduction(judge),
        "questions": question_keys(judge, spec),
        "purpose": str(purpose),
        "heuristic": heuristic,
    }


def question_keys(judge: Judge, spec: Any) -> list[str]:
    """Keys of the questions that the judge is asked, in the order of the form."""
    if not judge.asks_model:
        return answered_questions(judge, spec)
    asked = set(judge.questions)
    return [
        question["key"]
        for question in spec["questions"]
        if (question["key"] in asked if asked else question["kind"] != "text")
    ]


def reduction(judge: Judge) -> str:
    """The rule by which frames reduce a judge's replicates to one reading."""
    if judge.orders == Orders.BOTH:
        return "both_ways"
    if judge.verdict == Verdict.LOGPROBS and judge.samples > 1:
        return "mean"
    return "majority"


def pause_run(run: Run) -> None:
    """No further calls; whoever is at work lets go within a second or so."""
    _move(run, ACTIVE, RunState.PAUSED)


def resume_run(run: Run, *, budget: Any = UNCHANGED, in_flight: Any = UNCHANGED) -> None:
    """Resume where it stopped; what is judged stays judged. A run that ran out of money needs a larger budget."""
    changes = {
        name: value
        for name, value in (("budget", budget), ("in_flight", in_flight))
        if value is not UNCHANGED
    }
    if any(value is not None and value <= 0 for value in changes.values()):
        raise Refused("Budget and number in flight must be more than zero.")
    to = RunState.RUNNING if run.purpose == Purpose.REVISION else RunState.PENDING
    _move(run, (RunState.PAUSED, RunState.STOPPED), to, reason="", **changes)


def cancel_run(run: Run) -> None:
    """End it for good; judgments that are there stay, in no figure.

    Where only a retry of a complete run was under way, what stood before stands again and the run is complete.
    """
    _move(run, (*ACTIVE, RunState.PAUSED, RunState.STOPPED), RunState.CANCELLED, finished_at=timezone.now())
    if run.dealt_to is None and run.purpose != Purpose.REVISION:
        # Calls before the run, as those lock them who record.
        with transaction.atomic():
            if _put_back(run):
                _close(run)


def retry_run(run: Run, outcomes: Collection[str] = RETRIED) -> int:
    """Open calls that failed, were unparsed or truncated again; return how many. Ok may replace them, never worse."""
    if not set(outcomes) <= set(RETRIED):
        raise WrongState(f"Only {', '.join(RETRIED)} calls can be retried.")
    if run.purpose == Purpose.REVISION:
        raise WrongState("Revisions can't be retried; participants ask again themselves.")
    with transaction.atomic():
        locked = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        if locked.state == RunState.CANCELLED:
            raise WrongState("A cancelled run can't be retried.")
        opened = Call.objects.filter(run=run, state=CallState.FINAL, outcome__in=list(outcomes)).update(
            state=CallState.OPEN,
            outcome="",
            attempts=0,
            unread=0,
            not_before=None,
            finished_at=None,
            error="",
        )
        if opened and locked.state not in ACTIVE:
            _move(run, (RunState.COMPLETE, RunState.PAUSED, RunState.STOPPED), RunState.PENDING, reason="")
            choose_for_figures(run)
        return opened


def _move(run: Run, allowed: Collection[str], to: str, **fields: Any) -> None:
    """Change a run's state under its lock, and the given instance with it."""
    with transaction.atomic():
        locked = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        if locked.state not in allowed:
            raise WrongState(f"A run that is {locked.state} can't become {to}.")
        if to in ACTIVE:
            fields = {**fields, "finished_at": None, "workers": {}, "recent": ""}
        for name, value in {**fields, "state": to}.items():
            setattr(run, name, value)
            setattr(locked, name, value)
        locked.save(update_fields=[*fields, "state"])
    run.refresh_from_db()


def stop_run(run_id: int, reason: str) -> None:
    """CallAttempt by Assay: money, quota, key. The reason stands on the row; it may be resumed."""
    Run.objects.filter(pk=run_id, state__in=ACTIVE).update(state=RunState.STOPPED, reason=reason[:500])


# --- the end ----------------------------------------------------------------------------------------------------------


def complete_if_finished(run_id: int) -> bool:
    """Complete a run that has no unfinished calls; True if it is complete."""
    with transaction.atomic():
        run = Run.objects.select_for_update(no_key=True).get(pk=run_id)
        if run.state == RunState.COMPLETE:
            return True
        unfinished = Call.objects.filter(run=run).exclude(state=CallState.FINAL)
        if run.state not in ACTIVE or run.dealt_to is not None or unfinished.exists():
            return False
        _close(run)
        return True


def _close(run: Run) -> None:
    run.state, run.reason, run.workers = RunState.COMPLETE, "", {}
    run.finished_at = timezone.now()
    run.asked, run.unanswered = _count_unanswered(run)
    run.save(update_fields=["state", "reason", "workers", "finished_at", "asked", "unanswered"])
    choose_for_figures(run)


def _count_unanswered(run: Run) -> tuple[int, int]:
    asked = Count("pk", filter=~Q(outcome=Outcome.EXCLUDED_SELF))
    found = Call.objects.filter(run=run).aggregate(asked=asked, ok=Count("pk", filter=Q(outcome=Outcome.OK)))
    return found["asked"], found["asked"] - found["ok"]


def choose_for_figures(run: Run) -> None:
    """Put the latest complete main run of a judge, of whatever version, into the figures, and no other."""
    if run.purpose != Purpose.MAIN:
        return
    runs = Run.objects.filter(study=run.study_id, judge__name=run.judge.name, purpose=Purpose.MAIN)
    complete = runs.filter(state=RunState.COMPLETE).order_by("-pk")
    latest = complete.values_list("rater", flat=True).first() or 0
    raters = Rater.objects.filter(run__in=runs)
    changed = raters.filter(in_figures=True).exclude(pk=latest).update(in_figures=False)
    changed += raters.filter(pk=latest, in_figures=False).update(in_figures=True)
    if changed:
        # Neither the number of judgments nor the highest id tells that figures changed.
        Study.objects.filter(pk=run.study_id).update(corrections=F("corrections") + 1)


def _put_back(run: Run) -> bool:
    """Restore calls whose judgment stands already; True if that leaves none unfinished."""
    unfinished = Call.objects.filter(run=run).exclude(state=CallState.FINAL)
    outcomes = {
        (item, replicate): outcome
        for item, replicate, outcome in Judgment.objects.filter(
            rater=run.rater_id, item__in=unfinished.values("item")
        ).values_list("item", "replicate", "outcome")
    }
    rows = list(unfinished.select_for_update(no_key=True).order_by("pk"))
    if not all((row.item_id, row.replicate) in outcomes for row in rows):
        return False
    for row in rows:
        row.outcome = outcomes[row.item_id, row.replicate]
        row.state, row.lease, row.leased_until = CallState.FINAL, None, None
    Call.objects.bulk_update(rows, ["outcome", "state", "lease", "leased_until"], batch_size=500)
    return True


def drop_unfinished_calls(item: Item) -> None:
    """Delete the unfinished calls on an item that was withdrawn: nobody pays for them."""
    Call.objects.filter(item=item).exclude(state=CallState.FINAL).delete()
