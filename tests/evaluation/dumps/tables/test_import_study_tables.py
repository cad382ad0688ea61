"""`manage.py import_study` with a table: it says what it guessed, writes the map down, and takes it again."""

import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from evaluation.models import Study
from evaluation.services.table_maps import save_table_map
from tests.evaluation.admin.conftest import make_user
from tests.evaluation.dumps.tables.files import HEADER, ROWS, delimited, write

pytestmark = pytest.mark.django_db


def test_a_csv_of_pairs_becomes_a_study_and_its_map_is_kept(tmp_path: Any, capsys: Any) -> None:
    path = write(tmp_path / "pairs.csv", delimited(ROWS, separator=";"))
    kept = tmp_path / "map.json"
    call_command("import_study", str(path), slug="soups", protocol="pairwise", save_map=kept)
    said = capsys.readouterr().out
    for words in ("separated by semicolons", "prompt: 'prompt'", "response of A: 'response_a'",
                  "response of B: 'response_b'", "category: 'topic'", "Each line is an item"):  # fmt: skip
        assert words in said
    study = Study.objects.get(slug="soups")
    assert (study.status, study.title, study.items.count()) == ("draft", "Pairs", 30)
    assert set(study.systems.values_list("key", flat=True)) == {"A", "B"}
    query = study.items.get(key="1").query
    assert (query.text, query.category) == (ROWS[0][0], "food")
    assert study.table_map == json.loads(kept.read_text())

    # Corrected, the map decides.
    corrected = study.table_map
    corrected["columns"][1]["system"] = "aspen"
    kept.write_text(json.dumps(corrected))
    call_command("import_study", str(path), slug="again", map=kept, title="Soups again")
    assert "by the map" in capsys.readouterr().out
    assert set(Study.objects.get(slug="again").systems.values_list("key", flat=True)) == {"aspen", "B"}


def test_a_foreign_table_is_refused_as_a_whole(tmp_path: Any) -> None:
    path = write(tmp_path / "scores.csv", delimited([(n, 1, 2) for n in range(30)], ("id", "x", "y")))
    with pytest.raises(CommandError) as refused:
        call_command("import_study", str(path), slug="soups", protocol="pairwise")
    assert str(refused.value) == (
        "lines 2 to 31: no column is the prompt, and none is a response. Its columns are 'id', 'x', 'y'.\n"
        "Nothing was imported: 1 problem."
    )
    bad = write(tmp_path / "map.json", b"{")
    with pytest.raises(CommandError, match=r"map\.json is not JSON"):
        call_command(
            "import_study", str(write(tmp_path / "p.csv", delimited(ROWS, HEADER))), slug="s", map=bad
        )
    assert not Study.objects.exists()


def test_a_saved_map_is_given_by_its_name(tmp_path: Any, capsys: Any) -> None:
    ada, bob = make_user("ada"), make_user("bob")
    path = write(tmp_path / "odd.csv", delimited(ROWS[:2], ("was", "wohl", "weh", "wo")))
    columns = [{"column": "was", "as": "prompt"}, {"column": "wohl", "as": "response", "system": "aspen"},
               {"column": "weh", "as": "response", "system": "birch"}]  # fmt: skip
    save_table_map(ada, name="odd pairs", table_map={"map": 1, "columns": columns})
    call_command("import_study", str(path), slug="soups", map="odd pairs", yes=True)
    assert "Columns, by the map:" in capsys.readouterr().out
    assert set(Study.objects.get().systems.values_list("key", flat=True)) == {"aspen", "birch"}
    call_command("import_queries", str(path), slug="queries", map=" odd   pairs", owner="ada")
    assert Study.objects.get(slug="queries").queries.count() == 2

    with pytest.raises(CommandError, match=r"no saved map of that name of bob\. No map is saved\."):
        call_command("import_study", str(path), slug="s", map="odd pairs", owner="bob")
    with pytest.raises(CommandError, match=r"There is no file 'even', .* Saved maps: 'odd pairs'\."):
        call_command("import_study", str(path), slug="s", map="even")
    with pytest.raises(CommandError, match="There is no file 'xxx"):
        call_command("import_study", str(path), slug="s", map="x" * 300)
    other = [columns[0], {**columns[1], "system": "elm"}, columns[2]]
    save_table_map(bob, name="odd pairs", table_map={"map": 1, "columns": other})
    with pytest.raises(CommandError, match="Several people saved a map as 'odd pairs': ada, bob"):
        call_command("import_study", str(path), slug="s", map="odd pairs")
    call_command("import_study", str(path), slug="elms", map="odd pairs", owner="bob", yes=True)
    assert Study.objects.get(slug="elms").systems.filter(key="elm").exists()
