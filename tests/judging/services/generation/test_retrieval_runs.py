"""Retrieval at work: no model is asked, fragments are numbered, and can become documents of a draft's queries."""

import json

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from evaluation.models import Status
from evaluation.refusals import FieldsRefused, Refused
from judging.models import GenerationUnit, Product
from judging.services.generation.documents import write_documents
from judging.services.generation.pipeline_runs import pipeline_settings, start_pipeline
from judging.services.runs.work import work_on
from tests.judging.generating import contents, generated, study_of_queries

CORPUS = [
    {"id": f"b{n}", "title": f"Bridge {n}", "text": f"Bridge number {n} was opened in {1890 + n}.",
     "source": f"https://example.org/{n}"}
    for n in range(1, 9)
]  # fmt: skip
QUERIES = [
    {"key": "q1", "text": "When was bridge 4 opened?"},
    {"key": "q2", "text": "Quelle soupe?"},
    {"key": "q3", "text": "Which bridge was opened in 1893?"},
]
CHOSEN = {"corpus": "bridges.jsonl", "fragments": 3}


@pytest.fixture
def corpus(settings, tmp_path):
    folder = tmp_path / "corpora"
    folder.mkdir()
    settings.ASSAY_CORPORA = str(folder)
    path = folder / "bridges.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in CORPUS))
    return path


@pytest.fixture
def study(db, tmp_path, corpus):
    return study_of_queries(tmp_path, QUERIES)


def test_fragments_are_numbered_and_say_where_they_are_from(study):
    run = generated(study, "retrieval", models=(), options=CHOSEN)
    assert (run.state, run.calls.count()) == ("complete", 0)
    made = contents(run, "fragments")
    assert [each["number"] for each in made["q1"]] == [1, 2, 3]
    assert made["q1"][0] | {"score": 0} == {**CORPUS[3], "number": 1, "score": 0}
    assert made["q3"][0]["id"] == "b3"
    assert "q2" not in made
    about = GenerationUnit.objects.get(run=run, query__key="q1").about
    assert about["corpus"] == "bridges.jsonl"
    assert len(about["sha256"]) == 64


def test_what_cannot_be_searched_is_said_before_it_is_tried(study, corpus):
    for options, said in (
        ({}, "Name the corpus"),
        ({"corpus": "../bridges.jsonl"}, "not inside the folder of corpora"),
        ({"corpus": "others.jsonl"}, "There is no file 'others.jsonl'"),
        ({"corpus": "bridges.jsonl", "fragments": 2.5}, "whole number from 1 to 60"),
    ):
        with pytest.raises(FieldsRefused, match=said):
            pipeline_settings(study, "retrieval", options=options)


def test_a_corpus_that_went_away_stops_the_run_and_says_so(study, corpus):
    run = start_pipeline(study, pipeline_settings(study, "retrieval", options=CHOSEN))
    corpus.unlink()
    assert work_on(run.pk).state == "stopped"
    run.refresh_from_db()
    assert "There is no file 'bridges.jsonl'" in run.reason
    assert Product.objects.count() == 0


def test_fragments_become_the_documents_of_a_drafts_queries(study, capsys, monkeypatch):
    for module in ("documents", "states", "workload"):
        monkeypatch.setattr(f"judging.services.generation.{module}.QUERIES_AT_ONCE", 1)
    call_command(
        "generate", "queries", "--pipeline", "retrieval", "--set", "corpus=bridges.jsonl", "--documents"
    )
    assert "Queries with fragments as their documents: 2." in capsys.readouterr().out
    documents = study.queries.get(key="q1").documents
    assert documents[0] == {
        "title": "Bridge 4", "text": "Bridge number 4 was opened in 1894.", "url": "https://example.org/4",
    }  # fmt: skip
    assert study.queries.get(key="q2").documents == []
    run = study.runs.get()
    with pytest.raises(CommandError, match="No study is made of retrieval"):
        call_command("generate", "queries", "--run", str(run.pk), "--make")
    study.status = Status.LIVE
    study.save()
    with pytest.raises(Refused):
        write_documents(run)
