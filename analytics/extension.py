"""The figures' part in what the core does: files of reports, and bundles."""

from collections.abc import Iterable, Mapping
from typing import Any

from evaluation.extension import Concern, Extension, JobKind, StudyFile
from evaluation.models import Progress, Study


class FiguresExtension(Extension):
    def figures_erased(self, study: Study) -> None:
        from analytics.reports.report_jobs import begin_public_report

        begin_public_report(study)

    def progress_figures(self, study: Study) -> Mapping[str, Any]:
        from analytics.reports.overview import report_figures

        return report_figures(study)

    def needs(self, study: Study, progress: Progress) -> Iterable[Concern]:
        from analytics.reports.overview import stopping_needs

        return stopping_needs(study, progress)

    def job_kinds(self) -> Iterable[JobKind]:
        from analytics.job_kinds import BUNDLE, COMPARISON, COMPUTATION, FILES, SECTION

        return (COMPUTATION, COMPARISON, SECTION, FILES, BUNDLE)

    def study_files(self) -> Mapping[str, StudyFile]:
        from analytics.reports.bundle.jobs import BUNDLE_FILE

        return {"bundle": BUNDLE_FILE}
