"""Run a judge on a study's items, here and now; Ctrl-C pauses, and the same command goes on where it stood."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any

from django.core.management.base import CommandError, CommandParser

from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.progress import add_progress_argument
from evaluation.management.studies import study_named
from evaluation.models import Study
from evaluation.refusals import FieldsRefused, Refused
from judging.acts import act_on, begin_run, begin_runs, begin_trial, change_group_budget
from judging.backends import heuristics
from judging.management.estimates import estimate_lines, group_estimate_lines
from judging.management.studies import amount, given, run_facts, unread_lines
from judging.management.working import work_to_the_end
from judging.models import ACTIVE, Judge, Purpose, Run, RunState
from judging.services.estimates.run_estimate import RunEstimate, estimate
from judging.services.groups.group_estimate import estimate_runs
from judging.services.groups.run_groups import UNFINISHED, unfinished_group
from judging.services.judges import heuristic_judge
from judging.services.runs.progress import run_progress
from judging.services.runs.trials import needs_trial, trial_calls
from judging.services.runs.work import work_on
from judging.tasks import enqueue_run


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        parser.add_argument(
            "--judge",
            required=True,
            action="append",
            metavar="NAME",
            help="its newest version; or random, shorter, longer; several times: all of them, or none",
        )
        parser.add_argument("--purpose", choices=Purpose.values, default=Purpose.MAIN)
        parser.add_argument(
            "--items", type=int, metavar="N", help="at most so many, drawn by the study's seed"
        )
        parser.add_argument(
            "--budget", metavar="X", help="stop before more than this is spent, by all judges together"
        )
        parser.add_argument(
            "--in-flight", type=int, metavar="K", help="calls at once; at most what the endpoint allows"
        )
        parser.add_argument(
            "--batch",
            action="store_true",
            help="ask through the endpoint's Batch API: at its price of batches, answered within a day",
        )
        parser.add_argument("--estimate", action="store_true", help="only print the estimate")
        parser.add_argument("--background", action="store_true", help="leave the work to the workers")
        parser.add_argument(
            "--retry-failed", action="store_true", help="retry failed, unparsed and truncated calls"
        )
        parser.add_argument(
            "--yes", action="store_true", help="don't ask for confirmation before money is spent"
        )
        add_progress_argument(parser)

    def perform(self, options: dict[str, Any]) -> Outcome:
        study = study_named(options["slug"])
        try:
            judges = [_judge(study, name) for name in options["judge"]]
            if options["estimate"]:
                self._tell(_lines(study, judges, options))
                return {"study": study.slug, "runs": []}
            if len(judges) == 1 or options["retry_failed"]:
                found = [self._run(study, judge, options) for judge in judges]
                runs = [run for run in found if run is not None]
            else:
                runs = self._runs(study, judges, options)
        except FieldsRefused as refused:
            raise CommandError(str(refused)) from None
        except Refused as refused:
            raise CommandError("\n".join(refused.problems)) from None
        if not runs:
            self.stdout.write("Not started.")
        elif options["background"]:
            for run in runs:
                enqueue_run(run)
                self.stdout.write(
                    f"Run {run.pk} of {run.judging} is left to the workers; "
                    f"`manage.py runs {study.slug}` shows it."
                )
        else:
            self._work_on(runs, shown=options["progress"] or sys.stderr.isatty())
        return {"study": study.slug, "runs": [run_facts(run) for run in runs]}

    def _work_on(self, runs: Sequence[Run], *, shown: bool) -> None:
        """Work on each to its end, one after the other, and say how each ended; interrupted, pause them all."""
        problems = []
        for place, run in enumerate(runs):
            finished = self._work(run, shown=shown)
            self._summarise(run)
            if run.reason_text:
                problems.append(run.reason_text if len(runs) == 1 else f"{run.judging}: {run.reason_text}")
            if not finished:
                self._pause(runs[place + 1 :])
                break
        if problems:
            raise CommandError("\n".join(problems))

    def _pause(self, runs: Iterable[Run]) -> None:
        for run in runs:
            run.refresh_from_db()
            if run.state in ACTIVE:
                act_on(run, "pause", by=None)
                self.stdout.write(f"Paused; the same command resumes run {run.pk}.")

    def _runs(self, study: Study, judges: Sequence[Judge], options: dict[str, Any]) -> list[Run]:
        """The runs of several judges: those of an unfinished group of these very judges go on, otherwise new ones."""
        budget = _money(options["budget"])
        group = unfinished_group(study, judges, options["purpose"])
        if group is not None:
            self.stdout.write(f"Runs of {', '.join(map(str, judges))} together are resumed.")
            if budget is not None:
                change_group_budget(group, budget, by=None, queue=False)
            return [
                self._resumed(run, options) for run in group.runs.order_by("pk") if run.state in UNFINISHED
            ]
        if not options["yes"] and sys.stdin.isatty():
            self._tell(_lines(study, judges, options))
            if not self.confirmed("Start all?"):
                return []
        group, _ = begin_runs(
            study,
            judges,
            by=None,
            queue=False,
            purpose=options["purpose"],
            budget=budget,
            max_items=options["items"],
            in_flight=options["in_flight"],
            by_batch=options["batch"],
        )
        return list(group.runs.order_by("pk"))

    def _resumed(self, run: Run, options: dict[str, Any]) -> Run:
        if run.state not in ACTIVE:
            act_on(run, "resume", by=None, queue=False, **given(options, "in_flight"))
        return run

    def _run(self, study: Study, judge: Judge, options: dict[str, Any]) -> Run | None:
        """The run to work on: an unfinished one of this judge and purpose goes on, otherwise a new one."""
        budget = _money(options["budget"])
        runs = Run.objects.filter(judging__judge=judge, judging__purpose=options["purpose"]).order_by("-pk")
        if options["retry_failed"]:
            run = runs.exclude(state=RunState.CANCELLED).first()
            if run is None:
                raise CommandError(f"There is no run of {judge} to retry.")
            self.stdout.write(act_on(run, "retry", by=None, queue=False))
            run.refresh_from_db()
            return run
        run = runs.filter(state__in=UNFINISHED).first()
        if run is not None:
            self.stdout.write(f"Run {run.pk} of {judge} is resumed.")
            if run.state not in ACTIVE:
                changes = {"budget": budget, "in_flight": options["in_flight"]}
                changes = {name: value for name, value in changes.items() if value is not None}
                act_on(run, "resume", by=None, queue=False, **changes)
            return run
        if not options["yes"] and judge.asks_model and sys.stdin.isatty():
            self._tell(estimate_lines(_estimate(study, judge, options)))
            if needs_trial(judge):
                self._try(study, judge, budget)
            if not self.confirmed("Start?"):
                return None
        return begin_run(
            study,
            judge,
            by=None,
            queue=False,
            purpose=options["purpose"],
            budget=budget,
            max_items=options["items"],
            in_flight=options["in_flight"],
            by_batch=options["batch"],
        )

    def _try(self, study: Study, judge: Judge, budget: Decimal | None) -> None:
        """Test one item before the first run; show the reply and the answers read."""
        run = begin_trial(study, judge, by=None, queue=False, budget=budget)
        work_on(run.pk, over_limit=True)
        run.refresh_from_db()
        for each in trial_calls(run):
            if each.ok:
                self.stdout.write(f"Tried item {each.item_key}: {', '.join(each.read)}\n  {each.raw}")
        for line in (run.reason_text, *unread_lines(run)):
            if line:
                self.stdout.write(line)

    def _tell(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.stdout.write(line)

    def _work(self, run: Run, *, shown: bool) -> bool:
        """Work on a run to its end; False if somebody interrupted."""
        finished = work_to_the_end(run, str(run.judging), shown=shown)
        if not finished:
            self._pause([run])
        return finished

    def _summarise(self, run: Run) -> None:
        run.refresh_from_db()
        at = run_progress(run)
        outcomes = ", ".join(f"{n:,} {outcome}" for outcome, n in at.outcomes.items()) or "none"
        self.stdout.write(
            f"Run {run.pk} of {run.judging}: {run.state_text}. Calls: {outcomes}; {at.total - at.final:,} left."
        )
        if run.judging.judge.asks_model:
            self.stdout.write(
                f"{at.tokens:,} tokens, cost {at.spent:.4f}, {at.cached:,} calls from the cache."
            )
        self._tell(unread_lines(run))


def _judge(study: Study, name: str) -> Judge:
    keys = [each.key for each in heuristics()]
    if name in keys:
        return heuristic_judge(study, name)
    judge = Judge.objects.filter(study=study, name=name).order_by("-version").first()
    if judge is None:
        known = Judge.objects.filter(study=study).order_by("name").values_list("name", flat=True).distinct()
        names = ", ".join([*known, *(key for key in keys if key not in known)])
        raise CommandError(f"{study.title} has no judge {name!r}; there are: {names}.")
    return judge


def _lines(study: Study, judges: Sequence[Judge], options: dict[str, Any]) -> Iterator[str]:
    if len(judges) == 1:
        return estimate_lines(_estimate(study, judges[0], options))
    limits = {"max_items": options["items"], "in_flight": options["in_flight"], "by_batch": options["batch"]}
    return group_estimate_lines(estimate_runs(study, judges, **limits))


def _estimate(study: Study, judge: Judge, options: dict[str, Any]) -> RunEstimate:
    return estimate(
        study, judge, max_items=options["items"], in_flight=options["in_flight"], by_batch=options["batch"]
    )


def _money(text: str | None) -> Decimal | None:
    return None if text is None else amount(text)
