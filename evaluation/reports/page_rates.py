"""The sections on who wins: win rates, flips between arms, strengths."""

from collections.abc import Iterator
from typing import Any

from evaluation.reports.findings import flips_beyond_chance
from evaluation.reports.numbers import decimal
from evaluation.reports.plots import DotPlot
from evaluation.reports.subject import (
    Record,
    Subject,
    by_cell,
    score_plot,
    share_plot,
    tag_of,
    title_for,
)
from evaluation.reports.tables import P_COLUMNS, Builder, Cell, Table, columns, count, head, words
from evaluation.reports.view import Block, Section

PAIR = ("system_1", "system_2")


def win_rates(subject: Subject) -> Section:
    blocks = list(_pairs(subject) if subject.several_arms else _one_arm(subject))
    blocks += [*_pooled(subject), *_categories(subject), *_others(subject)]
    return Section("win-rates", "Win rates", "Win rates", tuple(blocks), _reading(subject))


def _caption(subject: Subject) -> str:
    return f"Items won by majority, and expected win rate of {subject.first_side}, in percent."


def _reading(subject: Subject) -> str:
    who = "" if subject.leading["kind"] == "person" else f" Judged by: {subject.leading['label'].lower()}."
    ties = "a tie counting as a win for either" if subject.ties_are_wins else "a tie counting half"
    return (
        "A majority is more than half of an item's judgments; where an item has one judgment, that alone. The "
        "expected win rate is the chance that one "
        f"judgment prefers the system, {ties}.{who}"
    )


def even(subject: Subject) -> tuple[float | None, str]:
    """The rate at which neither system is preferred, and how a caption says it; there is none where ties are wins."""
    return (None, "; ties are wins.") if subject.ties_are_wins else (0.5, "; at 50 % neither is preferred.")


def _pairs(subject: Subject) -> Iterator[Block]:
    """One block per pair, its arms as rows: table and plot side by side."""
    for number, pair in enumerate(subject.pairs, 1):
        cell = dict(zip(PAIR, pair, strict=True))
        yield Block(
            subject.pair(cell),
            tables=(_pair_table(subject, pair),),
            plot=_pair_plot(subject, pair),
            anchor=f"pair-{number}",
        )


def _pair_table(subject: Subject, pair: tuple[str, str]) -> Table:
    one, two = (subject.system(key) for key in pair)
    caption = f"Items won by majority, and expected win rate of {one}, in percent.{_p_caption(subject)}"
    build = Builder(caption, columns(["Setting", one, two, "Tie", "n", "Expected", *_p_columns(subject)]))
    majority, expected = rates_of(subject.leading)
    tests = _tests(subject, subject.leading)
    turned = _turned(subject.leading, pair)
    for arm in subject.arms:
        if (arm, *pair) in majority:
            found = majority[(arm, *pair)]
            build.add(
                head(subject.arm(arm), tag="flip" if arm in turned else ""),
                build.share(found["system_1"]),
                build.share(found["system_2"]),
                build.share(found["tie"]),
                build.n(found["system_1"]),
                build.share(expected[(arm, *pair)]["rate"]),
                *(build.tested(tests.get((arm, pair[0]))) if tests else ()),
            )
    return build.build()


def _p_columns(subject: Subject) -> tuple[str, ...]:
    """Where each system meets one other, pairs are what is tested; otherwise systems are, against all opponents."""
    return () if subject.several_opponents or subject.ties_are_wins else P_COLUMNS


def _p_caption(subject: Subject) -> str:
    return " p: sign-flip test of 50 % over queries." if _p_columns(subject) else ""


def _tests(subject: Subject, group: Record) -> dict[tuple[Any, ...], Record | None]:
    """Those of expected win rates, by (arm, system); nothing where pairs are not what is tested."""
    if not _p_columns(subject):
        return {}
    return {(rate["arm"], rate["system"]): rate["test"] for rate in group["win_rates"]["overall"]}


def rates_of(group: Record) -> tuple[dict[tuple[Any, ...], Record], dict[tuple[Any, ...], Record]]:
    """Its rates by majority, by (arm, system 1, system 2), and the expected ones, by (arm, system, opponent)."""
    majority = {
        (found["cell"]["arm"], found["cell"]["system_1"], found["cell"]["system_2"]): found
        for found in group["win_rates"]["majority"]
    }
    return majority, by_cell(group["win_rates"]["expected"], "arm", "system", "opponent")


