"""The section on judges: beside people, what came back from them, and how they were asked."""

from collections.abc import Iterator
from dataclasses import replace

from evaluation.reports.numbers import percent
from evaluation.reports.page_rates import even, rates_of, standard_error
from evaluation.reports.plots import DotPlot
from evaluation.reports.subject import Record, Subject, by_cell, group_head, score_plot, share_plot
from evaluation.reports.tables import (
    DASH,
    P_COLUMNS,
    Builder,
    Cell,
    Column,
    Table,
    columns,
    count,
    head,
    words,
)
from evaluation.reports.view import Block, Section

KAPPA = "Cohen's \N{GREEK SMALL LETTER KAPPA}"
ORDERS = {"random": "random", "fixed": "fixed", "both": "both ways"}
REDUCTIONS = {"majority": "majority", "mean": "mean", "both_ways": "a flip is a tie"}
OUTCOMES = ("unparsed", "refused", "truncated", "failed", "excluded_self")
OUTCOME_LABELS = {"excluded_self": "Left out (self)"}
NOT_KNOWN = "not known"
# More of them are opened by who wants them.
SHOWN_CONFUSIONS = 3


def judges(subject: Subject) -> Section | None:
    """Judges, one by one and together, and simulated raters, held against people where there are some."""
    compared = [group for group in subject.judging if group["against_people"] is not None]
    if not compared and not subject.judges:
        return None
    blocks = [*_caveats(subject), *_beside_people(subject, compared), *_in_one_figure(subject)]
    if subject.judges:
        blocks += [
            Block("What came back", tables=(what_came_back(subject.judges),)),
            Block("How they were asked", tables=(how_asked(subject.judges),), folded=True),
        ]
    title = "Judges beside people" if compared else "Judges"
    return Section("judges", title, "Judges", tuple(blocks), _intro(subject, compared))


def _intro(subject: Subject, compared: list[Record]) -> str:
    if compared:
        return (
            "Leave-one-out holds one person's judgment back and asks how often the most common label of the other "
            "people is the judge's own. People against people, on the same items, is the mark to reach."
        )
    if any(group["kind"] == "person" for group in subject.judging):
        return "No judge has a preference that could be held against people's."
    return "No person has judged these items, so there is nothing to hold the judges against."


def _caveats(subject: Subject) -> Iterator[Block]:
    sentences = [sentence for judge in subject.judges for sentence in judge["caveats"]]
    if sentences:
        yield Block(text=tuple(sentences), notice=True)


def _beside_people(subject: Subject, compared: list[Record]) -> Iterator[Block]:
    if not compared:
        return
    people = next(group for group in subject.judging if group["kind"] == "person")
    yield Block(
        "Agreement with people",
        tables=(_outer(people, compared), _kappa(compared)),
        plot=_outer_plot(compared),
    )
    if compared[0]["against_people"]["outer_by_category"]:
        yield Block("Agreement with people by category", tables=(_outer_by_category(people, compared),))
    tables = tuple(
        _confusion(subject, group) for group in compared if group["against_people"]["confusion"]["n"]
    )
    if tables:
        yield Block("Label by label", tables=tables, folded=len(tables) > SHOWN_CONFUSIONS)


def _outer(people: Record, compared: list[Record]) -> Table:
    """What is compared has one interval, that of the difference; people's own figure stands beside it without."""
    continuous = any(group["against_people"]["expected"] for group in compared)
    # Reports from before the difference was tested have none.
    tested = all("judge_less_people" in group["against_people"] for group in compared)
    labels = [
        "Raters",
        "With people",
        "Human-human",
        *(["Difference", *P_COLUMNS] if tested else []),
        *(["Expected"] if continuous else []),
        "n",
    ]
    build = Builder(
        "Leave-one-out agreement with people and, on the same items, of people with each other, in percent; their "
        "difference in points, with a sign-flip test over queries.",
        columns(labels),
        foot="Expected: what labels drawn by the judge's probabilities would reach." if continuous else "",
    )
    inner, blank = people["leave_one_out"]["inner"], words("")
    build.add(
        group_head(people),
        blank,
        build.share(inner),
        *([blank, blank, blank] if tested else []),
        *([blank] if continuous else []),
        build.n(inner),
    )
    for group in compared:
        found = group["against_people"]
        build.add(
            group_head(group),
            build.share(found["outer"]),
            without_interval(build.share(found["inner"])) if tested else build.share(found["inner"]),
            *(less_people(build, found) if tested else ()),
            *([build.share(found["expected"]) if found["expected"] else blank] if continuous else []),
            build.n(found["outer"]),
        )
    return build.build()


