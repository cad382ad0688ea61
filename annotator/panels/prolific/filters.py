"""Conditions on participants in Prolific's form: what is asked for, by the API's filters, and whether the study there
still asks for the same.

Choices go by Prolific's own words, not by the numbers that stand for them in its API: those are looked up when a study
is drafted, so that a renumbering there can never recruit other people without a word.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from annotator.panels.platforms.eligibility import FilterUnknown

# Of such a filter only how many ids it has is kept here: they are people's.
OF_PEOPLE = "custom_blocklist"


@dataclass(frozen=True)
class KnownFilter:
    """A filter that studies can have: its choices by label, or a range's limits; one of ids has neither."""

    id: str
    title: str
    choices: Mapping[str, str]
    lowest: int | None = None
    highest: int | None = None


@dataclass(frozen=True)
class Condition:
    """A condition: some of a filter's choices by name, its values from and up to some point, or ids. `field` is the
    one that it was set in."""

    id: str
    field: str
    said: str
    choices: tuple[str, ...] = ()
    lower: int | None = None
    upper: int | None = None
    ids: tuple[str, ...] = ()


def as_filters(wanted: Iterable[Condition], known: Iterable[KnownFilter]) -> list[dict[str, Any]]:
    """The conditions as Prolific takes them, by what it lists now. Raises FilterUnknown."""
    listed = {each.id: each for each in known}
    return [_as_filter(each, listed) for each in wanted]


def _as_filter(wanted: Condition, listed: Mapping[str, KnownFilter]) -> dict[str, Any]:
    there = listed.get(wanted.id)
    if there is None:
        sentence = f"Prolific has no filter {wanted.id!r} any more ({wanted.said})."
        raise FilterUnknown(wanted.field, sentence)
    if wanted.ids:
        return {"filter_id": wanted.id, "selected_values": list(wanted.ids)}
    if wanted.choices:
        for each in wanted.choices:
            if each not in there.choices:
                raise FilterUnknown(
                    wanted.field,
                    f"Prolific's filter {wanted.id!r} has no choice {each!r}{_near(each, there)} "
                    f"({wanted.said}).",
                )
        return {"filter_id": wanted.id, "selected_values": [there.choices[each] for each in wanted.choices]}
    bounds = {"lower": wanted.lower, "upper": wanted.upper}
    for bound in bounds.values():
        if bound is not None and not _is_within(bound, there):
            raise FilterUnknown(
                wanted.field,
                f"Prolific's filter {wanted.id!r} goes from {there.lowest} to {there.highest}, but "
                f"{bound} was requested ({wanted.said}).",
            )
    return {
        "filter_id": wanted.id,
        "selected_range": {name: bound for name, bound in bounds.items() if bound is not None},
    }


def _near(name: str, there: KnownFilter) -> str:
    near = get_close_matches(name, list(there.choices), n=3)
    return f"; similar are {', '.join(near)}" if near else ""


def _is_within(value: int, there: KnownFilter) -> bool:
    return (there.lowest is None or there.lowest <= value) and (
        there.highest is None or value <= there.highest
    )


# --- what was drafted, and what is there ------------------------------------------------------------------------------


def as_stored(filters: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The filters as they are kept here, to be compared later: of ids of people their number and a digest."""
    return [_without_people(each) for each in filters]


def _without_people(each: Mapping[str, Any]) -> dict[str, Any]:
    if each.get("filter_id") != OF_PEOPLE:
        return dict(each)
    ids = sorted(str(one) for one in each.get("selected_values") or ())
    digest = hashlib.sha256("\n".join(ids).encode()).hexdigest()[:16]
    return {"filter_id": OF_PEOPLE, "selected_values": [f"{len(ids)} ids, {digest}"]}


def differences(
    ours: Sequence[Mapping[str, Any]],
    theirs: Sequence[Mapping[str, Any]],
    *,
    said: Mapping[str, str],
    limits: Mapping[str, Sequence[int | None]],
) -> list[str]:
    """The differences between the filters there and those drafted, in words; both sides as `as_stored` has them.

    `limits` are those of each range: a bound that only one side names is no difference where it is the limit.
    """
    here, there = ({str(each.get("filter_id")): each for each in side} for side in (ours, theirs))
    found = []
    for name, each in here.items():
        if name not in there:
            found.append(f"“{said.get(name, name)}” is not set there")
        elif not _is_same(each, there[name], limits.get(name, (None, None))):
            found.append(f"“{said.get(name, name)}” differs there")
    return found + [f"“{name}” is set only there" for name in there if name not in here]


def _is_same(ours: Mapping[str, Any], theirs: Mapping[str, Any], limits: Sequence[int | None]) -> bool:
    if set(map(str, ours.get("selected_values") or ())) != set(map(str, theirs.get("selected_values") or ())):
        return False
    ranges = [side.get("selected_range") or {} for side in (ours, theirs)]
    for name, limit in zip(("lower", "upper"), limits, strict=True):
        here, there = (limit if each.get(name) is None else each[name] for each in ranges)
        if here != there:
            return False
    return True
