"""Maps under a name: saved from the page of a table, offered for the next of its form, and nobody else's."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from evaluation import tasks
from evaluation.models import Job, SavedTableMap
from evaluation.services.studies.launch import launch_study
from tests.evaluation.admin.conftest import make_user, signed_in
from tests.evaluation.admin.test_mapped_tables import FROM_FILE, GUESS, send, words
from tests.evaluation.dumps.tables.files import HEADER, ROWS, delimited, workbook

pytestmark = pytest.mark.django_db
# Names that no guess can read.
ODD = ("wohl", "weh", "was", "wo")
USES = {"as-0": "response", "as-1": "prompt", "as-2": "response", "as-3": "ignore", "system-0": "birch",
        "system-2": "aspen", "per": "item", "header": "on", "protocol": "pairwise"}  # fmt: skip


def odd_table(rows: Any = ROWS, header: Any = ODD) -> bytes:
    return delimited([(b, p, a, t) for p, a, b, t in rows], header)


def save(client: Any, where: str, name: str, **changes: str) -> Any:
    names = {"title": "Odd", "slug": "odd"}
    return client.post(where, {**USES, **names, "save": "1", "save_as": name, **changes}, follow=True)


@pytest.fixture(autouse=True)
def nothing_queued(monkeypatch: Any) -> None:
    monkeypatch.setattr(tasks.work_on_job, "delay", lambda pk: None)


def test_a_map_is_saved_as_it_was_corrected_and_reads_the_next_table(owner: Any, outsider: Any) -> None:
    client = signed_in(owner)
    where = send(client, FROM_FILE, odd_table())
    assert "Saved maps (0)" in words(client.get(where))
    assert "The map “odd soups” was saved." in words(save(client, where, "  odd   soups "))
    saved = SavedTableMap.objects.get()
    assert (saved.owner, saved.map["columns"][0]["system"]) == (owner, "birch")
    # The table that is open goes on with what was corrected.
    assert 'value="aspen"' in words(client.get(where))

    following = send(client, FROM_FILE, odd_table(ROWS[:4]), "more.csv")
    shown = words(client.get(following))
    assert "A map that you saved fits this table:" in shown
    assert 'value="aspen"' not in shown
    used = client.post(following, {"use_saved": " odd  soups"}, follow=True)
    assert "The table is read by the map “odd soups”." in words(used)
    assert 'value="aspen"' in words(used)
    assert "A map that you saved fits this table:" not in words(used)

    theirs = send(signed_in(outsider), FROM_FILE, odd_table())
    assert "odd soups" not in words(signed_in(outsider).get(theirs))
    for act in ("use_saved", "delete_saved"):
        assert signed_in(outsider).post(theirs, {act: "odd soups"}).status_code == 404
    assert SavedTableMap.objects.exists()


def test_a_table_that_lacks_columns_of_a_map_says_which(owner: Any) -> None:
    client = signed_in(owner)
    save(client, send(client, FROM_FILE, odd_table()), "odd soups")
    where = send(client, FROM_FILE, odd_table(header=("wohl", "frage", "antwort", "wo")))
    shown = words(client.get(where))
    assert "The table lacks 'weh' (prompt), 'was' (response)." in shown
    assert "A map that you saved fits" not in shown
    refused = client.post(where, {"use_saved": "odd soups"}, follow=True)
    assert "The table has no column 'weh' (prompt), 'was' (response), which this map names." in words(refused)


def test_a_map_of_a_table_without_a_header_fits_the_next_without_one(owner: Any) -> None:
    """It is read as the map says before its columns are compared."""
    client = signed_in(owner)
    where = send(client, FROM_FILE, odd_table(ROWS[:3]))
    client.post(where, {**USES, "header": "", "title": "Odd", "slug": "odd", "show": "1"})
    numbered = {**USES, "header": ""}
    save(client, where, "numbered", **numbered)
    assert SavedTableMap.objects.get().map["header"] is False
    following = send(client, FROM_FILE, odd_table(ROWS[3:6]))
    assert "A map that you saved fits this table:" in words(client.get(following))
    client.post(following, {"use_saved": "numbered"})
    assert Job.objects.order_by("-pk")[0].parameters["map"]["columns"][1]["column"] == "column 2"
    assert 'value="aspen"' in words(client.get(following))


def test_a_map_of_a_workbook_reads_a_csv_of_the_same_form(owner: Any) -> None:
    client = signed_in(owner)
    rows = [ODD, *[(b, p, a, t) for p, a, b, t in ROWS]]
    save(client, send(client, FROM_FILE, workbook(rows), "odd.xlsx"), "odd soups")
    assert SavedTableMap.objects.get().map["sheet"]
    where = send(client, FROM_FILE, odd_table())
    assert 'value="aspen"' in words(client.post(where, {"use_saved": "odd soups"}, follow=True))


def test_the_same_name_is_the_new_map_s_and_one_that_is_deleted_is_gone(owner: Any) -> None:
    client = signed_in(owner)
    where = send(client, FROM_FILE, odd_table())
    save(client, where, "odd soups")
    again = words(save(client, where, "odd soups", **{"system-0": "elm"}))
    assert "The map “odd soups” was saved in place of the one before." in again
    assert SavedTableMap.objects.get().map["columns"][0]["system"] == "elm"
    deleted = words(client.post(where, {"delete_saved": "odd soups"}, follow=True))
    assert "The saved map “odd soups” was deleted." in deleted
    assert not SavedTableMap.objects.exists()
    assert client.post(where, {"use_saved": "odd soups"}).status_code == 404


def test_a_map_without_a_name_and_one_too_many_are_refused(owner: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("evaluation.services.table_maps.MOST_SAVED", 1)
    client = signed_in(owner)
    where = send(client, FROM_FILE, odd_table())
    nameless = save(client, where, "  ")
    assert nameless.status_code == 422
    assert "The map needs a name." in words(nameless)
    assert "in this form" not in words(nameless)
    save(client, where, "first")
    full = words(save(client, where, "second"))
    assert "You have 1 saved maps, which is the limit. Delete one first." in full
    # One that is there can be changed still.
    assert "in place of the one before" in words(save(client, where, "first"))


def test_no_arm_of_one_study_goes_with_a_saved_map(editors_draft: Any, colleague: Any) -> None:
    client = signed_in(colleague)
    address = reverse("admin:evaluation_study_upload", args=[editors_draft.slug])
    arm = editors_draft.arms.first().key
    where = send(client, address, odd_table())
    save(client, where, "odd soups", arm=arm)
    assert Job.objects.get().parameters["map"]["arm"] == arm
    assert SavedTableMap.objects.get().map["arm"] == ""


def test_a_running_study_takes_items_by_a_saved_map(
    editors_draft: Any, colleague: Any, django_capture_on_commit_callbacks: Any
) -> None:
    client = signed_in(colleague)
    upload = send(client, FROM_FILE, delimited(ROWS[:3]))
    save(client, upload, "soups", **GUESS)
    made = client.post(
        upload, {**GUESS, "title": "Soups", "slug": "soups", "protocol": "pairwise", "import": "1"}
    )
    assert made.status_code == 302
    job = Job.objects.get()
    tasks.work_on_job(job.pk)
    job.refresh_from_db()
    study = job.study
    assert study is not None, job.problems
    launch_study(study)
    address = reverse("admin:evaluation_study_add_items", args=[study.slug])
    assert "Or a map that you saved" in words(client.get(address))
    file = {"file": SimpleUploadedFile("more.csv", delimited(ROWS[3:5])), "against": "all"}
    written = SimpleUploadedFile("map.json", json.dumps(SavedTableMap.objects.get().map).encode())
    both = client.post(address, {**file, "saved_map": "soups", "map": written})
    assert "Choose a file with a map, or a map that you saved, and not both." in words(both)
    file["file"].seek(0)  # type: ignore[attr-defined]  # a file, and no text
    assert client.post(address, {**file, "saved_map": "soups"}).status_code == 302
    assert study.jobs.get(kind="addition").parameters["map"] == SavedTableMap.objects.get().map
    stranger = make_user("stranger")
    study.members.create(user=stranger, role="editor")
    assert "a map that you saved" not in words(signed_in(stranger).get(address))
    assert HEADER[0] in SavedTableMap.objects.get().map["columns"][0]["column"]
