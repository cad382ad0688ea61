"""The figures' part in what the core does: files of reports, and bundles."""

from collections.abc import Callable, Mapping

from evaluation.extension import Extension, StudyFile
from evaluation.models import Job


class FiguresExtension(Extension):
    def job_work(self) -> Mapping[str, Callable[[Job], None]]:
        from analytics.reports.bundle.jobs import write_bundle_of
        from analytics.reports.deferred.section_jobs import compute_section_of
        from analytics.reports.paper.file_jobs import make_files_of

        return {"report": make_files_of, "section": compute_section_of, "bundle": write_bundle_of}

    def study_files(self) -> Mapping[str, StudyFile]:
        from analytics.reports.bundle.jobs import BUNDLE

        return {"bundle": BUNDLE}
