"""Sentences that a report may say: tests of one kind in one group of raters are a family, corrected together.

A family is over all pairs, arms, categories and questions about which the report may make that sentence. Of fewer than
`LEAST_QUERIES` queries it makes none, so that those are in no family.
"""

from collections.abc import Iterable
from typing import Any

from analytics.statistics.core.randomization import holm

Record = dict[str, Any]
ALPHA = 0.05
# Hardly a family can reach its level below: see "Few queries" in docs/statistics.md.
LEAST_QUERIES = 10
TOO_FEW = f"The test has fewer than {LEAST_QUERIES} queries: too few for a conclusion."


def correct(tests: Iterable[Record | None], least: int = LEAST_QUERIES) -> None:
    """Writes into each test of a family its p-value after Holm's correction, and the number of tests.

    Tests of fewer queries than `least` are in no family.
    """
    # What was withheld is in no family.
    family = [test for test in tests if test is not None and test["p_value"] is not None]
    told = [test for test in family if test["n"] >= least]
    for test in family:
        test |= {"p_corrected": None, "tests": len(told), "undefined": TOO_FEW}
    corrected = holm([test["p_value"] for test in told])
    for test, p in zip(told, corrected, strict=True):
        test |= {"p_corrected": p, "undefined": ""}


def is_supported(test: Record | None) -> bool:
    """True if a sentence may be made of the test."""
    return test is not None and test["p_corrected"] is not None and test["p_corrected"] < ALPHA
