"""A comparison as it is read: sentences and tables, the same for page, Markdown and CSV."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from analytics.display.blocks import Block, Section
from analytics.display.numbers import decimal, percent
from analytics.display.tables import P_COLUMNS, Builder, Table, TableCell, columns, count, head, words
from analytics.reports.comparison import rankings_section as rankings
from analytics.reports.comparison.document import (
    NAMES,
    ComparedLeaderboards,
    ComparedNumber,
    ComparisonFinding,
    ComparisonRecord,
    MatchedRecord,
    ScoresAndRankings,
    SideRecord,
)
from analytics.reports.comparison.sentences import about, counted, labels_of
from analytics.reports.keys import with_keys
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.randomization import Tested
from analytics.statistics.core.reading import read
from evaluation.filters import view_in_words

FIGURES = ["A", "B", "B less A", *P_COLUMNS, "Queries"]
# Of figures that are of both sides at once.
TOGETHER = "A with B"
EMPTY = TableCell("")
EXPLAINED = (
    "Both figures are over the queries that both sides have, and differ from those of the whole studies where a "
    "side has others. B less A: in percentage points where a figure is in percent. p: sign-flip test over queries."
)
UNMATCHED: dict[Literal["only_a", "only_b", "other_text"], str] = {
    "only_a": "in A alone",
    "only_b": "in B alone",
    "other_text": "with the same key and another text",
}
CORRELATIONS: Sequence[Literal["pearson", "spearman", "kendall"]] = ("pearson", "spearman", "kendall")
KINDS = {
    "question": "Question",
    "raters": "Raters",
    "system": "System",
    "setting": "Setting",
    "figure": "Figure",
}


@dataclass(frozen=True)
class ComparedSide:
    """A or B as it is shown."""

    name: str
    title: str
    slug: str
    view: str
    counts: str
    hash: str


@dataclass(frozen=True)
class ComparisonPage:
    """The whole comparison. `cautions` are to be read before any figure."""

    title: str
    sides: tuple[ComparedSide, ComparedSide]
    matched: str
    cautions: tuple[str, ...]
    findings: tuple[ComparisonFinding, ...]
    nothing_found: str
    sections: tuple[Section, ...]


def comparison_page(record: ComparisonRecord) -> ComparisonPage:
    a, b = (_side(name, record[name]) for name in NAMES)
    title = f"{a.title} and {b.title}" if a.title != b.title else a.title
    return ComparisonPage(
        title=f"Comparison: {title}",
        sides=(a, b),
        matched=_matched(record["queries"]),
        cautions=tuple(_cautions(record)),
        findings=tuple(record["findings"]),
        nothing_found="" if record["findings"] else _nothing_found(record),
        sections=with_keys(_sections(record)),
    )


def comparison_table(record: ComparisonRecord) -> Table:
    """Every comparison as a row of one table, and behind them what scores of one have in common with rankings of the
    other."""
    prompts = {each["key"]: each["prompt"] for each in record["questions"]}
    groups = {each["a"]: each["label"] for each in record["groups"]}
    held = record["scores_and_rankings"]
    names = ["Question", "Raters", "Figure", "Of", *FIGURES, *([TOGETHER] if held else [])]
    build = Builder(EXPLAINED, columns(names, names=4))
    for each in record["comparisons"]:
        build.add(
            words(prompts[each["question"]]),
            words(groups[each["group"]]),
            words(_name(each)),
            words(about(record, each["systems"], each["arm"]) or "all"),
            *_cells(build, each),
            *([EMPTY] if held else []),
        )
    for ranked in held:
        for cells in _ranking_rows(record, build, ranked):
            build.add(words(ranked["question"]["prompt"]), words(rankings.who_ranked(ranked)), *cells)
    return build.build()


def _ranking_rows(
    record: ComparisonRecord, build: Builder, found: ScoresAndRankings
) -> Iterator[tuple[TableCell, ...]]:
    """From the name of the figure on: what both orders have in common, then each system's means on either side."""
    none = (EMPTY,) * (len(FIGURES) - 1)
    for name, title in rankings.FIGURES.items():
        n = build.n(read(Estimate, found[name])) if name == "tau" else count(found["queries"])
        yield words(title), words("all"), *none, n, build.coefficient(read(Estimate, found[name]))
    together = rankings.of_systems(build, found)
    yield words(rankings.OF_SYSTEMS), words("all"), *none, count(found["queries"]), together
    for label, standing in rankings.standings(record, found):
        means = [TableCell(decimal(standing["score"])), TableCell(f"{percent(standing['outranked'])} %")]
        sides = means if found["scored"] == "a" else reversed(means)
        yield (
            words("Mean score and share outranked"),
            words(label),
            *sides,
            *none[2:],
            count(standing["n"]),
            EMPTY,
        )


def _side(name: str, side: SideRecord) -> ComparedSide:
    return ComparedSide(
        name=name.upper(),
        title=side["study"]["title"],
        slug=side["study"]["slug"],
        view=view_in_words(side["view"]),
        counts=f"{counted(side['judgments'], 'judgment')} on {counted(side['queries'], 'query')}",
        hash=side["study"]["study_hash"],
    )


def _matched(queries: MatchedRecord) -> str:
    parts = [f"{queries[key]:,} {said}" for key, said in UNMATCHED.items() if queries[key]]
    said = f"{counted(queries['matched'], 'query')} matched by key."
    return f"{said} Not included: {'; '.join(parts)}." if parts else said


