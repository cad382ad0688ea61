"""The sections on who agrees: raters with each other, question by question, and judges with people."""

from collections.abc import Iterator

from evaluation.reports.answers.page_pairs import agreement_rows
from evaluation.reports.answers.subject import AnswersSubject
from evaluation.reports.numbers import decimal
from evaluation.reports.page_agreement import ALPHA
from evaluation.reports.page_judges import (
    KAPPA,
    how_asked,
    less_people,
    what_came_back,
    without_interval,
)
from evaluation.reports.subject import Record, score_plot, tag_of
from evaluation.reports.tables import DASH, P_COLUMNS, Builder, Cell, Column, Table, columns, head, words
from evaluation.reports.view import Block, Section

W = "Kendall's W"
TAU = "\N{GREEK SMALL LETTER TAU}-b"


def agreement(subject: AnswersSubject) -> Section:
    blocks = [*_alphas(subject), *agreement_rows(subject), *_rankings(subject)]
    intro = (
        "Agreement beyond chance at each question's level of measurement: 1 is perfect, 0 is what chance would give. "
        "Intervals are over queries."
    )
    return Section("agreement", "Agreement", "Agreement", tuple(blocks), intro)


def _alphas(subject: AnswersSubject) -> Iterator[Block]:
    """One row per question, for every group of several raters."""
    questions = subject.of_form("rated", "choice", "picks", "pairs", "entries")
    if not questions:
        return
    names = columns(["Raters", "Question", "Level"], names=3)
    build = Builder(f"{ALPHA} by question.", [*names, Column(ALPHA), Column("n")])
    for group in subject.panels:
        for question, figures in subject.answered(questions, group):
            build.add(
                head(group["label"], tag=tag_of(group)),
                words(question["prompt"]),
                words(question["level"]),
                build.coefficient(figures["alpha"]),
                build.n(figures["alpha"]),
            )
    plot = score_plot(
        [
            (
                question["prompt"],
                [
                    (group, figures["alpha"])
                    for group in subject.panels
                    for figures in [subject.figures(question, group)]
                    if figures is not None
                ],
            )
            for question in questions
        ],
        what=ALPHA,
        caption=f"{ALPHA} by question.",
    )
    yield Block(tables=(build.build(),), plot=plot)


def _rankings(subject: AnswersSubject) -> Iterator[Block]:
    questions = subject.of_form("ranking")
    if not questions:
        return
    build = Builder(
        f"{W} and mean {TAU} between two raters, per item, averaged over items.",
        columns(["Raters", "Question", W, "By chance", TAU, "n"], names=2),
        foot=f"By chance: the {W} that as many raters would reach who rank at random.",
    )
    sizes = Builder(
        f"{W} by the number of responses ranked.", columns(["Raters", "Responses", W, "n"], names=2)
    )
    for group in subject.panels:
        for question, figures in subject.answered(questions, group):
            found = figures["ranking"]
            name = head(group["label"], tag=tag_of(group))
            build.add(
                name,
                words(question["prompt"]),
                build.coefficient(found["w"]),
                Cell(DASH if found["chance_w"] is None else decimal(found["chance_w"])),
                build.coefficient(found["tau"]),
                build.n(found["w"]),
            )
            for size in found["by_size"] if len(found["by_size"]) > 1 else ():
                sizes.add(
                    name, words(str(size["n_responses"])), sizes.coefficient(size["w"]), sizes.n(size["w"])
                )
    tables = (build.build(), *([sizes.build()] if sizes.rows else []))
    yield Block(W, tables=tables)


def judges(subject: AnswersSubject) -> Section | None:
    """Judges, one by one and together, and simulated raters, held against people where there are some."""
    compared = [question for question in subject.judged if any(_beside(question))]
    records = subject.report["judges"]
    if not compared and not records:
        return None
    caveats = tuple(sentence for judge in records for sentence in judge["caveats"])
    blocks = [Block(text=caveats, notice=True)] if caveats else []
    for table in (_numbers, _labels, _taus):
        blocks += table(subject, compared)
    blocks += _orders(subject)
    if records:
        blocks += [
            Block("What came back", tables=(what_came_back(records, orders=False),)),
            Block("How they were asked", tables=(how_asked(records, by_rule=False),), folded=True),
        ]
    title = "Judges beside people" if compared else "Judges"
    return Section("judges", title, "Judges", tuple(blocks), _intro(subject, compared))


def _intro(subject: AnswersSubject, compared: list[Record]) -> str:
    if compared:
        return "What judges said is compared with people's, on what both have answered."
    if any(group["kind"] == "person" for group in subject.groups):
        return "No judge has an answer that could be held against people's."
    return "No person has judged these items, so there is nothing to hold the judges against."


