"""The section on who agrees: among raters, and between settings."""

from collections.abc import Iterator
from typing import Any

from evaluation.reports.numbers import decimal, in_percent
from evaluation.reports.plots import DotPlot
from evaluation.reports.subject import (
    Record,
    Subject,
    by_cell,
    group_head,
    share_plot,
    tag_of,
    title_for,
)
from evaluation.reports.tables import P_COLUMNS, Builder, Column, Table, columns, head, words
from evaluation.reports.view import Block, Section

ALPHA = "Krippendorff's \N{GREEK SMALL LETTER ALPHA}"
# Two judgments agree by chance more often than not, and alpha is this far below the share that agrees.
UNEVEN, APART = 0.5, 0.4
IN_PERCENT = "Percentage agreement and leave-one-out agreement, in percent"


def agreement(subject: Subject) -> Section:
    uneven = tuple(sentence for group in subject.panels if (sentence := uneven_labels(group)))
    blocks = [Block("", uneven, (_overall(subject),)), *_by_arm(subject), *_finer(subject, subject.leading)]
    for group in (each for each in subject.panels if each is not subject.leading):
        tables = tuple(table for block in _finer(subject, group) for table in block.tables)
        if tables:
            heading = title_for(group, "Agreement in detail", subject)
            blocks.append(Block(heading, tables=tables, folded=True, tag=tag_of(group)))
    intro = (
        "Agreement is the share of an item's judgments equal to its most common label; without ties, items whose "
        "one most common label is a tie are left out. Leave-one-out holds one judgment back and asks how often "
        "the others predict it."
    )
    return Section("agreement", "Agreement", "Agreement", tuple(blocks), intro)


def _overall(subject: Subject) -> Table:
    labels = [
        "Raters",
        "With ties",
        "Without ties",
        "Leave-one-out",
        f"{ALPHA} nominal",
        f"{ALPHA} ordinal",
        "n",
    ]
    build = Builder(
        f"{IN_PERCENT}; {ALPHA} of the preference (ordinal: a tie lies between the two).", columns(labels)
    )
    for group in subject.panels:
        found, alphas = group["agreement"]["overall"], _alphas(group)
        build.add(
            group_head(group),
            build.share(found["with_ties"]),
            build.share(found["without_ties"]),
            build.share(group["leave_one_out"]["inner"]),
            build.coefficient(alphas[("preference", "nominal")]["alpha"]),
            build.coefficient(alphas[("preference", "ordinal")]["alpha"]),
            build.n(found["with_ties"]),
        )
    return build.build()


def chance_agreement(group: Record) -> float | None:
    """How often two of the group's judgments would agree by chance, where uneven labels make alpha low for that reason.

    Reports from before it was kept say nothing of it.
    """
    found = _alphas(group)[("preference", "nominal")]
    chance, alpha = found.get("by_chance"), found["alpha"]["value"]
    share = group["agreement"]["overall"]["with_ties"]["value"]
    if chance is None or alpha is None or share is None:
        return None
    return float(chance) if chance >= UNEVEN and share - alpha >= APART else None


def uneven_labels(group: Record) -> str:
    """Why raters mostly agree and alpha is low all the same; nothing where it is not so."""
    chance = chance_agreement(group)
    if chance is None:
        return ""
    share = group["agreement"]["overall"]["with_ties"]["value"]
    alpha = _alphas(group)[("preference", "nominal")]["alpha"]["value"]
    return (
        f"{group['label']}: agreement is {in_percent(share)} and alpha {decimal(alpha)}. One label is far more common "
        f"than the others, so that two judgments paired at random would be the same in {in_percent(chance)} of cases; "
        "alpha counts only agreement beyond that."
    )


def _alphas(group: Record) -> dict[tuple[Any, ...], Record]:
    return by_cell(group["alpha"], "question", "level")


