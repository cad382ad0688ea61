"""Composite judges: which member judges each category, and their agreement with people beside their members'."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from analytics.display.blocks import Block
from analytics.display.tables import Builder, Table, columns, head, words
from analytics.figures.figure import Figure, Record
from analytics.figures.figure_input import PAIRS, FigureInput, PairInput
from analytics.figures.report_view import SMALL, PairView, ReportView, by_size
from analytics.statistics.agreement.leave_one_out import outer_agreement, outer_by_chance, outer_by_group
from analytics.statistics.core.counts import unique_mode
from analytics.statistics.core.estimates import plain
from analytics.statistics.core.tidy import MISSING, Ints
from evaluation.protocols import QuestionSpec

KEY = "judges/composites"
KIND = "composite"
# More categories than these are opened by who wants them.
MOST_OPEN = 15


class CompositesFigure(Figure):
    heading = "judges"
    place = 15
    definition = (
        "Composite judges: the member for each category in each fold; leave-one-out agreement with people, "
        "cross-fitted and in sample, and that of the members."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == PAIRS

    def compute(self, given: FigureInput) -> Record | None:
        """Agreement by the composite's own judgments, and in sample by what its members said.

        Of one that goes by a given map nothing was chosen on these people: its agreement is out of sample as it is.
        """
        about = given.terms.derived.get(given.group_key, {})
        if about.get("kind") != KIND or given.people is None:
            return None
        assert isinstance(given, PairInput)
        assert isinstance(given.people, PairInput)
        people, own = given.people.counts, unique_mode(given.counts)
        members = {name: _labels(given, key) for name, key in sorted(about["members"].items())}
        inside = _by_map(given, about, members) if about["fitted"] else None
        items = given.items

        def outer(label: Ints, purpose: str) -> object:
            return plain(outer_agreement(people, label, items.query, resample=given.resample(purpose)))

        def apart(label: Ints, purpose: str) -> list[Record]:
            found = outer_by_group(
                people,
                label,
                items.query,
                items.category,
                len(items.categories),
                resample=given.resample(purpose),
            )
            return [dict(plain(each)) for each in found]

        crossed_apart = apart(own, "composite")
        inside_apart = None if inside is None else apart(inside, "composite in sample")
        return {
            "fitted": bool(about["fitted"]),
            "agreement": outer(own, "composite"),
            "by_chance": outer_by_chance(people, own),
            "in_sample": None if inside is None else outer(inside, "composite in sample"),
            "in_sample_by_chance": None if inside is None else outer_by_chance(people, inside),
            "members": [
                {
                    "member": name,
                    "agreement": outer(label, f"member {name}"),
                    "by_chance": outer_by_chance(people, label),
                }
                for name, label in members.items()
            ],
            "categories": [
                {
                    "category": category,
                    "member": _member(about, category),
                    "by_default": category in about.get("by_default", ()),
                    "folds": [fold.get(category, about["otherwise"]) for fold in about.get("folds", ())],
                    "agreement": crossed_apart[code],
                    "in_sample": inside_apart[code] if inside_apart else None,
                }
                for code, category in enumerate(items.categories)
            ],
        }

    def blocks(self, view: ReportView) -> Iterator[Block]:
        yield from view.per_pair(_of_pair)

    def methods(self, view: ReportView) -> Iterable[str]:
        if any(record["fitted"] for record in self.records(view)):
            yield (
                "A composite judge whose members are chosen by their agreement with people judges each query by "
                "the member that agreed best with people in the query's category in the other four of five "
                "folds. Its in-sample agreement, with members chosen on the same people, is too high."
            )


FIGURE = CompositesFigure()


def _labels(given: PairInput, key: str) -> Ints:
    """One label per item of a group; none where it is in the figures no more."""
    group = given.by_group.get(key)
    return np.full(len(given.items), MISSING, dtype=np.int64) if group is None else unique_mode(group.counts)


def _member(about: Mapping[str, Record], category: str) -> str:
    return str(about["categories"].get(category, about["otherwise"]))


def _by_map(given: PairInput, about: Mapping[str, Record], members: Mapping[str, Ints]) -> Ints:
    """The label of the member that the map for everything has for each item's category."""
    nothing = np.full(len(given.items), MISSING, dtype=np.int64)
    chosen = [members.get(_member(about, category), nothing) for category in given.items.categories]
    return np.asarray(np.stack(chosen)[given.items.category, np.arange(len(given.items))])


def _of_pair(view: PairView) -> Iterator[Block]:
    for group in view.judging:
        if KEY in group:
            found = group[KEY]
            large, small = by_size(found["categories"], lambda each: each["agreement"]["n"])
            yield Block(
                f"{group['label']}: agreement with people", tables=(_agreement(group["label"], found),)
            )
            for heading, categories in (("", large), (f", {SMALL}", small)):
                if categories:
                    yield Block(
                        f"{group['label']}: member for each category{heading}",
                        tables=(_categories(group["label"], found, categories),),
                        folded=categories is small or len(categories) > MOST_OPEN,
                    )


def _agreement(label: str, found: Record) -> Table:
    build = Builder(
        "Leave-one-out agreement of a composite judge and of its members with people, in percent.",
        columns(["Judge", "Chosen", "With people", "By chance", "n"], names=2),
        foot="In sample: the members were chosen on the same people that they are compared with, so this agreement "
        "is too high."
        if found["fitted"]
        else "",
    )
    chosen = "cross-fitted" if found["fitted"] else "by a given map"
    rows: list[tuple[str, str, Record, float | None]] = [
        (label, chosen, found["agreement"], found["by_chance"])
    ]
    if found["in_sample"]:
        rows.append((label, "in sample", found["in_sample"], found["in_sample_by_chance"]))
    rows += [(each["member"], "", each["agreement"], each["by_chance"]) for each in found["members"]]
    for name, how, estimate, chance in rows:
        build.add(head(name), words(how), *build.beside_chance(estimate, chance), build.n(estimate))
    return build.build()


def _categories(label: str, found: Record, categories: Sequence[Record]) -> Table:
    fitted = found["fitted"]
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
        foot="Best overall: chosen where a category has too few judged queries, or a tie." if fitted else "",
    )
    for each in categories:
        build.add(
            head(each["category"] or "none"),
            words(each["member"], "best overall" if each["by_default"] else ""),
            *([words(_times(each["folds"]))] if fitted else []),
            build.share(each["agreement"]),
            *([build.share(each["in_sample"])] if fitted else []),
            build.n(each["agreement"]),
        )
    return build.build()


def _times(folds: Sequence[str]) -> str:
    """The members of the folds, in their order: `alpha in 1, 2, 4; beta in 3, 5`."""
    names = list(dict.fromkeys(folds))
    if len(names) == 1:
        return f"{names[0]} in all folds"
    places = {name: [str(at) for at, each in enumerate(folds, 1) if each == name] for name in names}
    return "; ".join(f"{name} in {', '.join(numbers)}" for name, numbers in places.items())
