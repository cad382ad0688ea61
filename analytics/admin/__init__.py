"""The analytics' pages in the admin: the plan of a study."""

from collections.abc import Iterable

from evaluation.admin.pages import Tab, study_pages, tabs
from evaluation.admin.rights import View


def _pages() -> Iterable[tuple[str, str, View]]:
    from analytics.admin import plan

    yield "plan/", "plan", plan.plan


study_pages["plan"] = _pages
tabs["plan"] = Tab("Plan", "admin:evaluation_study_plan", 24, "Design", "statistics")
