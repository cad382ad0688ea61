"""What a report may say in words: tests of one kind in one group of raters are a family, corrected together.

A family is over all pairs, arms, categories and questions about which the report may make that sentence. Of fewer than
`LEAST_QUERIES` queries it makes none, so that those are in no family.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from evaluation.analytics.randomization import holm

Record = dict[str, Any]
ALPHA = 0.05
# Hardly a family can reach its level below: see "Few queries" in docs/statistics.md.
LEAST_QUERIES = 10
TOO_FEW = f"The test has fewer than {LEAST_QUERIES} queries: too few to say."


def correct(tests: Iterable[Record | None]) -> None:
    """Writes into each test of a family its p-value after Holm's correction, and the number of tests."""
    family = [test for test in tests if test is not None]
    told = [test for test in family if test["n"] >= LEAST_QUERIES]
    for test in family:
        test |= {"p_corrected": None, "tests": len(told), "undefined": TOO_FEW}
    corrected = holm([test["p_value"] for test in told])
    for test, p in zip(told, corrected, strict=True):
        test |= {"p_corrected": p, "undefined": ""}


def is_supported(test: Record | None) -> bool:
    """Whether a sentence may be made of what was tested."""
    return test is not None and test["p_corrected"] is not None and test["p_corrected"] < ALPHA


def correct_pairwise(records: Sequence[Record]) -> None:
    """Corrects every family of one group of raters: its figures of each preference that the study asks for."""
    pair_flips = [flip for record in records for flip in record["flips"]["pairs"]]
    correct(flip["flip_test"] for flip in pair_flips)
    correct(flip["margin_test"] for flip in pair_flips)
    correct(test for record in records for test in _win_rate_tests(record["win_rates"]))
    correct(each["with_ties"]["test"] for record in records for each in record["agreement"]["differences"])
    correct(record["bias"]["position"]["test"] for record in records)
    correct(_beside_people(record["against_people"] for record in records))


def correct_answers(figures: Sequence[Record]) -> None:
    """The same in a report of answers: what one group of raters answered, question by question."""
    picks = [each["picks"] for each in figures if each["picks"]]
    correct(each["test"] for found in picks for each in found["by_system"])
    rankings = [each["ranking"] for each in figures if each["ranking"]]
    correct(pair["test"] for found in rankings for pair in found["friedman"]["pairs"])
    correct(each["test"] for found in figures for each in found["above_others"])
    pairs = [each["pairs"] for each in figures if each["pairs"]]
    correct_pairwise(pairs)
    # One family with those of the questions that are no pairs.
    labels = [each["against_people"]["labels"] for each in figures if each["against_people"]]
    correct(_beside_people([*labels, *(record["against_people"] for record in pairs)]))


def _beside_people(found: Iterable[Record | None]) -> Iterator[Record | None]:
    """Whether a judge agrees with people less, or more, than they with each other."""
    return (each["judge_less_people"]["test"] for each in found if each is not None)


def _win_rate_tests(rates: Record) -> Iterator[Record]:
    """Two systems that were compared with each other only have one test between them."""
    opponents = defaultdict(set)
    for rate in rates["expected"]:
        opponents[rate["arm"], rate["system"]].add(rate["opponent"])
    shared: dict[Any, Record] = {}
    for rate in rates["overall"]:
        arm, system = rate["arm"], rate["system"]
        if rate["test"] is None:
            continue
        (*_, other) = opponents[arm, system]
        alone = len(opponents[arm, system]) == len(opponents[arm, other]) == 1
        key = (arm, frozenset((system, other)) if alone else system)
        if key not in shared:
            shared[key] = rate["test"]
            yield rate["test"]
        rate["test"] = shared[key]