def less_people(build: Builder, found: Record) -> tuple[Cell, ...]:
    """How far a judge's agreement with people is from their own, in points, with its test."""
    less = found["judge_less_people"]
    return build.share(less["difference"]), *build.tested(less["test"], less["difference"]["undefined"])


def without_interval(cell: Cell) -> Cell:
    return replace(cell, detail="")


def _kappa(compared: list[Record]) -> Table:
    build = Builder(
        f"{KAPPA} with the label that more than half of the people gave.", columns(["Raters", KAPPA, "n"])
    )
    for group in compared:
        found = group["against_people"]["kappa"]
        build.add(group_head(group), build.coefficient(found), build.n(found))
    return build.build()


def _outer_plot(compared: list[Record]) -> DotPlot | None:
    if not all("judge_less_people" in group["against_people"] for group in compared):
        return None
    return score_plot(
        [
            (group["label"], [(group, group["against_people"]["judge_less_people"]["difference"])])
            for group in compared
        ],
        what="Leave-one-out agreement with people less that of people with each other, in points",
        caption="Leave-one-out agreement with people less that of people with each other, in points; at 0 it is equal.",
        form=percent,
    )


def _outer_by_category(people: Record, compared: list[Record]) -> Table:
    inner = by_cell(people["leave_one_out"]["inner_by_category"], "category")
    categories = [category for (category,) in inner]
    build = Builder(
        "Leave-one-out agreement with people by category, in percent; n is the number of items.",
        columns(["Raters", *(category or "none" for category in categories)]),
    )
    build.add(group_head(people), *(_with_n(build, inner[(each,)]["inner"]) for each in categories))
    for group in compared:
        outer = by_cell(group["against_people"]["outer_by_category"], "category")
        build.add(group_head(group), *(_with_n(build, outer[(each,)]["outer"]) for each in categories))
    return build.build()


def _with_n(build: Builder, estimate: Record) -> Cell:
    return _and_n(build.share(estimate), estimate)


def _and_n(cell: Cell, estimate: Record) -> Cell:
    """A figure that has no column for its n beside it."""
    n = f"n = {estimate['n']:,}"
    return Cell(cell.text, f"{cell.detail}; {n}" if cell.detail else n, cell.marks)


def _confusion(subject: Subject, group: Record) -> Table:
    """Items by both labels; where a study has many pairs, canonical responses have no names of their own."""
    found = group["against_people"]["confusion"]
    names = (*subject.sides, "Tie")
    left_out = "; ".join(f"{part['n']:,} {part['reason']}" for part in found["left_out"])
    build = Builder(
        f"{group['label']}: items by its label (rows) and by people's majority, if any (columns).",
        columns([group["label"], *names, "None"]),
        foot=f"{found['n']:,} items. Left out: {left_out}." if left_out else f"{found['n']:,} items.",
    )
    for name, row in zip(names, found["counts"], strict=True):
        build.add(head(name), *(count(n) for n in row))
    return build.build(compact=True)


def _in_one_figure(subject: Subject) -> Iterator[Block]:
    """Win rates of people and of every judge: per pair its settings or, in one setting, all pairs."""
    groups = [group for group in subject.judging if group["kind"] in ("person", "judge")]
    if len(groups) < 2:  # a single voice stands under the win rates
        return
    if subject.several_arms:
        for pair in subject.pairs:
            rows = [(subject.arm(arm), (arm, *pair)) for arm in subject.arms]
            yield _rates_block(subject, groups, "Setting", rows, pair)
        return
    rows = [(_versus(subject, pair), (subject.arms[0], *pair)) for pair in subject.pairs]
    yield _rates_block(subject, groups, "Pair", rows, subject.pairs[0] if len(rows) == 1 else None)


