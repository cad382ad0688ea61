from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.core.estimates import TidyDataError
from analytics.statistics.core.randomization import Randomization
from analytics.statistics.replacement.source_bias import source_bias
from tests.analytics.statistics.build import spec


def biased(gap, by_model, query):
    return source_bias(
        np.array(gap, dtype=float),
        np.array(by_model, dtype=bool),
        np.array(query),
        resample=spec(),
        tests=Randomization(1),
        unit="responses",
    )


def test_what_all_texts_get_alike_is_no_bias():
    found = biased([1.5, 1, 2, 1, 1.5, 0.5], [1, 0, 1, 0, 1, 0], [0, 0, 1, 1, 2, 2])
    assert found.models.value == pytest.approx(5 / 3)
    assert found.persons.value == pytest.approx(2.5 / 3)
    assert found.bias.value == pytest.approx(2.5 / 3)
    # Of eight ways to turn three queries, two are as far from zero.
    assert (found.test.p_value, found.test.n) == (pytest.approx(2 / 8), 3)


@given(st.integers(0, 10_000), st.floats(-5, 5))
def test_a_shift_of_the_judge_changes_nothing(seed, shift):
    rng = np.random.default_rng(seed)
    gap, by_model, query = rng.normal(size=24), np.arange(24) % 3 > 0, np.arange(24) // 4
    found, other = biased(gap, by_model, query), biased(gap + shift, by_model, query)
    assert found.bias.value == pytest.approx(gap[by_model].mean() - gap[~by_model].mean())
    assert other.bias.value == pytest.approx(found.bias.value)
    assert other.bias.high - other.bias.low == pytest.approx(found.bias.high - found.bias.low)
    assert biased(-gap, by_model, query).test.p_value == pytest.approx(found.test.p_value)


@given(
    st.lists(st.tuples(st.integers(-3, 3), st.booleans(), st.integers(0, 6)), min_size=2, max_size=24).filter(
        lambda rows: any({True, False} <= {row[1] for row in rows if row[2] == each} for each in range(7))
    )
)
def test_the_test_turns_the_differences_of_queries(rows):
    """The slow twin, in fractions: of queries with both kinds of text the difference of means, each turned or not."""
    means = [
        [
            Fraction(sum(here), len(here))
            for kind in (True, False)
            if (here := [gap for gap, by_model, query in rows if (by_model, query) == (kind, each)])
        ]
        for each in range(7)
    ]
    gaps = [each[0] - each[1] for each in means if len(each) == 2]
    turned = [
        abs(sum(sign * gap for sign, gap in zip(signs, gaps, strict=True)))
        for signs in product((1, -1), repeat=len(gaps))
    ]
    found = biased(*zip(*rows, strict=True))
    assert found.test.n == len(gaps)
    assert found.test.p_value == pytest.approx(sum(each >= abs(sum(gaps)) for each in turned) / len(turned))


def test_queries_with_one_kind_of_text_are_compared_with_each_other():
    found = biased([1, 1, 1, 0, 0, 0], [1, 1, 1, 0, 0, 0], range(6))
    assert found.test.method.startswith("permutation")
    assert found.test.p_value == pytest.approx(2 / 20)


def test_text_of_one_kind_has_none():
    found = biased([1, 2], [1, 1], [0, 1])
    assert (found.bias.value, found.test) == (None, None)
    assert (
        found.bias.undefined == found.persons.undefined == "Nothing that both judged was written by a person."
    )
    assert "a model" in biased([1, 2], [0, 0], [0, 1]).bias.undefined
    with pytest.raises(TidyDataError, match="each text"):
        biased([1], [1, 0], [0, 0])


def test_what_is_estimated_is_what_is_tested():
    """Of queries with both kinds models lose by one; of those with one kind alone they would win by three."""
    gap = [-1, 0] * 10 + [3] * 40 + [0] * 40
    by_model = [1, 0] * 10 + [1] * 40 + [0] * 40
    query = [n // 2 for n in range(20)] + list(range(10, 90))
    found = biased(gap, by_model, query)
    assert found.bias.value == pytest.approx(-1)
    assert found.test.p_value < 0.01
    assert [(part.reason, part.n) for part in found.bias.left_out] == [
        ("responses of queries with text of one kind only", 80)
    ]
