"""The forms of the systems' questions, by the words they begin with."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from analytics.display.blocks import Block
from analytics.display.tables import Builder, columns, head
from analytics.figures.figure import Figure
from analytics.figures.figure_input import FigureInput
from analytics.figures.report_view import ReportView
from analytics.frames.texts import StudyTexts
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.resampling import mean_estimate
from analytics.statistics.texts.openings import NO_QUESTION, OPENINGS, opening_of
from evaluation.protocols import QuestionSpec


@dataclass(frozen=True)
class OpeningShare:
    """The share of a system's texts that open in one form."""

    form: str
    share: Estimate


@dataclass(frozen=True)
class OpeningsOfSystem:
    """The forms in which the `n` texts of a system open."""

    system: str
    n: int
    forms: tuple[OpeningShare, ...]


@dataclass(frozen=True)
class Openings:
    by_system: tuple[OpeningsOfSystem, ...]


class OpeningsFigure(Figure[Openings]):
    needs = (StudyTexts,)
    heading = "texts"
    place = 20
    definition = (
        "Share of each form of question (what, which, how, are you, do you, would you and others) among the texts of "
        "a system, told by the word that the question begins with; of English texts that are mostly questions."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return True

    def compute(self, given: FigureInput) -> Openings | None:
        """AGENT-CQ section 4.1, question patterns. None where most texts are no questions, or not in English."""
        if not given.is_first:
            return None
        texts = self.need(given, StudyTexts)
        if not texts.english or not texts.texts:
            return None
        found = np.array([opening_of(text) for text in texts.texts], dtype=object)
        if 2 * np.count_nonzero(found == NO_QUESTION) > len(found):
            return None
        return Openings(
            tuple(
                OpeningsOfSystem(
                    key,
                    int(mine.sum()),
                    tuple(
                        OpeningShare(form, self._share(given, found[mine] == form, key, form, mine))
                        for form in OPENINGS
                    ),
                )
                for code, key in enumerate(texts.systems)
                for mine in [texts.system == code]
            )
        )

    def _share(self, given: FigureInput, has: np.ndarray, key: str, form: str, mine: np.ndarray) -> Estimate:
        return mean_estimate(
            has.astype(np.float64),
            self.need(given, StudyTexts).query[mine],
            unit="texts",
            resample=given.resample(f"form {form} of {key}"),
            empty="The system has no text.",
            share=True,
        )

    def blocks(self, view: ReportView) -> Iterator[Block]:
        for record in self.records(view):
            systems = record.by_system
            build = Builder(
                "Share of each form of question among a system's texts, in percent.",
                columns(["Begins with", *(view.systems.get(each.system, each.system) for each in systems)]),
            )
            for at, form in enumerate(OPENINGS):
                build.add(head(form), *(build.share(each.forms[at].share) for each in systems))
            build.add(head("Number of texts"), *(build.number(each.n, "{:,}".format) for each in systems))
            yield Block("Forms of questions", tables=(build.build(),), folded=True)

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "A question's form is told by the first word of its last sentence with a question mark or, where that is "
            "none of the known ones, by the first known one after a comma."
        )


FIGURE = OpeningsFigure()
