"""The report on PandaLM's published judgments, against figures of its authors and against a slow second way."""

from collections import Counter

import pytest
from django.core.management import call_command

from analytics.reports.page import report_page
from evaluation.models import Answer, Study
from evaluation.protocols import AnswerValue, Kind
from evaluation.services.judgments import JudgmentInput, record_judgments
from tests.analytics.reports.judging import new_judge
from tests.analytics.reports.reading import build_report
from tests.published import published_data


@pytest.fixture(scope="module")
def study(around_module):
    path = published_data("pandalm/testset-v1.json")
    call_command("import_published", "pandalm", str(path), slug="pandalm", verbosity=0)
    return Study.objects.get(slug="pandalm")


@pytest.fixture(scope="module")
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
    assert left_out == {"reason": "judgments with unknown order", "n": 2_997}


def judge_by_length(study, name, wanted):
    """A judge that prefers the response whose number of characters compares as wanted: 1 the longer, -1 the shorter."""
    rater, revision = new_judge(study, name), study.revisions.get()
    batch = []
    for item in study.items.order_by("pk"):
        one, two = (len(response["text"]) for response in item.stimulus["responses"])
        label = "tie" if one == two else "r1" if (one - two) * wanted > 0 else "r2"
        answers = [AnswerValue("preference", Kind.PREFERENCE, label=label)]
        batch.append(
            JudgmentInput(rater_id=rater.pk, item_id=item.pk, revision_id=revision.pk, answers=answers)
        )
    record_judgments(study=study, batch=batch)


def test_judges_by_length_beside_people(study):
    judge_by_length(study, "longer", 1)
    judge_by_length(study, "shorter", -1)
    report = build_report(study, replicates=200)
    groups = {group["label"]: group for group in report["groups"]}
    outer = {
        name: round(groups[name]["against_people"]["outer"]["value"], 4) for name in ("longer", "shorter")
    }
    assert outer == {"longer": 0.6009, "shorter": 0.3043}
    for name in outer:
        beside = groups[name]["against_people"]
        assert round(beside["inner"]["value"], 4) == 0.9199
        assert beside["outer"]["n"] == beside["confusion"]["n"] == 999
        assert beside["outer"]["low"] < beside["outer"]["value"] < beside["outer"]["high"]
    # Whoever takes the longer response has all the length bias there is.
    assert groups["longer"]["bias"]["length"]["bias"]["value"] == 1.0
    assert groups["shorter"]["bias"]["length"]["bias"]["value"] == -1.0
    (section,) = [each for each in report_page(report).sections if each.key == "judges"]
    first = section.blocks[0].tables[0]
    assert [
        tuple(cell.text for cell in row[:4]) for row in first.rows if row[0].text != "Judges together"
    ] == [
        ("People", "", "", "92.0"),
        ("longer", "60.1", "44.0", "92.0"),
        ("shorter", "30.4", "43.9", "92.0"),
    ]
