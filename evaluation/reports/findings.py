"""What a report may say in words: only what its tests support, corrected within their family."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from evaluation.reports.families import LEAST_QUERIES, is_supported
from evaluation.reports.numbers import corrected, in_percent, percent, points

# People lead a report; who comes next stands in where they are missing. Heuristics lead where nobody else has judged.
ORDER = {"person": 0, "simulated": 1, "judges": 2, "judge": 3}


def findings(report: dict[str, Any]) -> list[dict[str, Any]]:
    """Heading and sentence per finding, for the leading group of raters (people, or others if there are none)."""
    group = leading_group(report)
    if group["heuristic"]:
        return []
    names = Names(report)
    changes = list(_changes(group, names))
    found = [
        *changes,
        *([] if any(each["kind"] == "pair_flip" for each in changes) else _winners(group, names)),
        *_agreement(group, names),
        *_position(group),
    ]
    return [{**each, "supported": True} for each in found] or list(too_few(_tests(group), subject(group)))


def leading_group(report: dict[str, Any]) -> dict[str, Any]:
    leading: dict[str, Any] = min(
        report["groups"], key=lambda group: (group["heuristic"], ORDER[group["kind"]])
    )
    return leading


class Names:
    """What arms, systems and pairs are called in sentences."""

    def __init__(self, report: dict[str, Any]) -> None:
        self.arms = {arm["key"]: arm["label"] for arm in report["study"]["arms"]}
        self.systems = {system["key"]: system["label"] for system in report["study"]["systems"]}
        self.n_arms = len({cell["arm"] for cell in leading_group(report)["agreement"]["by_cell"]})

    def pair(self, cell: dict[str, Any]) -> str:
        return f"{self.systems[cell['system_1']]} vs {self.systems[cell['system_2']]}"

    def within(self, arm: str) -> str:
        """Nothing where the study has one arm only: there is nothing to tell it from."""
        return f" in “{self.arms[arm]}”" if self.n_arms > 1 else ""


def subject(group: dict[str, Any]) -> str:
    """The group as a subject in the middle of a sentence."""
    plural = {"person": "people", "simulated": "simulated raters", "judges": "the judges"}
    return plural.get(group["kind"]) or str(group["label"])


def too_few(tests: list[dict[str, Any]], who: str) -> Iterator[dict[str, Any]]:
    """That nothing is said where no test has the queries for it."""
    if not tests or any(test["n"] >= LEAST_QUERIES for test in tests):
        return
    most = max(test["n"] for test in tests)
    queries = "One query was" if most == 1 else f"At most {most:,} queries were"
    yield {
        "kind": "too_few",
        "supported": False,
        "about": "Findings",
        "heading": "Too few queries to say",
        "text": f"{queries} judged by {who} in any comparison. Below {LEAST_QUERIES} queries the report draws no "
        "conclusion; the figures stand below with their intervals.",
    }


def _tests(group: dict[str, Any]) -> list[dict[str, Any]]:
    """Those that a sentence could have been made of."""
    found = [rate["test"] for rate in group["win_rates"]["overall"]]
    found += [flip["margin_test"] for flip in group["flips"]["pairs"]]
    return [test for test in found if test is not None]


def flips_beyond_chance(flip: dict[str, Any]) -> bool:
    return bool(flip["flipped"] and is_supported(flip["flip_test"]))


def _changes(group: dict[str, Any], names: Names) -> Iterator[dict[str, Any]]:
    """One finding per pair: between which arms the preferred system changes or, where it does not, the margin."""
    for (system_1, system_2), of_pair in groupby(sorted(group["flips"]["pairs"], key=_pair_key), _pair_key):
        pair = list(of_pair)
        about = {"system_1": system_1, "system_2": system_2, "about": names.pair(pair[0])}
        if flips := [flip for flip in pair if flips_beyond_chance(flip)]:
            yield {
                **about,
                "kind": "pair_flip",
                "heading": "The preferred system changes",
                "text": f"{_preferences(group, flips, names)} {_between(flips, names)}",
            }
        elif moved := [flip for flip in pair if is_supported(flip["margin_test"])]:
            largest = max(moved, key=lambda flip: abs(flip["difference"]["value"]))
            yield {
                **about,
                "kind": "margin_change",
                "heading": f"The margin changes by {points(largest['difference']['value'])} points",
                "text": _margins(group, moved, names),
            }


def _pair_key(flip: dict[str, Any]) -> tuple[str, str]:
    return flip["system_1"], flip["system_2"]


def _preferences(group: dict[str, Any], flips: list[dict[str, Any]], names: Names) -> str:
    preferred = {}
    for flip in flips:
        preferred[flip["first_arm"]] = flip["first_preferred"]
        preferred[flip["second_arm"]] = flip["second_preferred"]
    by_system: dict[str, list[str]] = {}
    for arm in names.arms:
        if arm in preferred:
            by_system.setdefault(preferred[arm], []).append(f"“{names.arms[arm]}”")
    verb = "prefers" if group["kind"] == "judge" else "prefer"
    (system, arms), *rest = by_system.items()
    first = f"In {' and '.join(arms)} {subject(group)} {verb} {names.systems[system]}"
    return (
        "; ".join([first, *(f"in {' and '.join(arms)}, {names.systems[system]}" for system, arms in rest)])
        + "."
    )


def _between(flips: list[dict[str, Any]], names: Names) -> str:
    moves = [
        f"from “{names.arms[flip['first_arm']]}” to “{names.arms[flip['second_arm']]}” "
        f"({corrected(flip['flip_test'])})"
        for flip in flips
    ]
    return f"It changes {' and '.join(moves)}."


def _margins(group: dict[str, Any], moved: list[dict[str, Any]], names: Names) -> str:
    """Towards which system the margin of wins moves, between which arms."""
    moves = []
    for flip in moved:
        gains = flip["system_1"] if flip["difference"]["value"] > 0 else flip["system_2"]
        moves.append(
            f"by {points(flip['difference']['value'])} points towards {names.systems[gains]} from "
            f"“{names.arms[flip['first_arm']]}” to “{names.arms[flip['second_arm']]}” "
            f"({corrected(flip['margin_test'])})"
        )
    return f"Of the items judged by {subject(group)}, the margin of wins moves {' and '.join(moves)}."


def _winners(group: dict[str, Any], names: Names) -> Iterator[dict[str, Any]]:
    for rate in group["win_rates"]["overall"]:
        estimate = rate["rate"]
        if is_supported(rate["test"]) and estimate["value"] > 0.5:
            yield {
                "kind": "winner",
                "system": rate["system"],
                "about": names.systems[rate["system"]],
                "heading": f"Wins more often than not{names.within(rate['arm'])}",
                "text": f"Its expected win rate is {with_interval(estimate)}, from {estimate['n']:,} items judged "
                f"by {subject(group)} ({corrected(rate['test'])}).",
            }


def _agreement(group: dict[str, Any], names: Names) -> Iterator[dict[str, Any]]:
    """Arms in which raters agree more, or less, than in the first one (ContextEval Table 4)."""
    for cell in group["agreement"]["differences"]:
        found = cell["with_ties"]
        if not is_supported(found["test"]):
            continue
        more = "more" if found["difference"]["value"] > 0 else "less"
        first, second = names.arms[cell["first_arm"]], names.arms[cell["second_arm"]]
        yield {
            "kind": "agreement",
            "system_1": cell["system_1"],
            "system_2": cell["system_2"],
            "about": names.pair(cell),
            "heading": f"Raters agree {more} in “{second}”",
            "text": f"Agreement differs by {points(found['difference']['value'])} points from “{first}” on "
            f"{found['difference']['n']:,} shared queries ({corrected(found['test'])}).",
        }


def _position(group: dict[str, Any]) -> Iterator[dict[str, Any]]:
    position = group["bias"]["position"]
    share = position["share"]
    if not is_supported(position["test"]):
        return
    which = "first" if share["value"] > 0.5 else "second"
    yield {
        "kind": "position_bias",
        "about": "Position",
        "heading": f"The response shown {which} is preferred",
        "text": f"Of {share['n']:,} preferences of known order, {with_interval(share)} are for the response "
        f"shown first ({corrected(position['test'])}).",
    }


def with_interval(estimate: dict[str, Any]) -> str:
    """A share in percent, with its limits where it has some."""
    if estimate["low"] is None:
        return in_percent(estimate["value"])
    return f"{in_percent(estimate['value'])} ({percent(estimate['low'])} to {percent(estimate['high'])})"
