"""Measures by system: the common part of figures that show them once for a study, whoever answered which question."""

import numpy as np

from analytics.figures.figure_input import AnswerInput, FigureInput, MeasuresInput, PairInput
from analytics.frames.measures import MeasureValues
from analytics.statistics.core.tidy import Ints, Items
from evaluation.protocols.answers.measures import Subject

UNIT = "responses of items"
ENTRIES = "entries of responses"
# A remark for a table that holds measures of entries.
OF_ENTRIES = " (of measures of entries, over their entries)"


def is_first(given: FigureInput) -> bool:
    """True of preferences, and of the first of other questions."""
    return not isinstance(given, AnswerInput) or given.frame.questions[0].key == given.question.key


def unit_of(measured: MeasureValues) -> str:
    """The things that its numbers of a system are of, in the plural."""
    return ENTRIES if measured.measure.subject == Subject.ENTRY else UNIT


def systems_of(given: FigureInput) -> tuple[Ints, tuple[str, ...], Ints, Ints, tuple[str, ...]]:
    """The system of each response of an item (n_items, m), negative for none, the systems' keys, and the items' queries
    and arms with the arms' keys."""
    assert isinstance(given, PairInput | AnswerInput | MeasuresInput)
    items = given.items
    systems = np.stack([items.system_1, items.system_2], axis=1) if isinstance(items, Items) else items.system
    return systems, items.systems, items.query, items.arm, items.arms
