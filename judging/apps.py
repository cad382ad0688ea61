"""The autoraters' app. It tells the core what verify, withdrawal, the study page and the report must know of judges."""

from django.apps import AppConfig


class JudgingConfig(AppConfig):
    name = "judging"
    verbose_name = "Judging"

    def ready(self) -> None:
        from django.conf import settings

        from evaluation import hooks
        from evaluation.dumps.derivations import DERIVATIONS
        from judging import (
            checks,  # noqa: F401 - registers the system checks
            selectors,
        )
        from judging.retrieval.corpora import CORPORA
        from judging.services import bundle_files, demo, duplication, entry_drafts, prompt_preview
        from judging.services.calls.workload import KINDS_OF_WORK
        from judging.services.estimates.item_costs import item_costs
        from judging.services.generation import background, codings
        from judging.services.generation import workload as generation
        from judging.services.revisions import draft_revision
        from judging.services.runs import judge_workload, lifecycle, verification

        for kind in (judge_workload.JUDGING, generation.GENERATION):
            if kind.key not in KINDS_OF_WORK:  # tests make the app ready twice
                KINDS_OF_WORK.register(kind)
        if entry_drafts.DERIVATION.key not in DERIVATIONS:
            DERIVATIONS.register(entry_drafts.DERIVATION)
        CORPORA.stands_at(lambda: str(settings.ASSAY_CORPORA))
        hooks.job_work.register("products", background.import_products_of)
        hooks.job_work.register("corpus", background.add_corpus_of)
        hooks.job_work.register("making", background.make_study_of)
        hooks.demo.register("heuristics", demo.run_heuristics)
        hooks.bundle_files.register("judges", bundle_files.bundle_files)
        hooks.private_words.register("endpoints", bundle_files.private_words)
        hooks.duplication.register("judges", duplication.copy_judges)
        hooks.item_withdrawn.register("calls", lifecycle.drop_unfinished_calls)
        hooks.verifiers.register("runs", verification.check_runs)
        hooks.codings.register("pipelines", codings.codings_of)
        hooks.methods_facts.register("judges", selectors.judges_in_figures)
        hooks.revisers.register(
            "judges", hooks.Reviser(draft_revision.reviser_name, draft_revision.revise_draft)
        )
        hooks.prompt_previews.register(
            "judges", hooks.PromptPreview(prompt_preview.prompt_choices, prompt_preview.prompt_messages)
        )
        hooks.item_costs.register("judges", item_costs)
        hooks.sections.register("runs", hooks.StudySection("Judge runs", "judging:run-list"))
