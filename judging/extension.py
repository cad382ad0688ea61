"""The judges' part in what the core does: their runs and pipelines in checks, copies, bundles, previews and reports.

What a method needs is imported in it, as most processes ask for few of them.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from evaluation.extension import (
    BundleCheck,
    BundleFile,
    Coding,
    Concern,
    Duplication,
    Extension,
    JobKind,
    JudgeReply,
    JudgingCost,
    PromptPreview,
    QueryCount,
    RaterRun,
    ReadBundle,
    Reviser,
    StudySection,
)
from evaluation.models import Item, Judgment, Progress, Study


class JudgesExtension(Extension):
    def item_withdrawn(self, item: Item) -> None:
        from judging.services.runs.lifecycle import drop_unfinished_calls

        drop_unfinished_calls(item)

    def erase_quotes(self, study: Study, items: Collection[int], without: Callable[[Any], Any]) -> None:
        from judging.services.erasing import erase_quotes

        erase_quotes(study, items, without)

    def erase_revisions(self, study: Study, items: Collection[int]) -> None:
        from judging.services.erasing import erase_revisions

        erase_revisions(study, items)

    def deletion_problems(self, study: Study) -> Iterable[str]:
        from judging.selectors import working_runs

        return (f"Run {run.pk} is at work: pause or cancel it first." for run in working_runs(study))

    def duplicate(self, duplication: Duplication) -> Collection[str]:
        from judging.services.duplication import copy_judges

        copy_judges(duplication)
        return ()

    def fill_demo(self, study: Study) -> None:
        from judging.services.demo import run_heuristics

        run_heuristics(study)

    def verify(self, study: Study) -> Iterable[str]:
        from judging.services.runs.verification import check_runs
        from judging.services.validation import check_validation

        yield from check_runs(study)
        yield from check_validation(study)

    def methods_facts(self, study: Study) -> Iterable[str]:
        from judging.selectors import judges_in_figures

        return judges_in_figures(study)

    def methods_passages(self, study: Study) -> Mapping[str, str]:
        from judging.selectors import tested_judges

        said = tested_judges(study)
        return {"validation": said} if said else {}

    def codings(self, study: Study) -> Iterable[Coding]:
        from judging.services.generation.codings import codings_of

        return codings_of(study)

    def query_counts(self, study: Study) -> Iterable[QueryCount]:
        from judging.services.generation.query_counts import query_counts

        return query_counts(study)

    def judge_runs(self, study: Study) -> Mapping[str, RaterRun]:
        from judging.selectors import runs_of

        rows = runs_of(study).values_list("judging__rater__pseudonym", "pk", "created_at", "spent")
        return {rater: RaterRun(pk, made.date(), spent) for rater, pk, made, spent in rows}

    def judging_costs(self, study: Study) -> Mapping[str, JudgingCost]:
        from judging.selectors import judging_costs

        return judging_costs(study)

    def item_costs(self, study: Study) -> Iterable[tuple[str, Decimal]]:
        from judging.services.estimates.item_costs import item_costs

        return item_costs(study)

    def progress_figures(self, study: Study) -> Mapping[str, Any]:
        from judging.services.overview import judge_figures

        return judge_figures(study)

    def needs(self, study: Study, progress: Progress) -> Iterable[Concern]:
        from judging.services.overview import judge_needs

        return judge_needs(study, progress)

    def sections(self) -> Iterable[StudySection]:
        return (StudySection("Judge runs", "judging:run-list"),)

    def prompt_preview(self) -> PromptPreview:
        from judging.services.prompt_preview import PREVIEW

        return PREVIEW

    def reviser(self) -> Reviser:
        from judging.services.revisions.draft_revision import REVISER

        return REVISER

    def judge_replies(self, judgments: Collection[Judgment]) -> Mapping[int, Sequence[JudgeReply]]:
        from judging.services.judge_replies import judge_replies

        return judge_replies(judgments)

    def job_kinds(self) -> Iterable[JobKind]:
        from judging.job_kinds import CONNECTION_TEST, GENERATION, STEPS, VALIDATION

        return (*GENERATION, CONNECTION_TEST, STEPS, VALIDATION)

    def derivations(self) -> Iterable[Any]:
        from judging.services.entry_drafts import DERIVATION

        return (DERIVATION,)

    def bundle_files(self, study: Study) -> Iterable[BundleFile]:
        from judging.services.bundle_files import bundle_files

        return bundle_files(study)

    def check_bundle(self, read: ReadBundle) -> BundleCheck | None:
        from judging.services.generation.bundle_check import check_generation

        return check_generation(read)

    def private_words(self, study: Study) -> Iterable[str]:
        from judging.services.bundle_files import private_words

        return private_words(study)
