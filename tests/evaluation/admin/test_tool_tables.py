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
from tests.evaluation.dumps.tables.tool_files import FILES, LABEL_STUDIO, MTURK, ToolFile

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
