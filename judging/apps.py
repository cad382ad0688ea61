"""The autoraters' app. It tells the core what verify, withdrawal, the study page and the report must know of judges."""

from django.apps import AppConfig


class JudgingConfig(AppConfig):
    name = "judging"
    verbose_name = "Judging"

    def ready(self) -> None:
        from django.conf import settings

        from evaluation import hooks
        from judging import checks  # noqa: F401 - registers the system checks
        from judging.hooks import kinds_of_work
        from judging.retrieval.corpora import CORPORA

        CORPORA.stands_at(lambda: str(settings.ASSAY_CORPORA))
        services = "judging.services"
        kinds_of_work.register("judging", f"{services}.runs.judge_workload.JUDGING")
        kinds_of_work.register("generation", f"{services}.generation.workload.GENERATION")
        hooks.derivations.register("entry drafts", f"{services}.entry_drafts.DERIVATION")
        hooks.job_work.register("products", f"{services}.generation.background.import_products_of")
        hooks.job_work.register("corpus", f"{services}.generation.background.add_corpus_of")
        hooks.job_work.register("making", f"{services}.generation.background.make_study_of")
        hooks.demo.register("heuristics", f"{services}.demo.run_heuristics")
        hooks.bundle_files.register("judges", f"{services}.bundle_files.bundle_files")
        hooks.private_words.register("endpoints", f"{services}.bundle_files.private_words")
        hooks.duplication.register("judges", f"{services}.duplication.copy_judges")
        hooks.item_withdrawn.register("calls", f"{services}.runs.lifecycle.drop_unfinished_calls")
        hooks.verifiers.register("runs", f"{services}.runs.verification.check_runs")
        hooks.codings.register("pipelines", f"{services}.generation.codings.codings_of")
        hooks.methods_facts.register("judges", "judging.selectors.judges_in_figures")
        hooks.revisers.register("judges", f"{services}.revisions.draft_revision.REVISER")
        hooks.prompt_previews.register("judges", f"{services}.prompt_preview.PREVIEW")
        hooks.item_costs.register("judges", f"{services}.estimates.item_costs.item_costs")
        hooks.sections.register("runs", hooks.StudySection("Judge runs", "judging:run-list"))
