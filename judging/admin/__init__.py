"""The judges in the researchers' admin: endpoints, judges with their prompts, runs and their calls."""

from collections.abc import Iterable

from evaluation.admin.pages import Tab, study_pages, tabs
from evaluation.admin.rights import View
from judging.admin import call, endpoint, generation, judge, judge_runs


def _trust_page() -> Iterable[tuple[str, str, View]]:
    from judging.admin.trust import trust

    yield "trust/", "trust", trust


study_pages["trust"] = _trust_page
tabs["trust"] = Tab(
    "Trust a judge", "admin:evaluation_study_trust", 38, "People and judges", "judges#trust-a-judge"
)

__all__ = ["call", "endpoint", "generation", "judge", "judge_runs"]
