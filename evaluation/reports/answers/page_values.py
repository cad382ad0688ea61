"""The section on ratings by value of an attribute, and on how much they differ over its values."""

from collections.abc import Iterator

from evaluation.reports.answers.page_rated import distribution_table, finer
from evaluation.reports.answers.subject import AnswersSubject, heading_for, legend_of, number
from evaluation.reports.plots import DotPlot
from evaluation.reports.subject import Record, mean_plot, share_plot, tag_of
from evaluation.reports.tables import Builder, Table, columns, head, words
from evaluation.reports.view import Block, Section

# More values of attributes than this are in the JSON only, and more than that in no plot.
MAX_VALUES, MAX_PLOTTED = 40, 12
ALL_VALUES = "Largest difference over an attribute's values, one per response, attribute and rater"
ADAPTED = (
    "Largest difference between the responses to one query that were written for the values of an attribute, one per "
    "query, attribute, system and setting"
)
PLOTTED = {"of_raters": "in the ratings of one rater", "of_means": "in mean ratings"}


def values(subject: AnswersSubject) -> Section | None:
    """Scales about the values of an attribute, and how much the ratings differ over them."""
    questions = [
        each for each in subject.of_form("rated") if each["kind"] == "scale" and each["over"] == "value"
    ]
    if not questions:
        return None
    blocks: list[Block] = []
    for question in questions:
        figures = subject.lead(question)
        tag = tag_of(subject.who(figures))
        blocks.append(
            Block(
                question["prompt"],
                tables=(_by_value(question, figures),),
                plot=_value_plot(subject, question),
                tag=tag,
                anchor=f"question-{question['key']}",
            )
        )
        blocks += _spreads(subject, question)
        blocks.append(
            Block(
                "How often each point was given",
                tables=(distribution_table(subject, question, figures),),
                tag=tag,
            )
        )
        for group, other in _elsewhere(subject, question):
            heading = heading_for(subject, group, question["prompt"])
            blocks.append(
                Block(heading, tables=(_by_value(question, other),), folded=True, tag=tag_of(group))
            )
        blocks += finer(subject, [question])
    intro = "Mean rating per value of an attribute, and the largest difference over an attribute's values."
    return Section("values", "Ratings by attribute value", "Values", tuple(blocks), intro)


def _elsewhere(subject: AnswersSubject, question: Record) -> Iterator[tuple[Record, Record]]:
    lead = subject.lead(question)
    for figures in question["groups"]:
        if figures is not lead:
            yield subject.who(figures), figures


def _by_value(question: Record, figures: Record) -> Table:
    found = figures["by_value"]
    beyond = len(found) - MAX_VALUES + figures["values_left_out"] if len(found) > MAX_VALUES else 0
    build = Builder(
        "Mean rating per value.",
        columns(["Attribute", "Value", "Mean", "n"], names=2),
        foot=f"{beyond:,} further values are in the JSON or rated less." if beyond else legend_of(question),
    )
    for each in found[:MAX_VALUES]:
        build.add(
            head(each["attribute"]),
            words(each["value"]),
            build.coefficient(each["mean"]),
            build.n(each["mean"]),
        )
    return build.build()


def _value_plot(subject: AnswersSubject, question: Record) -> DotPlot | None:
    shown = subject.lead(question)["by_value"]
    if len(shown) > MAX_PLOTTED:
        return None
    voices = list(subject.voiced(question))
    rows = [
        (
            each["value"],
            [
                (group, other["mean"])
                for group, figures in voices
                for other in figures["by_value"]
                if (other["attribute"], other["value"]) == (each["attribute"], each["value"])
            ],
        )
        for each in shown
    ]
    return mean_plot(
        rows,
        what=f"Mean rating per value: {question['prompt']}",
        caption="Mean rating per value.",
        within=(question["points"][0]["value"], question["points"][-1]["value"]),
    )


def _spreads(subject: AnswersSubject, question: Record) -> Iterator[Block]:
    """Of responses rated for all values, and of those that were written for one each."""
    yield from _spread(
        subject, question, "spread", "Largest difference over an attribute's values", ALL_VALUES
    )
    heading = "Largest difference over adapted responses"
    yield from _spread(subject, question, "spread_adapted", heading, ADAPTED)


def _spread(
    subject: AnswersSubject, question: Record, key: str, heading: str, caption: str
) -> Iterator[Block]:
    """Shares of the differences, a row per group: of single raters, and of means over raters."""
    found = [(subject.who(each), each[key]) for each in question["groups"] if each.get(key)]
    if not found:
        return
    differences = found[0][1]["of_raters"]["differences"]
    build = Builder(
        f"{caption}: mean, and how often each occurs, in percent. 0: all values are served alike.",
        columns(["Raters", "Of", "Mean", *(number(each) for each in differences), "n"], names=2),
    )
    for group, spread in found:
        for name, of in (("each rater", "of_raters"), ("mean ratings", "of_means")):
            shares = spread[of]
            build.add(
                head(group["label"], tag=tag_of(group)),
                words(name),
                build.coefficient(shares["mean"]),
                *(build.share(each) for each in shares["shares"]),
                build.n(shares["mean"]),
            )
    yield Block(heading, tables=(build.build(),), anchor=key.replace("_", "-"))
    # One person seldom sees two responses to a query, so that adapted ones are plotted by their means.
    plotted = "of_raters" if key == "spread" else "of_means"
    voices = [(group, figures[key]) for group, figures in subject.voiced(question) if figures.get(key)]
    # Below the table, which needs all the width there is.
    plot = share_plot(
        [
            (number(difference), [(group, spread[plotted]["shares"][at]) for group, spread in voices])
            for at, difference in enumerate(differences)
        ],
        what=f"Share of largest differences, {PLOTTED[plotted]}",
        caption=f"How often each largest difference occurs, {PLOTTED[plotted]}.",
    )
    yield Block(plot=plot)
