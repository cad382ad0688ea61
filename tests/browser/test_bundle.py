"""A replication bundle on its pages: written by a button, uploaded again, and compared; wide and on a phone."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

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
from tests.browser.walking import leave_by

__all__ = ["member", "study"]
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_bundle_is_made_downloaded_and_opened_again(
    study: Study,
    member: Callable[..., Visitor],
    monkeypatch: pytest.MonkeyPatch,
    settings: Any,
    tmp_path: Path,
) -> None:
    settings.ASSAY_JOB_FILES = str(tmp_path / "jobs")
    monkeypatch.setattr(tasks, "send_job", lambda pk: True)
    visitor = member(viewport=WIDE)
    page = visitor.page
    visitor.go("/studies/contexteval/report/files/")
    leave_by(page.get_by_role("link", name="replication bundle"))
    assert_sound(visitor)
    shot(page, "bundle-before", "light", WIDE)
    page.get_by_role("button", name="Create the bundle").click()
    page.locator("#study-bundle[hx-get]").wait_for()
    assert_sound(visitor)
    tasks.work_on_job(Job.objects.get().pk)
    download = page.get_by_role("link", name="Download the bundle")
    expect(download).to_be_visible(timeout=9_000)
    with page.expect_download() as fetched:
        download.click()
    path = tmp_path / fetched.value.suggested_filename
    fetched.value.save_as(path)
    assert path.name.startswith("contexteval-bundle-")
    visitor.go("/new/from-file/")
    page.get_by_label("File", exact=True).set_input_files(path)
    page.get_by_role("button", name="Upload and check").click()
    page.get_by_text("Waiting for the worker.").or_(page.get_by_text("queue can't be reached")).wait_for()
    tasks.work_on_job(Job.objects.first().pk)
    page.get_by_role("heading", name="Figures and tables, computed again").wait_for(timeout=9_000)
    watched = page.url
    opened = Study.objects.exclude(pk=study.pk).get()
    expect(page.get_by_role("status")).to_contain_text("0 different.")
    for name, address in (
        ("bundle", "/studies/contexteval/report/bundle/"),
        ("bundle-opened", watched.replace(visitor.base, "")),
        ("bundle-of-opened", f"/studies/{opened.slug}/report/bundle/"),
        ("bundle-exports", f"/studies/{study.slug}/exports/"),
    ):
        visitor.go(address)
        assert_sound_in_both(visitor, name, full=name != "bundle-opened")
        assert_calm(visitor)
    page.goto(watched)
    page.get_by_role("link", name="Duplicate as a draft").click()
    page.get_by_role("button", name="Create the draft").wait_for()