def _turned(group: Record, pair: tuple[str, str]) -> set[str]:
    """The arms whose preferred system is not that of the first arm that prefers one, beyond chance."""
    return {
        flip["second_arm"]
        for flip in group["flips"]["pairs"]
        if (flip["system_1"], flip["system_2"]) == pair and flips_beyond_chance(flip)
    }


def _pair_plot(subject: Subject, pair: tuple[str, str]) -> DotPlot | None:
    one, two = (subject.system(key) for key in pair)
    rows = [
        (subject.arm(arm), [(group, rates_of(group)[1][(arm, *pair)]["rate"]) for group in subject.voices])
        for arm in subject.arms
        if (arm, *pair) in rates_of(subject.leading)[1]
    ]
    return share_plot(
        rows,
        what=f"Expected win rate of {one} against {two}",
        caption=f"Expected win rate of {one} against {two}{even(subject)[1]}",
        reference=even(subject)[0],
        hints=(two, one),
    )


def _one_arm(subject: Subject) -> Iterator[Block]:
    """One block for all pairs, which are the rows."""
    leading = subject.leading
    rows = [
        (
            " vs ".join(subject.system(key) for key in pair),
            [(group, rates_of(group)[1][(arm, *pair)]["rate"]) for group in subject.voices],
        )
        for arm in subject.arms
        for pair in subject.pairs
    ]
    plot = share_plot(
        rows,
        what=f"Expected win rate of {subject.first_side}",
        caption=f"Expected win rate of {subject.first_side}{even(subject)[1]}",
        reference=even(subject)[0],
        hints=subject.hints,
    )
    yield Block("", tables=(_all_pairs(subject, leading),), plot=plot, anchor="pair-1")


def _all_pairs(subject: Subject, group: Record, whose: str = "") -> Table:
    names = ["Pair", "Setting"] if subject.several_arms else ["Pair"]
    figures = [*subject.sides, "Tie", "n", "Expected", *_p_columns(subject)]
    caption = f"{whose}{_caption(subject)}{_p_caption(subject)}"
    build = Builder(caption, columns([*names, *figures], names=len(names)))
    majority, expected = rates_of(group)
    tests = _tests(subject, group)
    for pair in subject.pairs:
        for arm in subject.arms:
            found = majority.get((arm, *pair))
            if found is None:
                continue
            naming = [
                head(subject.pair(found["cell"])),
                *([words(subject.arm(arm))] if len(names) > 1 else []),
            ]
            build.add(
                *naming,
                build.share(found["system_1"]),
                build.share(found["system_2"]),
                build.share(found["tie"]),
                build.n(found["system_1"]),
                build.share(expected[(arm, *pair)]["rate"]),
                *(build.tested(tests.get((arm, pair[0]))) if tests else ()),
            )
    return build.build()


def _others(subject: Subject) -> Iterator[Block]:
    """Groups that stand in the plots beside the leading one, and judges one by one."""
    for group in subject.voices:
        if group is not subject.leading:
            heading = title_for(group, "Win rates", subject)
            yield Block(heading, tables=(_all_pairs(subject, group),), folded=True, tag=tag_of(group))
    single = [group for group in subject.groups if group not in subject.voices]
    if single:
        tables = tuple(_all_pairs(subject, group, whose=f"{group['label']}. ") for group in single)
        yield Block("Each judge: win rates", tables=tables, folded=True)


def _pooled(subject: Subject) -> Iterator[Block]:
    """Against all opponents, where there is more than one, and against the baseline."""
    group = subject.leading
    if subject.several_opponents:
        table = _system_rates(subject, group["win_rates"]["overall"], "Expected win rate over all opponents")
        yield Block("Against all opponents", tables=(table,))
    if group["win_rates"]["against_baseline"]:
        baseline = subject.system(subject.report["study"]["baseline"])
        found = group["win_rates"]["against_baseline"]
        table = _system_rates(subject, found, f"Expected win rate against {baseline}")
        yield Block(f"Against the baseline, {baseline}", tables=(table,))


