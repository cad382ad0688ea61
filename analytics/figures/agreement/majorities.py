"""The majority of a group of several raters, such as a jury's members, beside the majority of people."""

from collections.abc import Iterator

import numpy as np

from analytics.display.blocks import Block
from analytics.display.kappas import COHENS_KAPPA
from analytics.display.tables import Builder, columns, head
from analytics.figures.figure import Figure
from analytics.figures.figure_input import PAIRS, AnswerInput, FigureInput, PairInput, level_of
from analytics.figures.report_view import ReportView, group_words
from analytics.statistics.agreement.majorities import MajorityAgreement, majority_agreement
from analytics.statistics.core.counts import count_matrix
from analytics.statistics.core.tidy import Ints
from evaluation.models import Rater
from evaluation.protocols import Kind, QuestionSpec


class MajoritiesFigure(Figure[MajorityAgreement]):
    heading = "judges"
    place = 15
    definition = (
        "The label that more than half of a group's raters give, such as the members of a jury, compared with the one "
        "that more than half of the people give: share of equal labels and kappa."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == PAIRS or (form in ("rated", "choice", "picks") and level_of(question) == "nominal")

    def compute(self, given: FigureInput) -> MajorityAgreement | None:
        """AGENT-CQ Table 2, external agreement. None for people, and for a single rater."""
        if given.counts_record["raters"] < 2:
            return None
        return _of_pairs(given) if isinstance(given, PairInput) else _of_answers(given)

    def blocks(self, view: ReportView) -> Iterator[Block]:
        build = Builder(
            "The label of more than half of the raters compared with that of more than half of the people: share of "
            "equal labels in percent (by chance: had each majority been drawn from its raters' majorities on all "
            f"items), and {COHENS_KAPPA}.",
            columns(["Question", "Raters", "Equal", "By chance", COHENS_KAPPA, "n"], names=2),
        )
        for question in view.judged:
            for group in (each for each in question.groups if self.is_in(each)):
                found = self.of(group)
                build.add(
                    head(question.prompt),
                    group_words(group),
                    *build.beside_chance(found.agreement, found.by_chance),
                    build.coefficient(found.kappa),
                    build.n(found.agreement),
                )
        if build.rows:
            yield Block("Majorities", tables=(build.build(),))


FIGURE = MajoritiesFigure()


def _of_pairs(given: PairInput) -> MajorityAgreement | None:
    people = given.by_group.get(Rater.Kind.PERSON)
    if people is None or given.group.kind == Rater.Kind.PERSON:
        return None
    return majority_agreement(
        people.votes, given.votes, given.items.query, resample=given.resample("majorities")
    )


def _of_answers(given: FigureInput) -> MajorityAgreement | None:
    assert isinstance(given, AnswerInput)
    people = given.by_group.get(Rater.Kind.PERSON)
    if people is None or given.group.kind == Rater.Kind.PERSON:
        return None
    one, other, query = label_counts(people, given)
    return majority_agreement(one, other, query, resample=given.resample("majorities"), unit=given.unit)


def label_counts(people: AnswerInput, group: AnswerInput) -> tuple[Ints, Ints, Ints]:
    """Counts of labels by unit that both answered, of people and of the group, and the query of each unit."""
    # A preference that is a tie is -1; one more keeps codes from 0.
    shift = 1 if group.question.kind == Kind.PREFERENCE else 0
    parts = max(len(group.answers.parts), 1)
    answers = (people.answers, group.answers)
    units = [each.item.astype(np.int64) * parts + each.part for each in answers]
    labels = [np.round(each.value).astype(np.int64) + shift for each in answers]
    shared = np.intersect1d(units[0], units[1])
    n_labels = 1 + max(int(each.max(initial=0)) for each in labels)
    one, other = (
        count_matrix(np.searchsorted(shared, unit[used]), label[used], len(shared), n_labels)
        for unit, label in zip(units, labels, strict=True)
        for used in [np.isin(unit, shared)]
    )
    return one, other, group.items.query[shared // parts]
