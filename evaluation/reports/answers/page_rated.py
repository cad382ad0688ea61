"""The section on ratings: means by system, and how often each point of a scale was given."""

from collections.abc import Iterator, Sequence

from evaluation.reports.answers.subject import (
    KINDS,
    AnswersSubject,
    heading_for,
    legend_of,
    number,
    plain_share,
)
from evaluation.reports.plots import DotPlot
from evaluation.reports.subject import Record, mean_plot, tag_of
from evaluation.reports.tables import DASH, P_COLUMNS, Builder, Cell, Table, columns, count, head
from evaluation.reports.view import Block, Section


def ratings(subject: AnswersSubject) -> Section | None:
    """Scales about responses or whole items."""
    questions = [
        each for each in subject.of_form("rated") if each["kind"] == "scale" and each["over"] != "value"
    ]
    if not questions:
        return None
    blocks = [Block(tables=(_means(subject, questions, subject.leading),), tag=tag_of(subject.leading))]
    blocks += [_question(subject, question) for question in questions]
    for group in subject.others:
        if any(subject.answered(questions, group)):
            heading = heading_for(subject, group, "Means")
            table = _means(subject, questions, group)
            blocks.append(Block(heading, tables=(table,), folded=True, tag=tag_of(group)))
    blocks += finer(subject, questions)
    intro = "Means of all ratings. Below each question stands how often each point of its scale was given."
    return Section("ratings", "Ratings", "Ratings", tuple(blocks), intro)


def _means(subject: AnswersSubject, questions: Sequence[Record], group: Record) -> Table:
    """Systems as rows and questions as columns; a last row for all."""
    asked = list(subject.answered(questions, group))
    by_system = any(figures["by_system"] for _, figures in asked)
    labels = [question["prompt"] for question, _ in asked]
    build = Builder("Mean ratings.", columns(["System" if by_system else "Of", *labels]))
    for name, factor, key in rows_of(subject, [figures for _, figures in asked]):
        build.add(head(name), *(_mean_cell(build, figures, factor, key) for _, figures in asked))
    build.add(head("All"), *(build.coefficient(figures["mean"]["mean"]) for _, figures in asked))
    build.add(head("Ratings"), *(count(figures["mean"]["mean"]["n"]) for _, figures in asked))
    return build.build()


def rows_of(subject: AnswersSubject, found: Sequence[Record]) -> Iterator[tuple[str, str, str]]:
    """(label, factor, key) of systems and, where there are several, of kinds of systems."""
    systems = {each["system"] for figures in found for each in figures["by_system"]}
    for key, label in subject.systems.items():
        if key in systems:
            yield label, "system", key
    for kind in sorted({each["kind"] for figures in found for each in figures["by_kind"]}):
        yield KINDS.get(kind, kind), "kind", kind


def _mean_cell(build: Builder, figures: Record, factor: str, key: str) -> Cell:
    record = next((each for each in figures[f"by_{factor}"] if each[factor] == key), None)
    return Cell(DASH) if record is None else build.coefficient(record["mean"])


def _question(subject: AnswersSubject, question: Record) -> Block:
    figures = subject.lead(question)
    return Block(
        question["prompt"],
        tables=(distribution_table(subject, question, figures), *_above_others(subject, figures)),
        plot=_mean_plot(subject, question),
        tag=tag_of(subject.who(figures)),
        anchor=f"question-{question['key']}",
    )


def _above_others(subject: AnswersSubject, figures: Record) -> Iterator[Table]:
    if not figures["above_others"]:
        return
    build = Builder(
        "Whether a system is rated above every other: the largest p of one-sided sign-flip tests against each, over "
        "the queries that both have; n is the least number of those.",
        columns(["System", *P_COLUMNS, "n"]),
    )
    for each in figures["above_others"]:
        build.add(
            head(subject.systems[each["system"]]), *build.tested(each["test"]), count(each["test"]["n"])
        )
    yield build.build()


def distribution_table(subject: AnswersSubject, question: Record, figures: Record) -> Table:
    """How often each point was given, by system and of all."""
    points = [number(point["value"]) for point in question["points"]]
    build = Builder(
        "How often each point was given, in percent; mean, standard deviation and number of ratings.",
        columns(["System" if figures["by_system"] else "Of", *points, "Mean", "SD", "n"]),
        foot=legend_of(question),
    )
    rows = [(subject.systems[each["system"]], each, each) for each in figures["by_system"]]
    for name, shares, means in [*rows, ("All", figures, figures["mean"])]:
        build.add(
            head(name),
            *(plain_share(each["share"]) for each in shares["distribution"]),
            build.coefficient(means["mean"]),
            deviation(means["standard_deviation"]),
            build.n(means["mean"]),
        )
    return build.build()


def deviation(value: float | None) -> Cell:
    return Cell(DASH if value is None else f"{value:.2f}")


def _mean_plot(subject: AnswersSubject, question: Record) -> DotPlot | None:
    low, high = question["points"][0]["value"], question["points"][-1]["value"]
    voices = list(subject.voiced(question))
    rows = [
        (
            label,
            [
                (group, each["mean"])
                for group, figures in voices
                for each in figures["by_system"]
                if each["system"] == key
            ],
        )
        for key, label in subject.systems.items()
    ]
    rows = [(label, marks) for label, marks in rows if marks]
    if not rows:
        rows = [("All", [(group, figures["mean"]["mean"]) for group, figures in voices])]
    ideal = question["ideal"]
    inside = ideal is not None and low < ideal < high
    return mean_plot(
        rows,
        what=f"Mean rating: {question['prompt']}",
        caption=f"Mean rating{'; the dotted line is the ideal' if inside else ''}.",
        within=(low, high),
        reference=ideal if inside else None,
    )


def finer(subject: AnswersSubject, questions: Sequence[Record]) -> Iterator[Block]:
    """By setting and by category, of the leading group."""
    asked = list(subject.answered(questions, subject.leading))
    for factor, title in (("arm", "Setting"), ("category", "Category")):
        names = list(dict.fromkeys(each[factor] for _, figures in asked for each in figures[f"by_{factor}"]))
        if not names:
            continue
        build = Builder(
            f"Mean by {title.lower()}.", columns([title, *(question["prompt"] for question, _ in asked)])
        )
        for name in names:
            label = subject.arms.get(name, name) if factor == "arm" else name or "none"
            build.add(head(label), *(_mean_cell(build, figures, factor, name) for _, figures in asked))
        yield Block(f"By {title.lower()}", tables=(build.build(),), folded=factor == "category")
