"""The app of figures: no models of its own."""

from django.apps import AppConfig


class AnalyticsConfig(AppConfig):
    name = "analytics"
    verbose_name = "Analytics"

    def ready(self) -> None:
        from analytics import checks  # noqa: F401 - registers the system checks
        from analytics.reports.bundle import jobs, reading
        from analytics.reports.deferred.section_jobs import compute_section_of
        from analytics.reports.paper.file_jobs import make_files_of
        from evaluation import hooks

        hooks.job_work.register("report", make_files_of)
        hooks.job_work.register("section", compute_section_of)
        hooks.job_work.register("bundle", jobs.write_bundle_of)
        bundle = hooks.StudyFile(
            "a replication bundle",
            reading.is_bundle,
            jobs.open_bundle_of,
            "manage.py replicate FILE --keep SLUG",
        )
        hooks.study_files.register("bundle", bundle)
