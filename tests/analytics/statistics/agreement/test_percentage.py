from collections import Counter, defaultdict
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from analytics.statistics.agreement.percentage import (
    FEW_JUDGMENTS,
    TIED_ITEMS,
    agreement,
    agreement_by_group,
    agreement_difference,
    chance_agreement,
    item_agreement,
    majority,
    two_by_chance,
)
from analytics.statistics.core.counts import count_matrix
from analytics.statistics.core.estimates import LeftOut, ParameterError
from analytics.statistics.core.randomization import Randomization, sign_flip
from analytics.statistics.core.tidy import N_LABELS
from tests.analytics.statistics.build import (
    context_study,
    count_arrays,
    counts_of,
    random_labels,
    spec,
)
from tests.fixtures.contexteval import ARMS, PAIRS, TABLE_4A

PRINTED = 0.01 + 1e-9  # two figures of the paper are cut rather than rounded

TESTS = Randomization(5)


@pytest.fixture(scope="module")
def study():
    items, judgments = context_study()
    return items, count_matrix(judgments.item, judgments.label, len(items), N_LABELS)


def slow_agreement(labels, with_ties: bool) -> float:
    """ContextEval, footnote 3, one item after the other."""
    shares = []
    for of_item in labels:
        if len(of_item) < 2:
            continue
        ranked = Counter(of_item).most_common()
        alone = len(ranked) == 1 or ranked[0][1] > ranked[1][1]
        if not with_ties and alone and ranked[0][0] == 2:
            continue
        shares.append(ranked[0][1] / len(of_item))
    return sum(shares) / len(shares)


def test_the_papers_table(study) -> None:
    # ContextEval, Table 4a: 9 cells of 100 items.
    items, counts = study
    for cell, index in items.cells():
        pair = next(pair for pair in PAIRS if cell.system_1 in pair)
        printed = TABLE_4A[pair][ARMS.index(str(cell.arm))]
        estimate = agreement(counts[index], items.query[index], resample=spec()).with_ties
        assert estimate.n == 100
        assert estimate.value is not None
        assert abs(100 * estimate.value - printed) <= PRINTED
        assert estimate.low < estimate.value < estimate.high


def test_ties_by_hand() -> None:
    # Agreement 1, 2/3, 1/3 and 2/3; the last item is tied, the third has no unique label and stays.
    result = agreement(
        counts_of([[0, 0, 0], [1, 1, 0], [0, 1, 2], [2, 2, 0], [1], []]), np.arange(6), resample=spec()
    )
    assert result.with_ties.value == pytest.approx(2 / 3)
    assert result.without_ties.value == pytest.approx(2 / 3)
    assert result.with_ties.left_out == (LeftOut(FEW_JUDGMENTS, 2),)
    assert result.without_ties.left_out == (LeftOut(FEW_JUDGMENTS, 2), LeftOut(TIED_ITEMS, 1))
    assert (result.with_ties.n, result.without_ties.n) == (4, 3)


def test_against_counting_one_by_one() -> None:
    labels = random_labels(np.random.default_rng(1), 300)
    result = agreement(counts_of(labels), np.arange(300), resample=spec())
    assert result.with_ties.value == pytest.approx(slow_agreement(labels, True))
    assert result.without_ties.value == pytest.approx(slow_agreement(labels, False))


@given(count_arrays(), st.permutations([0, 1]), st.integers(0, 100))
def test_what_agreement_does_not_depend_on(counts, order, seed) -> None:
    query = np.arange(len(counts))
    result = agreement(counts, query, resample=spec(0))
    shuffled = np.random.default_rng(seed).permutation(len(counts))
    for other in (
        agreement(counts[:, [*order, 2]], query, resample=spec(0)),  # the names of the responses
        agreement(np.tile(counts, (2, 1)), np.tile(query, 2), resample=spec(0)),  # items given twice
        agreement(counts[shuffled], query, resample=spec(0)),
    ):
        assert result.with_ties.value == pytest.approx(other.with_ties.value)
        assert result.without_ties.value == pytest.approx(other.without_ties.value)
    if result.with_ties.value is not None:
        assert 1 / 3 <= result.with_ties.value <= 1


@given(count_arrays())
def test_a_majority_is_more_than_half(counts) -> None:
    for row, label in zip(counts.tolist(), majority(counts).tolist(), strict=True):
        winners = [k for k in range(3) if 2 * row[k] > sum(row)]
        assert label == (winners[0] if winners else -1)


def test_groups() -> None:
    counts = counts_of([[0, 0], [0, 1], [1, 1], [2, 2]])
    groups = np.array([1, 1, 0, -1])
    values = [
        part.with_ties.value for part in agreement_by_group(counts, np.arange(4), groups, 3, resample=spec())
    ]
    assert values == [1.0, 0.75, None]


def test_undefined_says_why() -> None:
    result = agreement(counts_of([[0], [2]]), np.arange(2), resample=spec())
    assert result.with_ties.value is None
    assert result.with_ties.undefined == "No item has two or more ratings yet."
    no_tie = agreement(counts_of([[0, 1]]), np.arange(1), resample=spec(), tie=None)
    assert no_tie.with_ties.value == 0.5
    assert "no tie" in no_tie.without_ties.undefined


