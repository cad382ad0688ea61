"""Retrieval as a judge: its numbers, its table in the report, and what it says to files that it can't use."""

import re

import pytest
from django.core.management import call_command

from analytics.figures.texts import retrieval
from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from analytics.reports.page import report_page
from evaluation.dumps.imports.scores import import_scores
from evaluation.models import Answer
from evaluation.refusals import Refused
from judging.services.generation.retrieval_grid import retrieval_grid
from judging.services.judges import create_judge
from tests.judging.build import judged
from tests.judging.retrieving import ASKED_BY_TWO, retrieval_study

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


# --- by what asked the question --------------------------------------------------------------------------------------

SCORES = """\
item,system,name,score
t1-human,,ndcg_1_query,0.2
t1-facet-oak,,ndcg_1_query,0.2
t2-human,,ndcg_1_query,0.4
t2-facet-oak,,ndcg_1_query,0.4
t1-human,,ndcg_1_question,0.3
t1-facet-oak,,ndcg_1_question,0.6
t2-human,,ndcg_1_question,0.5
t2-facet-oak,,ndcg_1_question,0.4
t1-human,ant,ndcg_1,0.7
t2-human,ant,ndcg_1,0.9
t1-facet-oak,ant,ndcg_1,0.1
t1-facet-oak,bee,ndcg_1,1.0
t1-human,,ndcg_1_bert,0.8
t1-facet-oak,,ndcg_1_bert,0.6
t1-human,,ndcg_1_plain,0.5
t1-facet-oak,,ndcg_1_plain,0.5
"""
BY_SOURCE = "Retrieval by source of the question"


@pytest.fixture
def asked_by_two(tmp_path, settings):
    settings.ASSAY_CORPORA = str(tmp_path)
    return retrieval_study(tmp_path, status="closed", items=ASKED_BY_TWO)


def scored(study, folder):
    file = folder / "scores.csv"
    file.write_text(SCORES)
    import_scores(study, file, judge="script", low=0, high=1)


def judge_record(study):
    report = build_report(study, replicates=20)
    [record] = [each for each in report["records"] if each["figure"] == KEY]
    return report, record["judges"][0]


def means(rows, part="means", value="mean"):
    """By what was searched for, the mean at each cut-off."""
    return {
        (row["searched"], row["system"]): {cell["cut"]: cell[value]["value"] for cell in row[part]}
        for row in rows
        if row[part]
    }


def retrieval_blocks(report):
    blocks = [block for section in report_page(report).sections for block in section.blocks]
    return {block.heading: block for block in blocks if block.heading.startswith("Retrieval")}


def texts_of(block):
    return [[[cell.text for cell in row] for row in table.rows] for table in block.tables]


def test_each_asker_has_rows_of_its_own(asked_by_two, tmp_path):
    scored(asked_by_two, tmp_path)
    report, judge = judge_record(asked_by_two)
    by_source = {each["source"]: each["rows"] for each in judge["by_source"]}
    # A run that says the same of a query whoever asks is in no row of theirs, nor is the query alone.
    assert {name: means(rows) for name, rows in by_source.items()} == {
        "facet-oak": {
            ("question", None): {1: pytest.approx(0.5)}, ("response", "ant"): {1: pytest.approx(0.1)},
            ("response", "bee"): {1: pytest.approx(1.0)}, ("bert", None): {1: pytest.approx(0.6)},
        },
        "human": {
            ("question", None): {1: pytest.approx(0.4)}, ("response", "ant"): {1: pytest.approx(0.8)},
            ("bert", None): {1: pytest.approx(0.8)},
        },
    }  # fmt: skip
    assert {name: means(rows, "differences", "difference") for name, rows in by_source.items()} == {
        "facet-oak": {
            ("question", None): {1: pytest.approx(0.2)}, ("response", "ant"): {1: pytest.approx(-0.1)},
            ("response", "bee"): {1: pytest.approx(0.8)}, ("bert", None): {1: pytest.approx(0.4)},
        },
        "human": {
            ("question", None): {1: pytest.approx(0.1)}, ("response", "ant"): {1: pytest.approx(0.5)},
            ("bert", None): {1: pytest.approx(0.6)},
        },
    }  # fmt: skip
    assert [row["means"][0]["mean"]["n"] for row in by_source["human"]] == [2, 2, 1]
    assert judge["sources_left_out"] == 0
    # All questions together have their mean as before.
    assert means(judge["rows"])["question", None] == {1: pytest.approx(0.45)}
    assert means(judge["rows"])["plain", None] == {1: pytest.approx(0.5)}
    assert "Searched for | Question by" in report_markdown(report)


