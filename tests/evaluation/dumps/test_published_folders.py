"""Releases that are folders or can be read in several ways: LFQA, ClariQ, CondAmbigQA and ContextEval."""

import csv
import re
import shutil
from collections import Counter
from statistics import mean, stdev

import orjson
import pytest
from django.core.management import CommandError, call_command
from django.db.models import Avg, Count

from annotator.models import Slot
from evaluation.dumps.published import read_release
from evaluation.models import Answer, Item, Judgment, Query, Rater, Study
from evaluation.protocols.entries.sets import read_set
from evaluation.refusals import Refused
from evaluation.services.studies.launch import launch_study
from evaluation.services.studies.verification import verify_study
from tests.published import published_data

pytestmark = pytest.mark.django_db


def test_lfqa_as_published(capsys):
    path = published_data("lfqa/questions.jsonl").parent
    call_command("import_published", "lfqa", str(path), slug="lfqa")
    printed = capsys.readouterr().out
    assert "counted: 36 references with nothing in them, left out" in printed
    assert "counted: 900 judgments of people" in printed
    assert "counted: 408 judgments of models" in printed
    lfqa = Study.objects.get(slug="lfqa")
    judgments = Judgment.objects.filter(study=lfqa)
    assert lfqa.items.count() == 300
    assert judgments.filter(rater__kind=Rater.Kind.PERSON).count() == 900
    assert judgments.filter(rater__label="GPT-4").count() == 300
    assert list(verify_study(lfqa)) == []
    answers = Answer.objects.filter(judgment__study=lfqa, judgment__rater__kind=Rater.Kind.PERSON)
    assert Counter(answers.values_list("question", flat=True)) == {
        **dict.fromkeys(("acceptability", "factuality", "amount_info", "formality"), 3600),
        **dict.fromkeys(("best", "none_appropriate", "justification"), 900),
        "comments": 113,
    }
    assert answers.filter(question="none_appropriate", number=1).count() == 28
    check_acceptability(lfqa)
    check_documents(lfqa)


def check_acceptability(lfqa):
    """The means that the authors report."""
    systems = ["human-random", "human-top", "model-casual", "model-formal"]
    found = (
        Answer.objects.filter(judgment__study=lfqa, question="acceptability")
        .filter(judgment__rater__kind=Rater.Kind.PERSON)
        .values("part")
        .annotate(mean=Avg("number"), n=Count("pk"))
    )
    # Canonical order is that of the systems' keys.
    means = {systems[int(row["part"][1:]) - 1]: (round(row["mean"], 3), row["n"]) for row in found}
    assert means["human-top"] == (1.384, 900)
    assert means["model-formal"] == (2.458, 900)
    assert means["model-casual"] == (2.356, 900)


def check_documents(lfqa):
    """Plain, and in their order."""
    documents = list(Query.objects.filter(study=lfqa).values_list("documents", flat=True))
    assert sum(map(len, documents)) == 3000 - 36
    assert not any(
        "strong>" in each["snippet"] + each["title"] for of_query in documents for each in of_query
    )
    first = Query.objects.get(study=lfqa, key="5bzdvs").documents[0]
    assert first["title"] == "Proposition 64: The Adult Use of Marijuana Act"
    assert first["snippet"].startswith(
        "Overview. Effective November 9, 2016, Proposition 64 legalizes specified"
    )


def test_lfqa_faults_are_named_by_file_and_line(tmp_path):
    release = tmp_path / "lfqa"
    shutil.copytree(published_data("lfqa/questions.jsonl").parent, release)
    for file in release.iterdir():
        file.chmod(0o644)
    with (release / "questions.jsonl").open("a") as file:
        file.write('{"question_id": 3}\nno JSON\n')
    with pytest.raises(CommandError) as refused:
        call_command("import_published", "lfqa", str(release), slug="lfqa")
    assert "questions.jsonl, line 301: lacks question" in str(refused.value)
    assert "questions.jsonl, line 302: is not JSON in UTF-8" in str(refused.value)
    (release / "answers.jsonl").unlink()
    (release / "questions.jsonl").write_text("")
    with pytest.raises(CommandError, match=r"answers\.jsonl can't be read"):
        call_command("import_published", "lfqa", str(release), slug="lfqa")
    assert not Study.objects.filter(slug="lfqa").exists()


