"""manage.py verify says what does not hold and fails, or says what it checked."""

import pytest
from django.core.management import CommandError, call_command

from evaluation.models import Item
from tests.evaluation.dumps.build import header, item, judgment, read_in, write

pytestmark = pytest.mark.django_db


@pytest.fixture
def soups(tmp_path):
    return read_in(write(tmp_path / "dump.jsonl", header(), item(1, judgments=[judgment()]), item(2)))


def test_all_is_well(soups, capsys):
    call_command("verify", "soups")
    printed = capsys.readouterr().out
    assert printed.startswith("soups: all is well. Checked the hashes of 1 revision and 2 items")
    assert "and 1 judgment" in printed


def test_a_tampered_stimulus_is_found(soups, capsys):
    row = Item.objects.get(key="i2")
    row.stimulus["responses"][0]["text"] = "Onion"
    row.save()
    with pytest.raises(CommandError, match="1 check failed"):
        call_command("verify", "soups")
    assert capsys.readouterr().out == "Item i2: the stimulus was changed after it was frozen.\n"


def test_a_draft_has_nothing_to_check(tmp_path, capsys):
    read_in(write(tmp_path / "dump.jsonl", header(), item(1)), slug="draft")
    call_command("verify", "draft")
    assert "draft is a draft" in capsys.readouterr().out


def test_unknown_study():
    with pytest.raises(CommandError, match="There is no study 'stew'"):
        call_command("verify", "stew")
