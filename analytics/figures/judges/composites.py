"""Composite judges: which member judges each category, and their agreement with people beside their members'."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analytics.display.blocks import Block
from analytics.display.tables import Builder, Table, columns, head, words
from analytics.figures.figure import Figure
from analytics.figures.figure_input import PAIRS, FigureInput, PairInput
from analytics.figures.needs import Derived, DerivedJudges
from analytics.figures.report_view import SMALL, PairView, ReportView, by_size
from analytics.statistics.agreement.leave_one_out import outer_agreement, outer_by_chance, outer_by_group
from analytics.statistics.core.counts import unique_mode
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.tidy import MISSING, Ints
from evaluation.protocols import QuestionSpec

KEY = "judges/composites"
KIND = "composite"
# More categories than these are opened by who wants them.
MOST_OPEN = 15


@dataclass(frozen=True)
class CompositeMember:
    """A member's own leave-one-out agreement with people, and by chance."""

    member: str
    agreement: Estimate
    by_chance: float | None


@dataclass(frozen=True)
class CompositeCategory:
    """A category's member by the map that is chosen on everything, or was given, and in each fold; by default the one
    that is best over all."""

    category: str
    member: str
    by_default: bool
    folds: tuple[str, ...]
    agreement: Estimate
    in_sample: Estimate | None


@dataclass(frozen=True)
class CompositeJudge:
    """A composite judge's leave-one-out agreement with people, cross-fitted where its members were chosen on them.

    `of_map` is the part of it that is the map's own, which other studies use: over the categories for which every fold
    chose the map's member. `least_judged` is the number of judged queries below which a category took the member that
    is best over all. Both are None where nothing was chosen.
    `in_sample` is the same of members chosen on the people with whom they are compared, which is too high: None where
    nothing was chosen. By chance: had its labels been drawn from all that it gave; None without an item of two
    judgments.
    """

    fitted: bool
    agreement: Estimate
    by_chance: float | None
    of_map: Estimate | None
    least_judged: int | None
    in_sample: Estimate | None
    in_sample_by_chance: float | None
    members: tuple[CompositeMember, ...]
    categories: tuple[CompositeCategory, ...]


