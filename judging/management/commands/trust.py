"""Choose a judge on one half of people's queries, test it once on the other, and have it judge all; without a step,
tell how far it has come.
"""

import sys
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from django.core.management.base import CommandError, CommandParser

from analytics.display.verdicts import verdict_sentences, verdict_title
from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.studies import study_named
from evaluation.models import Job, Study
from evaluation.refusals import Refused
from evaluation.tasks import work_on_job
from judging import validation_acts as acts
from judging.management.studies import amount, judge_facts, run_facts
from judging.management.working import work_to_the_end
from judging.models import Judge, JudgeValidation, Run, RunState
from judging.services.validation import latest_by_variant, tuning_runs, validation_of

STEPS = {
    "part": ("queries", "have people judge a random part of so many queries of a draft"),
    "begin": (
        "question",
        "halve the queries that people have judged; the question that judges are held against",
    ),
    "try": ("judge", "have a judge judge the tuning half"),
    "choose": ("judge", "choose the judge, for good"),
    "test": ("", "have the chosen judge judge the test half"),
    "open": ("", "open the test half, once"),
    "judge-all": ("", "have the tested judge judge all items"),
}


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        steps = ", ".join(f"{name} {what.upper()}".strip() for name, (what, _) in STEPS.items())
        parser.add_argument("step", nargs="?", choices=STEPS, help=f"one of: {steps}")
        parser.add_argument("value", nargs="?", default="", help="what the step is given")
        parser.add_argument("--budget", help="the most that a run may cost")

    def perform(self, options: dict[str, Any]) -> Outcome:
        study = study_named(options["slug"])
        step, value = options["step"], options["value"]
        budget = None if options["budget"] is None else amount(options["budget"])
        if step is not None:
            needed = STEPS[step][0]
            if bool(needed) != bool(value):
                raise CommandError(
                    f"{step} needs the {needed}, as in: trust {study.slug} {step} {needed.upper()}"
                    if needed
                    else f"{step} is given nothing."
                )
            try:
                self._do(study, step, value, budget)
            except Refused as refused:
                raise CommandError(str(refused)) from None
        study.refresh_from_db()
        for line in _state(study):
            self.stdout.write(line)
        return _facts(study)

    def _do(self, study: Study, step: str, value: str, budget: Decimal | None) -> None:
        match step:
            case "part":
                if not value.isdigit():
                    raise CommandError(f"{value!r} is no number of queries.")
                acts.set_people_part(study, int(value), by=None)
            case "begin":
                acts.begin_validation(study, value, by=None)
            case "try":
                judge = _judge(study, value)
                self._work(acts.try_variant(study, judge, by=None, budget=budget, queue=False))
            case "choose":
                acts.choose_variant(study, _judge(study, value), by=None)
            case "test":
                self._work(acts.begin_test(study, by=None, budget=budget, queue=False))
            case "open":
                job = acts.open_test(study, by=None, queue=False)
                work_on_job(job.pk)
                job.refresh_from_db()
                if job.state == Job.State.FAILED:
                    raise CommandError(job.message)
            case "judge-all":
                self._work(acts.judge_all(study, by=None, budget=budget, queue=False))

    def _work(self, run: Run) -> None:
        work_to_the_end(run, str(run), shown=sys.stderr.isatty())
        if run.state != RunState.COMPLETE:
            raise CommandError(f"{run} is {run.state}. {run.reason_text}".strip())


def _judge(study: Study, name: str) -> Judge:
    judge = Judge.objects.filter(study=study, name=name).order_by("-version").first()
    if judge is None:
        raise CommandError(f"{study.title} has no judge {name}.")
    return judge


def _facts(study: Study) -> Outcome:
    validation = validation_of(study)
    if validation is None:
        return {"study": study.slug, "part": study.human_sample, "halves": None}
    return {
        "study": study.slug,
        "part": study.human_sample,
        "halves": {"tuning": len(validation.tuning), "test": len(validation.test)},
        "tried": [run_facts(each.run) for each in latest_by_variant(tuning_runs(study))],
        "chosen": None if validation.judge is None else judge_facts(validation.judge),
        "result": validation.result,
    }


def _state(study: Study) -> Iterator[str]:
    if study.human_sample is not None:
        yield f"People judge a random part of {study.human_sample:,} queries."
    validation = validation_of(study)
    if validation is None:
        yield "No halves are drawn yet."
        return
    yield f"Halves: {len(validation.tuning):,} queries to choose a judge on, {len(validation.test):,} to test it."
    for judging in latest_by_variant(tuning_runs(study)):
        yield f"  tried {judging.judge}: {judging.run.state}"
    if validation.judge is not None:
        yield f"Chosen: {validation.judge}."
    yield from _verdict(validation)


def _verdict(validation: JudgeValidation) -> Iterator[str]:
    if not validation.result:
        return
    yield f"{verdict_title(validation.result)}."
    yield from verdict_sentences(validation.result, str(validation.judge))
    if validation.seen:
        yield f"The report had judgments of {', '.join(validation.seen)} on these queries before."
