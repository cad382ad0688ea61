"""The choice of a judge that may stand in for people: halves of people's queries, variants, the test, and its record.

The steps are begun in `judging.validation_acts`. Whoever tunes on one half and tests once on the other may believe what
the test says: it knows nothing of the choice.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from analytics.reports.build import fingerprint
from evaluation import design
from evaluation.models import Job, Judgment, Rater, Role, Study
from evaluation.refusals import Refused
from evaluation.selectors import counting_judgments, queries_of_people
from evaluation.services.history import log_action, server_account
from evaluation.services.jobs import finish_job
from judging.models import Half, Judge, JudgeRun, JudgeValidation, Purpose, RunState
from judging.services.derived import derivation_of

CHOSEN = "The judge has been chosen: the other half is there to test it, and for nothing else."
NOT_BEGUN = "Draw the halves first."


def validation_of(study: Study) -> JudgeValidation | None:
    return JudgeValidation.objects.select_related("judge", "test_run").filter(study=study).first()


def labelled_queries(study: Study) -> dict[str, str]:
    """Keys and categories of the queries with main items that people judge and have begun to."""
    queries = study.queries.filter(items__role=Role.MAIN, items__withdrawn_at=None)
    theirs = queries_of_people(study)
    if theirs is not None:
        queries = queries.filter(pk__in=theirs)
    begun = counting_judgments(study).filter(rater__kind=Rater.Kind.PERSON).order_by().values("item__query")
    return dict(queries.filter(pk__in=begun).order_by().distinct().values_list("key", "category"))


def draw_halves(study: Study, question: str, by: Any) -> JudgeValidation:
    """Halve people's queries by the study's seed; anew as long as no variant was tried. Within a transaction."""
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    if tuning_runs(study).exists():
        raise Refused("A variant was tried on the tuning half: the halves stay as they are.")
    tuning, test = design.halved_queries(labelled_queries(study), study.seed)
    if not test:
        raise Refused("People have judged no two queries yet, so that there is nothing to halve.")
    JudgeValidation.objects.filter(study=study).delete()
    return JudgeValidation.objects.create(
        study=study, question=question, tuning=tuning, test=test, created_by=by
    )


def tuning_runs(study: Study) -> QuerySet[JudgeRun]:
    """The runs of variants on the tuning half, newest first."""
    runs = JudgeRun.objects.filter(run__study=study, half=Half.TUNING).order_by("-pk")
    return runs.select_related("run", "judge__endpoint", "rater")


def latest_by_variant(runs: Iterable[JudgeRun]) -> list[JudgeRun]:
    """The newest run of each version of a judge, in the order in which they were first tried."""
    found: dict[int, JudgeRun] = {}
    for run in runs:
        found.setdefault(run.judge_id, run)
    return list(reversed(found.values()))


def variants_to_try(study: Study) -> list[Judge]:
    """The latest versions of judges that could be tried: neither made of people's answers nor members of a jury."""
    latest: dict[str, Judge] = {}
    for judge in Judge.objects.filter(study=study, jury=None).select_related("endpoint", "study"):
        latest.setdefault(judge.name, judge)
    return [judge for judge in latest.values() if derivation_of(judge) is None]


def refuse_variant(validation: JudgeValidation, judge: Judge) -> None:
    if validation.chosen_at is not None:
        raise Refused(CHOSEN)
    if derivation_of(judge) is not None:
        raise Refused(
            f"{judge} is made of other judges' judgments and of people's, those of the test half as well: it can't be "
            "tested on them."
        )
    if judge.jury is not None:
        raise Refused(f"{judge} is a member of {judge.jury}, which is one rater.")


def choose_judge(validation: JudgeValidation, judge: Judge) -> None:
    """Freeze the choice. Within a transaction that holds the validation."""
    if validation.chosen_at is not None:
        raise Refused(CHOSEN)
    runs = latest_by_variant(tuning_runs(validation.study))
    own = next((each for each in runs if each.judge_id == judge.pk), None)
    if own is None or own.run.state != RunState.COMPLETE:
        raise Refused(f"{judge} has no complete run on the tuning half.")
    going = [
        str(each.judge) for each in runs if each.run.state not in (RunState.COMPLETE, RunState.CANCELLED)
    ]
    if going:
        raise Refused(
            f"A run on the tuning half is not complete: {', '.join(going)}. Wait for it, or cancel it."
        )
    validation.judge, validation.chosen_at = judge, timezone.now()
    validation.variants = [str(each.judge) for each in runs]
    validation.save(update_fields=["judge", "chosen_at", "variants"])


