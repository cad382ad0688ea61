"""The scores of single entries, from the replies of a judge whose scores are known."""

import csv
import io
import itertools
import json

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from evaluation.models import Answer, Item
from evaluation.services.exclusions import exclude
from judging.services.judges import heuristic_judge
from judging.services.scored_entries import scored_entries
from tests.analytics.reports.test_latex import is_balanced, is_nested
from tests.judging import endpoint
from tests.judging.asking.test_entry_scores import NAME, entry, replied
from tests.judging.build import judged, make_judge
from tests.judging.endpoint import chat
from tests.judging.services.runs.test_protocol_runs import make_study

DRINK, EVENING = entry("As a 100% {drink} & food_1", citations=[1, 2]), entry("In the evening")
# By the response, told by a word of it, and what is scored: a row per entry, a column per reference entry.
SCORES = {
    ("Late in the day", "condition"): [[9, 2], [3, 1]],
    ("Late in the day", "answer"): [[8, 1], [2, 0]],
    ("Beside tea", "condition"): [[1, 4]],
    ("Beside tea", "answer"): [[0, 5]],
}
LESS = 4


@pytest.fixture(scope="module")
def served():
    with endpoint.serve() as server:
        yield server


@pytest.fixture
def script(monkeypatch):
    """Scores as above; a prompt that comes once more has each of them, where it is above that, less by 4."""
    times = {}

    def content(how, body, _):
        prompt = body["messages"][-1]["content"]
        less = LESS * (next(times.setdefault(prompt, itertools.count())) % 2)
        [word] = {word for word, _ in SCORES if word in prompt}
        wide = prompt.count("\nReference ")
        found = {
            score: [
                [each - less if each > LESS else each for each in row[:wide]] for row in SCORES[word, score]
            ]
            for score in ("condition", "answer")
        }
        return json.dumps({"answers": replied(found["condition"], found["answer"])})

    monkeypatch.setattr(chat, "_content", content)


@pytest.fixture
def study(owner, script):
    """Four queries with two sets each: against two reference entries, twice, against one, and against none."""
    study = make_study(NAME, owner)
    for item, reference in zip(
        Item.objects.filter(study=study).order_by("pk"),
        ([DRINK, EVENING], [DRINK, EVENING], [DRINK], []),
        strict=True,
    ):
        item.stimulus["query"]["references"] = [{"entries": reference}] if reference else []
        item.save()
    return study


@pytest.fixture
def run(study, served):
    return judged(study, make_judge(study, served, "coin", backend="entry_scores"))[0]


@pytest.fixture
def called(study):
    """The output of the command, and what it says beside it."""

    def call(*args, judge="llm"):
        out, err = io.StringIO(), io.StringIO()
        call_command("entry_scores", study.slug, *args, judge=judge, stdout=out, stderr=err)
        return out.getvalue(), err.getvalue()

    return call


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


FIELDS = ("entry", "reference", "condition_score", "answer_score", "citation_recall", "band")


def test_each_entry_has_the_scores_of_its_match_by_hand(run, called):
    text, said = called("--format", "csv")
    found = {}
    for row in rows(text):
        found.setdefault((row["query"], row["part"]), []).append(tuple(row[name] for name in FIELDS))
    of_two = {
        "r1": [
            ("1", "1", "0.9", "0.8", "0.5", "0.50 and above"),
            ("2", "2", "0.1", "0.0", "0.0", "Below 0.20"),
        ],
        "r2": [("1", "2", "0.4", "0.5", "0.0", "0.35 to 0.50")],
    }
    of_one = {
        # One entry against two: the second of the response has no partner.
        "r1": [
            ("1", "1", "0.9", "0.8", "0.5", "0.50 and above"),
            ("2", "", "0.0", "0.0", "0.0", "Below 0.20"),
        ],
        "r2": [("1", "1", "0.1", "0.0", "0.5", "Below 0.20")],
    }
    wanted = {"q0": of_two, "q1": of_two, "q2": of_one}
    assert found == {(query, part): each for query, of in wanted.items() for part, each in of.items()}
    assert "1 failed" in said
    assert "The query has no reference that is a set of entries." in said


def test_more_items_take_no_more_queries(run, study):
    judge = run.judging.judge
    with CaptureQueriesContext(connection) as one:
        scored_entries(study, judge.name, queries=["q0"])
    with CaptureQueriesContext(connection) as several:
        found = scored_entries(study, judge.name, queries=["q0", "q1", "q2"])
    assert len(found.items) == 3
    assert len(several) == len(one)