def _by_arm(subject: Subject) -> Iterator[Block]:
    """Settings as rows: the leading group's table, and every panel in the plot."""
    if not subject.several_arms:
        return
    build = Builder(f"{IN_PERCENT}; {ALPHA} nominal.", columns(_figures("Setting")))
    loo = by_cell(subject.leading["leave_one_out"]["inner_by_arm"], "arm")
    alphas = by_cell(subject.leading["alpha_by_arm"], "arm")
    found = by_cell(subject.leading["agreement"]["by_arm"], "arm")
    for arm in subject.arms:
        build.add(
            head(subject.arm(arm)),
            build.share(found[(arm,)]["with_ties"]),
            build.share(found[(arm,)]["without_ties"]),
            build.share(loo[(arm,)]["inner"]),
            build.coefficient(alphas[(arm,)]["alpha"]),
            build.n(found[(arm,)]["with_ties"]),
        )
    plot = _arm_plot(subject)
    yield Block("By setting", tables=(build.build(),), plot=plot, tag=tag_of(subject.leading))


def _figures(name: str) -> list[str]:
    return [name, "With ties", "Without ties", "Leave-one-out", ALPHA, "n"]


def _arm_plot(subject: Subject) -> DotPlot | None:
    of_group = [(group, by_cell(group["agreement"]["by_arm"], "arm")) for group in subject.panels]
    rows = [
        (subject.arm(arm), [(group, found[(arm,)]["with_ties"]) for group, found in of_group])
        for arm in subject.arms
    ]
    return share_plot(
        rows, what="Percentage agreement by setting", caption="Percentage agreement, ties included."
    )


def _finer(subject: Subject, group: Record) -> Iterator[Block]:
    """By cell, differences, by category."""
    tag = tag_of(group)
    if subject.several_arms or len(subject.pairs) > 1:
        heading = "By pair and setting" if subject.several_arms else "By pair"
        yield Block(heading, tables=(_cells(subject, group),), tag=tag)
    if group["agreement"]["differences"]:
        yield Block("Differences between settings", tables=(_differences(subject, group),), tag=tag)
    if group["agreement"]["by_category"]:
        yield Block("By category", tables=(_categories(group),), folded=True, tag=tag)


def _cells(subject: Subject, group: Record) -> Table:
    names = ["Pair", "Setting"] if subject.several_arms else ["Pair"]
    build = Builder(
        "Percentage agreement, in percent.",
        [*columns(names, names=2), Column("With ties"), Column("n"), Column("Without ties"), Column("n")],
    )
    found = by_cell(group["agreement"]["by_cell"], "arm", "system_1", "system_2")
    for pair in subject.pairs:
        for arm in subject.arms:
            cell = found.get((arm, *pair))
            if cell is not None:
                build.add(
                    head(subject.pair(cell)),
                    *([words(subject.arm(arm))] if len(names) > 1 else []),
                    *_with_and_without(build, cell),
                )
    return build.build()


def _with_and_without(build: Builder, found: Record) -> list[Any]:
    return [
        build.share(found["with_ties"]),
        build.n(found["with_ties"]),
        build.share(found["without_ties"]),
        build.n(found["without_ties"]),
    ]


def _differences(subject: Subject, group: Record) -> Table:
    names = ["Pair", "Between", "With ties", "n", *P_COLUMNS, "Without ties", "n", "p"]
    build = Builder(
        "Difference in percentage agreement, in points, on the queries that both settings share; sign-flip test over "
        "queries.",
        columns(names, names=2),
    )
    for cell in sorted(
        group["agreement"]["differences"], key=lambda cell: (cell["system_1"], cell["system_2"])
    ):
        between = f"{subject.arm(cell['first_arm'])} \N{RIGHTWARDS ARROW} {subject.arm(cell['second_arm'])}"
        ties, without = cell["with_ties"], cell["without_ties"]
        build.add(
            head(subject.pair(cell)),
            words(between),
            build.share(ties["difference"]),
            build.n(ties["difference"]),
            *build.tested(ties["test"], ties["test_undefined"]),
            build.share(without["difference"]),
            build.n(without["difference"]),
            build.p(without["test"] and without["test"]["p_value"], without["test_undefined"]),
        )
    return build.build()


def _categories(group: Record) -> Table:
    labels = ["Category", "With ties", "n", "Without ties", "n", "Leave-one-out"]
    build = Builder(f"{IN_PERCENT}.", columns(labels))
    loo = by_cell(group["leave_one_out"]["inner_by_category"], "category")
    for found in group["agreement"]["by_category"]:
        build.add(
            head(found["category"] or "none"),
            *_with_and_without(build, found),
            build.share(loo[(found["category"],)]["inner"]),
        )
    return build.build()