def test_clariq_as_a_ranking(capsys):
    path = published_data("clariq/dev.tsv").parent
    call_command("import_published", "clariq", str(path), slug="clariq", questions=4, seed=7)
    assert "counted: 152 rows without a question, left out" in capsys.readouterr().out
    study = Study.objects.get(slug="clariq")
    assert study.protocol == "ranking"
    items = Item.objects.filter(study=study)
    assert items.count() == 50
    assert {item.responses.count() for item in items} == {4}
    launch_study(study)
    assert list(verify_study(study)) == []
    firsts = Counter(
        order.split(",")[0] for order in Slot.objects.filter(study=study).values_list("order", flat=True)
    )
    assert sorted(firsts) == ["r1", "r2", "r3", "r4"]
    assert max(firsts.values()) - min(firsts.values()) <= 1


def test_clariq_draws_by_the_seed():
    path = published_data("clariq/dev.tsv")

    def drawn(seed):
        source = read_release("clariq", path, {"seed": seed})
        return [[each["key"] for each in line.value["responses"]] for line in list(source.lines())[1:]]

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)


def test_clariq_as_answer_pairs(capsys):
    path = published_data("clariq/dev.tsv")
    call_command("import_published", "clariq", str(path), slug="clariq", protocol="answer_pairs")
    printed = capsys.readouterr().out
    assert "counted: 2,031 items" in printed
    assert "counted: 125 questions answered for one facet only, left out" in printed
    study = Study.objects.get(slug="clariq")
    item = study.items.get(key="F0010-Q00697")
    assert item.clarifying_question == "are you looking for a specific web site"
    assert item.query.information_need == "Find information about the Ritz Carlton resort at Lake Las Vegas."
    assert (
        item.responses.get(system__key="own-facet").text
        == "yes for the ritz carlton resort at lake las vegas"
    )
    assert item.responses.get(system__key="other-facet").text != ""
    assert set(study.systems.values_list("kind", flat=True)) == {"person"}


