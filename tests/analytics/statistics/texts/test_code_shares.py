"""Shares of codes among texts, by system."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.core.estimates import ParameterError
from analytics.statistics.texts.code_shares import code_shares
from tests.analytics.statistics.build import spec

CODES = ("facet", "preference", "confirmation")


def shares_of(given, system, query, systems=2):
    found = code_shares(given, CODES, np.array(system), np.array(query), systems=systems, resample=spec())
    return {each.code: each.shares for each in found}


def test_by_hand():
    found = shares_of(
        [["facet"], ["facet", "preference"], ["preference"], [], ["facet"]], [0, 0, 0, 0, 1], [0, 1, 2, 3, 0]
    )
    assert [share.value for share in found["facet"]] == [0.5, 1]
    assert [share.value for share in found["preference"]] == [0.5, 0]
    assert [share.value for share in found["confirmation"]] == [0, 0]
    assert [share.n for share in found["facet"]] == [4, 1]
    assert 0 < found["facet"][0].low < 0.5 < found["facet"][0].high < 1


def test_a_system_without_texts_has_none():
    found = shares_of([["facet"]], [0], [0])
    assert found["facet"][1].undefined == "The system has no such texts."


def test_lists_of_different_lengths_are_refused():
    with pytest.raises(ParameterError, match="the same texts"):
        shares_of([["facet"]], [0, 1], [0, 1])


@given(
    st.lists(
        st.tuples(st.sets(st.sampled_from(CODES)), st.integers(0, 2), st.integers(0, 5)),
        min_size=1,
        max_size=40,
    )
)
def test_counted_one_by_one(rows):
    found = shares_of(*(list(each) for each in zip(*rows, strict=True)), systems=3)
    for code, shares in found.items():
        for system, share in enumerate(shares):
            theirs = [codes for codes, of, _ in rows if of == system]
            assert share.n == len(theirs)
            if theirs:
                assert share.value == pytest.approx(sum(code in codes for codes in theirs) / len(theirs))
            else:
                assert share.value is None


@given(st.lists(st.tuples(st.sampled_from(CODES), st.integers(0, 5)), min_size=1, max_size=40))
def test_shares_of_single_codes_add_up_to_one(rows):
    found = shares_of([[code] for code, _ in rows], [0] * len(rows), [query for _, query in rows], systems=1)
    assert sum(share.value for (share,) in found.values()) == pytest.approx(1)
