"""Items that a running study gets from a table: by its own map, after its own numbers, on its own queries."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse

from evaluation.models import Study, StudyMember
from evaluation.services.studies.launch import launch_study
from evaluation.tasks import work_on_job
from tests.evaluation.admin.conftest import make_user, signed_in
from tests.evaluation.dumps.tables.files import HEADER, ROWS, delimited, write

pytestmark = pytest.mark.django_db
MORE = [
    ("Which stew is quick?", "Bean stew.", "Fish stew.", "food"),
    (ROWS[0][0], "Leek soup again.", "Pea soup again.", "food"),
]


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """Live, made from a table whose systems were named in its map."""
    path = write(tmp_path / "pairs.csv", delimited(ROWS[:3]))
    make_user("ada")
    call_command("import_study", str(path), slug="soups", protocol="pairwise", owner="ada", stdout=StringIO())
    study = Study.objects.get()
    launch_study(study)
    return study


def run(path: Path, *args: Any) -> str:
    out = StringIO()
    call_command("add_items", "soups", str(path), "--yes", *args, stdout=out)
    return out.getvalue()


def test_a_table_goes_on_where_the_study_ends(study: Study, tmp_path: Path) -> None:
    said = run(write(tmp_path / "more.csv", delimited(MORE[:1])))
    assert "response of A: 'response_a'" in said
    assert "1 item on 1 query. New queries: 1." in said
    assert "New systems: none. New responses: 2." in said
    assert "Added 1 item as revision 2." in said
    assert sorted(study.items.values_list("key", flat=True)) == ["1", "2", "3", "4"]


def test_the_same_prompt_is_the_query_that_is_there(study: Study, tmp_path: Path) -> None:
    kept = tmp_path / "map.json"
    columns = [{"column": name, "as": "response", "system": system}
               for name, system in (("response_a", "cedar"), ("response_b", "dogwood"))]  # fmt: skip
    columns += [{"column": "prompt", "as": "prompt"}, {"column": "topic", "as": "category"}]
    kept.write_text(json.dumps({"map": 1, "columns": columns}))
    said = run(write(tmp_path / "more.csv", delimited(MORE[1:])), "--map", kept)
    assert "Columns, by the map:" in said
    assert "1 item on 1 query. New queries: 0." in said
    assert "New systems: cedar, dogwood." in said
    assert study.items.get(key="4").query.key == "1"


def test_a_study_of_a_tool_s_file_gets_more_from_another_and_from_plain_tables(tmp_path: Path) -> None:
    header = ("id", "model_a", "model_b", "prompt", "response_a", "response_b")
    rows = [(n, "aspen", "birch", f'["Which {n}?", "Why?"]', '["This.", "So."]', '["That.", "Thus."]')
            for n in (11, 12, 13)]  # fmt: skip
    make_user("ada")
    path = write(tmp_path / "pairs.csv", delimited(rows[:2], header))
    call_command("import_study", str(path), slug="soups", owner="ada", stdout=StringIO())
    made = Study.objects.get()
    launch_study(made)
    said = run(write(tmp_path / "more.csv", delimited(rows[2:], header)))
    assert "Read as an LMSYS file of pairs." in said
    assert "Columns, by the map:" in said
    assert made.items.get(key="13").query.turns[1]["text"] == "Why?"
    plain = ("prompt", "model_a", "response_a", "model_b", "response_b")
    said = run(write(tmp_path / "plain.csv", delimited([("Who?", "aspen", "He.", "birch", "She.")], plain)))
    assert "Read as" not in said
    assert "Added 1 item as revision 3." in said


def test_other_responses_of_the_same_systems_are_refused(study: Study, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="Nothing was added"):
        run(write(tmp_path / "more.csv", delimited(MORE[1:])))
    assert study.items.count() == 3


def test_a_question_of_another_asker_is_added_with_its_answers(tmp_path: Path) -> None:
    header = (*HEADER, "information_need", "clarifying_question", "clarifying_source")
    asked = [(*ROWS[0], "A soup.", "For how many?", "human"), (*ROWS[1], "A soup.", "With fish?", "human")]
    path = write(tmp_path / "asked.csv", delimited(asked, header))
    call_command("import_study", str(path), slug="soups", protocol="answer_pairs", stdout=StringIO())
    study = Study.objects.get()
    launch_study(study)
    other = (ROWS[0][0], "No leek.", "No pea.", "food", "A soup.", "With meat?", "oak")
    said = run(write(tmp_path / "other.csv", delimited([other], header)))
    assert "1 item on 1 query. New queries: 0." in said
    item = study.items.get(clarifying_source="oak")
    assert item.query.key == "1"
    assert sorted(item.responses.values_list("key", "text")) == [("A?2", "No leek."), ("B?2", "No pea.")]


def test_the_page_says_what_each_column_is_and_takes_a_map(
    study: Study, tmp_path: Path, settings: Any
) -> None:
    settings.ASSAY_JOB_FILES = str(tmp_path / "jobs")
    client = signed_in(study.members.get().user)
    address = reverse("admin:evaluation_study_add_items", args=[study.slug])
    header = ("wohl", "weh", "was", "wo", "warum")
    rows = [(*MORE[0], "We came upon this one in May.")]

    def send(**more: Any) -> Any:
        file = SimpleUploadedFile("more.csv", delimited(rows, header))
        return client.post(address, {"file": file, "against": "all", **more})

    def as_file(value: Any) -> Any:
        return SimpleUploadedFile(
            "map.json", value if isinstance(value, bytes) else json.dumps(value).encode()
        )

    uses = zip(header[:4], ("prompt", "response", "response", "category"), ("", "A", "B", ""), strict=True)
    columns = [{"column": column, "as": role, "system": system} for column, role, system in uses]
    for wrong, reason in ((b"{", "This is not JSON"), ({"columns": []}, "The map: ")):
        refused = send(map=as_file(wrong))
        assert refused.status_code == 422
        assert reason in refused.content.decode()
    sent = send(map=as_file({"map": 1, "columns": columns}))
    job = study.jobs.get()
    work_on_job(job.pk)
    shown = client.get(sent["Location"])
    unused = "column &#x27;warum&#x27; holds texts that are not used: the map does not use it"
    for words in ("response of A: &#x27;weh&#x27;", "New systems: none.", "Which stew is quick?", unused):
        assert words in shown.content.decode()
    assert study.items.count() == 3
    confirm = reverse("admin:evaluation_job_confirm", args=[job.pk])
    looking = make_user("looking")
    StudyMember.objects.create(study=study, user=looking, role="viewer")
    assert "Add the items" not in signed_in(looking).get(sent["Location"]).content.decode()
    assert signed_in(looking).post(confirm).status_code == 403
    client.post(confirm)
    work_on_job(job.pk)
    done = client.get(sent["Location"])
    assert "Added 1 item as revision 2." in done.content.decode()
    again = client.post(confirm, follow=True)
    assert "This was confirmed already." in again.content.decode()
    assert study.items.count() == 4


def test_a_study_s_map_that_does_not_fit_gives_way_to_a_guess(study: Study, tmp_path: Path) -> None:
    header = ("Frage", "Antwort A", "Antwort B", HEADER[3])
    said = run(write(tmp_path / "mehr.csv", delimited(MORE[:1], header)))
    assert "Columns, by a guess" in said
    assert "Added 1 item as revision 2." in said


def test_rows_with_errors_are_left_out_where_it_is_told(study: Study, tmp_path: Path) -> None:
    wrong = [MORE[0], ("", "An answer.", "Another one.", "food")]
    path, left_out = write(tmp_path / "more.csv", delimited(wrong)), tmp_path / "left.csv"
    with pytest.raises(CommandError, match="line 3: the cell in column 'prompt' is empty"):
        run(path)
    said = run(path, "--skip-bad-rows", left_out)
    assert f"1 row is left out, with the reasons in {left_out}." in said
    assert "Added 1 item as revision 2." in said
    assert "Another one." in left_out.read_text("utf-8-sig")
    assert study.items.count() == 4
