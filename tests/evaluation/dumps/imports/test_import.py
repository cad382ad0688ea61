"""Imports that are taken or refused, and the place that a refusal names."""

import pytest
from django.core.management import CommandError, call_command

from evaluation.dumps.imports.dump_import import ImportWriter, import_dump
from evaluation.dumps.lines import MAX_LINE, FileSource
from evaluation.models import Import, Item, Query, Response, Study
from evaluation.refusals import Refused
from evaluation.services.studies.launch import launch_study
from evaluation.services.studies.verification import verify_study
from tests.evaluation.dumps.build import (
    ARM,
    context_item,
    header,
    item,
    judgment,
    nothing_left,
    read_in,
    with_judgments,
    write,
)

pytestmark = pytest.mark.django_db


def test_protocol_must_be_named(tmp_path):
    path = write(tmp_path / "dump.jsonl", {"assay": 1, "spec": {"arms": [ARM]}}, item())
    with pytest.raises(Refused, match="neither the line nor --protocol names the protocol"):
        read_in(path)
    assert read_in(path, protocol="pairwise").protocol == "pairwise"


def test_empty_file_and_missing_file(tmp_path):
    path = tmp_path / "dump.jsonl"
    path.write_bytes(b"")
    with pytest.raises(Refused, match=r"dump\.jsonl is empty"):
        read_in(path)
    with pytest.raises(Refused, match="can't be read: No such file"):
        read_in(tmp_path / "none.jsonl")
    with pytest.raises(Refused, match="is not a file"):
        read_in(tmp_path)


def test_mark_blank_lines_and_missing_newline(tmp_path):
    path = write(tmp_path / "dump.jsonl", header(), b"", item(1), b"  \r", item(2))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().rstrip(b"\n"))
    study = read_in(path)
    assert list(study.items.values_list("key", flat=True)) == ["i1", "i2"]


def test_a_long_line_does_not_hide_the_next(tmp_path):
    path = write(tmp_path / "dump.jsonl", header(), b"x" * (2 * MAX_LINE + 5), item(1, arm="nowhere"))
    with pytest.raises(Refused) as refused:
        read_in(path)
    assert [problem.split(":")[0] for problem in refused.value.problems] == ["line 2", "line 3"]


def test_at_most_a_thousand_problems_are_shown(tmp_path):
    path = write(tmp_path / "dump.jsonl", header(), *[item(n, arm=f"arm-{n}") for n in range(1200)])
    with pytest.raises(Refused) as refused:
        read_in(path)
    assert (len(refused.value.problems), refused.value.total) == (1000, 1200)
    with pytest.raises(
        CommandError, match=r"(?s)and 200 more problems.*Nothing was imported: 1,200 problems"
    ):
        call_command("import_study", str(path), slug="soups")


def test_a_quoted_value_is_shortened(tmp_path):
    path = write(tmp_path / "dump.jsonl", header(), item(1, role="x" * 100_000))
    with pytest.raises(Refused) as refused:
        read_in(path)
    assert len(refused.value.problems[0]) < 400


def test_defaults(tmp_path):
    study = read_in(write(tmp_path / "dump.jsonl", header(), context_item(1), item(2)), title="")
    assert (study.title, study.status, study.seed) == ("Soups", "draft", 1)
    assert set(study.texts.values_list("key", flat=True)) >= {"consent", "guideline"}
    assert list(study.questions.values_list("key", flat=True)) == ["satisfied", "preference", "justification"]
    assert set(Response.objects.values_list("key", flat=True)) == {"aspen", "birch", "aspen@c", "birch@c"}
    assert study.created_by_import.state == "running"  # as it was when it began; the row is complete
    assert Import.objects.get().state == Import.State.COMPLETE
    launch_study(study)
    assert not list(verify_study(study))


def test_canonical_order_is_by_system_then_key(tmp_path):
    responses = [{"system": "birch", "text": "b"}, {"system": "aspen", "text": "a"}]
    study = read_in(
        write(tmp_path / "dump.jsonl", header(), item(1, responses=responses, judgments=[judgment()]))
    )
    stimulus = Item.objects.get(study=study).stimulus
    assert [(each["part"], each["system"]) for each in stimulus["responses"]] == [
        ("r1", "aspen"),
        ("r2", "birch"),
    ]


