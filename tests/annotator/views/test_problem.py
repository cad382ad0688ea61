"""Reporting a problem with an item."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotator.models import Assignment
from annotator.services.admission.entry import enter
from annotator.services.work.skip import skip
from annotator.visit import Visit
from evaluation.models import ItemFlag
from tests.annotator.conftest import address, fields, text

pytestmark = pytest.mark.django_db


def test_flags_the_item_and_keeps_what_was_filled_in(client, participant):
    given = {"problem_note": "Both are\x00 empty", "preference": "r2", "justification": "Well"}
    response = client.post(address(client, participant, "problem"), given)
    assert response.status_code == 303
    page = text(client.get(response["Location"]))
    assert "look at the item" in page
    assert "Well" in page
    flag, assignment = ItemFlag.objects.get(), Assignment.objects.get()
    assert (flag.item, flag.reason, flag.note) == (assignment.item, "reported", "Both are empty")
    assert assignment.draft == {"preference": "r2", "justification": "Well"}


def report(client, target, note="Both are empty"):
    return text(client.get(client.post(target, {"problem_note": note})["Location"]))


def test_names_who_reported(client, participant):
    report(client, address(client, participant, "problem"))
    assert ItemFlag.objects.get().rater == participant.rater


def test_what_was_submitted_last_can_be_reported_and_what_came_before_cannot(client, participant):
    first = address(client, participant, "problem")
    assert client.post(address(client, participant), fields(client, participant)).status_code == 303
    assert "will look at the item" in report(client, first)
    assert client.post(address(client, participant), fields(client, participant)).status_code == 303
    assert "Your report was not sent" in report(client, first)
    assert ItemFlag.objects.count() == 1


def test_what_was_skipped_cannot_be_reported(client, make):
    participant = enter(make(skips={"per_participant": 2}), Visit("link"))
    skipped = address(client, participant, "problem")
    skip(participant.token, Assignment.objects.get().pk)
    assert "Your report was not sent" in report(client, skipped)
    assert not ItemFlag.objects.exists()


def test_a_sixth_report_is_not_taken_until_one_is_resolved(client, participant, other_participant):
    target = address(client, participant, "problem")
    for number in range(5):
        assert "will look at the item" in report(client, target, f"Problem {number}")
    assert "the researchers have yet to look at five of your reports" in report(client, target, "One more")
    assert ItemFlag.objects.count() == 5
    assert "will look at the item" in report(client, address(client, other_participant, "problem"))
    ItemFlag.objects.first().delete()
    assert "will look at the item" in report(client, target, "One more")


def test_a_report_brings_no_file(client, participant, tmp_path, settings):
    """A form with a file, which anybody can send here, is refused before the file is anywhere."""
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path
    large = SimpleUploadedFile("large.bin", b"x" * 3_000_000)
    answer = client.post(address(client, participant, "problem"), {"problem_note": "See", "file": large})
    assert answer.status_code == 400
    assert not list(tmp_path.iterdir())
    assert not ItemFlag.objects.exists()
