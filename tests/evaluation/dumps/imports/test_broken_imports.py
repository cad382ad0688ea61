"""Imports that are interrupted leave nothing behind; those that are killed can be cleaned up."""

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError

from evaluation.dumps.imports import dump_import
from evaluation.dumps.imports.dump_import import ImportWriter
from evaluation.models import Query, Response, Study, System
from evaluation.refusals import Refused
from tests.evaluation.dumps.build import header, item, judgment, nothing_left, read_in, write

pytestmark = pytest.mark.django_db


@pytest.fixture
def dump(tmp_path, settings):
    settings.ASSAY_BATCH_SIZE = 2
    excluded = {"scope": "judgment", "reason": "Distracted"}
    items = [item(n, judgments=[judgment(), judgment("bo", excluded=excluded)]) for n in range(7)]
    return write(tmp_path / "dump.jsonl", header(), *items)


def break_third_batch(monkeypatch, error):
    write_batch, batches = ImportWriter.write, []

    def breaking(self, batch):
        batches.append(batch)
        if len(batches) == 3:
            raise error
        write_batch(self, batch)

    monkeypatch.setattr(ImportWriter, "write", breaking)


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), DatabaseError("disk full"), MemoryError(), SystemExit(1)]
)
def test_interrupted(error, dump, monkeypatch):
    with monkeypatch.context() as patched:
        break_third_batch(patched, error)
        with pytest.raises(type(error)):
            read_in(dump)
    assert nothing_left()
    assert not any(table.objects.exists() for table in (Query, Response, System))
    assert read_in(dump).items.count() == 7


def test_interrupted_at_the_very_end(dump, monkeypatch):
    def interrupted(study, **named):
        raise KeyboardInterrupt

    monkeypatch.setattr(dump_import, "finish_import", interrupted)
    with pytest.raises(KeyboardInterrupt):
        read_in(dump)
    assert nothing_left()


@pytest.fixture
def killed(dump, monkeypatch):
    """The remains of a process that had no time to clean up."""
    with monkeypatch.context() as patched:
        patched.setattr(dump_import, "_discard", lambda study, interrupted: None)
        break_third_batch(patched, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            read_in(dump)
    assert Study.objects.get().items.count() == 4
    return dump


def test_leftover_is_invisible_and_named(killed):
    assert not Study.objects.visible().exists()
    with pytest.raises(Refused, match=r"has not finished.*--replace-broken"):
        read_in(killed)
    with pytest.raises(CommandError, match="There is no study 'soups'"):
        call_command("export", "soups", out="-")
    assert Study.objects.get().items.count() == 4


def test_leftover_is_replaced(killed):
    call_command("import_study", str(killed), slug="soups", replace_broken=True)
    study = Study.objects.visible().get()
    assert (study.items.count(), study.judgments.count(), study.exclusions.count()) == (7, 14, 7)


def test_cleaning_up_that_fails_is_said(dump, monkeypatch):
    def failing(study):
        raise DatabaseError("gone")

    break_third_batch(monkeypatch, ValueError("broken"))
    monkeypatch.setattr(dump_import, "discard_import", failing)
    monkeypatch.setattr(dump_import, "give_up_import", failing)
    with pytest.raises(ValueError, match="broken") as raised:
        read_in(dump)
    assert "--replace-broken" in raised.value.__notes__[0]


def test_replace_broken_never_touches_a_complete_study(dump):
    study = read_in(dump)
    with pytest.raises(Refused, match="already"):
        read_in(dump, replace_broken=True)
    assert Study.objects.visible().get() == study
