"""The figures of the published ratings of long-form answers (LFQA aspects), read straight from the released files."""

from __future__ import annotations

import json

import numpy as np
import pytest

from analytics.statistics.agreement.value_alpha import alpha_of_values
from analytics.statistics.core.randomization import Randomization
from analytics.statistics.core.values import Values
from analytics.statistics.judges.ratings_vs_people import compare_means
from analytics.statistics.preferences.best_picks import Picks, pick_shares, same_pick
from analytics.statistics.ratings.scales import best_and_worst, means_by_group
from tests.analytics.statistics.build import spec
from tests.published import published_data

SYSTEMS = (
    "dataset_answer_top1",
    "dataset_answer_random",
    "generated_answer_formal",
    "generated_answer_casual",
)
N_HUMAN = 2


def lines(name: str) -> list[dict]:
    return [json.loads(line) for line in published_data(f"lfqa/{name}.jsonl").read_text().splitlines()]


def codes(names: list[str]) -> np.ndarray:
    return np.unique(names, return_inverse=True)[1]


@pytest.fixture(scope="module")
def release():
    system = {row["answer_id"]: SYSTEMS.index(row["answer_label"]) for row in lines("answers")}
    worker = {row["assignment_id"]: row["WorkerId"] for row in lines("assignments")}
    return lines("mturk_ratings"), system, worker


def ratings(release, aspect: str) -> Values:
    rows, system, worker = release
    answers = [row["answer_id"] for row in rows]
    of = np.array([system[answer] for answer in answers])
    question = codes([row["question_id"] for row in rows])
    return Values(
        unit=codes(answers),
        query=question,
        system=of,
        part=of,
        item=question,
        rater=codes([worker[row["assignment_id"]] for row in rows]),
        value=np.array([row[aspect] for row in rows], dtype=float),
    )


def picks(release) -> Picks:
    rows, system, worker = release
    question = codes([row["question_id"] for row in rows])
    rater = codes([worker[row["assignment_id"]] for row in rows])
    picked = np.array([row["preference"] for row in rows]) == 1
    of = np.array([system[row["answer_id"]] for row in rows])
    return Picks(*(column[picked] for column in (question, question, rater, of, of)))


def test_mean_acceptability(release) -> None:
    values = ratings(release, "acceptability")
    found = means_by_group(values, values.system, 4, resample=spec())
    assert [round(each.mean.value, 3) for each in found] == [1.384, 1.157, 2.458, 2.356]
    for each in found:
        assert (each.mean.n, each.n_units, each.n_queries) == (900, 300, 300)
        assert each.mean.low < each.mean.value < each.mean.high
    kind = (values.system >= N_HUMAN).astype(int)
    models, people = best_and_worst(values, kind, [0, 1], Randomization(1))
    assert (models.group, people.group) == (1, 0)
    assert (models.test.p_value, models.test.n) == (pytest.approx(2 / 10_001), 300)
    assert people.test == models.test


@pytest.mark.parametrize(
    ("aspect", "points", "published"),
    [
        ("factuality", range(4), 0.284),
        ("amountInfo", (-1, 0, 1), 0.523),
        ("formality", (-1, 0, 1), 0.396),
        ("acceptability", range(4), 0.467),
    ],
)
def test_alpha_per_aspect(release, aspect, points, published) -> None:
    values = ratings(release, aspect)
    found = alpha_of_values(values, level="ordinal", points=points, resample=spec(), unit="responses")
    assert round(found.value, 3) == published
    assert (found.n, found.unit) == (1200, "responses")
    assert found.low < found.value < found.high
    assert "300 queries" in found.method


def test_best_picks(release) -> None:
    found = picks(release)
    systems = pick_shares(found, 4, resample=spec(), offered=np.ones((300, 4), dtype=int)).systems
    assert [each.chance for each in systems] == [0.25] * 4
    by_kind = Picks(
        found.item, found.query, found.rater, found.response, (found.system >= N_HUMAN).astype(int)
    )
    shares = pick_shares(by_kind, 2, resample=spec())
    assert round(shares.systems[1].share.value, 3) == 0.830
    assert shares.systems[1].share.n == 900
    same = same_pick(found, resample=spec(), raters=3)
    assert (same.n_all_same, same.n_two_same, same.all_same.n) == (69, 259, 300)
    assert same.by_most == (0, 41, 190, 69)


def test_a_published_judge_beside_people(release) -> None:
    people = ratings(release, "acceptability")
    rows = release[0]
    answers, at = np.unique([row["answer_id"] for row in rows], return_index=True)
    judged = {row["answer_id"]: row["overall"] for row in lines("gpt4_ratings")}
    judge = Values(
        unit=np.arange(len(answers)),
        query=people.query[at],
        system=people.system[at],
        part=people.part[at],
        item=people.item[at],
        rater=np.zeros(len(answers), dtype=int),
        value=np.array([judged[answer] for answer in answers]),
    )
    found = compare_means(people, judge, resample=spec(), unit="responses")
    mean = {
        answer: np.mean([row["acceptability"] for row in rows if row["answer_id"] == answer])
        for answer in answers
    }
    assert found.error.value == pytest.approx(
        np.mean([abs(mean[answer] - judged[answer]) for answer in answers])
    )
    expected = np.corrcoef([mean[answer] for answer in answers], [judged[answer] for answer in answers])[0, 1]
    assert found.pearson.value == pytest.approx(expected)
    assert found.spearman.low < found.spearman.value < found.spearman.high
    assert found.pearson.n == 1200
