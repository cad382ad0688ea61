"""Ranks by system: their mean, first places, and tests of whether systems differ."""

from collections.abc import Iterable, Iterator
from math import comb

import numpy as np

from analytics.display.blocks import Block
from analytics.display.group_plots import mean_plot
from analytics.display.numbers import corrected, decimal, mean_with_interval, percent
from analytics.display.plots import DotPlot
from analytics.display.tables import P_COLUMNS, Builder, Table, TableCell, columns, count, head, words
from analytics.figures.families import is_supported
from analytics.figures.figure import FamilyTest, Figure, Record
from analytics.figures.figure_input import AnswerInput, FigureInput
from analytics.figures.quantities import Quantity
from analytics.figures.report_view import ReportView, anchor_of, joined, subject, tag_of
from analytics.figures.strip import leading_fact
from analytics.statistics.core.estimates import plain
from analytics.statistics.core.matched import mean_sums
from analytics.statistics.rankings.friedman import Friedman, friedman
from analytics.statistics.rankings.rankings import system_ranks
from evaluation.facts import Fact
from evaluation.protocols import QuestionSpec


class RanksFigure(Figure):
    heading = "rankings"
    place = 10
    finding_place = 20
    definition = (
        "Rankings by system: mean rank, share of first places and how often each rank was given; Friedman's "
        "test with Nemenyi's post-hoc test, and a sign-flip test of every pair of systems."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == "ranking"

    def compute(self, given: FigureInput) -> Record:
        assert isinstance(given, AnswerInput)
        ranks, names = given.answers.as_ranks(), given.items.systems
        tests = given.tests("ranks", comb(len(names), 2))
        systems = system_ranks(ranks, len(names), resample=given.resample("ranks"))
        return {
            "by_system": [
                {**plain(each), "system": names[each.system]} for each in systems if each.mean_rank.n
            ],
            "friedman": _friedman_record(friedman(ranks, unit="queries", tests=tests), names),
            "distribution": _distribution(given),
        }

    def quantities(self, given: FigureInput) -> Iterator[Quantity]:
        """Each system's mean rank."""
        assert isinstance(given, AnswerInput)
        ranks = given.answers.as_ranks()
        for code, system in enumerate(given.items.systems):
            own = ranks.system == code
            last = float(ranks.size[own].max(initial=1))
            # A ranking of one response has no second place.
            within = (1.0, last) if last > 1 else None
            sums = mean_sums(ranks.rank[own], ranks.query[own], unit="ranks", within=within)
            if own.any():
                yield Quantity("Mean rank", sums, systems=(system,))

    def tests(self, record: Record) -> Iterator[FamilyTest]:
        for pair in record["friedman"]["pairs"]:
            if pair["test"] is not None:
                yield FamilyTest("ranked", pair["test"])

    def findings(self, view: ReportView, group: Record, question: Record) -> Iterator[Record]:
        """The system of the best mean rank, and which others it is ranked above."""
        found = group[self.key]
        test = found["friedman"]
        if not test["pairs"]:
            return
        means = {each["system"]: each["mean_rank"] for each in found["by_system"]}
        best = min(test["systems"], key=lambda system: means[system]["value"])
        others = _tested_below(test["pairs"], best)
        below = sorted(other for other, each in others.items() if is_supported(each))
        if not below:
            return
        all_of_them = len(below) == len(others) > 1
        weakest = max((others[other] for other in below), key=lambda each: each["p_corrected"])
        names = joined([view.system(other) for other in below])
        yield {
            "kind": "ranked",
            "system": best,
            "about": view.system(best),
            "heading": f"Ranked above {'every other' if all_of_them else names}",
            "text": f"Its mean rank by {subject(group)} is {mean_with_interval(means[best])}, tested over "
            f"{test['n']:,} queries ({'at most ' if len(below) > 1 else ''}{corrected(weakest)}).",
            "anchor": "rankings",
        }

    def facts(self, view: ReportView, group: Record, question: Record) -> Iterator[Fact]:
        found = [(each["system"], each["mean_rank"]) for each in group[self.key]["by_system"]]
        if not found:
            return
        best = min(found, key=lambda each: each[1]["value"])[0]
        against = _tested_below(group[self.key]["friedman"]["pairs"], best).values()
        ahead = bool(against) and all(map(is_supported, against))
        yield leading_fact(view, group, "Best mean rank", found, decimal, lowest=True, ahead=ahead)

    def intro(self, view: ReportView) -> str:
        return (
            "Rank 1 is first place. The share of first places is computed over rankings that include a response of "
            "the system."
        )

    def blocks(self, view: ReportView) -> Iterator[Block]:
        for question in view.asked(self.key):
            lead = view.lead(question)
            for group in view.lead_first(question):
                tag, found, folded = tag_of(group), group[self.key], group is not lead
                yield Block(
                    view.title_for(group, question["prompt"]),
                    tables=(_mean_ranks(view, found),),
                    plot=None if folded else _plot(view, question, self.key),
                    folded=folded,
                    tag=tag,
                    anchor="" if folded else anchor_of(question),
                )
                heading = view.title_for(group, "How often each rank was given")
                yield Block(heading, tables=(_counts(view, found),), folded=folded, tag=tag)
                heading = view.title_for(group, "Differences between systems")
                yield Block(
                    heading,
                    _friedman_text(found["friedman"]),
                    _pairs(view, found["friedman"]["pairs"]),
                    folded=folded,
                    tag=tag,
                )

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "Friedman's test is over queries, with the systems ranked by their mean ranks in each; pairs of "
            "systems are compared by Nemenyi's test."
        )


