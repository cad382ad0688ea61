"""Complexity is asked for with 10 as the most complex; what was asked the other way round stays apart."""

import pytest

from analytics.reports.markdown import report_markdown
from evaluation.models import Rater
from evaluation.protocols import QuestionSpec, get_protocol
from evaluation.refusals import Refused
from evaluation.services.studies.launch import launch_study
from evaluation.services.studies.revision import revise_study
from tests.analytics.reports.answering import answered_study, give, items_of, new_rater
from tests.analytics.reports.golden_studies import a_pass
from tests.analytics.reports.reading import build_report
from tests.evaluation.dumps.build import read_in, write

pytestmark = pytest.mark.django_db
OLD_FORM = {"over": "response", "low": 1, "high": 10}
# As the protocol asked before questions said their direction.
OLD = {
    "key": "complexity",
    "kind": "scale",
    "prompt": "Complexity",
    "help": "Is it as simple to answer as it can be? 10 is the simplest.",
    "required": True,
    "shown": "always",
    "options": {"1": "Very poor", "10": "Excellent", "form": OLD_FORM},
}
NEW = {
    **OLD,
    "options": {"1": "Very simple", "10": "Highly complex", "form": {**OLD_FORM, "direction": "lower"}},
}
SPEC = {
    "protocol": "question_quality",
    "title": "Old",
    "arms": [{"key": "all", "label": "All", "context_at_generation": False, "context_at_judging": False}],
    "texts": {"guideline": "Rate it."},
}


def lines(*questions, raters=()):
    """A dump of one query, with a judgment of 9 by each rater, given as (name, revision)."""
    first, *later = [{**SPEC, "questions": [question]} for question in questions]
    judgments = [
        {"rater": name, "kind": "person", "revision": revision, "answers": {"complexity": {"r1": value}}}
        for name, revision, value in raters
    ]
    return (
        {"assay": 1, "spec": first, **({"later_specs": later} if later else {})},
        {
            "key": "i",
            "arm": "all",
            "query": {"key": "q", "text": "jaguar"},
            "responses": [{"system": "alder", "text": "The cat?"}],
            "judgments": judgments,
        },
    )


def complexity():
    return next(
        each for each in get_protocol("question_quality").default_questions() if each.key == "complexity"
    )


def test_ten_is_highly_complex_in_new_drafts():
    question = complexity()
    assert question.label(10) == "Highly complex"
    assert question.label(1) == "Very simple"
    study = answered_study("question_quality", queries=1)
    asked = {each["key"]: each for each in study.revisions.get().spec["questions"]}
    assert asked["complexity"]["options"]["form"]["direction"] == "lower"
    assert asked["clarity"]["options"]["form"]["direction"] == "higher"


def test_a_question_that_says_no_direction_reads_as_before():
    assert (QuestionSpec.from_json(OLD).direction, QuestionSpec.from_json(OLD).more_is_better) == (
        "higher",
        True,
    )
    assert (QuestionSpec.from_json(NEW).direction, QuestionSpec.from_json(NEW).more_is_better) == (
        "lower",
        False,
    )


def test_a_study_from_before_keeps_its_hash(tmp_path):
    study = read_in(write(tmp_path / "old.jsonl", *lines(OLD)), slug="old")
    launch_study(study)
    revision = study.revisions.get()
    assert revision.spec["questions"] == [OLD]
    assert revision.spec_hash == "5d4316a171205e66c5c9431b2c4616c75624a5341d03ea5ff8428958fb749174"


def test_a_revision_can_not_turn_the_direction(tmp_path):
    study = read_in(write(tmp_path / "old.jsonl", *lines(OLD)), slug="old")
    launch_study(study)
    with pytest.raises(Refused, match="only labels can change"):
        revise_study(study=study, changes={"questions": [NEW]})


def test_answers_in_two_directions_are_never_pooled(tmp_path):
    """A dump may bring revisions that no service would have made."""
    raters = [("ann", 1, 9), ("bob", 1, 9), ("cem", 2, 2), ("dee", 2, 2)]
    study = read_in(write(tmp_path / "both.jsonl", *lines(OLD, NEW, raters=raters)), slug="both")
    report = build_report(study, replicates=20)
    found = {
        each["key"]: (each["prompt"], each["direction"], each["groups"][0]["mean"]["mean"]["value"])
        for each in report["questions"]
    }
    assert found == {
        "complexity": ("Complexity (lower is better)", "lower", 2.0),
        "complexity.higher": ("Complexity (higher is better)", "higher", 9.0),
    }
    assert [each["groups"][0]["raters"] for each in report["questions"]] == [2, 2]
    text = report_markdown(report)
    assert "Complexity (higher is better)" in text
    assert "Lower is better." in text


def test_anchor_runs_are_read_in_their_direction(tmp_path):
    """A judge's later pass, which is in no other figure, is held against the first one in each direction."""
    raters = [("main", 1, 9), ("anchor", 1, 7), ("ann", 2, 2)]
    study = read_in(write(tmp_path / "both.jsonl", *lines(OLD, NEW, raters=raters)), slug="both")
    for number, name in enumerate(("main", "anchor")):
        made = a_pass(study, number)
        Rater.objects.filter(study=study, pseudonym=name).update(
            kind="judge", about=made.about, in_figures=made.in_figures
        )
        made.delete()
    found = [
        each
        for each in build_report(study, replicates=20)["records"]
        if each["figure"] == "judges/number_drift"
    ]
    assert [each["question"] for each in found] == ["complexity.higher"]
    first, anchor = found[0]["passes"]
    assert (first["purpose"], anchor["purpose"], anchor["self"]["error"]["value"]) == ("main", "anchor", 2.0)


def test_revisions_in_one_direction_are_pooled(tmp_path):
    said = {**NEW, "options": {**NEW["options"], "form": {**OLD_FORM, "direction": "higher"}}}
    raters = [("ann", 1, 9), ("bob", 2, 5)]
    study = read_in(write(tmp_path / "same.jsonl", *lines(OLD, said, raters=raters)), slug="same")
    (question,) = build_report(study, replicates=20)["questions"]
    assert (question["prompt"], question["groups"][0]["mean"]["mean"]["value"]) == ("Complexity", 7.0)


def test_the_lowest_complexity_is_no_best_system():
    """All queries rate birch highest, which is the best of clarity and not of complexity."""
    study = answered_study("question_quality", queries=12)
    for number in range(3):
        rater = new_rater(study, f"person {number}")
        given = [
            {
                "clarity": {"r1": 3 + at % 3, "r2": 8 + (at + number) % 3, "r3": 4 + at % 2},
                "complexity": {"r1": 3 + at % 3, "r2": 8 + (at + number) % 3, "r3": 4 + at % 2},
            }
            for at in range(len(items_of(study)))
        ]
        give(study, rater, given)
    figures = {
        each["key"]: each["groups"][0]
        for each in build_report(study, replicates=20)["questions"]
        if each["groups"]
    }
    assert figures["clarity"]["best_system"]["system"] == "birch"
    assert (figures["complexity"]["best_system"], figures["complexity"]["worst_system"]) == (None, None)
