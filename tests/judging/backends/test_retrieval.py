"""Retrieval as a judge: its numbers, its table in the report, and what it says to files that it can't use."""

import re

import pytest
from django.core.management import call_command

from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from analytics.reports.page import report_page
from evaluation.models import Answer
from evaluation.refusals import Refused
from judging.services import create_judge
from judging.services.generation.retrieval_grid import retrieval_grid
from tests.judging.build import judged
from tests.judging.retrieving import retrieval_study

pytestmark = pytest.mark.django_db
FILES = {"qrels": "ulm.qrels", "corpus": "ulm.jsonl", "runs": ["other.run"]}
KEY = "texts/retrieval"


@pytest.fixture
def study(tmp_path, settings):
    settings.ASSAY_CORPORA = str(tmp_path)
    return retrieval_study(tmp_path, status="closed")


def searched(study, name="search", **options):
    judge = create_judge(study, name=name, backend="retrieval", options={**FILES, **options})
    run, _ = judged(study, judge)
    return run


def test_the_report_has_the_table_of_the_command(study):
    searched(study)
    report = build_report(study, replicates=20)
    [record] = [each for each in report["records"] if each["figure"] == KEY]
    [judge] = record["judges"]
    assert judge["cuts"] == [1, 5, 10]
    named = {
        "query": "query",
        "question": "query + question",
        "ant": "query + question + answer of ant",
        "bee": "query + question + answer of bee",
        "other": "other.run",
    }
    wanted = {row.searched: row for row in retrieval_grid(
        study, qrels="ulm.qrels", corpus="ulm.jsonl", runs=["other.run"]
    )}  # fmt: skip
    assert [row["system"] or row["searched"] for row in judge["rows"]] == list(named)
    for row in judge["rows"]:
        of_command = wanted[named[row["system"] or row["searched"]]].values
        for cell in row["means"]:
            assert cell["mean"]["value"] == pytest.approx(of_command[cell["cut"]].value)
        for cell in row["differences"]:
            alone = wanted["query"].values[cell["cut"]].value
            assert cell["difference"]["value"] == pytest.approx(of_command[cell["cut"]].value - alone)
    text = report_markdown(report)
    assert "nDCG@10" in text
    assert "With the response of" in text
    assert "Mean nDCG above that of the query alone" in text
    headings = [block.heading for section in report_page(report).sections for block in section.blocks]
    assert "Retrieval" in headings


def test_each_response_has_its_own_gain(study):
    run = searched(study, runs=[])
    found = Answer.objects.filter(judgment__rater=run.judging.rater, question="measure:ndcg_1")
    by_part = {(each.judgment.item.key, each.part): each.number for each in found}
    assert by_part["t1", "r1"] == 1
    assert by_part["t1", "r2"] == 0
    assert not Answer.objects.filter(question="measure:ndcg_1_other").exists()


def test_runs_alone_need_no_corpus(study):
    searched(study, corpus="")
    names = set(Answer.objects.values_list("question", flat=True))
    assert names == {"measure:ndcg_1_other", "measure:ndcg_5_other", "measure:ndcg_10_other"}


def test_topics_without_relevance_fail_with_the_reason(study, tmp_path):
    (tmp_path / "ulm.qrels").write_text("t1 0 d3 0\n")
    run = searched(study)
    reasons = dict(run.calls.values_list("item__key", "error"))
    assert "No document is relevant to the topic 't1'" in reasons["t1"]
    assert "no topic 't2'" in reasons["t2"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"corpus": "", "runs": []}, "Name the judgments of relevance, and a corpus"),
        ({"corpus": "gone.jsonl"}, "There is no file 'gone.jsonl'"),
        ({"qrels": "../ulm.qrels"}, "not inside the folder"),
        ({"qrels": "gone.qrels"}, "It has: other.run, study.jsonl, ulm.jsonl, ulm.qrels."),
        (
            {"runs": ["other.run", "other.txt"]},
            "'other.run' would be called 'other': a run needs a name of its own",
        ),
        ({"runs": ["query.run"]}, "'query.run' would be called 'query'"),
    ],
)
def test_files_that_it_cannot_use_are_named_before_it_runs(study, options, said):
    with pytest.raises(Refused, match=re.escape(said)):
        searched(study, **options)
    assert not study.judges.exists()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("ulm.jsonl", "ulm.jsonl, line 1: it is no JSON"),
        ("ulm.qrels", "ulm.qrels, line 1: 4 columns are needed, and 1 are there"),
        ("other.run", "other.run, line 1: 6 columns are needed, and 1 are there"),
    ],
)
def test_a_file_that_cannot_be_read_ends_the_run(study, tmp_path, name, said):
    (tmp_path / name).write_text("{\n")
    run = searched(study)
    assert said in run.reason
    assert not Answer.objects.filter(judgment__rater=run.judging.rater).exists()


def test_from_the_shell(study, capsys):
    call_command(
        "add_judge", "ulm", "search", "--backend", "retrieval",
        "--set", "qrels=ulm.qrels", "--set", "corpus=ulm.jsonl",
    )  # fmt: skip
    judged(study, study.judges.get())
    assert Answer.objects.filter(question="measure:ndcg_10_query").count() == 2
