"""The sections on what has no scale: yes or no, tags of a codebook, and choices."""

from collections.abc import Iterator, Sequence

from evaluation.reports.answers.page_rated import rows_of
from evaluation.reports.answers.subject import AnswersSubject, heading_for
from evaluation.reports.subject import Record, share_plot, tag_of
from evaluation.reports.tables import DASH, Builder, Cell, Table, columns, count, head, words
from evaluation.reports.view import Block, Section


def checks(subject: AnswersSubject) -> Section | None:
    """Yes or no, and boxes: shares of yes."""
    questions = [each for each in _checklists(subject) if each["over"] != "choice"]
    if not questions:
        return None
    return Section("checks", "Shares of yes", "Yes or no", tuple(_yes(subject, questions)))


def tags(subject: AnswersSubject) -> Section | None:
    """The tags of a codebook, of which several may hold."""
    questions = [each for each in _checklists(subject) if each["over"] == "choice"]
    if not questions:
        return None
    blocks = tuple(block for question in questions for block in _tags(subject, question))
    return Section(
        "tags", "Tags", "Tags", blocks, "A judgment may have several tags, so that shares add up to more."
    )


def _checklists(subject: AnswersSubject) -> list[Record]:
    return [each for each in subject.of_form("rated") if each["kind"] == "checklist"]


def _yes(subject: AnswersSubject, questions: Sequence[Record]) -> Iterator[Block]:
    voices = [group for group in subject.groups if any(subject.answered(questions, group))]
    build = Builder(
        "Share of yes among all answers, in percent, with the number of answers.",
        columns(["Question", *(label for group in voices for label in (group["label"], "n"))]),
    )
    for question in questions:
        cells: list[Cell] = []
        for group in voices:
            figures = subject.figures(question, group)
            mean = figures["mean"]["mean"] if figures else None
            cells += [build.share(mean, tag_of(group)), build.n(mean)] if mean else [Cell(DASH), Cell(DASH)]
        build.add(head(question["prompt"]), *cells)
    plot = share_plot(
        [
            (question["prompt"], [(group, each["mean"]["mean"]) for group, each in subject.voiced(question)])
            for question in questions
        ],
        what="Share of yes",
        caption="Share of yes.",
    )
    yield Block(tables=(build.build(),), plot=plot)
    yield from _yes_by_system(subject, questions)


def _yes_by_system(subject: AnswersSubject, questions: Sequence[Record]) -> Iterator[Block]:
    asked = [each for each in subject.answered(questions, subject.leading) if each[1]["by_system"]]
    if not asked:
        return
    build = Builder(
        "Share of yes by system, in percent.",
        columns(["System", *(question["prompt"] for question, _ in asked)]),
    )
    for name, factor, key in rows_of(subject, [figures for _, figures in asked]):
        found = [next((r for r in each[f"by_{factor}"] if r[factor] == key), None) for _, each in asked]
        build.add(head(name), *(build.share(each["mean"]) if each else Cell(DASH) for each in found))
    yield Block("By system", tables=(build.build(),), tag=tag_of(subject.leading))


def _tags(subject: AnswersSubject, question: Record) -> Iterator[Block]:
    """A row per tag, the most frequent first."""
    figures = subject.lead(question)
    tags = sorted(figures["by_part"], key=lambda each: -(each["mean"]["value"] or 0))
    build = Builder(
        "Share of judgments with the tag, in percent, and Krippendorff's \N{GREEK SMALL LETTER ALPHA} of it (nominal).",
        columns(["Tag", "Share", "n", "\N{GREEK SMALL LETTER ALPHA}"]),
    )
    for each in tags:
        build.add(
            head(each["label"]),
            build.share(each["mean"]),
            build.n(each["mean"]),
            build.coefficient(each["alpha"]),
        )
    voices = [
        (group, {part["part"]: part for part in each["by_part"]}) for group, each in subject.voiced(question)
    ]
    plot = share_plot(
        [
            (
                each["label"],
                [(group, found[each["part"]]["mean"]) for group, found in voices if each["part"] in found],
            )
            for each in tags
        ],
        what=f"Share of judgments with each tag: {question['prompt']}",
        caption="Share of judgments with the tag.",
    )
    tag = tag_of(subject.who(figures))
    yield Block(
        question["prompt"], tables=(build.build(),), plot=plot, tag=tag, anchor=f"question-{question['key']}"
    )
    yield from _tag_groups(subject, question)
    systems = list(dict.fromkeys(each["system"] for part in tags for each in part["by_system"]))
    if systems:
        yield Block("Tags by system", tables=(_tags_by_system(subject, tags, systems),), folded=True, tag=tag)


