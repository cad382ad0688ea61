"""Every kind of rater beside every other, in every protocol: each figure stands in every format, and none fails."""

from itertools import combinations

import pytest

from analytics.reports.build import build_report
from analytics.reports.files import FORMATS
from evaluation.dumps.imports.scores import import_scores
from evaluation.models import Study
from tests.analytics.reports.answering import (
    FOLLOW_UPS,
    answered_study,
    drawn_answers,
    give,
    items_of,
    new_rater,
)
from tests.analytics.reports.validator import problems

pytestmark = pytest.mark.django_db
PROTOCOLS = ("pairwise", "aspects", "custom", "ranking", "condition_calibration", "question_quality")
ASKED = {"orders": "random", "samples": 1}


def people(study, _):
    for number in range(3):
        give(study, new_rater(study, f"person {number}"), drawn_answers(study, number))


def groups_of_people(study, _):
    for number in range(4):
        person = new_rater(study, f"grouped {number}")
        person.group = ("experts", "crowd")[number % 2]
        person.save()
        give(study, person, drawn_answers(study, 10 + number))


def judge(study, _):
    give(
        study, new_rater(study, "judge", "judge", judge="j", model="j-7b", **ASKED), drawn_answers(study, 20)
    )


def jury(study, _):
    for number in range(2):
        member = new_rater(study, f"juror {number}", "judge", jury={"name": "crowd"}, model="m", **ASKED)
        give(study, member, drawn_answers(study, 30 + number))


def composite(study, _):
    """Of one member, whose verdicts it repeats."""
    member = new_rater(study, "member", "judge", judge="m", model="m-7b", **ASKED)
    given = drawn_answers(study, 40)
    give(study, member, given)
    made = {
        "kind": "composite", "chosen": "map", "questions": ["preference"], "fitted": False,
        "members": {"member": "member"}, "categories": {"even": "member"}, "otherwise": "member",
    }  # fmt: skip
    give(study, new_rater(study, "composite", "judge", judge="c", derived=made, **ASKED), given)


def measures(study, tmp_path):
    path = tmp_path / "scores.csv"
    responses = [
        (item.key, each["system"]) for item in items_of(study) for each in item.stimulus["responses"]
    ]
    lines = [f"{item},{system},overlap,{at % 7 / 7}" for at, (item, system) in enumerate(responses)]
    path.write_text("\n".join(["item,system,name,score", *lines]))
    import_scores(study, path, judge="script", low=0.0, high=1.0)


def replicated(study, _):
    """A judge that was asked twice."""
    rater = new_rater(study, "twice", "judge", judge="t", model="t-7b", orders="random", samples=2)
    for replicate in range(2):
        give(study, rater, drawn_answers(study, 50 + replicate), replicate=replicate)


def heuristic(study, _):
    give(study, new_rater(study, "length", "judge", heuristic=True), drawn_answers(study, 60))


def simulated(study, _):
    for number in range(2):
        give(study, new_rater(study, f"simulated {number}", "simulated"), drawn_answers(study, 70 + number))


KINDS = (people, groups_of_people, judge, jury, composite, measures, replicated, heuristic, simulated)


def with_raters(protocol, kinds, tmp_path):
    systems = dict.fromkeys(("aspen", "birch"), "model") if protocol == "pairwise" else None
    follow_ups = [{**each, "answer": each["answers"][0]} for each in FOLLOW_UPS]
    study = answered_study(protocol, queries=12, kinds=systems, follow_ups=follow_ups)
    Study.objects.filter(pk=study.pk).update(seed=5)
    study.refresh_from_db()
    for kind in kinds:
        kind(study, tmp_path)
    return study


def assert_whole(study):
    report = build_report(study, replicates=20)
    assert problems(report) == []
    for name, write in FORMATS.items():
        assert "could not be computed" not in write(report), name


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_all_together(protocol, tmp_path):
    assert_whole(with_raters(protocol, KINDS, tmp_path))


@pytest.mark.parametrize("protocol", ["pairwise", "ranking"])
def test_a_jury_beside_a_judge(protocol, tmp_path):
    assert_whole(with_raters(protocol, [jury, judge], tmp_path))


@pytest.mark.audit
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("kinds", [*combinations(KINDS, 1), *combinations(KINDS, 2)])
def test_one_or_two(protocol, kinds, tmp_path):
    assert_whole(with_raters(protocol, kinds, tmp_path))