def refuse_test(validation: JudgeValidation) -> None:
    if validation.judge is None:
        raise Refused("Choose the judge first.")
    if validation.test_run is not None and validation.test_run.state != RunState.CANCELLED:
        raise Refused(f"{validation.judge} has its run on the test half: {validation.test_run}.")


def refuse_opening(validation: JudgeValidation) -> None:
    if validation.opened_at is not None:
        raise Refused("The test half has been opened, and is opened once.")
    if validation.test_run is None or validation.test_run.state != RunState.COMPLETE:
        raise Refused("The run on the test half is not complete.")


# --- computed by a worker -------------------------------------------------------------------------------------------


def tuning_fingerprint(study: Study) -> str:
    """The state of the study that its variants' records depend on."""
    runs = tuning_runs(study).filter(run__state=RunState.COMPLETE).values_list("pk", flat=True)
    return f"{fingerprint(study)}-{'-'.join(map(str, runs))}"


def compute_of(job: Job) -> None:
    """Compare variants with people on the tuning half, or the chosen judge on the test half, which is opened by it."""
    assert job.study is not None
    if job.subject == Half.TUNING:
        _compute_tuning(job)
    else:
        _open_test(job)


def _compute_tuning(job: Job) -> None:
    study = job.study
    assert study is not None
    validation = JudgeValidation.objects.get(study=study)
    state = tuning_fingerprint(study)
    runs = [each for each in latest_by_variant(tuning_runs(study)) if each.run.state == RunState.COMPLETE]
    records = _records(validation, [each.rater for each in runs], validation.tuning)
    with transaction.atomic():
        JudgeValidation.objects.filter(pk=validation.pk).update(tuned={"state": state, "records": records})
        finish_job(job, message="The variants were compared with people.")


def _open_test(job: Job) -> None:
    assert job.study is not None
    validation = JudgeValidation.objects.select_related("judge", "test_run").get(study=job.study)
    refuse_opening(validation)
    run = validation.test_run
    assert run is not None
    records = _records(validation, [run.judging.rater], validation.test)
    record = records.get(run.judging.rater.pseudonym)
    if record is None:
        raise Refused("Neither people nor the judge have answered this question on the test half.")
    with transaction.atomic():
        held = JudgeValidation.objects.select_for_update(no_key=True).get(pk=validation.pk)
        refuse_opening(held)
        held.result, held.opened_at = record, timezone.now()
        held.seen = sorted(_seen_before(held))
        held.save(update_fields=["result", "opened_at", "seen"])
        log_action(
            study=job.study,
            by=job.by or server_account(),
            message=f"Opened the test half for {validation.judge}.",
        )
        finish_job(job, message="The test half was opened.")


def _records(validation: JudgeValidation, raters: list[Rater], queries: list[str]) -> dict[str, Any]:
    from analytics.reports.judge_test import judge_tests
    from analytics.statistics.core.estimates import plain

    study = validation.study
    judged = study.queries.filter(items__role=Role.MAIN, items__withdrawn_at=None).distinct().count()
    tests = judge_tests(
        study,
        raters,
        validation.question,
        queries,
        labelled=len(validation.tuning) + len(validation.test),
        judged=judged,
    )
    return {each.rater: plain(each) for each in tests}


def _seen_before(validation: JudgeValidation) -> Iterator[str]:
    """Judges whose judgments of the test half, in figures, stood beside people's before it was opened."""
    main = JudgeRun.objects.filter(
        Q(rater__in_figures=True), run__study=validation.study, purpose=Purpose.MAIN
    ).select_related("judge", "rater")
    for run in main:
        on_test = Judgment.objects.filter(rater=run.rater, item__query__key__in=validation.test)
        if on_test.exists():
            yield str(run.judge)


def check_validation(study: Study) -> Iterable[str]:
    """The halves are those that the seed draws, and the choice is among the variants."""
    found = validation_of(study)
    if found is None:
        return
    categories = dict(
        study.queries.filter(key__in=[*found.tuning, *found.test]).values_list("key", "category")
    )
    if design.halved_queries(categories, study.seed) != (found.tuning, found.test):
        yield "The halves on which a judge is chosen and tested are not those that the study's seed draws."
    if found.judge is not None and str(found.judge) not in found.variants:
        yield f"The chosen judge {found.judge} is none of the variants that were tried."
