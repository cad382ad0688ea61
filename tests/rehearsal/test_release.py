"""One published format more: registered in one place, it is read by the command."""

import json

import pytest
from django.core.management import CommandError, call_command

from evaluation.dumps.published import RELEASES
from evaluation.dumps.release import PLAIN_ARM, ConversionResult, Release, list_release, study_record
from evaluation.models import Study
from evaluation.registry import EntryRefused
from tests.evaluation.dumps import build

pytestmark = pytest.mark.django_db


def convert(entries):
    converted = ConversionResult(study_record("pairwise", "Soups", render_as="plain"))
    for number, (first, second) in enumerate(entries, 1):
        responses = [{"system": "a", "text": first}, {"system": "b", "text": second}]
        converted.items.append(build.item(number, arm=PLAIN_ARM, responses=responses))
    converted.counted["soups"] = 2 * len(entries)
    return converted


SOUPS = list_release("soups", convert)


def test_the_command_reads_it(tmp_path, capsys):
    (tmp_path / "soups.json").write_text(json.dumps([["Leek", "Pea"], ["Beet", "Corn"]]))
    with RELEASES.registered(SOUPS):
        call_command("import_published", "soups", str(tmp_path / "soups.json"), slug="soups", progress=False)
    assert Study.objects.get(slug="soups").items.count() == 2
    assert "4 soups" in capsys.readouterr().out


def test_an_option_that_it_does_not_know_is_refused(tmp_path):
    (tmp_path / "soups.json").write_text("[]")
    with (
        RELEASES.registered(SOUPS),
        pytest.raises(CommandError, match="the release soups has no option seed"),
    ):
        call_command(
            "import_published", "soups", str(tmp_path / "soups.json"), slug="soups", seed=1, progress=False
        )


def test_a_forgotten_part_is_named():
    with pytest.raises(
        EntryRefused, match=r"The release 'soups' is incomplete: it lacks read \(the function"
    ):
        RELEASES.register(Release("soups", None))
