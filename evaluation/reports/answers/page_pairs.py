"""The sections on preferences between two responses: a summary over questions, and each as in a pairwise report."""

from collections.abc import Iterator
from dataclasses import replace

from evaluation.reports import page_grades, page_raters, page_rates
from evaluation.reports.answers.subject import AnswersSubject
from evaluation.reports.page_agreement import uneven_labels
from evaluation.reports.subject import Record, Subject, share_plot, tag_of
from evaluation.reports.tables import Builder, Table, columns, head, words
from evaluation.reports.view import Block, Section


def pairwise_subject(subject: AnswersSubject, question: Record) -> Subject:
    """One question's figures as those of a pairwise report."""
    return Subject({**subject.report, "groups": [each["pairs"] for each in question["groups"]]})


def win_rates(subject: AnswersSubject) -> Section | None:
    questions = subject.of_form("pairs")
    if not questions:
        return None
    blocks = [_summary(subject, questions)]
    blocks += [_in_detail(subject, question) for question in questions]
    reading = page_rates.win_rates(pairwise_subject(subject, questions[0])).intro
    return Section("win-rates", "Win rates", "Win rates", tuple(blocks), reading)


def _in_detail(subject: AnswersSubject, question: Record) -> Block:
    """Everything that a pairwise report says of win rates, under the question's name."""
    blocks = page_rates.win_rates(pairwise_subject(subject, question)).blocks
    tables = tuple(
        replace(table, caption=f"{block.heading}. {table.caption}") if block.heading else table
        for block in blocks
        for table in block.tables
    )
    return Block(question["prompt"], tables=tables, folded=True, anchor=f"question-{question['key']}")


def _summary(subject: AnswersSubject, questions: list[Record]) -> Block:
    tables = tuple(_table(subject, questions, pair) for pair in _pairs(subject, questions))
    plot = None
    if len(tables) == 1:
        ((arm, one, two),) = _pairs(subject, questions)
        plot = share_plot(
            [
                (
                    question["prompt"],
                    [
                        (group, each["rate"])
                        for group, figures in subject.voiced(question)
                        for each in figures["pairs"]["win_rates"]["expected"]
                        if (each["arm"], each["system"], each["opponent"]) == (arm, one, two)
                    ],
                )
                for question in questions
            ],
            what=f"Expected win rate of {subject.systems[one]} against {subject.systems[two]}",
            caption=f"Expected win rate of {subject.systems[one]} against {subject.systems[two]}.",
            reference=0.5 if subject.report["parameters"]["ties"] == "half" else None,
            hints=(subject.systems[two], subject.systems[one]),
        )
    return Block(tables=tables, plot=plot, tag=tag_of(subject.leading))


def _pairs(subject: AnswersSubject, questions: list[Record]) -> list[tuple[str, str, str]]:
    """(arm, system 1, system 2) of every comparison, in the order of the report."""
    cells = [
        rates["cell"]
        for question in questions
        for rates in subject.lead(question)["pairs"]["win_rates"]["majority"]
    ]
    return list(dict.fromkeys((cell["arm"], cell["system_1"], cell["system_2"]) for cell in cells))


def _table(subject: AnswersSubject, questions: list[Record], pair: tuple[str, str, str]) -> Table:
    """The questions as rows, of one pair of systems."""
    arm, one, two = pair
    names = [subject.systems[one], subject.systems[two]]
    within = f" {subject.arms[arm]}." if len(subject.arms) > 1 else ""
    build = Builder(
        f"{names[0]} vs {names[1]}: items won by majority, and expected win rate of {names[0]}, in percent.{within}",
        columns(["Question", *names, "Tie", "n", "Expected"]),
    )
    for question in questions:
        majority, expected = page_rates.rates_of(subject.lead(question)["pairs"])
        found = majority.get(pair)
        if found is not None:
            build.add(
                head(question["prompt"]),
                *(build.share(found[name]) for name in ("system_1", "system_2", "tie")),
                build.n(found["system_1"]),
                build.share(expected[pair]["rate"]),
            )
    return build.build()


def grades(subject: AnswersSubject) -> Section | None:
    """By how much, question by question, of those that ask for it."""
    asked = (
        (question, page_grades.grades(pairwise_subject(subject, question)))
        for question in subject.of_form("pairs")
    )
    found = [(question, section) for question, section in asked if section is not None]
    if not found:
        return None
    blocks = [
        replace(block.under(question["prompt"], question["key"]), folded=at > 0 or block.folded)
        for at, (question, section) in enumerate(found)
        for block in section.blocks
    ]
    return replace(found[0][1], blocks=tuple(blocks))


def bias(subject: AnswersSubject) -> Section | None:
    """Position and length, question by question."""
    questions = subject.of_form("pairs")
    if not questions:
        return None
    sections = [(question, page_raters.bias(pairwise_subject(subject, question))) for question in questions]
    blocks = [
        replace(block.under(question["prompt"], question["key"]), folded=at > 0)
        for at, (question, section) in enumerate(sections)
        for block in section.blocks
    ]
    return replace(sections[0][1], blocks=tuple(blocks))


def agreement_rows(subject: AnswersSubject) -> Iterator[Block]:
    """Percentage agreement per question and panel."""
    questions = subject.of_form("pairs")
    if not questions:
        return
    build = Builder(
        "Percentage agreement and leave-one-out agreement, in percent.",
        columns(["Raters", "Question", "With ties", "Without ties", "Leave-one-out", "n"], names=2),
    )
    for group in subject.panels:
        for question, figures in subject.answered(questions, group):
            found = figures["pairs"]["agreement"]["overall"]
            build.add(
                head(group["label"], tag=tag_of(group)),
                words(question["prompt"]),
                build.share(found["with_ties"]),
                build.share(found["without_ties"]),
                build.share(figures["pairs"]["leave_one_out"]["inner"]),
                build.n(found["with_ties"]),
            )
    uneven = tuple(
        f"{question['prompt']} {sentence}"
        for group in subject.panels
        for question, figures in subject.answered(questions, group)
        if (sentence := uneven_labels(figures["pairs"]))
    )
    yield Block("Percentage agreement", uneven, (build.build(),))
