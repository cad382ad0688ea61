"""The section on sets of entries: what became of drafted ones, and what the settled sets are made of."""

from collections.abc import Iterator

from evaluation.reports.answers.subject import AnswersSubject
from evaluation.reports.subject import Record, share_plot, tag_of
from evaluation.reports.tables import Builder, Table, columns, count, head
from evaluation.reports.view import Block, Section

INTRO = (
    "Decisions are about drafted entries, one per entry and rater. An entry was edited where it alone was taken over "
    "and its words, answers or citations differ, and merged where it was put together with others."
)


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
        "Entries in a settled set, and the shares of a set that came from no draft, or only from a model's revision "
        "that was asked for meanwhile (in percent), averaged over sets.",
        columns(["Raters", "Entries", "Added", "From a revision", "n"]),
    )
    for figures in question["groups"]:
        group, sets = subject.who(figures), figures["entries"]
        build.add(
            head(group["label"], tag=tag_of(group)),
            build.coefficient(sets["size"]["mean"]),
            build.share(sets["added"]["mean"]),
            build.share(sets["revised"]["mean"]),
            build.n(sets["size"]["mean"]),
        )
    return build.build()


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