def test_texts_stand_beside_the_scores(run, called):
    first, second, third = rows(called("--format", "csv", "--query", "q0")[0])
    assert (first["condition"], first["reference_condition"]) == (
        "As a drink for adults",
        DRINK["condition"],
    )
    assert (second["condition"], second["reference_condition"]) == (
        "Late in the day",
        EVENING["condition"],
    )
    assert third["condition"] == "Beside tea"
    [*_, unmatched, _] = rows(called("--format", "csv", "--query", "q2")[0])
    assert (unmatched["condition"], unmatched["reference_condition"]) == ("Late in the day", "")


def assert_sums_are_the_measures(study, found):
    """Over the size of the larger set, the sum of a response's entries is the number that the report has."""
    sizes = {"q0": 2, "q1": 2, "q2": 1}
    for name in ("condition_score", "answer_score"):
        for item in Item.objects.filter(study=study, query__key__in=sizes).select_related("query"):
            for part in ("r1", "r2"):
                scores = [
                    float(each[name]) for each in found if (each["item"], each["part"]) == (item.key, part)
                ]
                stored = Answer.objects.filter(
                    judgment__item=item, question=f"measure:{name}", part=part
                ).values_list("number", flat=True)
                size = max(sizes[item.query.key], len(scores))
                assert sum(scores) / size == pytest.approx(sum(stored) / len(stored))


def test_the_entries_of_a_response_make_its_measure(study, run, called):
    assert_sums_are_the_measures(study, rows(called("--format", "csv")[0]))


def test_several_samples_are_their_mean(study, served, called):
    judged(study, make_judge(study, served, "coin", backend="entry_scores", samples=2, temperature=1))
    found = rows(called("--format", "csv")[0])
    assert {each["samples"] for each in found} == {"2"}
    # 0.9 and 0.5.
    assert [each["condition_score"] for each in found if each["entry"] == "1" and each["part"] == "r1"] == [
        "0.7"
    ] * 3
    assert_sums_are_the_measures(study, found)


@pytest.mark.parametrize("more", [(), ("--query", "q2")])
def test_latex_is_escaped_and_balanced(run, called, more):
    text, _ = called("--format", "latex", *more)
    assert is_balanced(text)
    assert is_nested(text)
    assert text.count(r"\caption") == (1 if more else 3)
    assert r"As a 100\% \textbraceleft{}drink\textbraceright{} \& food\_1" in " ".join(text.split())


def test_the_reference_comes_first_in_a_query_s_table(run, called):
    text, _ = called("--query", "q2")
    lines = [line for line in text.splitlines() if line.startswith("| ")][2:]
    assert len(lines) == 4
    assert lines[0].startswith("| Reference | As a 100% ")
    assert "| Late in the day | none | 0.00 | 0.00 | 0.00 | Below 0.20 |" in lines[2]


def test_what_does_not_count_in_the_report_does_not_count_here(study, run, called, owner):
    [item] = Item.objects.filter(study=study, query__key="q0")
    [judgment] = run.judging.rater.judgments.filter(item=item)
    exclude(study=study, judgment=judgment, reason="a test", by=owner)
    text, said = called("--format", "csv")
    assert {each["query"] for each in rows(text)} == {"q1", "q2"}
    assert "1 excluded" in said


def test_replies_that_cannot_be_read_are_counted(study, served, settings, called):
    settings.ASSAY_RUN_UNREAD_FIRST = 0
    judged(study, make_judge(study, served, "coin:truncated", backend="entry_scores"))
    with pytest.raises(CommandError, match=r"scored no entry. Judgments not included: 1 failed, 3 truncated"):
        called()


def test_other_judges_and_queries_are_refused(study, run, called):
    judged(study, heuristic_judge(study, "entry_overlap"))
    with pytest.raises(CommandError, match=r"has no judge 'nobody'\. Judges that do: llm\."):
        called(judge="nobody")
    with pytest.raises(CommandError, match=r"does not score entries\. Judges that do: llm\."):
        called(judge="entry_overlap")
    with pytest.raises(CommandError, match="has no query 'q9'"):
        called("--query", "q9")
    with pytest.raises(CommandError, match="There is no study 'nothing'"):
        call_command("entry_scores", "nothing", judge="llm")


def test_a_judge_that_has_not_run_has_no_scores(study, served, called):
    make_judge(study, served, "coin", backend="entry_scores")
    with pytest.raises(CommandError, match="no complete run that is in the figures"):
        called()
