"""Two studies compared in the browser: from the report, with another study and with another view."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import call_command

from evaluation.models import Study
from tests.analytics.reports.contexteval import write_dump
from tests.browser.conftest import PHONE, WIDE, Visitor
from tests.browser.test_report_page import assert_sound, member, shot, study
from tests.browser.walking import leave_by

__all__ = ["member", "study"]
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def replication(study: Study, tmp_path: Path) -> Study:
    """The same items, judged by the same people and by fewer judges."""
    path = write_dump(tmp_path / "replication.jsonl", judges=2)
    call_command("import_study", str(path), slug="replication", owner="ada", verbosity=0)
    found = Study.objects.get(slug="replication")
    found.title = "A replication with fewer judges"
    found.save(update_fields=["title"])
    return found


def test_two_studies_and_two_views_are_compared(
    study: Study, replication: Study, member: Callable[..., Visitor], settings: object
) -> None:
    settings.ASSAY_REPORT_INLINE_JUDGMENTS = 100_000  # type: ignore[attr-defined]
    for scheme, size in (("light", WIDE), ("dark", PHONE)):
        looking = member(viewport=size, color_scheme=scheme)
        page = looking.page
        looking.go("/studies/contexteval/report/")
        leave_by(page.get_by_role("link", name="Compare", exact=True))
        page.get_by_role("heading", name="Comparison").wait_for()
        assert_sound(looking)
        shot(page, "comparison-choice", scheme, size)
        page.get_by_label("Compare Contextualized evaluations, rebuilt with").select_option("replication")
        leave_by(page.get_by_role("button", name="Compare", exact=True))
        assert page.get_by_text("queries matched by key").is_visible()
        assert page.get_by_role("columnheader", name="B less A").first.is_visible()
        assert_sound(looking)
        shot(page, "comparison", scheme, size)
        page.get_by_text("Views", exact=True).click()
        page.get_by_label("Setting").nth(0).select_option(index=0)
        page.get_by_label("Setting").nth(1).select_option(index=2)
        assert_sound(looking)
        shot(page, "comparison-views", scheme, size)
        leave_by(page.get_by_role("button", name="Compare these views"))
        assert page.get_by_text("setting CtxGen-CtxEval: ").is_visible()
        page.get_by_label("Compare Contextualized evaluations, rebuilt with").select_option("contexteval")
        leave_by(page.get_by_role("button", name="Compare", exact=True))
        assert page.get_by_text("or with another view of itself").is_visible()
        assert_sound(looking)
        page.close()
