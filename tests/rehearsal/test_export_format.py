"""One export format more: registered in one place, it is offered, written, named and downloaded."""

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from evaluation.dumps.export_format import ExportFormat, rows_with_progress
from evaluation.dumps.formats import FORMATS
from evaluation.models import Job
from evaluation.registry import EntryRefused
from tests.crowd import come, hand_in

pytestmark = pytest.mark.django_db


def write_count(out, stored, watch):
    out.write(
        f"{sum(len(rows) for rows in rows_with_progress(stored, watch))} rows of {stored.study.slug}".encode()
    )


TALLY = ExportFormat(
    key="tally",
    label="Tally",
    about="How many rows there are.",
    content_type="text/x-tally",
    write=write_count,
    place=50,
    ending="tally.txt",
)


@pytest.fixture
def judged(study):
    hand_in(come(study, "a").token)
    return study


def test_the_command_writes_it(judged, tmp_path):
    with FORMATS.registered(TALLY):
        call_command("export", judged.slug, format="tally", out=str(tmp_path / "out"), progress=False)
    assert (tmp_path / "out").read_text().endswith("rows of contrast")


def test_the_exports_page_offers_it_and_hands_it_out(judged, admin, work_on_jobs):
    page = reverse("admin:evaluation_study_exports", args=[judged.slug])
    with FORMATS.registered(TALLY):
        assert "How many rows there are." in admin.get(page).content.decode()
        work_on_jobs(lambda: admin.post(page, {"format": "tally"}))
        job = Job.objects.get()
        assert (job.state, job.file_name) == ("done", "contrast.tally.txt")
        file = admin.get(reverse("admin:evaluation_job_download", args=[job.pk]))
    assert file["Content-Type"] == "text/x-tally"
    assert file["Content-Disposition"].endswith('.tally.txt"')
    assert b"rows of contrast" in b"".join(file.streaming_content)


def test_it_is_offered_only_where_it_suits(judged, admin):
    page = reverse("admin:evaluation_study_exports", args=[judged.slug])
    few = ExportFormat(**{**vars(TALLY), "suits": lambda study: study.slug != "contrast"})
    with FORMATS.registered(few):
        assert "How many rows there are." not in admin.get(page).content.decode()
        assert admin.post(page, {"format": "tally"}).status_code == 422


def test_what_needs_a_file_is_not_written_to_standard_output(judged):
    with (
        FORMATS.registered(ExportFormat(**{**vars(TALLY), "streams": False})),
        pytest.raises(CommandError, match="Tally can't be written to standard output"),
    ):
        call_command("export", judged.slug, format="tally", out="-", progress=False)


def test_a_forgotten_part_is_named():
    with pytest.raises(
        EntryRefused, match=r"The export format 'tally' .* lacks about \(the sentence beside it"
    ):
        FORMATS.register(ExportFormat(**{**vars(TALLY), "about": ""}))
