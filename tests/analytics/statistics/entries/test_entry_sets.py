"""Decisions about drafted entries and what sets are made of: by hand, against a slow twin, and as properties."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.core.estimates import TidyDataError
from analytics.statistics.entries.entry_sets import ADDED, DRAFTED, REVISED, compose, decisions, set_figures
from tests.analytics.statistics.agreement.test_alpha import slow_alpha
from tests.analytics.statistics.build import spec
from tests.analytics.statistics.rating_arrays import make_values, random_rows

ACCEPTED, EDITED, MERGED, REJECTED = range(4)


def test_decisions_by_hand() -> None:
    """Two items: of the first, two raters agree on one of two entries; the second has one entry, and one rater."""
    rows = [
        (0, 0, 0, ACCEPTED), (0, 0, 1, ACCEPTED), (0, 1, 0, EDITED), (0, 1, 1, REJECTED), (1, 0, 0, MERGED),
    ]  # fmt: skip
    found = decisions(make_values(rows), resample=spec())
    assert found.distribution.counts == (2, 1, 1, 1)
    assert [share.value for share in found.distribution.shares] == [0.4, 0.2, 0.2, 0.2]
    assert (found.distribution.n_units, found.distribution.n_queries) == (3, 2)
    # Four pairable values 0 0 1 3: one of two units disagrees, and of the 12 ordered pairs 10 differ.
    assert found.alpha.value == pytest.approx(1 - (3 * 2) / 10)
    assert (found.alpha.n, found.alpha.unit) == (2, "drafted entries")
    assert [(part.reason, part.n) for part in found.alpha.left_out] == [
        ("drafted entries with fewer than two values", 1)
    ]


def test_decisions_against_a_slow_twin() -> None:
    rows = random_rows(np.random.default_rng(7), range(4), n_items=20, n_parts=3, n_raters=3)
    found = decisions(make_values(rows), resample=spec(0))
    given_ = Counter(value for *_, value in rows)
    assert found.distribution.counts == tuple(given_[code] for code in range(4))
    labels = [
        [value for item, part, _, value in rows if (item, part) == unit]
        for unit in sorted({(item, part) for item, part, *_ in rows})
    ]
    paired = [each for each in labels if len(each) > 1]
    assert found.alpha.value == pytest.approx(slow_alpha(paired, "nominal", range(4)))
    assert found.alpha.n == len(paired)


def test_without_drafted_entries_nothing_is_made_up() -> None:
    found = decisions(make_values([]), resample=spec())
    assert found.distribution.counts == (0, 0, 0, 0)
    assert found.distribution.shares[0].value is None
    assert found.alpha.value is None
    assert found.alpha.undefined


def test_sets_by_hand() -> None:
    """Of judgment 5 one of four entries was added and one revised; judgment 2 has one drafted entry."""
    found = compose(np.array([5, 5, 2, 5, 5]), np.array([DRAFTED, ADDED, DRAFTED, REVISED, DRAFTED]))
    assert found.judgment.tolist() == [2, 5]
    assert found.size.tolist() == [1, 4]
    assert found.added.tolist() == [0, 0.25]
    assert found.revised.tolist() == [0, 0.25]
    size, added, revised = (
        make_values([(item, 0, 0, float(value)) for item, value in enumerate(column)])
        for column in (found.size, found.added, found.revised)
    )
    figures = set_figures(size, added, revised, resample=spec())
    assert figures.size.mean.value == 2.5
    assert figures.size.mean.unit == "sets"
    assert figures.added.mean.value == 0.125
    assert figures.revised.mean.value == 0.125


ENTRIES = st.lists(st.tuples(st.integers(0, 6), st.sampled_from([DRAFTED, REVISED, ADDED])), max_size=40)


@given(ENTRIES)
def test_sets_are_what_counting_one_by_one_finds(entries: list[tuple[int, int]]) -> None:
    judgment = np.array([each for each, _ in entries], dtype=np.int64)
    origin = np.array([each for _, each in entries], dtype=np.int64)
    found = compose(judgment, origin)
    assert found.judgment.tolist() == sorted(set(judgment.tolist()))
    for row, each in enumerate(found.judgment.tolist()):
        own = [kind for of, kind in entries if of == each]
        assert found.size[row] == len(own)
        assert found.added[row] == pytest.approx(own.count(ADDED) / len(own))
        assert found.revised[row] == pytest.approx(own.count(REVISED) / len(own))


@given(ENTRIES, st.randoms(use_true_random=False))
def test_sets_do_not_depend_on_the_order_of_their_entries(entries: list[tuple[int, int]], random) -> None:
    shuffled = list(entries)
    random.shuffle(shuffled)
    one, other = (
        compose(np.array([a for a, _ in each], dtype=int), np.array([b for _, b in each], dtype=int))
        for each in (entries, shuffled)
    )
    assert one.size.tolist() == other.size.tolist()
    assert one.added.tolist() == other.added.tolist()
    assert (one.added + one.revised <= 1).all()


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 3)), min_size=1, max_size=20, unique_by=lambda e: e[0]
    )
)
def test_raters_who_decide_alike_agree(made: list[tuple[int, int]]) -> None:
    rows = [(entry, 0, rater, float(decision)) for entry, decision in made for rater in range(3)]
    found = decisions(make_values(rows), resample=spec(0))
    assert sum(share.value or 0 for share in found.distribution.shares) == pytest.approx(1)
    if len({decision for _, decision in made}) > 1:
        assert found.alpha.value == pytest.approx(1)
    else:
        assert found.alpha.value is None


def test_what_is_no_set_is_refused() -> None:
    with pytest.raises(TidyDataError, match="judgment"):
        compose(np.array([1, 2]), np.array([0]))
    with pytest.raises(TidyDataError, match="from a draft"):
        compose(np.array([1]), np.array([3]))
