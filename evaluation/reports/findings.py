"""What a report may say in words: only what its tests support."""

from collections.abc import Iterator
from typing import Any

ALPHA = 0.05


def findings(report: dict[str, Any]) -> list[dict[str, str]]:
    """Heading and sentence per finding, for the leading group of raters (people, or simulated ones if there are none)."""
    group = leading_group(report)
    labels = {arm["key"]: arm["label"] for arm in report["study"]["arms"]}
    names = {system["key"]: system["label"] for system in report["study"]["systems"]}
    found = list(_flips(group, labels, names))
    if not found:
        found = list(_winners(group, labels, names))
    return found


def leading_group(report: dict[str, Any]) -> dict[str, Any]:
    order = {"person": 0, "simulated": 1, "judge": 2}
    leading: dict[str, Any] = min(report["groups"], key=lambda group: order[group["kind"]])
    return leading


def _flips(group: dict[str, Any], arms: dict[str, str], names: dict[str, str]) -> Iterator[dict[str, str]]:
    who = "simulated raters prefer" if group["kind"] == "simulated" else f"{group['label'].lower()} prefer"
    for flip in group["flips"]["pairs"]:
        if not flip["flipped"]:
            continue
        pair = f"{names[flip['system_1']]} vs {names[flip['system_2']]}"
        first, second = names[flip["first_preferred"]], names[flip["second_preferred"]]
        supported = flip["p_value"] is not None and flip["p_value"] < ALPHA
        points = abs(flip["difference"]["value"] or 0) * 100
        yield {
            "kind": "pair_flip",
            "heading": f"{pair}: the preferred system turns"
            if supported
            else f"{pair}: the preferred system turns, but not beyond chance",
            "text": f"In “{arms[flip['first_arm']]}” {who} {first}; in “{arms[flip['second_arm']]}”, {second}. "
            f"The win-rate margin moves by {points:.1f} points ({_p(flip['p_value'])}).",
        }


def _winners(group: dict[str, Any], arms: dict[str, str], names: dict[str, str]) -> Iterator[dict[str, str]]:
    for rate in group["win_rates"]["overall"]:
        low = rate["rate"]["low"]
        if low is not None and low > 0.5:
            share = rate["rate"]["value"] * 100
            yield {
                "kind": "winner",
                "heading": f"{names[rate['system']]} wins more often than not in “{arms[rate['arm']]}”",
                "text": f"Its expected win rate is {share:.1f} %, "
                f"{low * 100:.1f} to {rate['rate']['high'] * 100:.1f}.",
            }


def _p(value: float | None) -> str:
    if value is None:
        return "not testable"
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"