def _beside(question: Record) -> Iterator[tuple[Record, Record]]:
    """(figures, what is held against people) of the groups that are."""
    for figures in question["groups"]:
        # A preference between two responses brings its own comparison.
        pairs = figures["pairs"]
        found = {"compared": None, "tau": None, "labels": pairs["against_people"]} if pairs else None
        found = found or figures["against_people"]
        if found is not None and any(found.values()):
            yield figures, found


def _numbers(subject: AnswersSubject, questions: list[Record]) -> Iterator[Block]:
    build = Builder(
        "Mean of what a judge gave beside people's mean, of what both rated: absolute error, difference (judge less "
        "people), and correlations.",
        columns(["Question", "Raters", "Error", "Difference", "Spearman", "Pearson", "n"], names=2),
    )
    rows = []
    for question in questions:
        for figures, found in _beside(question):
            compared, group = found["compared"], subject.who(figures)
            # Yes and no are compared as labels.
            if compared is None or question["kind"] != "scale":
                continue
            build.add(
                head(question["prompt"]),
                words(group["label"], tag_of(group)),
                *(
                    build.coefficient(compared[name])
                    for name in ("error", "difference", "spearman", "pearson")
                ),
                build.n(compared["error"]),
            )
            rows.append((question, group, compared["spearman"]))
    if build.rows:
        plot = score_plot(
            [
                (prompt, [(group, found) for question, group, found in rows if question["prompt"] == prompt])
                for prompt in dict.fromkeys(question["prompt"] for question, _, _ in rows)
            ],
            what="Spearman's correlation with people",
            caption="Spearman's correlation with people.",
        )
        yield Block("Ratings beside people's", tables=(build.build(),), plot=plot)


def _labels(subject: AnswersSubject, questions: list[Record]) -> Iterator[Block]:
    rows = [
        (question, subject.who(figures), found["labels"])
        for question in questions
        for figures, found in _beside(question)
        if found["labels"] is not None
    ]
    # Reports from before the difference was tested have none.
    tested = all("judge_less_people" in labels for _, _, labels in rows)
    names = ["Question", "Raters", "With people", "Human-human"]
    build = Builder(
        "Leave-one-out agreement with people and, on the same items, of people with each other, in percent; their "
        "difference in points, with a sign-flip test over queries; and "
        f"{KAPPA} with the label that more than half of the people gave.",
        columns([*names, *(["Difference", *P_COLUMNS] if tested else []), "n", KAPPA, "n"], names=2),
    )
    for question, group, labels in rows:
        inner = build.share(labels["inner"])
        build.add(
            head(question["prompt"]),
            words(group["label"], tag_of(group)),
            build.share(labels["outer"]),
            without_interval(inner) if tested else inner,
            *(less_people(build, labels) if tested else ()),
            build.n(labels["outer"]),
            build.coefficient(labels["kappa"]),
            build.n(labels["kappa"]),
        )
    if build.rows:
        yield Block("Agreement with people", tables=(build.build(),))


def _orders(subject: AnswersSubject) -> Iterator[Block]:
    """Judges that were asked in both orders."""
    build = Builder(
        "Share of samples that the judge answers otherwise when the responses are shown the other way, in percent.",
        columns(["Question", "Judge", "Inconsistent", "n"], names=2),
    )
    for question in subject.judged:
        for figures in question["groups"]:
            found, group = figures.get("inconsistent"), subject.who(figures)
            if found is not None:
                build.add(
                    head(question["prompt"]),
                    words(group["label"], tag_of(group)),
                    build.share(found),
                    build.n(found),
                )
    if build.rows:
        yield Block("Consistency between orders", tables=(build.build(),))


def _taus(subject: AnswersSubject, questions: list[Record]) -> Iterator[Block]:
    found = [
        (question, subject.who(figures), beside["tau"])
        for question in questions
        for figures, beside in _beside(question)
        if beside["tau"] is not None
    ]
    if found:
        yield Block("Rankings beside people's", tables=(_tau_table(found),))


def _tau_table(found: list[tuple[Record, Record, Record]]) -> Table:
    build = Builder(
        f"Kendall's {TAU} between people's and the judge's mean ranks of an item's responses, averaged over items.",
        columns(["Question", "Raters", TAU, "n"], names=2),
    )
    for question, group, tau in found:
        build.add(
            head(question["prompt"]),
            words(group["label"], tag_of(group)),
            build.coefficient(tau),
            build.n(tau),
        )
    return build.build()
