"""Uploaded tables: mapped on a page of their own, imported by that map, kept for a day and for their owners alone."""

import json
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from evaluation import tasks
from evaluation.models import Job, Study
from evaluation.services.jobs import remove_old_files
from tests.evaluation.admin.conftest import signed_in
from tests.evaluation.dumps.tables.files import ROWS, delimited, workbook

pytestmark = pytest.mark.django_db
FROM_FILE = "/new/from-file/"
GUESS = {"as-0": "prompt", "as-1": "response", "as-2": "response", "as-3": "category", "system-1": "A",
         "system-2": "B", "per": "item", "header": "on"}  # fmt: skip


@pytest.fixture(autouse=True)
def queued(monkeypatch: Any) -> list[int]:
    sent: list[int] = []
    monkeypatch.setattr(tasks.work_on_job, "delay", sent.append)
    return sent


def send(client: Any, address: str, raw: bytes, name: str = "Two soups.csv") -> str:
    answer = client.post(address, {"file": SimpleUploadedFile(name, raw)})
    assert answer.status_code == 302, answer.content.decode()
    where: str = answer["Location"]
    return where


def words(answer: Any) -> str:
    return " ".join(answer.content.decode().replace("&#x27;", "'").split())


def confirm(client: Any, where: str, data: dict[str, str], callbacks: Any) -> Any:
    with callbacks(execute=True):
        return client.post(where, {**data, "import": "1"})