def _tag_groups(subject: AnswersSubject, question: Record) -> Iterator[Block]:
    """Tags counted by their groups, with columns for settings and systems where there are several."""
    found = [(subject.who(figures), figures.get("by_tag_group") or []) for figures in question["groups"]]
    records = [record for _, groups in found for record in groups]
    if not records:
        return
    factors = [
        (factor, key, name)
        for factor, names in (("arm", subject.arms), ("system", subject.systems))
        for key, name in names.items()
        if any(each[factor] == key for record in records for each in record[f"by_{factor}"])
    ]
    build = Builder(
        "Share of judgments with any tag of the group, in percent, and Krippendorff's "
        "\N{GREEK SMALL LETTER ALPHA} of it (nominal).",
        columns(
            [
                "Raters",
                "Group",
                "Share",
                "n",
                "\N{GREEK SMALL LETTER ALPHA}",
                *(name for *_, name in factors),
            ],
            names=2,
        ),
    )
    for group, groups in found:
        for record in groups:
            shares = [
                next((each["mean"] for each in record[f"by_{factor}"] if each[factor] == key), None)
                for factor, key, _ in factors
            ]
            build.add(
                head(group["label"], tag=tag_of(group)),
                words(record["tag_group"]),
                build.share(record["mean"]),
                build.n(record["mean"]),
                build.coefficient(record["alpha"]),
                *(build.share(each) if each else Cell(DASH) for each in shares),
            )
    yield Block("Groups of tags", tables=(build.build(),), anchor=f"groups-{question['key']}")


def _tags_by_system(subject: AnswersSubject, tags: Sequence[Record], systems: Sequence[str]) -> Table:
    build = Builder(
        "Share of judgments with the tag by system, in percent.",
        columns(["Tag", *(subject.systems[key] for key in systems)]),
    )
    for each in tags:
        found = {record["system"]: record["mean"] for record in each["by_system"]}
        build.add(
            head(each["label"]), *(build.share(found[key]) if key in found else Cell(DASH) for key in systems)
        )
    return build.build()


def choices(subject: AnswersSubject) -> Section | None:
    """Questions with one choice out of several: how often each was made, by group of raters and by system."""
    questions = subject.of_form("choice")
    if not questions:
        return None
    blocks = [block for question in questions for block in _choice(subject, question)]
    return Section("choices", "Choices", "Choices", tuple(blocks))


def _choice(subject: AnswersSubject, question: Record) -> Iterator[Block]:
    labels = [point["label"] for point in question["points"]]
    build = Builder("How often each was chosen, in percent.", columns(["Raters", *labels, "n"]))
    for figures in question["groups"]:
        group = subject.who(figures)
        build.add(head(group["label"], tag=tag_of(group)), *_shares_and_n(build, figures))
    yield Block(question["prompt"], tables=(build.build(),), anchor=f"question-{question['key']}")
    lead = subject.lead(question)
    for figures in [lead, *(each for each in question["groups"] if each is not lead)]:
        group = subject.who(figures)
        if figures["by_system"]:
            heading = heading_for(subject, group, f"By system: {question['prompt']}")
            table = _choice_by_system(subject, labels, figures)
            yield Block(heading, tables=(table,), folded=figures is not lead, tag=tag_of(group))


def _choice_by_system(subject: AnswersSubject, labels: list[str], figures: Record) -> Table:
    build = Builder(
        "How often each was chosen for the responses of each system, in percent.",
        columns(["System", *labels, "n"]),
    )
    for each in figures["by_system"]:
        build.add(head(subject.systems[each["system"]]), *_shares_and_n(build, each))
    return build.build()


def _shares_and_n(build: Builder, found: Record) -> list[Cell]:
    shares = found["distribution"]
    return [*(build.share(each["share"]) for each in shares), count(sum(each["n"] for each in shares))]
