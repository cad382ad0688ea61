"""What people wrote for ClariQ, beside the figures of AGENT-CQ."""

import shutil

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from evaluation.models import Study
from tests.analytics.reproduce.reproducing import reproduced, values
from tests.published import published_data

pytestmark = pytest.mark.django_db
COLUMNS = ("topic_id", "initial_request", "facet_id", "facet_desc", "question_id", "question", "answer")
WORDS = ("soup", "bread", "wine", "fish", "cake")
RETRIEVAL = "Retrieval with questions and their answers"


@pytest.fixture
def release(tmp_path):
    """A topic of two facets, each with the same five questions and answers of their own."""
    rows = [
        ("t1", "Tell me of food.", facet, f"About {facet}.", f"Q{at}", f"do you like {word}", f"no {facet}")
        for facet in ("F1", "F2")
        for at, word in enumerate(WORDS)
    ]
    lines = [COLUMNS, *rows, ("t1", "Tell me of food.", "F1", "About F1.", "Q9", "", "")]
    (tmp_path / "dev.tsv").write_text("".join("\t".join(line) + "\n" for line in lines))
    return tmp_path


def test_questions_and_answers_of_the_dev_split(capsys):
    figures, found = reproduced(capsys, "clariq", published_data("clariq/dev.tsv").parent, "--as-published")
    assert values(figures, "Data set") == {
        "Topics": 50,
        "Facets": 163,
        "Questions": 642,
        "Questions in the bank": 3940,
        "Words per question": 9.7321,
    }
    assert values(figures, "Data set", "as_published") == {"Questions": 2161, "Words per question": 9.484}
    assert figures["Data set", "Words per question"]["difference_as_published"] == -0.01
    people = {
        "Words": 9.73, "Words, standard deviation": 2.43, "Characters": 51.87, "Reading ease (Flesch)": 72.03,
        "Grade (Kincaid)": 5.63,
    }  # fmt: skip
    assert values(figures, "Questions by people", digits=2) == people
    assert figures["Questions by people", "Words"]["difference"] == 0.02
    bank = values(figures, "Questions of the bank, of all topics", digits=2)
    assert (bank["Words"], bank["Grade (Kincaid)"]) == (9.9, 5.64)
    forms = values(figures, "Forms of questions by people", digits=1)
    of_dev = {name: share for name, share in forms.items() if "(bank)" not in name}
    assert of_dev == {
        "what": 8.4, "which": 3.3, "how": 1.1, "who, where, when": 0.8, "why": 0.5, "are you, is it": 37.9,
        "do you, have you": 27.7, "would you, can you": 18.8, "another beginning": 0, "no question": 1.6,
    }  # fmt: skip
    assert forms["are you, is it (bank)"] == 39.1
    assert values(figures, "Answers by people", digits=3) == {
        "Answers": 2161, "Words": 8.145, "Words, standard deviation": 4.402,
    }  # fmt: skip
    assert figures["Answers by people", "Words"]["difference"] == -0.05
    assert values(figures, RETRIEVAL) == {
        "Facets with judgments of relevance": 163, "Facets with a relevant document": 160,
    }  # fmt: skip
    assert len(found["missing"]) == 4
    printed = {
        (title, name): each["published"] for (title, name), each in figures.items() if each["ours"] is None
    }
    assert printed == {
        ("Questions by models", "GPT-Facet: words"): "23.53",
        ("Questions by models", "GPT-Facet: grade"): "college",
        ("Questions by models", "Llama 3.1: grade"): "high school",
        ("Answers by models", "Words"): "13.21",
        ("Answers by models", "Words, standard deviation"): "8.06",
        (RETRIEVAL, "nDCG@5, BM25, questions of people"): "0.221",
        (RETRIEVAL, "nDCG@10, BM25, questions of people"): "0.246",
        (RETRIEVAL, "nDCG@1, BM25, questions of GPT-Temp"): "0.225",
        (RETRIEVAL, "nDCG@1, BERT, questions of GPT-Temp"): "0.312",
        (RETRIEVAL, "nDCG@5, BERT, questions of GPT-Temp"): "0.296",
    }
    assert all(figures[each]["note"] for each in printed)


def test_a_release_of_two_facets(release, capsys):
    figures, _ = reproduced(capsys, "clariq", release, "--as-published")
    assert values(figures, "Data set") == {
        "Topics": 1, "Facets": 2, "Questions": 5, "Words per question": 4,
    }  # fmt: skip
    assert values(figures, "Data set", "as_published")["Questions"] == 10
    assert values(figures, "Forms of questions by people")["do you, have you"] == 100
    assert values(figures, "Answers by people") == {
        "Answers": 10, "Words": 2, "Words, standard deviation": 0,
    }  # fmt: skip
    assert "Questions of the bank, of all topics" not in {title for title, _ in figures}
    assert values(figures, RETRIEVAL) == {}
    assert not Study.objects.exists()


def test_runs_beside_the_judgments_of_relevance(release, capsys):
    (release / "dev.qrel").write_text("F1 0 a 1\nF1 0 b 0\nF2 0 b 1\n")
    (release / "bm25.run").write_text("F1 Q0 a 1 2 x\nF1 Q0 b 2 1 x\nF2 Q0 a 1 2 x\nF2 Q0 b 2 1 x\n")
    (release / "other.run").write_text("F1 Q0 a 1 2 x\nF2 Q0 b 1 2 x\n")
    figures, _ = reproduced(capsys, "clariq", release / "dev.tsv")
    found = values(figures, RETRIEVAL)
    assert found["Facets with judgments of relevance"] == 2
    assert (found["nDCG@1, bm25.run"], found["nDCG@5, bm25.run"]) == (0.5, 0.8155)
    assert found["nDCG@5, other.run"] == 1
    assert figures[RETRIEVAL, "nDCG@5, bm25.run"]["difference"] == 0.594
    assert figures[RETRIEVAL, "nDCG@5, other.run"]["published"] == ""
    assert (RETRIEVAL, "nDCG@5, BM25, questions of people") not in figures


def test_without_a_run_it_says_what_is_needed(release, capsys):
    (release / "dev.qrel").write_text("F1 0 a 1\n")
    figures, _ = reproduced(capsys, "clariq", release)
    printed = figures[RETRIEVAL, "nDCG@10, BM25, questions of people"]
    assert (printed["published"], printed["ours"]) == ("0.246", None)
    assert "no bm25.run was given" in printed["note"]
    assert not any("bm25.run" in name for _, name in figures)


def test_another_run_does_not_stand_for_the_papers(release, capsys):
    (release / "dev.qrel").write_text("F1 0 a 1\n")
    (release / "mine.run").write_text("F1 Q0 a 1 2 x\n")
    figures, _ = reproduced(capsys, "clariq", release)
    assert figures[RETRIEVAL, "nDCG@5, mine.run"]["ours"] == 1
    assert figures[RETRIEVAL, "nDCG@5, BM25, questions of people"]["ours"] is None


def test_the_bank_alone_is_no_release(release, capsys):
    shutil.copy(release / "dev.tsv", release / "all.tsv")
    (release / "dev.tsv").write_text("question_id\tquestion\n")
    with pytest.raises(CommandError, match="lacks the columns topic_id"):
        call_command("reproduce", "clariq", str(release))
