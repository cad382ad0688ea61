"""Settings of systems in figures: which system stands in which, the cells that are compared, and their table."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import Literal, Self

import numpy as np

from analytics.display.tables import D_OF_PAIRS, P_COLUMNS, Builder, Column, columns, head, words
from analytics.figures.families import FamilyTest
from analytics.figures.figure_input import FigureInput
from analytics.frames.needs import NeedSource
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.randomization import Tested
from analytics.statistics.core.tidy import Floats, Ints
from analytics.statistics.ratings.settings import SettingValues, paired_cells

FAMILY = "settings"
METHODS = (
    "Settings of the same systems, and systems in the same settings, are compared query by query: the difference of "
    "both means of a query, over all systems (or settings) that have both and in each, with an interval over queries "
    "and a sign-flip test, corrected for all of these differences of a group (Holm). Beside it stands Cohen's d of "
    "paired measures, with an interval by the noncentral t distribution."
)


@dataclass(frozen=True, eq=False)
class SystemSettings:
    """Of systems that stand in several settings, by key: the key that they have in all of them, and the setting."""

    by_key: Mapping[str, tuple[str, str]]

    @classmethod
    def of(cls, source: NeedSource) -> Self:
        rows = source.study.systems.exclude(setting="").values_list("key", "base", "setting")
        return cls({key: (base, setting) for key, base, setting in rows})

    @property
    def are_compared(self) -> bool:
        return len({setting for _, setting in self.by_key.values()}) > 1


@dataclass(frozen=True)
class SettingDifference:
    """Two settings of systems, or two systems in settings: both means and the second's less the first's.

    `within` is the system, or the setting, in which they are compared; None over all that have both. `effect` is
    Cohen's d of paired measures.
    """

    between: Literal["settings", "systems"]
    first: str
    second: str
    within: str | None
    one: Estimate
    other: Estimate
    difference: Estimate
    effect: Estimate
    test: Tested | None


def setting_differences(
    given: FigureInput,
    settings: SystemSettings,
    value: Floats,
    query: Ints,
    system: Ints,
    keys: Sequence[str],
    *,
    purpose: str,
) -> tuple[SettingDifference, ...]:
    """The cells of values (n,) of texts of `system` (n,), codes of `keys`; of systems without a setting nothing."""
    bases = sorted({base for base, _ in settings.by_key.values()})
    names = sorted({setting for _, setting in settings.by_key.values()})
    base, setting = (np.full(len(keys) + 1, -1) for _ in range(2))
    for code, key in enumerate(keys):
        if key in settings.by_key:
            own_base, own_setting = settings.by_key[key]
            base[code], setting[code] = bases.index(own_base), names.index(own_setting)
    used = base[system] >= 0
    n_tests = comb(len(names), 2) * (len(bases) + 1) + comb(len(bases), 2) * (len(names) + 1)
    found = paired_cells(
        SettingValues(
            value[used], query[used], base[system[used]], setting[system[used]], len(bases), len(names)
        ),
        resample=given.resample(purpose),
        tests=given.tests(purpose, n_tests),
    )
    cells = []
    for each in found:
        compared, around = (names, bases) if each.between == "settings" else (bases, names)
        within = None if each.within is None else around[each.within]
        cells.append(
            SettingDifference(
                each.between,
                compared[each.first],
                compared[each.second],
                within,
                each.one,
                each.other,
                each.difference,
                each.effect,
                each.test,
            )
        )
    return tuple(cells)


def setting_tests(cells: Iterable[SettingDifference]) -> Iterable[FamilyTest]:
    return (FamilyTest(FAMILY, cell.test) for cell in cells if cell.test is not None)


def setting_table(caption: str, named: Iterable[tuple[str, Iterable[SettingDifference]]]) -> Builder:
    """A row for each difference of what is named."""
    build = Builder(
        f"{caption} {D_OF_PAIRS}",
        [
            *columns(["Of", "Second", "First", "In"], names=4),
            *(
                Column(label)
                for label in ("Second's mean", "First's mean", "Difference", "d", *P_COLUMNS, "n")
            ),
        ],
    )
    for name, cells in named:
        for cell in cells:
            everywhere = "all systems" if cell.between == "settings" else "all settings"
            build.add(
                head(name),
                words(cell.second),
                words(cell.first),
                words(cell.within or everywhere),
                build.coefficient(cell.other),
                build.coefficient(cell.one),
                build.coefficient(cell.difference),
                build.coefficient(cell.effect),
                *build.tested(cell.test, cell.difference.undefined),
                build.n(cell.difference),
            )
    return build
