"""Invariants of runs and their calls."""

from collections.abc import Iterator

from django.db.models import Exists, F, OuterRef, Q

from evaluation.models import Judgment, Outcome, Rater, Study
from judging.models import (
    Call,
    CallState,
    GenerationUnit,
    JudgeRun,
    Product,
    Purpose,
    Run,
    RunState,
    WorkKind,
)
from judging.services.calls.ledger import runs_off_the_ledger


def check_runs(study: Study) -> Iterator[str]:
    """A sentence per thing that does not hold."""
    for run in Run.objects.filter(study=study).select_related("judging__rater").order_by("pk"):
        judging = getattr(run, "judging", None)
        if judging is not None and run.work != Purpose(judging.purpose).work:
            yield f"Run {run.pk}: its purpose is {judging.purpose}, but its work {run.work}."
        if run.work == WorkKind.JUDGING:  # others make no judgments
            yield from _check_judgments(run)
        if run.work == WorkKind.GENERATION:
            yield from _check_products(run)
        if run.state == RunState.COMPLETE:
            yield from _check_complete(run)
    for pk, spent, total in runs_off_the_ledger(study):
        yield f"Run {pk}: {spent:f} spent, but its entries in the ledger come to {total:f}."
    yield from _check_figures(study)


def _check_judgments(run: Run) -> Iterator[str]:
    """Every call that is final, all its steps with it, has its judgment, unless its item left nothing to judge; every
    judgment has its calls."""
    calls = Call.objects.filter(run=run)
    same_judgment = Call.objects.filter(run=run, item=OuterRef("item"), replicate=OuterRef("replicate"))
    judgments = Judgment.objects.filter(rater=run.judging.rater_id)
    judgment = judgments.filter(item=OuterRef("item"), replicate=OuterRef("replicate"))
    final = calls.filter(state=CallState.FINAL)
    whole = final.exclude(Exists(same_judgment.exclude(state=CallState.FINAL)))
    for key, replicate in _places(whole.exclude(outcome=Outcome.SKIPPED).exclude(Exists(judgment))):
        yield f"Run {run.pk}: item {key}, replicate {replicate}, is final but has no judgment."
    later = calls.filter(state=CallState.LATER)
    others = same_judgment.exclude(pk=OuterRef("pk"))
    for key, replicate in _places(later.exclude(Exists(others.exclude(state=CallState.FINAL)))):
        yield f"Run {run.pk}: item {key}, replicate {replicate}, waits for calls that are all final."
    ok = judgment.filter(outcome=Outcome.OK)
    for key, replicate in _places(final.exclude(outcome=Outcome.OK).filter(Exists(ok))):
        yield f"Run {run.pk}: item {key}, replicate {replicate}, is judged ok though a call of it is not."
    for key, replicate in _places(judgments.exclude(Exists(same_judgment))):
        yield f"Run {run.pk}: item {key}, replicate {replicate}, is judged without a call."


def _check_products(run: Run) -> Iterator[str]:
    """Every unit is what its call came to; products are of units that were made, and every such unit has some."""
    units = GenerationUnit.objects.filter(run=run)
    calls = Call.objects.filter(unit=OuterRef("pk"))
    products = Product.objects.filter(unit=OuterRef("pk"))
    final = calls.filter(state=CallState.FINAL)
    differ = units.filter(Exists(final.exclude(outcome=OuterRef("outcome"))))
    for pk in differ.order_by("pk").values_list("pk", flat=True):
        yield f"Run {run.pk}: unit {pk} is not what its call came to."
    for pk in (
        units.exclude(outcome=Outcome.OK).filter(Exists(products)).order_by("pk").values_list("pk", flat=True)
    ):
        yield f"Run {run.pk}: unit {pk} has products though it was not made."
    asked = units.filter(outcome=Outcome.OK).exclude(model={})
    for pk in asked.exclude(Exists(final)).order_by("pk").values_list("pk", flat=True):
        yield f"Run {run.pk}: unit {pk} was made without a call."
    for pk in asked.exclude(Exists(products)).order_by("pk").values_list("pk", flat=True):
        yield f"Run {run.pk}: unit {pk} was made and has no product."


def _places(rows: object) -> Iterator[tuple[str, int]]:
    yield from rows.order_by("item__key", "replicate").values_list("item__key", "replicate").distinct()  # type: ignore[attr-defined]


def _check_complete(run: Run) -> Iterator[str]:
    unfinished = Call.objects.filter(run=run).exclude(state=CallState.FINAL).count()
    if run.last_subject is not None or unfinished:
        yield f"Run {run.pk}: complete, but {unfinished} calls are not final or not all were created."


def _check_figures(study: Study) -> Iterator[str]:
    """Check that a judge's latest complete main run is in the figures, and no other."""
    later = JudgeRun.objects.filter(
        run__study=study,
        judge__name=OuterRef("judge__name"),
        purpose=Purpose.MAIN,
        run__state=RunState.COMPLETE,
        pk__gt=OuterRef("pk"),
    )
    runs = JudgeRun.objects.filter(run__study=study).annotate(superseded=Exists(later)).order_by("pk")
    may = Q(purpose=Purpose.MAIN, run__state=RunState.COMPLETE, superseded=False)
    for pk in runs.filter(rater__in_figures=True).exclude(may).values_list("pk", flat=True):
        yield f"Run {pk}: in the figures, though it is not its judge's latest complete main run."
    for pk in runs.filter(may, rater__in_figures=False).values_list("pk", flat=True):
        yield f"Run {pk}: its judge's latest complete main run, but not in the figures."
    mixed = Rater.objects.filter(judge_run__run__study=study).exclude(study=F("judge_run__run__study"))
    for pk in mixed.values_list("judge_run", flat=True):
        yield f"Run {pk}: its rater belongs to another study."