def _cautions(record: ComparisonRecord) -> Iterator[str]:
    if n := record["shared_judgments"]:
        yield (
            f"{counted(n, 'judgment')} {'is' if n == 1 else 'are'} in both sides, so that they differ by the other "
            "judgments alone: a view and what it leaves out differ more."
        )
    responses = record["responses"]
    if responses["other_text"]:
        yield (
            f"{responses['other_text']:,} of {responses['shared']:,} responses that both studies show for a matched "
            "query and system have another text: what is compared is the system, and not the same response."
        )
    unlike = {each["kind"] for each in record["without_partner"]}
    named = [word for kind, word in (("system", "systems"), ("setting", "settings")) if kind in unlike]
    if named:
        yield (
            f"The two sides do not have the same {' and '.join(named)}. Figures of all {' and '.join(named)} together "
            "are over those that each side has; choose views to make them alike."
        )


def _nothing_found(record: ComparisonRecord) -> str:
    if not record["comparisons"]:
        return (
            "No question has answers of the same raters in both, so that no figure has a difference. The scores of one "
            "are held against the rankings of the other below."
        )
    tested = [each["test"] for each in record["comparisons"] if each["test"]]
    told = [test for test in tested if test["p_corrected"] is not None]
    if not told:
        return "Too few queries for conclusions: the figures and their intervals are shown below."
    return (
        f"No difference is beyond chance after correction for {counted(len(told), 'test')}. That does not show that "
        "there is none: the intervals say how large one may be."
    )


def _sections(record: ComparisonRecord) -> Iterator[Section]:
    boards = record["leaderboards"]
    for at, question in enumerate(record["questions"], 1):
        place = question["key"], question["form"]
        here = [each for each in record["comparisons"] if (each["question"], each["form"]) == place]
        title = question["prompt"] or "Measures"
        blocks = list(_blocks(record, here, title))
        if of_question := [each for each in boards if (each["question"], each["form"]) == place]:
            blocks.append(Block("Correlation of leaderboards", tables=(_leaderboards(record, of_question),)))
        yield Section(f"question-{at}", title, title, tuple(blocks), intro=EXPLAINED if at == 1 else "")
    if record["scores_and_rankings"]:
        yield rankings.rankings_section(record)
    if record["without_partner"]:
        yield Section("alone", "Without a partner", "Without a partner", (Block(tables=(_alone(record),)),))


def _blocks(record: ComparisonRecord, found: list[ComparedNumber], title: str) -> Iterator[Block]:
    """A table of each group of raters; those after the first are opened by who wants them. Where a table stands by
    itself its caption begins with the title."""
    context = title if title.endswith((".", "?", "!")) else f"{title}."
    present = {each["group"] for each in found}
    named = [(each["a"], each["label"]) for each in record["groups"] if each["a"] in present]
    for at, (key, label) in enumerate(named):
        mine = [each for each in found if each["group"] == key]
        table = replace(_table(record, mine, label), context=context)
        yield Block(label, tables=(table,), folded=at > 0)


def _table(record: ComparisonRecord, found: list[ComparedNumber], label: str) -> Table:
    """The rows of one name stand together."""
    names = list(dict.fromkeys(each["name"] for each in found))
    build = Builder(
        f"{label}: figures of A and of B over the queries that both have, and their difference.",
        columns(["Figure", "Of", *FIGURES], names=2),
    )
    for each in sorted(found, key=lambda each: names.index(each["name"])):
        build.add(
            head(_name(each)),
            words(about(record, each["systems"], each["arm"]) or "all"),
            *_cells(build, each),
        )
    return build.build()


def _leaderboards(record: ComparisonRecord, found: list[ComparedLeaderboards]) -> Table:
    """A row for each group of raters and setting."""
    labels = {each["a"]: each["label"] for each in record["groups"]}
    arms = labels_of(record, "arms")
    settings = ["Setting"] if any(each["arm"] for each in found) else []
    build = Builder(
        "Win rates of A and of B correlated over the systems that both have, each on the queries that both have of it.",
        columns(["Raters", *settings, "Pearson", "Spearman", "Kendall", "Systems"], names=1 + len(settings)),
    )
    for each in found:
        build.add(
            head(labels[each["group"]]),
            *([words(arms[each["arm"]])] if each["arm"] else []),
            *(build.coefficient(read(Estimate, each[name])) for name in CORRELATIONS),
            build.n(read(Estimate, each["pearson"])),
        )
    return build.build()


def _name(found: ComparedNumber) -> str:
    return f"{found['name']}, %" if found["share"] else found["name"]


def _cells(build: Builder, found: ComparedNumber) -> tuple[TableCell, ...]:
    form = percent if found["share"] else decimal
    difference = read(Estimate, found["difference"])
    return (
        *(build.figure(read(Estimate, found[side]), form) for side in NAMES),
        build.figure(difference, form),
        *build.tested(found["test"] and read(Tested, found["test"]), found["untested"]),
        build.n(difference),
    )


def _alone(record: ComparisonRecord) -> Table:
    build = Builder(
        "What one side has and the other has not, so that its figures have no counterpart.",
        columns(["Side", "What", "Name", "Why"], names=4),
    )
    for each in record["without_partner"]:
        build.add(
            head(each["side"].upper()), words(KINDS[each["kind"]]), words(each["name"]), words(each["reason"])
        )
    return build.build()
