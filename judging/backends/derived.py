"""Judges that are made of other raters' judgments: a composite by category (HREF section 2.2), weighted aspects (LFQA
section 5.1), verdicts by a measure. Here is what can be set of them; how they judge is in `judging.services.derived`.
"""

import math
from collections.abc import Mapping
from typing import Any

from judging.backends.base import Derived
from judging.backends.chat_options import whole
from judging.backends.measured import MARGIN
from judging.backends.options import Input, JudgeOption

CHOSEN_ON_PEOPLE, MAP_GIVEN, MAP_OF_HREF = "people", "map", "href"
FITTED_ON_PEOPLE, FIXED, EQUAL = "people", "fixed", "equal"
SEPARATOR = "="


def named_members(lines: list[str]) -> dict[str, str]:
    """The rater's name by the name that a member goes by: `name`, or `role = name`."""
    found: dict[str, str] = {}
    for line in lines:
        role, separator, name = (each.strip() for each in line.partition(SEPARATOR))
        if not role or (separator and not name) or SEPARATOR in name:
            raise ValueError(f"{line!r} is neither a name nor `role = name`.")
        if role in found:
            raise ValueError(f"{role!r} is named twice.")
        found[role] = name or role
    return found


def _clean_members(lines: list[str]) -> list[str]:
    if not named_members(lines):
        raise ValueError("at least one name is needed.")
    return lines


def _clean_map(given: Any) -> dict[str, Any]:
    """A map as `composite_map` writes it, or its two essential parts."""
    if given in ({}, "", None):
        return {}
    if not isinstance(given, Mapping) or not isinstance(given.get("otherwise"), str):
        raise ValueError(
            'an object is needed that has "categories" and "otherwise", the member of any other category.'
        )
    categories = given.get("categories")
    if not isinstance(categories, Mapping) or not all(isinstance(each, str) for each in categories.values()):
        raise ValueError('"categories" must be an object of categories and members.')
    return {"categories": dict(categories), "otherwise": given["otherwise"]}


def _clean_weights(given: Any) -> dict[str, float]:
    if given in ("", None):
        return {}
    if not isinstance(given, Mapping):
        raise ValueError('an object of aspects and weights is needed, such as {"factuality": 2}.')
    for key, weight in given.items():
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not math.isfinite(weight):
            raise ValueError(f"the weight of {key!r} is no number.")
    return {str(key): float(weight) for key, weight in given.items()}


MEMBERS_HELP = (
    "Judges whose run is in the figures, by their names, or imported judges, by name or label; one a line. "
)


def _members(help: str, *, label: str = "Members") -> JudgeOption:
    """The option that names the raters whose judgments are read."""
    return JudgeOption(
        key="members", label=label, help=help, input=Input.LINES, default=[], clean=_clean_members
    )


COMPOSITE = Derived(
    key="composite",
    label="composite: the best judge of each category",
    options=(
        _members(MEMBERS_HELP + "Where a map names them otherwise: `role = name`."),
        JudgeOption(
            key="chosen",
            label="Member of each category",
            help="Chosen on people: of each fold by the agreement with people in the others. A map needs no people.",
            input=Input.CHOICE,
            default=CHOSEN_ON_PEOPLE,
            choices={
                CHOSEN_ON_PEOPLE: "chosen on this study's people, cross-fitted",
                MAP_GIVEN: "by the map below",
                MAP_OF_HREF: "by HREF's published map (roles: model, model-with-reference, embedding)",
            },
        ),
        JudgeOption(
            key="least_judged",
            label="Judged queries of a category, at least",
            help="Where it is chosen on people: a category with fewer takes the member that is best over all. HREF "
            "has no such limit: 1.",
            input=Input.NUMBER,
            default=30,
            clean=whole(1_000_000, 1),
        ),
        JudgeOption(
            key="map",
            label="Map",
            help='As another composite\'s map is downloaded: {"categories": {...}, "otherwise": "..."}.',
            input=Input.JSON,
            default={},
            clean=_clean_map,
        ),
    ),
)
WEIGHTED = Derived(
    key="weighted",
    label="weighted: the overall rating from aspects",
    options=(
        _members(MEMBERS_HELP + "Of an aspect that several have rated, their mean counts."),
        JudgeOption(
            key="overall",
            label="Overall question",
            help="Key of the scale that is answered.",
            default="acceptability",
        ),
        JudgeOption(
            key="aspects",
            label="Aspects",
            help="Keys of the scales that are weighted, one a line; empty: every other scale of the same things.",
            input=Input.LINES,
            default=[],
        ),
        JudgeOption(
            key="weights",
            label="Weights",
            input=Input.CHOICE,
            default=FITTED_ON_PEOPLE,
            choices={
                FITTED_ON_PEOPLE: "fitted on this study's people, cross-fitted",
                FIXED: "fixed, as below",
                EQUAL: "equal",
            },
        ),
        JudgeOption(
            key="fixed",
            label="Fixed weights",
            help='Points lost between an aspect\'s ideal and its far end: {"factuality": 2.048, "formality": 0.335}.',
            input=Input.JSON,
            default={},
            clean=_clean_weights,
        ),
    ),
)
BY_MEASURE = Derived(
    key="by_measure",
    label="by a measure: the response with the better number",
    options=(
        _members(
            "The rater that gave the measure: scores that were imported, or a judge whose run is in the figures.",
            label="Member",
        ),
        JudgeOption(
            key="measure",
            label="Measure",
            help="Its name; empty: the only one of responses of which one end is better.",
        ),
        MARGIN,
    ),
)