def _versus(subject: Subject, pair: tuple[str, str]) -> str:
    return " vs ".join(subject.system(key) for key in pair)


def _rates_block(
    subject: Subject,
    groups: list[Record],
    what: str,
    rows: list[tuple[str, tuple[str, str, str]]],
    pair: tuple[str, str] | None,
) -> Block:
    """Table and plot of the expected win rates at the rows' (arm, system, opponent); `pair` is the rows' only one."""
    expected = [rates_of(group)[1] for group in groups]
    found = [(name, [rates[key] for rates in expected]) for name, key in rows if key in expected[0]]
    reference, at = even(subject)
    one, two = (subject.system(key) for key in pair) if pair else ("the system named first", "")
    labels = [what, "Raters", "Expected", "Standard error", "n"]
    build = Builder(f"Expected win rate of {one}, in percent.", columns(labels, names=2))
    for name, rates in found:
        for group, rate in zip(groups, rates, strict=True):
            build.add(
                head(name),
                words(group["label"]),
                build.share(rate["rate"]),
                standard_error(build, rate),
                build.n(rate["rate"]),
            )
    plot = share_plot(
        [
            (name, [(group, rate["rate"]) for group, rate in zip(groups, rates, strict=True)])
            for name, rates in found
        ],
        what=f"Expected win rate of {one}{f' against {two}' if two else ''}, by rater",
        caption=f"Expected win rate of {one}{f' against {two}' if two else ''}{at}",
        reference=reference,
        hints=(two, one) if pair else subject.hints,
        named=True,
    )
    whose = "people and judges" if groups[0]["kind"] == "person" else "judges"
    heading = f"Win rates of {whose}{f': {one} vs {two}' if pair else ''}"
    return Block(heading, tables=(build.build(),), plot=plot)


def what_came_back(judges: list[Record], *, orders: bool = True) -> Table:
    """`orders` says whether there is something to be said of a label that changes with the order of the responses."""
    labels = [OUTCOME_LABELS.get(outcome, outcome.capitalize()) for outcome in OUTCOMES]
    flips = "; and samples whose label changes with the order of the responses, in percent" if orders else ""
    build = Builder(
        f"What a judge's judgments came to, in percent with their number{flips}.",
        columns(["Judge", "Judgments", "Read", *labels, *(["Inconsistent", "n"] if orders else [])]),
    )
    for judge in judges:
        found = {each["outcome"]: each for each in judge["outcomes"]}
        build.add(
            head(judge["label"]),
            count(judge["judgments"]),
            *(_share_of(found[outcome]) for outcome in ("ok", *OUTCOMES)),
            *([build.share(judge["inconsistent"]), build.n(judge["inconsistent"])] if orders else []),
        )
    return build.build()


def _share_of(found: Record) -> Cell:
    if found["share"] is None:
        return Cell(DASH)
    return Cell(f"{found['share'] * 100:.1f}", f"n = {found['n']:,}" if found["n"] else "")


def how_asked(judges: list[Record], *, by_rule: bool = True) -> Table:
    """`by_rule` says whether several readings became one by the judge's own rule."""
    rule = ["Several readings"] if by_rule else []
    labels = ["Judge", "Model", "Human reference", "Orders", "Samples", *rule, "Questions"]
    build = Builder("How each judge was asked.", [Column(label, numeric=False) for label in labels])
    for judge in judges:
        known = bool(judge["judge"])
        samples = judge["samples"]
        build.add(
            head(judge["label"]),
            words(judge["model"] or (DASH if known else NOT_KNOWN)),
            words("seen" if judge["reference"] else "not seen" if known else NOT_KNOWN),
            words(ORDERS.get(judge["orders"], judge["orders"]) or NOT_KNOWN),
            words(NOT_KNOWN if samples is None else f"{samples:,}"),
            *([words(REDUCTIONS[judge["reduction"]])] if by_rule else []),
            words(", ".join(judge["questions"]) or "all that are no text"),
        )
    return build.build()