def test_difference_between_arms_against_a_slow_one(study) -> None:
    items, counts = study
    shares = item_agreement(counts)
    of_pair = items.pair == items.pairs.index(("Claude-3.5-Sonnet", "Llama-3.1-405B"))
    first, second = items.arm_code(ARMS[0]), items.arm_code(ARMS[2])
    result = agreement_difference(
        counts[of_pair],
        items.query[of_pair],
        items.pair[of_pair],
        items.arm[of_pair],
        first=first,
        second=second,
        tests=TESTS,
    )
    by_query = defaultdict(dict)
    for row in np.flatnonzero(of_pair):
        by_query[items.query[row]][items.arm[row]] = shares[row]
    differences = [arms[second] - arms[first] for arms in by_query.values()]
    test = stats.ttest_1samp(differences, 0)
    # ContextEval, Table 4a: 8.68 for this pair, from two figures cut to two places.
    assert 100 * result.difference.value == pytest.approx(8.67, abs=0.02)
    assert result.p_value == pytest.approx(test.pvalue)
    assert result.statistic == pytest.approx(test.statistic)
    assert result.degrees_of_freedom == 99
    assert result.difference.low < result.difference.value < result.difference.high


def test_queries_in_one_arm_only_are_left_out() -> None:
    counts = counts_of([[0, 0], [0, 1], [0, 1], [0, 1], [0], [2, 2]])
    query = np.array([1, 2, 1, 2, 3, 4])
    arm = np.array([0, 0, 1, 1, 0, 0])
    pair = np.zeros(6, dtype=int)
    result = agreement_difference(counts, query, pair, arm, first=0, second=1, tests=TESTS)
    assert result.difference.n == 2
    assert result.difference.value == pytest.approx(-0.25)
    assert [part.n for part in result.difference.left_out] == [1, 1]
    # Over the two shared queries two raters agree no more at all, and as little as before.
    assert result.of_two.value == -0.5
    assert result.test == sign_flip(np.array([-1.0, 0]), np.arange(2), TESTS).two_sided
    no_ties = agreement_difference(counts, query, pair, arm, first=0, second=1, tests=TESTS, ties=False)
    assert [part.n for part in no_ties.difference.left_out] == [2]


def drawn_by_chance(chances, n):
    """Of every row of n labels: its chance, the share of its most common label, whether that is a tie alone, and how
    far the others predict the first, ties shared."""
    for row in product(range(3), repeat=n):
        own, others = np.bincount(row, minlength=3), np.bincount(row[1:], minlength=3)
        alone = own[2] > own[:2].max()
        most = others == others.max()
        yield np.prod(chances[list(row)]), own.max() / n, alone, most[row[0]] / most.sum()


def test_what_chance_gives_against_all_that_can_be_drawn() -> None:
    # Items of three raters, of two, and of one; labels of the items of several.
    counts = np.array([[3, 0, 0], [1, 2, 0], [1, 0, 1], [1, 0, 0]])
    chances = counts[:3].sum(axis=0) / 8
    rows = [each for n in (3, 3, 2) for each in drawn_by_chance(chances, n)]
    found = chance_agreement(counts)
    assert found.with_ties == pytest.approx(sum(chance * share for chance, share, *_ in rows) / 3)
    untied = [(chance, share) for chance, share, alone, _ in rows if not alone]
    assert found.without_ties == pytest.approx(
        sum(chance * share for chance, share in untied) / sum(chance for chance, _ in untied)
    )
    assert found.leave_one_out == pytest.approx(sum(chance * hit for chance, *_, hit in rows) / 3)
    assert chance_agreement(counts[3:]) is None
    assert chance_agreement(np.array([[0, 0, 3]])).without_ties is None


def test_two_labels_by_chance_against_all_pairs() -> None:
    one, other = [0, 0, 1, 2], [0, 1, 1]
    counts = (
        count_matrix(np.arange(4), np.array(one), 4, 3),
        count_matrix(np.arange(3), np.array(other), 3, 3),
    )
    assert two_by_chance(*counts) == pytest.approx(np.mean([a == b for a, b in product(one, other)]))
    assert two_by_chance(counts[0], counts[1][:0]) is None


def test_the_number_of_raters_makes_no_difference() -> None:
    """Of raters who choose at random alike, two in one setting and four in the other."""
    rng, n = np.random.default_rng(8), 60
    query, arm, pair = np.tile(np.arange(n), 2), np.repeat([0, 1], n), np.zeros(2 * n, dtype=int)
    found = []
    for _ in range(150):
        chances = rng.dirichlet((1, 1, 0.5), size=n)
        counts = np.concatenate([rng.multinomial(raters, chances) for raters in (2, 4)])
        found.append(agreement_difference(counts, query, pair, arm, first=0, second=1, tests=TESTS))
    # The most common label has the smaller a share, the more raters there are; two of them agree as often.
    assert np.mean([each.difference.value for each in found]) < -0.03
    assert np.mean([each.of_two.value for each in found]) == pytest.approx(0, abs=0.015)
    wrong = sum(each.test.p_value < 0.05 for each in found)
    assert wrong <= stats.binom.ppf(0.999, len(found), 0.05)
    assert sum(each.p_value < 0.05 for each in found) > 3 * wrong


@pytest.mark.parametrize(
    ("query", "value", "reason"),
    [
        ([1, 2, 3, 4], None, "share no query"),
        ([1, 2, 1, 4], 0.0, "at least two"),
        ([1, 2, 1, 2], 0.0, "no variance"),
    ],
)
def test_a_test_that_cannot_be_made(query, value, reason) -> None:
    counts = counts_of([[0, 0], [0, 0], [1, 1], [0, 0]])
    result = agreement_difference(
        counts, np.array(query), np.zeros(4, int), np.array([0, 0, 1, 1]), first=0, second=1, tests=TESTS
    )
    assert result.difference.value == value
    assert result.p_value is None
    assert reason in result.test_undefined
    assert (result.test is None) == (value is None)


def test_an_arm_does_not_differ_from_itself() -> None:
    with pytest.raises(ParameterError, match="different arms"):
        agreement_difference(
            counts_of([[0, 0]]),
            np.zeros(1, int),
            np.zeros(1, int),
            np.zeros(1, int),
            first=0,
            second=0,
            tests=TESTS,
        )
