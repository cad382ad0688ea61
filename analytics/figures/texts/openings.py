"""The forms of the systems' questions, by the words they begin with."""

from collections.abc import Iterable, Iterator

import numpy as np

from analytics.display.blocks import Block
from analytics.display.tables import Builder, columns, head
from analytics.figures.figure import Figure, Record
from analytics.figures.figure_input import FigureInput
from analytics.figures.report_view import ReportView
from analytics.statistics.core.estimates import plain
from analytics.statistics.core.resampling import mean_estimate
from analytics.statistics.texts.openings import NO_QUESTION, OPENINGS, opening_of
from evaluation.protocols import QuestionSpec


class OpeningsFigure(Figure):
    heading = "texts"
    place = 20
    definition = (
        "Share of each form of question (what, which, how, are you, do you, would you and others) among the texts of "
        "a system, told by the word that the question begins with; of English texts that are mostly questions."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return True

    def compute(self, given: FigureInput) -> Record | None:
        """AGENT-CQ section 4.1, question patterns. None where most texts are no questions, or not in English."""
        texts = given.texts
        if texts is None or not texts.english or not texts.texts:
            return None
        found = np.array([opening_of(text) for text in texts.texts], dtype=object)
        if 2 * np.count_nonzero(found == NO_QUESTION) > len(found):
            return None
        return {
            "by_system": [
                {
                    "system": key,
                    "n": int(mine.sum()),
                    "forms": [
                        {
                            "form": form,
                            "share": plain(self._share(given, found[mine] == form, key, form, mine)),
                        }
                        for form in OPENINGS
                    ],
                }
                for code, key in enumerate(texts.systems)
                for mine in [texts.system == code]
            ]
        }

    def _share(self, given: FigureInput, has: np.ndarray, key: str, form: str, mine: np.ndarray) -> object:
        assert given.texts is not None
        return mean_estimate(
            has.astype(np.float64),
            given.texts.query[mine],
            unit="texts",
            resample=given.resample(f"form {form} of {key}"),
            empty="The system has no text.",
            share=True,
        )

    def blocks(self, view: ReportView) -> Iterator[Block]:
        for record in view.records_of(self.key):
            systems = record["by_system"]
            build = Builder(
                "Share of each form of question among a system's texts, in percent.",
                columns(
                    ["Begins with", *(view.systems.get(each["system"], each["system"]) for each in systems)]
                ),
            )
            for at, form in enumerate(OPENINGS):
                build.add(head(form), *(build.share(each["forms"][at]["share"]) for each in systems))
            build.add(head("Number of texts"), *(build.number(each["n"], "{:,}".format) for each in systems))
            yield Block("Forms of questions", tables=(build.build(),), folded=True)

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "A question's form is told by the first word of its last sentence with a question mark or, where that is "
            "none of the known ones, by the first known one after a comma."
        )


FIGURE = OpeningsFigure()
