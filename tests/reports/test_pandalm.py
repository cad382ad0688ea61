"""The report on PandaLM's published judgments, against figures of its authors and against a slow second way."""

from collections import Counter

import pytest
from django.core.management import call_command

from evaluation.models import Answer, Study
from evaluation.reports.build import build_report
from tests.published import published_data


@pytest.fixture
def study(db):
    path = published_data("pandalm/testset-v1.json")
    call_command("import_published", "pandalm", str(path), slug="pandalm", verbosity=0)
    return Study.objects.get(slug="pandalm")


@pytest.fixture
def report(study):
    return build_report(study)


def votes_by_item(study):
    """Item -> labels, and item -> its systems, row by row."""
    votes, systems = {}, {}
    answers = Answer.objects.filter(judgment__study=study, question="preference").select_related(
        "judgment__item"
    )
    for answer in answers:
        item = answer.judgment.item
        votes.setdefault(item.key, []).append(answer.label)
        systems[item.key] = tuple(response["system"] for response in item.stimulus["responses"])
    return votes, systems


def test_kappas_and_leave_one_out_are_the_published_ones(report):
    (group,) = report["groups"]
    kappas = {
        (pair["rater_1"], pair["rater_2"]): round(pair["kappa"]["value"], 2)
        for pair in group["kappa"]["pairs"]
    }
    assert kappas == {
        ("annotator1", "annotator2"): 0.85,
        ("annotator1", "annotator3"): 0.88,
        ("annotator2", "annotator3"): 0.86,
    }
    assert round(group["leave_one_out"]["inner"]["value"], 4) == 0.9199


def test_win_rates_per_pair_agree_with_counting_by_hand(study, report):
    votes, systems = votes_by_item(study)
    won, expected = {}, {}
    for key, labels in votes.items():
        label, times = Counter(labels).most_common(1)[0]
        if times * 2 > len(labels):
            won.setdefault(systems[key], Counter())[label] += 1
        score = sum({"r1": 1.0, "r2": 0.0, "tie": 0.5}[label] for label in labels) / len(labels)
        expected.setdefault(systems[key], []).append(score)
    (group,) = report["groups"]
    assert len(group["win_rates"]["majority"]) == len(won) == 10
    for rate in group["win_rates"]["majority"]:
        tally = won[(rate["cell"]["system_1"], rate["cell"]["system_2"])]
        for key, label in (("system_1", "r1"), ("system_2", "r2"), ("tie", "tie")):
            assert rate[key]["n"] == tally.total()
            assert rate[key]["value"] == pytest.approx(tally[label] / tally.total(), abs=1e-12)
    for rate in group["win_rates"]["expected"]:
        scores = expected.get((rate["system"], rate["opponent"]))
        if scores is not None:
            assert rate["rate"]["value"] == pytest.approx(sum(scores) / len(scores), abs=1e-12)


def test_strengths_are_there_and_orders_are_not(report):
    (group,) = report["groups"]
    (fit,) = group["bradley_terry"]
    assert fit["strengths"][0]["system"] == "llama-7b"
    assert group["bias"]["position"]["share"]["value"] is None
    (left_out,) = group["bias"]["position"]["share"]["left_out"]
    assert left_out == {"reason": "judgments whose order is not known", "n": 2_997}