def test_a_table_becomes_a_study_by_the_map_that_was_corrected(
    owner: Any, outsider: Any, queued: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    client = signed_in(owner)
    where = send(client, FROM_FILE, delimited(ROWS))
    job = Job.objects.get()
    assert (job.state, queued) == ("staged", [])
    assert client.get(reverse("admin:evaluation_job_watch", args=[job.pk]))["Location"] == where
    page = client.get(where)
    shown = words(page)
    assert "frame-src 'self'" in page["Content-Security-Policy"]
    for said in ('value="Two soups"', 'value="two-soups"', "Read: lines 2 to 60.", f"{where}2/"):
        assert said in shown
    assert f"{where}3/" not in shown
    item = client.get(f"{where}0/")
    assert ROWS[0][0] in words(item)
    assert "Leek soup, 1 litres" in words(item)
    assert item["X-Frame-Options"] == "SAMEORIGIN"
    assert client.get(f"{where}3/").status_code == 404
    # Whose upload it is, maps it.
    assert signed_in(outsider).get(where).status_code == 404

    swapped = {**GUESS, "system-1": "aspen", "title": "Soups", "slug": "soups", "protocol": "pairwise"}
    assert client.post(where, {**swapped, "show": "1"})["Location"] == where
    assert 'value="aspen"' in words(client.get(where))
    assert '"system": "aspen"' in client.get(f"{where}?download").content.decode()
    assert confirm(client, where, swapped, django_capture_on_commit_callbacks).status_code == 302
    assert queued == [job.pk]
    assert client.get(where).status_code == 404
    tasks.work_on_job(job.pk)
    study = Study.objects.get()
    assert (study.slug, study.title, study.items.count()) == ("soups", "Soups", 30)
    assert set(study.systems.values_list("key", flat=True)) == {"aspen", "B"}
    assert study.table_map["columns"][1] == {"column": "response_a", "as": "response", "system": "aspen"}


def test_the_draft_s_next_table_is_read_by_the_map_of_the_last(
    editors_draft: Any, colleague: Any, viewer: Any, django_capture_on_commit_callbacks: Any
) -> None:
    client = signed_in(colleague)
    address = reverse("admin:evaluation_study_upload", args=[editors_draft.slug])
    odd = ("a", "b", "c", "d")
    where = send(client, address, workbook([odd, *[(b, p, a, t) for p, a, b, t in ROWS]]), "odd.xlsx")
    assert signed_in(viewer).get(where).status_code == 403
    right = {"as-0": "response", "as-1": "prompt", "as-2": "response", "as-3": "ignore", "system-0": "birch",
             "system-2": "aspen", "per": "item", "header": "on", "arm": ""}  # fmt: skip
    wrong = confirm(client, where, {**right, "as-1": "ignore"}, django_capture_on_commit_callbacks)
    assert wrong.status_code == 422
    assert "rows 2 to 31" in words(wrong)
    assert "no column is the prompt. Its columns are 'a', 'b', 'c', 'd'." in words(wrong)
    confirm(client, where, right, django_capture_on_commit_callbacks)
    job = Job.objects.get()
    tasks.work_on_job(job.pk)
    job.refresh_from_db()
    assert job.message == "30 items are in the draft.", job.problems
    assert editors_draft.items.get(key="1").query.text == ROWS[0][0]

    answer = client.post(address, {"pasted": "a\tb\tc\td\nTwo is it\tWhich?\tOne is it\tx\n"})
    assert 'value="birch"' in words(client.get(answer["Location"]))
    [kept] = [each for each in Job.objects.all() if each.state == "staged"]
    assert client.post(answer["Location"], {"discard": "1"})["Location"] == address
    assert not Job.objects.filter(pk=kept.pk).exists()
    assert not kept.path.exists()


def test_an_import_that_failed_leads_back_to_its_map(
    owner: Any, queued: list[int], monkeypatch: Any, django_capture_on_commit_callbacks: Any
) -> None:
    """The page checks the first rows alone, so the worker may find more."""
    for module in ("admin.tables.mapping", "admin.tables.staging", "dumps.tables.staged_table"):
        monkeypatch.setattr(f"evaluation.{module}.ROWS", 5)
    client = signed_in(owner)
    rows = [*ROWS[:10], *[(p, a, "", t) for p, a, _, t in ROWS[10:]]]
    where = send(client, FROM_FILE, delimited(rows))
    names = {"title": "Soups", "slug": "soups", "protocol": "pairwise"}
    assert "The first 5 rows were checked" in words(client.get(where))
    confirm(client, where, {**GUESS, **names}, django_capture_on_commit_callbacks)
    tasks.work_on_job(queued[0])
    page = words(client.get(reverse("admin:evaluation_job_watch", args=[queued[0]])))
    assert "Nothing was imported. 1 error found." in page
    assert '<th scope="row">line 22 to 41</th><td>the cell in column ' in page
    assert where in page
    confirm(client, where, {**GUESS, **names, "keep_empty": "on"}, django_capture_on_commit_callbacks)
    tasks.work_on_job(queued[1])
    assert Study.objects.get().items.count() == 30


def test_a_table_that_nobody_maps_is_deleted_after_a_day(owner: Any, settings: Any) -> None:
    client = signed_in(owner)
    send(client, FROM_FILE, delimited(ROWS))
    assert remove_old_files() == 0
    Job.objects.update(created_at=timezone.now() - timedelta(days=2))
    assert remove_old_files() == 1
    assert not Job.objects.exists()
    assert not list(Path(settings.ASSAY_JOB_FILES).iterdir())


def test_a_template_has_the_columns_of_the_study(editors_draft: Any, viewer: Any, outsider: Any) -> None:
    address = reverse("admin:evaluation_study_template", args=[editors_draft.slug])
    answer = signed_in(viewer).get(address)
    first = answer.content.decode("utf-8-sig").splitlines()[0]
    assert first.startswith("key,prompt,context,response: ")
    assert signed_in(viewer).get(f"{address}?format=xlsx").content.startswith(b"PK")
    assert signed_in(viewer).get(f"{address}?format=doc").status_code == 404
    assert signed_in(outsider).get(address).status_code == 404


def test_a_map_that_was_written_down_is_taken_from_its_file(owner: Any) -> None:
    client = signed_in(owner)
    where = send(client, FROM_FILE, delimited(ROWS))
    written = json.loads(client.get(f"{where}?download").content)

    def use(value: Any) -> Any:
        file = SimpleUploadedFile("map.json", json.dumps(value).encode())
        return client.post(where, {"use_map": "1", "map": file})

    written["columns"][1]["system"] = "aspen"
    assert use(written).status_code == 302
    assert Job.objects.get().parameters["map"]["columns"][1]["system"] == "aspen"
    assert 'value="aspen"' in words(client.get(where))
    written["columns"][0]["column"] = "nowhere"
    refused = use(written)
    assert refused.status_code == 422
    assert "The table has no column 'nowhere' (prompt), which this map names." in words(refused)
    assert "This field is required." in words(client.post(where, {"use_map": "1"}))
    assert 'value="aspen"' in words(client.get(where))


def test_a_zip_whose_images_are_missing_is_refused_with_how_many_more(owner: Any, tmp_path: Path) -> None:
    rows = [(f"What is in picture {n}?", f"![](pic{n}.png)", "A dog.") for n in range(9)]
    path = tmp_path / "drawn.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("drawn.csv", delimited(rows, ("prompt", "response_a", "response_b")))
        archive.writestr("other.png", b"\x89PNG\r\n\x1a\n")
    answer = signed_in(owner).post(FROM_FILE, {"file": SimpleUploadedFile("drawn.zip", path.read_bytes())})
    assert answer.status_code == 422
    assert "there is no image 'pic4.png' in the ZIP" in words(answer)
    assert "pic5.png" not in words(answer)
    assert "And 4 more. Nothing was imported." in words(answer)
    assert not Job.objects.exists()


MATHS = [
    (r"Solve \(x=1\)", "Half: $x^2$", r"\\(x\\) is it", "sums"),
    ("How much?", "From $5 to $9", "Ten", "money"),
]


def test_the_map_says_what_is_shown_as_mathematics_and_one_click_turns_it(
    owner: Any, django_capture_on_commit_callbacks: Any
) -> None:
    client = signed_in(owner)
    where = send(client, FROM_FILE, delimited(MATHS))
    page = words(client.get(where))
    assert "1 text holds $…$, which will be shown as written." in page
    assert r"2 texts hold \(…\), \[…\] or $$…$$, which will be shown as mathematics." in page
    assert "$x^2$" in words(client.get(f"{where}0/"))
    sent = {**GUESS, "system-1": "aspen", "title": "Sums", "slug": "sums", "protocol": "pairwise"}
    assert client.post(where, {**sent, "dollars": "1"})["Location"] == where
    assert client.post(where, {**sent, "delimited": "0"})["Location"] == where
    page = words(client.get(where))
    assert "1 text holds $…$, which will be shown as mathematics." in page
    assert "Show $…$ as written" in page
    assert r"2 texts hold \(…\), \[…\] or $$…$$, which will be shown as written." in page
    assert 'value="aspen"' in page, "what was corrected meanwhile is kept"
    assert "<msup>" in words(client.get(f"{where}0/"))
    confirm(client, where, sent, django_capture_on_commit_callbacks)
    tasks.work_on_job(Job.objects.get().pk)
    study = Study.objects.get()
    assert (study.single_dollars, study.written_formulas) == (True, True)


def test_the_click_turns_the_draft_that_the_table_is_for(editors_draft: Any, colleague: Any) -> None:
    client = signed_in(colleague)
    address = reverse("admin:evaluation_study_upload", args=[editors_draft.slug])
    where = send(client, address, delimited(MATHS))
    turned = {**GUESS, "system-1": "aspen", "system-2": "birch", "arm": ""}
    for value, shown in (("1", True), ("0", False)):
        client.post(where, {**turned, "dollars": value})
        editors_draft.refresh_from_db()
        assert editors_draft.single_dollars is shown
        assert ("shown as written" in words(client.get(where))) is not shown
    for value, written in (("0", True), ("1", False)):
        client.post(where, {**turned, "delimited": value})
        editors_draft.refresh_from_db()
        assert editors_draft.written_formulas is written
    Study.objects.filter(pk=editors_draft.pk).update(render_as="plain")
    page = words(client.get(where))
    assert page.count("which will be shown as written.") == 2
    assert "as mathematics" not in page


VOTES = [
    ("How do I dry mint?", "Hang it.", "Bake it.", worker, vote)
    for worker, vote in (("A1", "A"), ("A2", "tie"))
]
VOTED = {"as-0": "prompt", "as-1": "response", "as-2": "response", "as-3": "rater", "as-4": "winner", "system-1": "A",
         "system-2": "B", "per": "item", "header": "on", "raters": "person"}  # fmt: skip


def test_a_table_of_votes_becomes_a_closed_study(
    owner: Any, queued: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    client = signed_in(owner)
    header = ("prompt", "response_a", "response_b", "WorkerId", "winner")
    where = send(client, FROM_FILE, delimited(VOTES, header), "votes.csv")
    shown = words(client.get(where))
    for said in ("2 judgments by 2 raters.", "it has its report, and takes no participants",
                 "Raters are numbered as they come, as “rater 1”: column 'WorkerId'",
                 '<option value="winner" selected>preferred response</option>',
                 '<option value="rater" selected>rater</option>',
                 '<option value="person" selected>people</option>'):  # fmt: skip
        assert said in shown
    # A vote that can't be read stands among what is wrong, with its line, and nothing is imported.
    names = {"title": "Votes", "slug": "votes", "protocol": "pairwise"}
    wrong = confirm(
        client,
        where,
        {**VOTED, **names, "as-3": "winner", "as-4": "ignore"},
        django_capture_on_commit_callbacks,
    )
    assert wrong.status_code == 422
    assert "the cell in column 'WorkerId' is 'A1', which names no response of the row." in words(wrong)
    confirm(client, where, {**VOTED, **names, "raters": "judge"}, django_capture_on_commit_callbacks)
    tasks.work_on_job(queued[0])
    study = Study.objects.get()
    assert (study.status, study.items.count()) == ("closed", 1)
    assert [(each.pseudonym, each.kind) for each in study.raters.order_by("pk")] == [
        ("rater 1", "judge"),
        ("rater 2", "judge"),
    ]
    assert study.table_map["raters"] == "judge"
    assert "1 item and 2 judgments" in Job.objects.get().message


def test_votes_can_t_come_into_a_draft(editors_draft: Any, colleague: Any) -> None:
    client = signed_in(colleague)
    address = reverse("admin:evaluation_study_upload", args=[editors_draft.slug])
    header = ("prompt", "response_a", "response_b", "WorkerId", "winner")
    where = send(client, address, delimited(VOTES, header), "votes.csv")
    refused = (
        "column 'winner' is the preferred response: items for a study that is there can't bring judgments"
    )
    assert refused in words(client.get(where))
    left_out = {**VOTED, "as-3": "ignore", "as-4": "ignore", "arm": "", "show": "1"}
    assert client.post(where, left_out).status_code == 302
    assert refused not in words(client.get(where))


def test_a_table_is_imported_without_its_bad_rows_which_come_back(
    owner: Any, outsider: Any, queued: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    client = signed_in(owner)
    rows = [(p, a, "" if n in (3, 5) else b, t) for n, (p, a, b, t) in enumerate(ROWS)]
    where = send(client, FROM_FILE, delimited(rows))
    page = words(client.get(where))
    assert "Import without these 2 rows" in page
    sent = {**GUESS, "title": "Soups", "slug": "soups", "protocol": "pairwise"}
    refused = confirm(client, where, sent, django_capture_on_commit_callbacks)
    assert refused.status_code == 422
    assert (queued, Study.objects.count()) == ([], 0)
    with django_capture_on_commit_callbacks(execute=True):
        assert client.post(where, {**sent, "skip": "1"}).status_code == 302
    tasks.work_on_job(queued[0])
    job = Job.objects.get()
    assert job.message == "Soups was created with 28 items. 2 rows were left out.", job.problems
    assert job.study.items.count() == 28
    address = reverse("admin:evaluation_job_left_out", args=[job.pk])
    assert address in words(client.get(reverse("admin:evaluation_job_watch", args=[job.pk])))
    answer = client.get(address)
    assert answer["Content-Disposition"] == 'attachment; filename="Two soups-left-out.csv"'
    lines = b"".join(answer.streaming_content).decode("utf-8-sig").splitlines()
    assert lines[0] == "left out because,row in the file,prompt,response_a,response_b,topic"
    assert lines[1].startswith("the cell in column 'response_b' is empty,8,Which soup number 4?,")
    assert len(lines) == 3
    assert signed_in(outsider).get(address).status_code == 404
    # It is deleted as the upload is.
    for path in Path(job.path).parent.iterdir():
        path.unlink()
    assert client.get(address).status_code == 404


def test_bad_rows_that_the_worker_found_can_be_left_out_then(
    owner: Any, queued: list[int], monkeypatch: Any, django_capture_on_commit_callbacks: Any
) -> None:
    for module in ("admin.tables.mapping", "admin.tables.staging", "dumps.tables.staged_table"):
        monkeypatch.setattr(f"evaluation.{module}.ROWS", 5)
    client = signed_in(owner)
    where = send(client, FROM_FILE, delimited([*ROWS[:10], ("Which?", "One", "", "food")]))
    sent = {**GUESS, "title": "Soups", "slug": "soups", "protocol": "pairwise"}
    assert "Import without" not in words(client.get(where))
    confirm(client, where, sent, django_capture_on_commit_callbacks)
    tasks.work_on_job(queued[0])
    assert "Import without the rows that have errors" in words(client.get(where))
    with django_capture_on_commit_callbacks(execute=True):
        client.post(where, {**sent, "skip": "1"})
    tasks.work_on_job(queued[1])
    assert Job.objects.get().message == "Soups was created with 10 items. 1 row was left out."


def test_a_draft_s_items_come_without_the_bad_rows(
    editors_draft: Any, colleague: Any, queued: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    client = signed_in(colleague)
    address = reverse("admin:evaluation_study_upload", args=[editors_draft.slug])
    where = send(client, address, delimited([*ROWS[:4], ("", "One", "Two", "food")]))
    assert "Import without this row" in words(client.get(where))
    with django_capture_on_commit_callbacks(execute=True):
        client.post(where, {**GUESS, "arm": "", "skip": "1"})
    tasks.work_on_job(queued[0])
    job = Job.objects.get()
    assert job.message == "4 items are in the draft. 1 row was left out.", job.problems


def test_the_map_says_at_its_top_what_is_not_used_and_what_is_odd(owner: Any) -> None:
    client = signed_in(owner)
    rows = [(p, a, b, f"{t} ", f"We found number {n} a hard one") for n, (p, a, b, t) in enumerate(ROWS)]
    rows.append((ROWS[0][0], "N/A", "<b>n/a</b>", "Food", "We found this a hard one"))
    where = send(
        client, FROM_FILE, delimited(rows, ("prompt", "response_a", "response_b", "topic", "<i>remarks</i>"))
    )
    shown = words(client.get(where))
    top = shown.index("A column of texts or votes is not used.")
    assert top < shown.index("What each column is")
    assert "<b>&lt;i&gt;remarks&lt;/i&gt;</b>: neither its name nor its content tells what it is" in shown
    said = shown.index("Before you import it")
    assert shown.index("What each column is") < said < shown.index('name="import"')
    assert "line 62: the text in column 'response_a' is 'N/A'" in shown
    assert "line 62: the prompt comes again beside another category" in shown
    assert "line 62: the category 'Food' differs from 'food' only by case" in shown
    # Without oddities there is no word of them.
    plain = words(client.get(send(client, FROM_FILE, delimited(ROWS))))
    assert "not used." not in plain
    assert "Before you import it" not in plain