def _system_rates(subject: Subject, rates: list[Record], what: str) -> Table:
    names = ["System", "Setting"] if subject.several_arms else ["System"]
    tested = any(found["test"] for found in rates)
    build = Builder(
        f"{what}, in percent.{' p: sign-flip test of 50 % over queries.' if tested else ''}",
        columns([*names, "Rate", "Standard error", "n", *(P_COLUMNS if tested else ())], names=len(names)),
    )
    for found in sorted(rates, key=lambda rate: (rate["system"], subject.arms.index(rate["arm"]))):
        naming = [words(subject.arm(found["arm"]))] if len(names) > 1 else []
        build.add(
            head(subject.system(found["system"])),
            *naming,
            build.share(found["rate"]),
            standard_error(build, found),
            build.n(found["rate"]),
            *(build.tested(found["test"], found["rate"]["undefined"]) if tested else ()),
        )
    return build.build()


def standard_error(build: Builder, found: Record) -> Cell:
    """In percentage points; nothing below two items."""
    error = found["standard_error"]
    return words("") if error is None else build.figure(_bare(error), lambda value: f"{value * 100:.1f}")


def _bare(value: float) -> Record:
    """A number without an interval, in the shape of an estimate."""
    return {"value": value, "low": None, "high": None, "undefined": ""}


def _categories(subject: Subject) -> Iterator[Block]:
    found = subject.leading["win_rates"]
    if not found["majority_by_category"]:
        return
    labels = ["Pair", "Category", *subject.sides, "Tie", "n", "Expected"]
    build = Builder(_caption(subject), columns(labels, names=2))
    expected = by_cell(found["expected_by_category"], "category", "system", "opponent")
    for rates in found["majority_by_category"]:
        cell = rates["cell"]
        key = (cell["category"], cell["system_1"], cell["system_2"])
        build.add(
            head(subject.pair(cell)),
            words(cell["category"] or "none"),
            build.share(rates["system_1"]),
            build.share(rates["system_2"]),
            build.share(rates["tie"]),
            build.n(rates["system_1"]),
            build.share(expected[key]["rate"]),
        )
    yield Block("By category", tables=(build.build(),), folded=True)


def flips(subject: Subject) -> Section | None:
    if not subject.several_arms:
        return None
    blocks = []
    for group in (each for each in subject.panels if each["flips"]["pairs"]):
        folded = group is not subject.leading
        tables = (_pair_flips(subject, group), _query_flips(subject, group))
        blocks.append(
            Block(
                title_for(group, "Flips", subject) if folded else "",
                (),
                tables,
                folded=folded,
                tag=tag_of(group),
            )
        )
    transitions = tuple(
        _transitions(subject, flip) for flip in sorted(subject.leading["flips"]["queries"], key=_of_pair)
    )
    blocks.append(Block("From label to label", tables=transitions, folded=True))
    intro = (
        "A pair flips where the system that majorities prefer differs between two settings; a query flips where "
        "its own majority does."
    )
    return Section("flips", "Flips between settings", "Flips", tuple(blocks), intro)


def _pair_flips(subject: Subject, group: Record) -> Table:
    labels = ["Pair", "Between", "Preferred", *P_COLUMNS, "Change of margin", "n", *P_COLUMNS]
    build = Builder(
        "Pair flips: the system that majorities prefer in either setting, with the test that both preferences hold; "
        f"and the change of the margin, which is the share of items won by {subject.first_side} less that of the "
        "other, in points, with its own test. Sign-flip tests over queries.",
        columns(labels, names=3),
    )
    for flip in sorted(group["flips"]["pairs"], key=_of_pair):
        tag = "flip" if flips_beyond_chance(flip) else "within chance" if flip["flipped"] else ""
        undefined = flip["difference"]["undefined"]
        build.add(
            head(subject.pair(flip)),
            words(_between(subject, flip)),
            words(_preferred(subject, flip), tag),
            *build.tested(flip["flip_test"], undefined),
            build.share(flip["difference"]),
            build.n(flip["difference"]),
            *build.tested(flip["margin_test"], undefined),
        )
    return build.build()


def _of_pair(flip: Record) -> tuple[str, str]:
    return flip["system_1"], flip["system_2"]


