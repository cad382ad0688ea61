"""The app of figures: no models of its own."""

from django.apps import AppConfig


class AnalyticsConfig(AppConfig):
    name = "analytics"
    verbose_name = "Analytics"

    def ready(self) -> None:
        from analytics import checks  # noqa: F401 - registers the system checks
        from evaluation import hooks

        hooks.job_work.register("report", "analytics.reports.paper.file_jobs.make_files_of")
        hooks.job_work.register("section", "analytics.reports.deferred.section_jobs.compute_section_of")
        hooks.job_work.register("bundle", "analytics.reports.bundle.jobs.write_bundle_of")
        hooks.study_files.register("bundle", "analytics.reports.bundle.jobs.BUNDLE")
