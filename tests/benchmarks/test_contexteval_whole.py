"""ContextEval from its published queries to the report: every step of it, as the documented command takes them."""

import pytest

from benchmarks.contexteval_whole import JUDGES, OF_ITS_OWN, PEOPLE, QUERIES, show, whole
from evaluation.models import Judgment, Rater, Study
from evaluation.services.studies.verification import verify_study
from judging.generation.pipelines.responses import ARMS
from judging.models import Run
from tests.judging import endpoint
from tests.judging.generating import contents
from tests.published import published_data


@pytest.fixture
def report(db, tmp_path):
    path = published_data("contexteval/queries.jsonl")
    with endpoint.serve() as served:
        return whole(path, served, tmp_path)


def test_the_whole_of_contexteval(report, capsys):
    contexts, responses = Run.objects.filter(generating__isnull=False).order_by("pk")
    answers = contents(contexts, "answers")
    assert len(answers) == QUERIES
    assert len({made[0]["generator"] for made in answers.values()}) == 2
    assert (contexts.unanswered, responses.unanswered) == (0, 0)
    pairs = Study.objects.get(slug="contexteval-pairs")
    items = pairs.items.count()
    assert items == len(ARMS) * QUERIES
    assert list(verify_study(pairs)) == []
    outcomes = {
        (each["label"], count["outcome"]): count["n"]
        for each in report["judges"]
        for count in each["outcomes"]
    }
    assert len(report["judges"]) == len(JUDGES) == 5
    for name in JUDGES:
        excluded = items if name == OF_ITS_OWN else 0
        assert outcomes[f"{name} v1", "excluded_self"] == excluded
        assert outcomes[f"{name} v1", "ok"] == items - excluded
    people = Judgment.objects.filter(item__study=pairs, rater__kind=Rater.Kind.SIMULATED)
    assert people.count() == PEOPLE * items
    assert not Judgment.objects.filter(rater__kind=Rater.Kind.PERSON).exists()
    show(report)
    said = capsys.readouterr().out
    for arm in ARMS:
        assert said.count(f"agreement in {arm}: ") == said.count(f"majorities in {arm}: aspen") == 2
    assert "NoCtxGen-NoCtxEval and CtxGen-CtxEval: birch and aspen preferred, a flip" in said
    assert f"{OF_ITS_OWN} v1: {items} excluded_self" in said
