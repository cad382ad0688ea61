"""A report's files on their page: made by a button, and calm and sound, wide and on a phone."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from evaluation import tasks
from evaluation.models import Job, Study
from tests.browser.conftest import WIDE, Visitor
from tests.browser.test_report_page import (
    assert_calm,
    assert_sound,
    assert_sound_in_both,
    member,
    shot,
    study,
)

__all__ = ["member", "study"]
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_plots_are_made_by_a_button(
    study: Study,
    member: Callable[..., Visitor],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tasks, "send_job", lambda pk: True)
    visitor = member(viewport=WIDE)
    visitor.go("/studies/contexteval/report/")
    visitor.page.get_by_role("link", name="Files", exact=True).click()
    visitor.page.get_by_role("button", name="Create plots and zip").click()
    visitor.page.locator("#report-archive[hx-get]").wait_for()
    assert_sound(visitor)
    shot(visitor.page, "report-files-queued", "light", WIDE, full=False)
    tasks.work_on_job(Job.objects.get().pk)
    expect(visitor.page.get_by_role("link", name="Download everything (zip)")).to_be_visible(timeout=9_000)
    visitor.page.reload()
    assert_sound_in_both(visitor, "report-files")
    assert_calm(visitor)
    with visitor.page.expect_download() as download:
        visitor.page.get_by_role("link", name="PDF").first.click()
    assert download.value.suggested_filename.endswith(".pdf")
