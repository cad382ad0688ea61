"""The section on sets of entries: what became of drafted ones, and what the settled sets are made of."""

from collections.abc import Iterator

from evaluation.reports.answers.page_rated import deviation
from evaluation.reports.answers.subject import AnswersSubject, heading_for
from evaluation.reports.numbers import percent
from evaluation.reports.page_raters import MAX_RATERS
from evaluation.reports.subject import Record, share_plot, tag_of
from evaluation.reports.tables import Builder, Cell, Table, columns, count, head
from evaluation.reports.view import Block, Section

INTRO = (
    "Decisions are about drafted entries, one per entry and rater. An entry was edited where it alone was taken over "
    "and its words, answers or citations differ, and merged where it was put together with others."
)

CAPTION = (
    "Entries in a settled set with their standard deviation, and the shares of a set that came from no draft, or only "
    "from a model's revision that was asked for meanwhile (in percent), averaged over sets"
)
SET_FIGURES = ("Raters", "Entries", "SD", "Added", "From a revision", "n")


def entries(subject: AnswersSubject) -> Section | None:
    """Decisions and the size of sets, by group of raters and, where several systems drafted, by system."""
    blocks = [block for question in subject.of_form("entries") for block in _blocks(subject, question)]
    return Section("entries", "Entries", "Entries", tuple(blocks), INTRO) if blocks else None


def _blocks(subject: AnswersSubject, question: Record) -> Iterator[Block]:
    anchor = f"question-{question['key']}"
    if any(figures["entries"]["decisions"] for figures in question["groups"]):
        plot = share_plot(
            [
                (
                    point["label"],
                    [
                        (group, figures["distribution"][at]["share"])
                        for group, figures in subject.voiced(question)
                    ],
                )
                for at, point in enumerate(question["points"])
            ],
            what="What became of drafted entries",
            caption="Share of each decision among all decisions about drafted entries.",
        )
        yield Block(
            "What became of drafted entries",
            tables=(_decisions(subject, question),),
            plot=plot,
            anchor=anchor,
        )
        anchor = ""
        yield from _by_system(subject, question)
    yield Block("The settled sets", tables=(_sets(subject, question),), anchor=anchor)
    yield from _sizes(subject, question)
    yield from _by_rater(subject, question)
    beside = [each for each in question["groups"] if each["against_people"]]
    if beside:
        yield Block("Sizes of sets beside people's", tables=(_beside(subject, beside),))


def _decisions(subject: AnswersSubject, question: Record) -> Table:
    labels = [point["label"] for point in question["points"]]
    build = Builder(
        "Decisions about drafted entries, in percent, with their number.", columns(["Raters", *labels, "n"])
    )
    for figures in question["groups"]:
        group = subject.who(figures)
        build.add(
            head(group["label"], tag=tag_of(group)),
            *(build.share(each["share"]) for each in figures["distribution"]),
            count(figures["entries"]["decisions"]),
        )
    return build.build()


def _by_system(subject: AnswersSubject, question: Record) -> Iterator[Block]:
    figures = subject.lead(question)
    if not figures["by_system"]:
        return
    labels = [point["label"] for point in question["points"]]
    build = Builder(
        "Decisions about the entries that each drafted, in percent, with their number.",
        columns(["Drafted by", *labels, "n"]),
    )
    for each in figures["by_system"]:
        build.add(
            head(subject.systems[each["system"]]),
            *(build.share(share["share"]) for share in each["distribution"]),
            count(sum(share["n"] for share in each["distribution"])),
        )
    yield Block("By who drafted", tables=(build.build(),), tag=tag_of(subject.who(figures)))


def _sets(subject: AnswersSubject, question: Record) -> Table:
    build = Builder(
        f"{CAPTION}.",
        columns(SET_FIGURES),
    )
    for figures in question["groups"]:
        group = subject.who(figures)
        build.add(head(group["label"], tag=tag_of(group)), *_set_cells(build, figures["entries"]))
    return build.build()


def _set_cells(build: Builder, sets: Record) -> tuple[Cell, ...]:
    return (
        build.coefficient(sets["size"]["mean"]),
        deviation(sets["size"]["standard_deviation"]),
        build.share(sets["added"]["mean"]),
        build.share(sets["revised"]["mean"]),
        build.n(sets["size"]["mean"]),
    )


def _sizes(subject: AnswersSubject, question: Record) -> Iterator[Block]:
    """How often sets have how many entries; a report from before these were kept has none."""
    found = [(subject.who(each), each["entries"].get("sizes") or []) for each in question["groups"]]
    sizes = sorted({record["size"] for _, records in found for record in records})
    if not sizes:
        return
    build = Builder(
        "How many of the settled sets have so many entries, in percent, with the number of sets.",
        columns(["Raters", *map(str, sizes), "n"]),
    )
    for group, records in found:
        share = {record["size"]: record["share"] for record in records}
        build.add(
            head(group["label"], tag=tag_of(group)),
            *(build.share(share[size]) if size in share else Cell(percent(0)) for size in sizes),
            count(sum(record["n"] for record in records)),
        )
    yield Block("Sizes of sets", tables=(build.build(),))


def _by_rater(subject: AnswersSubject, question: Record) -> Iterator[Block]:
    """The sets of each calibrator, one by one."""
    labels = {rater["rater"]: rater["label"] for rater in subject.report["raters"]}
    for figures in question["groups"]:
        group, records = subject.who(figures), figures["entries"].get("by_rater") or []
        if not records or group["kind"] == "judges":  # each judge is a group of its own
            continue
        beyond = len(records) - MAX_RATERS
        build = Builder(
            f"{CAPTION}, by calibrator.",
            columns(["Calibrator", *SET_FIGURES[1:]]),
            foot=f"{beyond:,} further calibrators are in the JSON." if beyond > 0 else "",
        )
        for record in records[:MAX_RATERS]:
            build.add(head(labels[record["rater"]]), *_set_cells(build, record))
        heading = heading_for(subject, group, "The sets of each calibrator")
        yield Block(heading, tables=(build.build(),), folded=True, tag=tag_of(group))


def _beside(subject: AnswersSubject, beside: list[Record]) -> Table:
    build = Builder(
        "Entries in a set beside people's mean of the same item: mean difference, mean absolute error, and Spearman's "
        "correlation.",
        columns(["Raters", "Difference", "Error", "Correlation", "n"]),
    )
    for figures in beside:
        group, found = subject.who(figures), figures["against_people"]["compared"]
        build.add(
            head(group["label"], tag=tag_of(group)),
            build.coefficient(found["difference"]),
            build.coefficient(found["error"]),
            build.coefficient(found["spearman"]),
            build.n(found["error"]),
        )
    return build.build()