class CompositesFigure(Figure[CompositeJudge]):
    needs = (DerivedJudges,)
    heading = "judges"
    place = 15
    definition = (
        "Composite judges: the member for each category in each fold; leave-one-out agreement with people, "
        "cross-fitted and in sample, and that of the members."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == PAIRS

    def compute(self, given: FigureInput) -> CompositeJudge | None:
        """Agreement by the composite's own judgments, and in sample by what its members said.

        Of one that goes by a given map nothing was chosen on these people: its agreement is out of sample as it is.
        """
        about = self.need(given, DerivedJudges).about(given.group_key)
        if about.get("kind") != KIND or given.people is None:
            return None
        assert isinstance(given, PairInput)
        assert isinstance(given.people, PairInput)
        people, own = given.people.votes, unique_mode(given.votes)
        members = {name: _labels(given, key) for name, key in sorted(about["members"].items())}
        inside = _by_map(given, about, members) if about["fitted"] else None
        items = given.items

        def outer(label: Ints, purpose: str) -> Estimate:
            return outer_agreement(people, label, items.query, resample=given.resample(purpose))

        def apart(label: Ints, purpose: str) -> Sequence[Estimate]:
            return outer_by_group(
                people,
                label,
                items.query,
                items.category,
                len(items.categories),
                resample=given.resample(purpose),
            )

        settled = _settled(about, items.categories)[items.category] if about["fitted"] else None
        crossed_apart = apart(own, "composite")
        inside_apart = None if inside is None else apart(inside, "composite in sample")
        return CompositeJudge(
            fitted=bool(about["fitted"]),
            agreement=outer(own, "composite"),
            by_chance=outer_by_chance(people, own),
            of_map=None if settled is None else self._of_map(given, own, settled),
            least_judged=about.get("least_judged"),
            in_sample=None if inside is None else outer(inside, "composite in sample"),
            in_sample_by_chance=None if inside is None else outer_by_chance(people, inside),
            members=tuple(
                CompositeMember(name, outer(label, f"member {name}"), outer_by_chance(people, label))
                for name, label in members.items()
            ),
            categories=tuple(
                CompositeCategory(
                    category,
                    member=_member(about, category),
                    by_default=category in about.get("by_default", ()),
                    folds=tuple(fold.get(category, about["otherwise"]) for fold in about.get("folds", ())),
                    agreement=crossed_apart[code],
                    in_sample=inside_apart[code] if inside_apart else None,
                )
                for code, category in enumerate(items.categories)
            ),
        )

    def _of_map(self, given: PairInput, own: Ints, settled: np.ndarray) -> Estimate | None:
        assert isinstance(given.people, PairInput)
        if not settled.any():
            return None
        resample = given.resample("composite of the map")
        people, query = given.people.votes[settled], given.items.query[settled]
        return outer_agreement(people, own[settled], query, resample=resample)

    def blocks(self, view: ReportView) -> Iterator[Block]:
        yield from view.per_pair(_of_pair)

    def methods(self, view: ReportView) -> Iterable[str]:
        if any(record.fitted for record in self.records(view)):
            yield (
                "A composite judge whose members are chosen by their agreement with people judges each query by "
                "the member that agreed best with people in the query's category in the other four of five "
                "folds. Its in-sample agreement, with members chosen on the same people, is too high."
            )


FIGURE = CompositesFigure()


def _labels(given: PairInput, key: str) -> Ints:
    """One label per item of a group; none where it is in the figures no more."""
    group = given.by_group.get(key)
    return np.full(len(given.items), MISSING, dtype=np.int64) if group is None else unique_mode(group.votes)


def _member(about: Derived, category: str) -> str:
    return str(about["categories"].get(category, about["otherwise"]))


def _settled(about: Derived, categories: Sequence[str]) -> np.ndarray:
    """True of each category for which every fold chose the member that the map has."""
    return np.array(
        [
            all(fold.get(each, about["otherwise"]) == _member(about, each) for fold in about.get("folds", ()))
            for each in categories
        ],
        dtype=bool,
    )


def _by_map(given: PairInput, about: Derived, members: Mapping[str, Ints]) -> Ints:
    """The label of the member that the map for everything has for each item's category."""
    nothing = np.full(len(given.items), MISSING, dtype=np.int64)
    chosen = [members.get(_member(about, category), nothing) for category in given.items.categories]
    return np.asarray(np.stack(chosen)[given.items.category, np.arange(len(given.items))])


def _of_pair(view: PairView) -> Iterator[Block]:
    for group in view.judging:
        if CompositesFigure.is_in(group):
            found = CompositesFigure.of(group)
            large, small = by_size(found.categories, lambda each: each.agreement.n)
            yield Block(f"{group.label}: agreement with people", tables=(_agreement(group.label, found),))
            for heading, categories in (("", large), (f", {SMALL}", small)):
                if categories:
                    yield Block(
                        f"{group.label}: member for each category{heading}",
                        tables=(_categories(group.label, found, categories),),
                        folded=categories is small or len(categories) > MOST_OPEN,
                    )


def _agreement(label: str, found: CompositeJudge) -> Table:
    build = Builder(
        "Leave-one-out agreement of a composite judge and of its members with people, in percent.",
        columns(["Judge", "Chosen", "With people", "By chance", "n"], names=2),
        foot="Cross-fitted: each query by the member that was chosen on the other folds, as the judge judges here. Of "
        "the map: the categories for which every fold chose the member of the map that other studies use. In sample: "
        "the members were chosen on the same people that they are compared with, so this agreement is too high."
        if found.fitted
        else "",
    )
    chosen = "cross-fitted" if found.fitted else "by a given map"
    rows: list[tuple[str, str, Estimate, float | None]] = [(label, chosen, found.agreement, found.by_chance)]
    if found.of_map:
        rows.append((label, "cross-fitted, of the map", found.of_map, None))
    if found.in_sample:
        rows.append((label, "in sample", found.in_sample, found.in_sample_by_chance))
    rows += [(each.member, "", each.agreement, each.by_chance) for each in found.members]
    for name, how, estimate, chance in rows:
        build.add(head(name), words(how), *build.beside_chance(estimate, chance), build.n(estimate))
    return build.build()


def _categories(label: str, found: CompositeJudge, categories: Sequence[CompositeCategory]) -> Table:
    fitted = found.fitted
    build = Builder(
        f"{label}: the member that judges each category, and its leave-one-out agreement with people, in "
        "percent.",
        columns(
            [
                "Category",
                "Member",
                *(["By fold", "Cross-fitted", "In sample"] if fitted else ["With people"]),
                "n",
            ],
            names=3 if fitted else 2,
        ),
        foot=_default_rule(found.least_judged) if fitted else "",
    )
    for each in categories:
        build.add(
            head(each.category or "none"),
            words(each.member, "best overall" if each.by_default else ""),
            *([words(_times(each.folds))] if fitted else []),
            build.share(each.agreement),
            *([build.share(each.in_sample)] if each.in_sample else []),
            build.n(each.agreement),
        )
    return build.build()


def _default_rule(least_judged: int | None) -> str:
    few = "too few" if least_judged is None else f"fewer than {least_judged:,}"
    return f"Best overall: chosen where a category has {few} judged queries, or a tie."


def _times(folds: Sequence[str]) -> str:
    """The members of the folds, in their order: `alpha in 1, 2, 4; beta in 3, 5`."""
    names = list(dict.fromkeys(folds))
    if len(names) == 1:
        return f"{names[0]} in all folds"
    places = {name: [str(at) for at, each in enumerate(folds, 1) if each == name] for name in names}
    return "; ".join(f"{name} in {', '.join(numbers)}" for name, numbers in places.items())
