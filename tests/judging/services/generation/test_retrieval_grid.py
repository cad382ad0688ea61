"""The grid of nDCG: queries alone and with clarifying questions and answers, beside TREC runs of other systems."""

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from tests.judging.retrieving import retrieval_study


@pytest.fixture
def study(db, tmp_path, settings):
    settings.ASSAY_CORPORA = str(tmp_path)
    return retrieval_study(tmp_path)


def grid(*args, capsys):
    call_command("generate", "ulm", "--qrels", "ulm.qrels", *args)
    lines = capsys.readouterr().out.splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    return {name: [value.split(" ")[0] for value in values] for name, *values in cells}


def test_answers_that_say_what_was_meant_find_more(study, capsys):
    found = grid("--corpus", "ulm.jsonl", "--trec", "other.run", capsys=capsys)
    assert found["searched for"] == ["rankings", "nDCG@1", "nDCG@5", "nDCG@10"]
    of_ant = [float(each) for each in found["query + question + answer of ant"]]
    assert of_ant[:2] == [2, 1]
    assert of_ant[2] > 0.9
    of_bee = [float(each) for each in found["query + question + answer of bee"]]
    assert of_bee[1] == 0.5
    assert 0.5 < of_bee[2] < 1
    assert float(found["query"][1]) <= 0.5
    # By hand: the first topic is in its best order; of the second the only relevant document is second.
    assert found["other.run"] == ["2", "0.500", "0.815", "0.815"]


def test_what_is_wrong_with_a_file_is_said(study, tmp_path, capsys):
    (tmp_path / "short.run").write_text("t1 Q0 d3 1 9.5\n")
    (tmp_path / "words.run").write_text("t1 Q0 d3 1 nan other\n")
    (tmp_path / "empty.run").write_text("\n")
    (tmp_path / "latin.run").write_bytes(b"\xe9")
    for args, said in (
        ((), "Name a corpus"),
        (("--trec", "short.run"), "line 1: 6 columns are needed, and 5"),
        (("--trec", "words.run"), "'nan' is no number"),
        (("--trec", "empty.run"), "is empty"),
        (("--trec", "latin.run"), "can't be read as UTF-8"),
        (("--trec", "../other.run"), "not inside the folder"),
        (("--corpus", "ulm.qrels"), "line 1: it is no JSON"),
    ):
        with pytest.raises(CommandError, match=said):
            grid(*args, capsys=capsys)


def test_responses_of_items_without_a_question(study, capsys):
    study.items.filter(query__key="t1").update(clarifying_question="")
    found = grid("--corpus", "ulm.jsonl", capsys=capsys)
    assert float(found["query + response of ant"][1]) == 1
    assert found["query + question + answer of ant"][0] == "1"
