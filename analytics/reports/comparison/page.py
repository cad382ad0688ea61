"""A comparison as it is read: sentences and tables, the same for page, Markdown and CSV."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from analytics.display.blocks import Block, Section
from analytics.display.numbers import decimal, percent
from analytics.display.tables import P_COLUMNS, Builder, Table, TableCell, columns, head, words
from analytics.frames.filters import view_in_words
from analytics.reports.comparison.sentences import about, counted
from analytics.reports.comparison.sides import NAMES

Record = dict[str, Any]
FIGURES = ["A", "B", "B less A", *P_COLUMNS, "Queries"]
EXPLAINED = (
    "Both figures are over the queries that both sides have, and differ from those of the whole studies where a "
    "side has others. B less A: in percentage points where a figure is in percent. p: sign-flip test over queries."
)
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
    findings: tuple[Record, ...]
    nothing_found: str
    sections: tuple[Section, ...]


def comparison_page(record: Record) -> ComparisonPage:
    a, b = (_side(name, record[name]) for name in NAMES)
    title = f"{a.title} and {b.title}" if a.title != b.title else a.title
    return ComparisonPage(
        title=f"Comparison: {title}",
        sides=(a, b),
        matched=_matched(record["queries"]),
        cautions=tuple(_cautions(record)),
        findings=tuple(record["findings"]),
        nothing_found="" if record["findings"] else _nothing_found(record),
        sections=tuple(_sections(record)),
    )


def comparison_table(record: Record) -> Table:
    """Every comparison as a row of one table."""
    prompts = {each["key"]: each["prompt"] for each in record["questions"]}
    groups = {each["a"]: each["label"] for each in record["groups"]}
    build = Builder(EXPLAINED, columns(["Question", "Raters", "Figure", "Of", *FIGURES], names=4))
    for each in record["comparisons"]:
        build.add(
            words(prompts[each["question"]]),
            words(groups[each["group"]]),
            words(_name(each)),
            words(about(record, each) or "all"),
            *_cells(build, each),
        )
    return build.build()


def _side(name: str, side: Record) -> ComparedSide:
    return ComparedSide(
        name=name.upper(),
        title=side["study"]["title"],
        slug=side["study"]["slug"],
        view=view_in_words(side["view"]),
        counts=f"{counted(side['judgments'], 'judgment')} on {counted(side['queries'], 'query')}",
        hash=side["study"]["study_hash"],
    )


def _matched(queries: Record) -> str:
    parts = [
        f"{queries[key]:,} {said}"
        for key, said in (
            ("only_a", "in A alone"),
            ("only_b", "in B alone"),
            ("other_text", "with the same key and another text"),
        )
        if queries[key]
    ]
    said = f"{counted(queries['matched'], 'query')} matched by key."
    return f"{said} Not included: {'; '.join(parts)}." if parts else said


def _cautions(record: Record) -> Iterator[str]:
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


def _nothing_found(record: Record) -> str:
    tested = [each["test"] for each in record["comparisons"] if each["test"]]
    told = [test for test in tested if test["p_corrected"] is not None]
    if not told:
        return "Too few queries for conclusions: the figures and their intervals are shown below."
    return (
        f"No difference is beyond chance after correction for {counted(len(told), 'test')}. That does not show that "
        "there is none: the intervals say how large one may be."
    )


def _sections(record: Record) -> Iterator[Section]:
    for at, question in enumerate(record["questions"], 1):
        place = question["key"], question["form"]
        here = [each for each in record["comparisons"] if (each["question"], each["form"]) == place]
        title = question["prompt"] or "Measures"
        yield Section(
            f"question-{at}", title, title, tuple(_blocks(record, here)), intro=EXPLAINED if at == 1 else ""
        )
    if record["without_partner"]:
        yield Section("alone", "Without a partner", "Without a partner", (Block(tables=(_alone(record),)),))


def _blocks(record: Record, found: list[Record]) -> Iterator[Block]:
    """A table of each group of raters; those after the first are opened by who wants them."""
    present = {each["group"] for each in found}
    named = [(each["a"], each["label"]) for each in record["groups"] if each["a"] in present]
    for at, (key, label) in enumerate(named):
        mine = [each for each in found if each["group"] == key]
        yield Block(label, tables=(_table(record, mine, label),), folded=at > 0)


def _table(record: Record, found: list[Record], label: str) -> Table:
    """The rows of one name stand together."""
    names = list(dict.fromkeys(each["name"] for each in found))
    build = Builder(
        f"{label}: figures of A and of B over the queries that both have, and their difference.",
        columns(["Figure", "Of", *FIGURES], names=2),
    )
    for each in sorted(found, key=lambda each: names.index(each["name"])):
        build.add(head(_name(each)), words(about(record, each) or "all"), *_cells(build, each))
    return build.build()


def _name(found: Record) -> str:
    return f"{found['name']}, %" if found["share"] else str(found["name"])


def _cells(build: Builder, found: Record) -> tuple[TableCell, ...]:
    form = percent if found["share"] else decimal
    return (
        *(build.figure(found[side], form) for side in NAMES),
        build.figure(found["difference"], form),
        *build.tested(found["test"], found["untested"]),
        build.n(found["difference"]),
    )


def _alone(record: Record) -> Table:
    build = Builder(
        "What one side has and the other has not, so that it is in no figure above.",
        columns(["Side", "What", "Name", "Why"], names=4),
    )
    for each in record["without_partner"]:
        build.add(
            head(each["side"].upper()), words(KINDS[each["kind"]]), words(each["name"]), words(each["reason"])
        )
    return build.build()