def _between(subject: Subject, flip: Record) -> str:
    return f"{subject.arm(flip['first_arm'])} \N{RIGHTWARDS ARROW} {subject.arm(flip['second_arm'])}"


def _preferred(subject: Subject, flip: Record) -> str:
    names = [
        subject.system(key) if key else "neither"
        for key in (flip["first_preferred"], flip["second_preferred"])
    ]
    return names[0] if names[0] == names[1] else f"{names[0]} \N{RIGHTWARDS ARROW} {names[1]}"


def _query_flips(subject: Subject, group: Record) -> Table:
    labels = [
        "Pair",
        "Between",
        "Queries that flip, %",
        "n",
        "Stuart-Maxwell \N{GREEK SMALL LETTER CHI}\u00b2",
        "p",
    ]
    build = Builder(
        "Query flips: queries whose majority label differs. The test asks whether the totals of the labels differ.",
        columns(labels, names=2),
    )
    for flip in sorted(group["flips"]["queries"], key=_of_pair):
        tested = flip["statistic"] is not None
        build.add(
            head(subject.pair(flip)),
            words(_between(subject, flip)),
            build.share(flip["flipped"]),
            build.n(flip["flipped"]),
            build.figure(_bare(flip["statistic"]), decimal)
            if tested
            else build.p(None, flip["test_undefined"]),
            build.p(flip["p_value"], flip["test_undefined"]),
        )
    return build.build()


def _transitions(subject: Subject, flip: Record) -> Table:
    names = [subject.system(flip["system_1"]), subject.system(flip["system_2"]), "Tie"]
    first, second = subject.arm(flip["first_arm"]), subject.arm(flip["second_arm"])
    caption = f"{subject.pair(flip)}: queries by majority in “{first}” (rows) and “{second}” (columns)."
    build = Builder(caption, columns([first, *names]))
    for name, row in zip(names, flip["transitions"], strict=True):
        build.add(head(name), *(count(n) for n in row))
    return build.build(compact=True)


def strengths(subject: Subject) -> Section | None:
    groups = [group for group in subject.panels if group["bradley_terry"]]
    if not groups:
        return None
    reasons = {fit["undefined"] for group in groups for fit in group["bradley_terry"]}
    blocks = [_strength_block(subject, group, fit) for group in groups for fit in group["bradley_terry"]]
    if len(reasons) == 1 and "" not in reasons:
        blocks = [Block(text=(f"Undefined in every setting. {reasons.pop()}",))]
    intro = (
        "Log-strengths after Bradley and Terry, centred on the average system. Each judgment of a pair is one "
        "comparison; a tie is half a win for both."
    )
    return Section("strengths", "Bradley-Terry strengths", "Strengths", tuple(blocks), intro)


def _strength_block(subject: Subject, group: Record, fit: Record) -> Block:
    folded = group is not subject.leading
    title = subject.arm(fit["arm"]) if subject.several_arms else "Strengths"
    heading = title_for(group, title, subject) if folded or subject.several_arms else ""
    if fit["undefined"]:
        return Block(heading, text=(f"Undefined. {fit['undefined']}",), folded=folded, tag=tag_of(group))
    return Block(
        heading,
        tables=(_strengths_table(subject, fit),),
        plot=_strengths_plot(subject, group, fit),
        folded=folded,
        tag=tag_of(group),
    )


def _strengths_table(subject: Subject, fit: Record) -> Table:
    build = Builder(
        "Strength, chance to beat an average system in percent, and rank; n counts the comparisons of the system.",
        columns(["System", "Strength", "Beats average", "Rank", "n"]),
    )
    for strength in fit["strengths"]:
        build.add(
            head(subject.system(strength["system"])),
            build.coefficient(strength["score"]),
            build.share(strength["win_probability"]),
            build.figure(strength["rank"], "{:.0f}".format),
            build.n(strength["score"]),
        )
    return build.build()


def _strengths_plot(subject: Subject, group: Record, fit: Record) -> DotPlot | None:
    rows = [(subject.system(each["system"]), [(group, each["score"])]) for each in fit["strengths"]]
    return score_plot(rows, what="Bradley-Terry strengths", caption="Strengths; 0 is the average system.")