def test_shared_queries_across_batches(tmp_path, settings):
    settings.ASSAY_BATCH_SIZE = 2
    query = {"key": "q", "text": "One for all?"}
    path = write(
        tmp_path / "dump.jsonl",
        header(),
        *[item(n, query=query, responses=item(0)["responses"]) for n in range(7)],
    )
    study = read_in(path)
    assert (Query.objects.count(), Response.objects.count(), study.items.count()) == (1, 2, 7)
    assert list(study.items.values_list("position", flat=True)) == list(range(7))


def test_batches_are_short_and_the_study_stays_invisible(tmp_path, settings, monkeypatch):
    settings.ASSAY_BATCH_SIZE = 3
    sizes, seen = [], []
    write_batch = ImportWriter.write

    def spy(self, batch):
        write_batch(self, batch)
        sizes.append(len(batch))
        seen.append((Study.objects.visible().count(), Study.objects.count()))

    monkeypatch.setattr(ImportWriter, "write", spy)
    read_in(write(tmp_path / "dump.jsonl", header(), *[item(n) for n in range(8)]))
    assert (sizes, set(seen)) == ([3, 3, 2], {(0, 1)})
    assert Study.objects.visible().count() == 1


def test_a_file_with_judgments_is_closed_and_verified(tmp_path):
    lines = [with_judgments(judgment(), judgment("sim", kind="simulated"), number=n) for n in range(4)]
    study = read_in(write(tmp_path / "dump.jsonl", header(), *lines))
    study.refresh_from_db()
    assert (study.status, study.simulated, len(study.study_hash)) == ("closed", True, 64)
    assert sorted(study.items.values_list("start_order", flat=True)) == [0, 0, 1, 1]
    assert not list(verify_study(study))


def test_withdrawn_items_and_empty_responses(tmp_path):
    empty = [{"system": "aspen", "text": ""}, {"system": "birch", "text": "b"}]
    study = read_in(write(tmp_path / "dump.jsonl", header(), item(1, responses=empty, withdrawn=True)))
    assert study.items.get().withdrawn_at is not None


def test_taken_slug_and_wrong_slug(tmp_path):
    path = write(tmp_path / "dump.jsonl", header(), item(1))
    read_in(path)
    with pytest.raises(Refused, match="There is a study 'soups' already"):
        read_in(path)
    with pytest.raises(Refused, match="slug"):
        read_in(path, slug="no slug!")
    assert Study.objects.count() == 1


def test_owner_and_summary(tmp_path, owner, capsys):
    path = write(tmp_path / "dump.jsonl", header(), with_judgments(judgment()))
    call_command("import_study", str(path), slug="soups", protocol="pairwise", owner="owner", title="Broth")
    assert "Imported dump.jsonl as soups (closed): 1 item, 1 judgment, 1 rater." in capsys.readouterr().out
    study = Study.objects.get()
    assert (study.title, study.members.get().user) == ("Broth", owner)
    with pytest.raises(CommandError, match="There is no user 'nobody'"):
        call_command("import_study", str(path), slug="other", owner="nobody")


def test_progress_bar_only_where_it_is_wanted(tmp_path, capsys):
    path = write(tmp_path / "dump.jsonl", header(), item(1))
    call_command("import_study", str(path), slug="a")
    assert capsys.readouterr().err == ""
    call_command("import_study", str(path), slug="b", progress=True)
    shown = capsys.readouterr().err
    assert "checking: 100%" in shown
    assert "writing: 100%" in shown


def test_a_file_that_changes_between_the_readings(tmp_path):
    path = write(tmp_path / "dump.jsonl", header(), item(1), item(2))

    def change(phase, done, total):
        if phase == "checking" and done == total:
            write(path, header(), item(1), item(3))

    with pytest.raises(Refused, match="was changed while it was being read"):
        import_dump(FileSource(path), slug="soups", watch=change)
    assert nothing_left()