FIGURE = RanksFigure()


def _friedman_record(found: Friedman, names: tuple[str, ...]) -> Record:
    record: Record = plain(found)
    record["systems"] = [names[code] for code in found.systems]
    for pair in record["pairs"]:
        pair["system_1"], pair["system_2"] = names[pair["system_1"]], names[pair["system_2"]]
    return record


def _distribution(given: AnswerInput) -> list[Record]:
    """Counts of each rank by system; a shared one counts for the higher of its neighbours."""
    ranks = given.answers.as_ranks()
    place = np.floor(ranks.rank).astype(np.int64)
    highest = int(place.max(initial=0))
    return [
        {
            "system": name,
            "counts": np.bincount(place[ranks.system == code], minlength=highest + 1)[1:].tolist(),
        }
        for code, name in enumerate(given.items.systems)
        if (ranks.system == code).any()
    ]


def _tested_below(pairs: list[Record], best: str) -> Record:
    """Every other system with its test against the best; None where queries on the whole rank it higher all the same.

    A test ranks within each query, so that its order need not be that of the mean ranks.
    """
    found = {}
    for pair in pairs:
        if pair["system_1"] == best:
            found[pair["system_2"]] = pair["test"] if pair["difference"] > 0 else None
        elif pair["system_2"] == best:
            found[pair["system_1"]] = pair["test"] if pair["difference"] < 0 else None
    return found


def _mean_ranks(view: ReportView, found: Record) -> Table:
    build = Builder(
        "Mean rank, and share of first places with the share that random rankings would give, in percent.",
        columns(["System", "Mean rank", "First places", "By chance", "n"]),
    )
    for each in sorted(found["by_system"], key=lambda each: each["mean_rank"]["value"]):
        build.add(
            head(view.system(each["system"])),
            build.coefficient(each["mean_rank"]),
            build.share(each["first"]),
            build.number(each["chance"], percent),
            build.n(each["first"]),
        )
    return build.build()


def _plot(view: ReportView, question: Record, key: str) -> DotPlot | None:
    lead = view.lead(question)[key]
    most = max((len(each["counts"]) for each in lead["distribution"]), default=1)
    return mean_plot(
        [
            (
                view.system(system["system"]),
                [
                    (group, each["mean_rank"])
                    for group in view.voiced(question)
                    for each in group[key]["by_system"]
                    if each["system"] == system["system"]
                ],
            )
            for system in sorted(lead["by_system"], key=lambda each: each["mean_rank"]["value"])
        ],
        what=f"Mean rank: {question['prompt']}",
        axis="Mean rank",
        caption="Mean rank; further left is better.",
        within=(1.0, float(max(most, 2))),
    )


def _counts(view: ReportView, found: Record) -> Table:
    most = max((len(each["counts"]) for each in found["distribution"]), default=0)
    build = Builder(
        "How often each rank was given, in percent of the system's ranks.",
        columns(["System", *(str(rank) for rank in range(1, most + 1)), "n"]),
        foot="Responses ranked equal count under the first of the places that they share.",
    )
    for each in found["distribution"]:
        counts = each["counts"] + [0] * (most - len(each["counts"]))
        total = sum(counts)
        build.add(
            head(view.system(each["system"])), *(TableCell(percent(n / total)) for n in counts), count(total)
        )
    return build.build()


def _friedman_text(test: Record) -> tuple[str, ...]:
    if test["undefined"]:
        return (f"Undefined. {test['undefined']}",)
    p = "< 0.001" if test["p_value"] < 0.001 else f"= {test['p_value']:.3f}"
    dropped = "".join(f" Not included: {part['n']:,} {part['reason']}." for part in test["left_out"])
    return (
        f"Friedman's \N{GREEK SMALL LETTER CHI}\u00b2 = {decimal(test['statistic'])} with {test['degrees_of_freedom']} "
        f"degrees of freedom, p {p}, over {test['n']:,} {test['unit']}. Nemenyi's critical difference of two mean "
        f"ranks is {decimal(test['critical_difference'])}.{dropped}",
    )


def _pairs(view: ReportView, pairs: list[Record]) -> tuple[Table, ...]:
    if not pairs:
        return ()
    build = Builder(
        "Difference in mean rank of two systems (second minus first), with Nemenyi's p-value. p: sign-flip test "
        "over queries.",
        columns(["System", "and", "Difference", "Nemenyi's p", *P_COLUMNS], names=2),
    )
    for pair in pairs:
        build.add(
            head(view.system(pair["system_1"])),
            words(view.system(pair["system_2"])),
            TableCell(decimal(pair["difference"])),
            build.p(pair["p_value"]),
            *build.tested(pair["test"]),
        )
    return (build.build(),)
