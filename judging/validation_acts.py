"""Acts of choosing a judge: people's part, halves, variants, choice, test, and the judge of everything. Each holds its
right, state, history and queue in one transaction, as those of `judging.acts` do.
"""

from decimal import Decimal
from typing import Any

from django.db import transaction

from analytics.reports.judge_test import testable_questions
from evaluation.models import Job, Status, Study
from evaluation.refusals import Refused
from evaluation.services.jobs import begin_job
from evaluation.stopping import NO_STOPPING_WITH_SAMPLE
from evaluation.tasks import enqueue_job
from judging.acts import begin_run, note, require_right
from judging.job_kinds import VALIDATION
from judging.models import Half, Judge, JudgeValidation, Purpose, Run
from judging.services.validation import (
    NOT_BEGUN,
    choose_judge,
    draw_halves,
    refuse_opening,
    refuse_test,
    refuse_variant,
)


def set_people_part(study: Study, queries: int | None, *, by: Any) -> str:
    """Have people judge a random part of a draft's queries, or all of them."""
    require_right(study, by)
    with transaction.atomic():
        held = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        if held.status != Status.DRAFT:
            raise Refused(
                "The queries that people judge are drawn at launch: they can't be changed any more."
            )
        if queries is not None and held.stopping:
            raise Refused(f"{NO_STOPPING_WITH_SAMPLE[:1].upper()}{NO_STOPPING_WITH_SAMPLE[1:]}.")
        if queries is not None and not 1 <= queries <= held.queries.count():
            raise Refused(
                f"The study has {held.queries.count():,} queries: people can judge 1 to all of them."
            )
        held.human_sample = queries
        held.save(update_fields=["human_sample"])
        said = (
            "People are to judge all queries."
            if queries is None
            else f"People are to judge a random part of {queries:,} queries."
        )
        note(study, by, said)
    return said


def begin_validation(study: Study, question: str, *, by: Any) -> str:
    """Draw the halves of people's queries; judges are held against their answers to the question of this key."""
    require_right(study, by)
    known = [each.key for each in testable_questions(study)]
    if question not in known:
        names = ", ".join(known) or "none"
        raise Refused(
            f"There is no question {question!r} by which a judge can be tested; there are: {names}."
        )
    with transaction.atomic():
        made = draw_halves(study, question, by)
        said = f"Halved people's queries: {len(made.tuning):,} to choose a judge on, {len(made.test):,} to test it."
        note(study, by, said)
    return said


def try_variant(
    study: Study, judge: Judge, *, by: Any, budget: Decimal | None = None, queue: bool = True
) -> Run:
    """Have a judge judge the tuning half."""
    with transaction.atomic():
        refuse_variant(_held(study), judge)
        return begin_run(
            study, judge, by=by, queue=queue, purpose=Purpose.TRIAL, budget=budget, half=Half.TUNING
        )


def choose_variant(study: Study, judge: Judge, *, by: Any) -> str:
    """Choose the judge, for good."""
    require_right(study, by)
    with transaction.atomic():
        validation = _held(study)
        choose_judge(validation, judge)
        said = f"Chose {judge} among {_variants(validation)}."
        note(study, by, said)
    return said


def begin_test(study: Study, *, by: Any, budget: Decimal | None = None, queue: bool = True) -> Run:
    """Have the chosen judge judge the test half."""
    with transaction.atomic():
        validation = _held(study)
        refuse_test(validation)
        assert validation.judge is not None
        run = begin_run(
            study, validation.judge, by=by, queue=queue, purpose=Purpose.TRIAL, budget=budget, half=Half.TEST
        )
        validation.test_run = run
        validation.save(update_fields=["test_run"])
    return run


def open_test(study: Study, *, by: Any, queue: bool = True) -> Job:
    """Have the test half opened by a worker, once."""
    require_right(study, by)
    with transaction.atomic():
        refuse_opening(_held(study))
        job = begin_job(kind=VALIDATION.key, slug=study.slug, study=study, subject=Half.TEST, by=by)
        if queue:
            enqueue_job(job)
    return job


def judge_all(study: Study, *, by: Any, budget: Decimal | None = None, queue: bool = True) -> Run:
    """Have the judge that was tested judge all items."""
    with transaction.atomic():
        validation = _held(study)
        if validation.judge is None or validation.opened_at is None:
            raise Refused("The judge has not been tested yet.")
        return begin_run(study, validation.judge, by=by, queue=queue, budget=budget)


def _held(study: Study) -> JudgeValidation:
    found = JudgeValidation.objects.select_for_update(no_key=True, of=("self",)).filter(study=study).first()
    if found is None:
        raise Refused(NOT_BEGUN)
    return found


def _variants(validation: JudgeValidation) -> str:
    n = len(validation.variants)
    return f"{n:,} {'variant' if n == 1 else 'variants'}: {', '.join(validation.variants)}"