def test_askers_stand_below_one_another(asked_by_two, tmp_path):
    scored(asked_by_two, tmp_path)
    blocks = retrieval_blocks(judge_record(asked_by_two)[0])
    assert list(blocks) == ["Retrieval", BY_SOURCE]
    shown, above = texts_of(blocks[BY_SOURCE])
    assert [row[:2] for row in shown] == [
        ["Query and question", "facet-oak"], ["Query and question", "human"],
        ["With the response of ant", "facet-oak"], ["With the response of ant", "human"],
        ["With the response of bee", "facet-oak"], ["Run bert", "facet-oak"], ["Run bert", "human"],
    ]  # fmt: skip
    assert [row[2] for row in shown] == ["0.500", "0.400", "0.100", "0.800", "1.000", "0.600", "0.800"]
    assert [row[:2] for row in above] == [row[:2] for row in shown]


def test_the_rows_of_an_asker_are_those_of_a_study_without_the_others(asked_by_two):
    searched(asked_by_two, runs=[])
    _, judge = judge_record(asked_by_two)
    by_source = {each["source"]: means(each["rows"]) for each in judge["by_source"]}
    assert by_source["human"] != by_source["facet-oak"]
    items = asked_by_two.items
    for name, theirs in by_source.items():
        items.exclude(clarifying_source=name).update(withdrawn_at="2026-01-01T00:00Z")
        report, alone = judge_record(asked_by_two)
        items.update(withdrawn_at=None)
        of_all = means(alone["rows"])
        del of_all["query", None]
        assert theirs == of_all
        # There is one asker left, and so nothing to tell apart.
        assert alone["by_source"] == []
        assert list(retrieval_blocks(report)) == ["Retrieval"]


def test_questions_whose_asker_nobody_names_have_rows_too(asked_by_two):
    asked_by_two.items.filter(clarifying_source="human").update(clarifying_source="")
    searched(asked_by_two, runs=[])
    report, judge = judge_record(asked_by_two)
    assert [each["source"] for each in judge["by_source"]] == ["", "facet-oak"]
    shown = texts_of(retrieval_blocks(report)[BY_SOURCE])[0]
    assert {row[1] for row in shown} == {"not known", "facet-oak"}


def test_an_asker_that_is_a_system_is_shown_by_its_label(asked_by_two):
    asked_by_two.items.filter(clarifying_source="human").update(clarifying_source="ant")
    asked_by_two.systems.filter(key="ant").update(label="The Ant")
    searched(asked_by_two, runs=[])
    shown = texts_of(retrieval_blocks(judge_record(asked_by_two)[0])[BY_SOURCE])[0]
    assert {row[1] for row in shown} == {"The Ant", "facet-oak"}


def test_askers_beyond_the_most_are_counted(asked_by_two, monkeypatch):
    monkeypatch.setattr(retrieval, "MOST_SOURCES", 2)
    asked_by_two.items.filter(key="t2-human").update(clarifying_source="birch")
    searched(asked_by_two, runs=[])
    report, judge = judge_record(asked_by_two)
    assert [each["source"] for each in judge["by_source"]] == ["birch", "facet-oak"]
    assert judge["sources_left_out"] == 1
    assert "Sources not shown, those with the fewest items: 1." in report_markdown(report)
