import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.agreement.leave_one_out import (
    FEW_JUDGMENTS,
    NO_JUDGE_LABEL,
    inner_agreement,
    inner_by_group,
    item_inner,
    item_outer,
    outer_agreement,
    outer_by_chance,
    outer_by_group,
)
from analytics.statistics.core.estimates import LeftOut, TidyDataError
from tests.analytics.statistics.build import count_arrays, counts_of, random_labels, spec
from tests.published import published_data


def slow_loo(labels, prediction=None) -> Fraction:
    """HREF, Algorithm 1, line by line, a random mode replaced by the chance that it is the label."""
    correct = Fraction(0)
    for i, left in enumerate(labels):
        others = labels[:i] + labels[i + 1 :]
        most = max(others.count(label) for label in others)
        modes = {label for label in others if others.count(label) == most}
        target = left if prediction is None else prediction
        correct += Fraction(int(target in modes), len(modes))
    return correct / len(labels)


def drawn_loo(labels, rng) -> float:
    """Algorithm 1 with the random draw that it describes."""
    correct = 0
    for i, left in enumerate(labels):
        others = labels[:i] + labels[i + 1 :]
        most = max(others.count(label) for label in others)
        correct += rng.choice([label for label in set(others) if others.count(label) == most]) == left
    return correct / len(labels)


def test_worked_example() -> None:
    # Labels 1, 1, 2, 0: a held-back 1 leaves three modes; 2 or 0 leave the mode 1.
    counts = counts_of([[1, 1, 2, 0]])
    assert item_inner(counts)[0] == pytest.approx(1 / 6)
    assert item_outer(counts, np.array([1]))[0] == pytest.approx(2 / 3)


def test_pandalm() -> None:
    # PandaLM test set v1 (WeOpenML/PandaLM): 999 pairs, three people; figures computed with Algorithm 1.
    rows = json.loads(published_data("pandalm/testset-v1.json").read_text())
    canonical = {0: 2, 1: 0, 2: 1}
    labels = [[canonical[row[f"annotator{k}"]] for k in (1, 2, 3)] for row in rows]
    # A response is `true` in the file, a bare JSON value.
    gap = np.array([len(str(row["response2"])) - len(str(row["response1"])) for row in rows])
    longer = np.select([gap < 0, gap > 0], [0, 1], default=2)
    shorter = np.select([gap > 0, gap < 0], [0, 1], default=2)
    counts, query = counts_of(labels), np.arange(len(rows))
    inner = inner_agreement(counts, query, resample=spec())
    assert inner.value == pytest.approx(0.9199, abs=5e-5)
    assert inner.low < inner.value < inner.high
    assert outer_agreement(counts, longer, query, resample=spec()).value == pytest.approx(0.6009, abs=5e-5)
    assert outer_agreement(counts, shorter, query, resample=spec()).value == pytest.approx(0.3043, abs=5e-5)


def test_against_the_algorithm_line_by_line() -> None:
    rng = np.random.default_rng(4)
    labels = random_labels(rng, 300, most=6)
    judge = rng.integers(-1, 3, 300)
    used = [of_item for of_item in labels if len(of_item) > 1]
    inner = inner_agreement(counts_of(labels), np.arange(300), resample=spec())
    assert inner.value == pytest.approx(float(sum(map(slow_loo, used)) / len(used)))
    assert inner.left_out == (LeftOut(FEW_JUDGMENTS, 300 - len(used)),)
    both = [
        (of_item, int(j)) for of_item, j in zip(labels, judge, strict=True) if len(of_item) > 1 and j >= 0
    ]
    outer = outer_agreement(counts_of(labels), judge, np.arange(300), resample=spec())
    assert outer.value == pytest.approx(float(sum(slow_loo(*pair) for pair in both) / len(both)))
    assert outer.n == len(both)
    assert outer.left_out == (
        LeftOut(FEW_JUDGMENTS, 300 - len(used)),
        LeftOut(NO_JUDGE_LABEL, len(used) - len(both)),
    )


def test_the_expectation_is_that_of_the_random_draws() -> None:
    rng = np.random.default_rng(6)
    for labels in ([0, 1, 2], [1, 1, 2, 0], [0, 0, 1, 1]):
        drawn = np.mean([drawn_loo(labels, rng) for _ in range(3000)])
        assert item_inner(counts_of([labels]))[0] == pytest.approx(drawn, abs=0.03)


@given(count_arrays(), st.permutations(range(3)), st.integers(0, 2))
def test_the_names_of_labels_do_not_matter(counts, order, label) -> None:
    renamed = counts[:, order]
    judge = np.full(len(counts), label)
    assert np.allclose(item_inner(counts), item_inner(renamed), equal_nan=True)
    assert np.allclose(
        item_outer(counts, judge), item_outer(renamed, judge * 0 + order.index(label)), equal_nan=True
    )


@given(count_arrays())
def test_bounds_and_what_the_judges_add_up_to(counts) -> None:
    # Every draw has one mode, so judges of all labels together are right exactly once.
    outer = np.stack([item_outer(counts, np.full(len(counts), label)) for label in range(3)])
    judged = counts.sum(axis=1) >= 2
    assert np.allclose(outer.sum(axis=0)[judged], 1)
    assert np.isnan(outer[:, ~judged]).all()
    assert ((item_inner(counts)[judged] >= 0) & (item_inner(counts)[judged] <= 1 + 1e-12)).all()


def test_by_chance_a_judge_gives_its_labels_to_any_items() -> None:
    labels = [each for each in random_labels(np.random.default_rng(7), 40) if len(each) > 1]
    counts, judge = counts_of([*labels, [0], [1, 1]]), np.arange(len(labels) + 2) ** 2 % 3
    judge[-1] = -1
    drawn = [slow_loo(each, label) for each in labels for label in judge[:-2]]
    assert outer_by_chance(counts, judge) == pytest.approx(float(sum(drawn) / len(drawn)))
    # Who always says the same is right as often as by chance.
    same = np.ones(len(counts), dtype=int)
    alike = outer_agreement(counts, same, np.arange(len(counts)), resample=spec())
    assert outer_by_chance(counts, same) == pytest.approx(alike.value)
    assert outer_by_chance(counts_of([[0], [1]]), np.array([0, 1])) is None


def test_unanimity_is_full_agreement_and_by_category() -> None:
    counts = counts_of([[0, 0, 0], [1, 1, 1], [0, 1], [2]])
    category = np.array([0, 0, 1, 2])
    values = [e.value for e in inner_by_group(counts, np.arange(4), category, 3, resample=spec())]
    assert values == [1.0, 0.0, None]
    judge = np.array([0, 0, 0, 0])
    values = [e.value for e in outer_by_group(counts, judge, np.arange(4), category, 3, resample=spec())]
    assert values == [0.5, 0.5, None]


def test_a_judge_must_answer_the_question() -> None:
    with pytest.raises(TidyDataError, match="judge"):
        item_outer(counts_of([[0, 0]]), np.array([3]))
    with pytest.raises(TidyDataError, match="judge"):
        item_outer(counts_of([[0, 0]]), np.array([0, 1]))
