"""What a report may say in words: only what its tests support."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from evaluation.reports.numbers import in_percent, p_value, percent, points

ALPHA = 0.05
# People lead a report; who comes next stands in where they are missing.
ORDER = {"person": 0, "simulated": 1, "judges": 2, "judge": 3}


def findings(report: dict[str, Any]) -> list[dict[str, Any]]:
    """Heading and sentence per finding, for the leading group of raters (people, or others if there are none)."""
    group = leading_group(report)
    names = Names(report)
    flips = list(_flips(group, names))
    return [
        *flips,
        # Where ties are wins, both systems may win more often than not.
        *([] if flips or report["parameters"]["ties"] == "win" else _winners(group, names)),
        *_agreement(group, names),
        *_position(group),
    ]


def leading_group(report: dict[str, Any]) -> dict[str, Any]:
    leading: dict[str, Any] = min(report["groups"], key=lambda group: ORDER[group["kind"]])
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


def is_supported(flip: dict[str, Any]) -> bool:
    return bool(flip["flipped"] and flip["p_value"] is not None and flip["p_value"] < ALPHA)


def _flips(group: dict[str, Any], names: Names) -> Iterator[dict[str, Any]]:
    """One finding per pair, whichever arms it turns between."""
    turned = [flip for flip in group["flips"]["pairs"] if flip["flipped"]]
    turned.sort(key=_pair_key)
    for (system_1, system_2), of_pair in groupby(turned, key=_pair_key):
        flips = list(of_pair)
        supported = any(is_supported(flip) for flip in flips)
        yield {
            "kind": "pair_flip",
            "system_1": system_1,
            "system_2": system_2,
            "supported": supported,
            "about": names.pair(flips[0]),
            "heading": "The preferred system turns"
            if supported
            else "The preferred system turns, but not beyond chance",
            "text": f"{_preferences(group, flips, names)} {_margins(flips, names)}",
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


def _margins(flips: list[dict[str, Any]], names: Names) -> str:
    moves = [
        f"by {points(flip['difference']['value'])} points from “{names.arms[flip['first_arm']]}” to "
        f"“{names.arms[flip['second_arm']]}” ({p_value(flip['p_value'])})"
        for flip in flips
    ]
    return f"The win-rate margin moves {' and '.join(moves)}."


def _winners(group: dict[str, Any], names: Names) -> Iterator[dict[str, Any]]:
    for rate in group["win_rates"]["overall"]:
        estimate = rate["rate"]
        if estimate["low"] is not None and estimate["low"] > 0.5:
            yield {
                "kind": "winner",
                "system": rate["system"],
                "supported": True,
                "about": names.systems[rate["system"]],
                "heading": f"Wins more often than not{names.within(rate['arm'])}",
                "text": f"Its expected win rate is {_with_interval(estimate)}, from {estimate['n']:,} items judged "
                f"by {subject(group)}.",
            }


def _agreement(group: dict[str, Any], names: Names) -> Iterator[dict[str, Any]]:
    """Arms in which raters agree more, or less, than in the first one (ContextEval Table 4)."""
    for cell in group["agreement"]["differences"]:
        found = cell["with_ties"]
        if found["p_value"] is None or found["p_value"] >= ALPHA:
            continue
        more = "more" if found["difference"]["value"] > 0 else "less"
        first, second = names.arms[cell["first_arm"]], names.arms[cell["second_arm"]]
        yield {
            "kind": "agreement",
            "system_1": cell["system_1"],
            "system_2": cell["system_2"],
            "supported": True,
            "about": names.pair(cell),
            "heading": f"Raters agree {more} in “{second}”",
            "text": f"Agreement differs by {points(found['difference']['value'])} points from “{first}” "
            f"(paired t-test on {found['difference']['n']:,} shared queries, {p_value(found['p_value'])}).",
        }


def _position(group: dict[str, Any]) -> Iterator[dict[str, Any]]:
    share = group["bias"]["position"]["share"]
    if share["low"] is None or share["low"] <= 0.5 <= share["high"]:
        return
    which = "first" if share["value"] > 0.5 else "second"
    yield {
        "kind": "position_bias",
        "supported": True,
        "about": "Position",
        "heading": f"The response shown {which} is preferred",
        "text": f"Of {share['n']:,} preferences of known order, {_with_interval(share)} are for the response "
        "shown first.",
    }


def _with_interval(estimate: dict[str, Any]) -> str:
    return f"{in_percent(estimate['value'])} ({percent(estimate['low'])} to {percent(estimate['high'])})"
