"""Files of other tools on the page of the map: said, read as a plain table on request, and imported with judgments."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.urls import reverse

from evaluation import tasks
from evaluation.models import Job, Judgment, Study
from tests.evaluation.admin.conftest import signed_in
from tests.evaluation.admin.test_mapped_tables import FROM_FILE, confirm, queued, send, words  # noqa: F401 - a fixture
from tests.evaluation.dumps.tables.files import write
from tests.evaluation.dumps.tables.tool_files import (
    FILES,
    LABEL_STUDIO,
    MTURK,
    POTATO_PAIRS,
    ToolFile,
    lines,
    potato,
)

pytestmark = pytest.mark.django_db
LABELLED = {"as-0": "prompt", "as-1": "response", "as-2": "response", "as-3": "winner", "as-4": "reason",
            "as-5": "rater", "as-6": "seconds", "as-7": "judged_at", "system-1": "aspen", "system-2": "birch",
            "per": "item", "header": "on", "raters": "person", "title": "Herbs", "slug": "herbs",
            "protocol": "pairwise"}  # fmt: skip


def test_an_export_is_said_to_be_one_and_comes_in_with_its_judgments(
    owner: Any, django_capture_on_commit_callbacks: Any
) -> None:
    client = signed_in(owner)
    where = send(client, FROM_FILE, LABEL_STUDIO, "export.json")
    shown = words(client.get(where))
    assert "Read as a Label Studio export." in shown
    assert "1 judgment left out: annotations that were cancelled." in shown
    assert "example.org" not in shown
    data = {**LABELLED, "read_as": "label_studio"}
    assert confirm(client, where, data, django_capture_on_commit_callbacks).status_code == 302
    job = Job.objects.get()
    tasks.work_on_job(job.pk)
    study = Study.objects.get()
    assert (study.items.count(), study.table_map["read_as"]) == (2, "label_studio")
    judgments = Judgment.objects.filter(item__study=study)
    preferred = judgments.filter(answers__question="preference").values_list("answers__label", flat=True)
    assert sorted(preferred) == ["r1", "r2"]
    assert not any("@" in str(each.rater) for each in judgments)


def test_the_plain_table_is_one_choice_away_and_shows_no_address_either(owner: Any) -> None:
    client = signed_in(owner)
    where = send(client, FROM_FILE, LABEL_STUDIO, "export.json")
    client.post(where, {**LABELLED, "read_as": "", "show": "1"})
    shown = words(client.get(where))
    assert "Read as" in shown
    assert "Read as a Label Studio export." not in shown
    assert "annotations" in shown
    assert "example.org" not in shown
    client.post(where, {"per": "item", "read_as": "label_studio", "title": "Herbs", "slug": "herbs",
                        "protocol": "pairwise", "show": "1"} | plain_columns(client, where))  # fmt: skip
    assert "Read as a Label Studio export." in words(client.get(where))


def plain_columns(client: Any, where: str) -> dict[str, str]:
    form = client.get(where).context["form"]
    return {name: "ignore" for name in form.fields if name.startswith("as-")}


def test_a_map_that_reads_another_tool_s_file_is_refused_with_a_sentence(owner: Any) -> None:
    client = signed_in(owner)
    send(client, FROM_FILE, LABEL_STUDIO, "export.json")
    labelled = client.get(f"{reverse('admin:evaluation_job_map', args=[Job.objects.get().pk])}?download")
    where = send(client, FROM_FILE, MTURK, "mturk.csv")
    given = SimpleUploadedFile("map.json", labelled.content)
    answer = client.post(where, {"use_map": "1", "map": given})
    assert answer.status_code == 422
    assert "mturk.csv: the map reads it as a Label Studio export, and it is none." in words(answer)


RATED = [
    potato("i1", "n1", "What a day!", mood={"glad": "1"}),
    potato("i1", "n2", "What a day!", mood={"sad": "1"}),
    potato("i2", "n1", "It rains.", mood={"sad": "1"}),
]


def test_a_text_of_potato_that_nothing_divides_says_how_to_go_on(
    owner: Any, tmp_path: Any, django_capture_on_commit_callbacks: Any
) -> None:
    client = signed_in(owner)
    where = send(client, FROM_FILE, lines(RATED), "rated.jsonl")
    shown = words(client.get(where))
    assert "no column is a response" in shown
    assert "choose “response” for 'text', the protocol “A form of your own”" in shown
    roles = {"text": "response", "mood": "label", "instance_id": "key", "user_id": "rater"}
    columns = [each["name"] for each in client.get(where).context["columns"]]
    data = {f"as-{at}": roles.get(column, "ignore") for at, column in enumerate(columns)}
    data |= {"read_as": "potato", "per": "item", "title": "Moods", "slug": "moods", "protocol": "custom"}
    # What a table of judgments asks further comes with their columns.
    client.post(where, {**data, "header": "on", "show": "1"})
    data |= {"header": "on", "raters": "person", "judged_again": ""}
    assert confirm(client, where, data, django_capture_on_commit_callbacks).status_code == 302
    tasks.work_on_job(Job.objects.get().pk)
    labels = Judgment.objects.order_by("item", "rater").values_list("item__key", "answers__label")
    assert [*labels] == [("i1", "glad"), ("i1", "sad"), ("i2", "sad")]
    # And the other way: headings.
    headed = "Prompt: How do I dry {0}?\nResponse 1: Hang the {0}.\nResponse 2: Bake it."
    raw = lines(
        [potato(each, "n1", headed.format(each), better={"Response 2": "1"}) for each in ("mint", "basil")]
    )
    call_command("import_study", str(write(tmp_path / "headed.jsonl", raw)), slug="headed")
    found = Study.objects.get(slug="headed")
    assert found.items.get(key="mint").query.text == "How do I dry mint?"
    assert {*Judgment.objects.filter(study=found).values_list("answers__label", flat=True)} == {"r2"}


def test_pairs_without_a_prompt_come_in_with_their_judgments(tmp_path: Any) -> None:
    call_command("import_study", str(write(tmp_path / "pairs.jsonl", POTATO_PAIRS)), slug="pairs")
    items = Study.objects.get().items.order_by("key")
    assert [(each.query.text, each.responses.get(system__key="A").text) for each in items] == [
        ("", "Hang it."),
        ("", "In a glass."),
    ]
    assert Judgment.objects.count() == 3


@pytest.mark.parametrize("file", FILES, ids=[each.name for each in FILES])
def test_the_command_imports_it_with_its_judgments(file: ToolFile, tmp_path: Any, capsys: Any) -> None:
    call_command("import_study", str(write(tmp_path / file.name, file.raw)), slug="s")
    study = Study.objects.get()
    assert (study.items.count(), Judgment.objects.filter(item__study=study).count()) == (
        file.items,
        file.judgments,
    )
    said = capsys.readouterr().out
    assert "Read as " in said
    for left_out in file.left_out:
        assert left_out in said