def test_the_words_of_clariqs_questions_and_answers():
    with published_data("clariq/dev.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    questions = {row["question_id"]: row["question"] for row in rows}
    assert len(questions) == 638
    asked = [len(text.split()) for text in questions.values() if text.strip()]
    assert len(asked) == 637  # one is no question
    assert round(mean(asked), 2) == 9.74
    answers = [len(row["answer"].split()) for row in rows if row["answer"].strip()]
    assert (len(answers), round(mean(answers), 2), round(stdev(answers), 2)) == (2161, 8.14, 4.40)


@pytest.mark.parametrize(
    ("release", "options", "expected"),
    [
        ("clariq", {"protocol": "pairwise"}, "can't be read as 'pairwise'; it can as answer_pairs, ranking"),
        ("clariq", {"questions": 1}, "a ranking needs at least 2 questions, and 1 are asked for"),
        ("pandalm", {"seed": 3}, "the release pandalm has no option seed; it has none"),
        ("clariq", {"order": 3}, "it has: protocol, questions, seed"),
    ],
)
def test_options_that_a_release_does_not_have(release, options, expected, tmp_path):
    path = tmp_path / "dev.tsv"
    columns = "topic_id\tinitial_request\tfacet_id\tfacet_desc\tquestion_id\tquestion\tanswer"
    path.write_text(f"{columns}\n1\tsoup\tF1\ta recipe\tQ1\twhich soup\tpea\n")
    with pytest.raises(Refused, match=expected):
        read_release(release, path, options)


def test_clariq_files_that_are_none(tmp_path):
    path = tmp_path / "dev.tsv"
    with pytest.raises(Refused, match="is not there"):
        read_release("clariq", path)
    path.write_bytes(b"topic_id\tquestion\n\xff\n")
    with pytest.raises(Refused, match="can't be read as tab-separated UTF-8"):
        read_release("clariq", path)
    path.write_text("topic_id\tquestion\n1\twhich\n")
    with pytest.raises(Refused, match="lacks the columns initial_request, facet_id"):
        read_release("clariq", path)
    header = "topic_id\tinitial_request\tfacet_id\tfacet_desc\tquestion_id\tquestion\tanswer"
    path.write_text(f"{header}\n1\tsoup\n")
    with pytest.raises(Refused, match="line 2: lacks facet_id, facet_desc, question_id, question, answer"):
        read_release("clariq", path)


def test_condambigqa_as_published(capsys):
    path = published_data("condambigqa/conditions.jsonl")
    call_command("import_published", "condambigqa", str(path.parent), slug="conditions")
    printed = capsys.readouterr().out
    for said in (
        "counted: 500 questions",
        "counted: 1,018 entries",
        "counted: 130 questions with a single condition",
        "counted: 5,983 models' answers, which have no condition, left out",
        "coerced: 3 answers that were a list",
        "counted: 53 entries with blanks before a stop, as where a citation was, kept",
    ):
        assert said in printed
    study = Study.objects.get(slug="conditions")
    assert study.items.count() == 500
    item = study.items.select_related("query").get(query__text="Where is the tv show the ranch located?")
    assert item.query.documents == []
    [response] = item.responses.select_related("system")
    assert response.system.label == "Conditions that models' answers were matched to"
    first, second = read_set(response.text)
    assert first["condition"].startswith("The show “The Ranch” is an American sitcom")
    assert second["answers"] == [
        "“The Ranch” is set in the fictional town of Garrison, located near the real town of Ouray .The geographic "
        "setting of the story is in Colorado ."
    ]
    assert first["citations"] == []
    launch_study(study)
    assert list(verify_study(study)) == []


def test_contexteval_s_queries_wait_for_their_items(capsys):
    path = published_data("contexteval/queries.jsonl")
    call_command("import_published", "contexteval", str(path), slug="queries")
    printed = capsys.readouterr().out
    assert "counted: 3,580 queries, of which no item has been made yet" in printed
    assert "counted: 3 queries with the text of another one" in printed
    assert "counted: 300 queries from cmalaviya/expertqa" in printed
    study = Study.objects.get(slug="queries")
    assert (study.protocol, study.status, study.items.count()) == ("pairwise", "draft", 0)
    assert study.queries.filter(source="tatsu-lab/alpaca_eval").count() == 645
    assert study.queries.get(key="chatbot_arena_conversations_20805").text == "What is a herring gull"


CONDITION = {"condition": "In the north", "answer": "June"}
QUESTION = {"id": "q1", "question": "When?", "conditions": [CONDITION], "model_answers": {"m": ["July"]}}


@pytest.mark.parametrize(
    ("release", "row", "said"),
    [
        ("condambigqa", QUESTION | {"question": " "}, "question is no text"),
        ("condambigqa", QUESTION | {"conditions": []}, "conditions is no list, or an empty one"),
        ("condambigqa", QUESTION | {"conditions": [CONDITION, []]}, "condition 2 is no object"),
        ("condambigqa", QUESTION | {"conditions": [{"condition": "x"}]}, "condition 1 lacks answer"),
        (
            "condambigqa",
            QUESTION | {"conditions": [CONDITION | {"answer": ["June", " "]}]},
            "an answer that is no text",
        ),
        ("condambigqa", QUESTION | {"model_answers": ["July"]}, "model_answers is no object of lists"),
        ("condambigqa", {"id": "q1"}, "lacks question, conditions, model_answers"),
        ("contexteval", {"query": "What?", "source": "x"}, "lacks example_id"),
        ("contexteval", {"query": 1, "source": "x", "example_id": "1"}, "query is 1"),
        ("contexteval", {"query": " ", "source": "x", "example_id": "1"}, "query or example_id is empty"),
    ],
)
def test_lines_that_are_no_questions_are_refused(release, row, said, tmp_path):
    name = {"condambigqa": "conditions.jsonl", "contexteval": "queries.jsonl"}[release]
    (tmp_path / name).write_bytes(orjson.dumps(row))
    with pytest.raises(Refused, match=f"{name}, line 1: .*{re.escape(said)}"):
        read_release(release, tmp_path)
