"""The measures of a study: numbers beside the answers to its questions, by the rater that gave them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from analytics.frames.arrays import Answers, AnswersFrame, response_places
from analytics.frames.rows import KnownRater, StudyRows, places
from analytics.statistics.core.reduce_values import reduce_values
from analytics.statistics.core.resampling import divide, sum_by
from analytics.statistics.core.tidy import Floats, Ints
from evaluation.database.columns import Columns, ColumnType
from evaluation.models import Judgment, Rater
from evaluation.protocols import Kind
from evaluation.protocols.answers.measures import MEASURE_KIND, Measure, Subject
from evaluation.services.answers import read_answer_rows

FIELDS = dict.fromkeys(("item_id", "rater_id"), ColumnType.WHOLE)


@dataclass(frozen=True, eq=False)
class MeasureValues:
    """One rater's numbers of one measure, the mean of its replicates; arrays of shape (n,).

    `item` is a row of the study's items, `part` codes `parts`. `is_read_once` is False where one of the numbers is a
    mean.
    """

    measure: Measure
    rater: str
    label: str
    parts: tuple[str, ...]
    item: Ints
    part: Ints
    value: Floats
    is_read_once: bool

    def at(self, answers: Answers) -> Floats:
        """The number of each unit of `answers` (item x part), (n_items * n_parts,); nan where there is none.

        What is asked of an item as a whole meets a measure of its response where it has just one.
        """
        parts = answers.parts or ("",)
        code = np.array([parts.index(each) if each in parts else -1 for each in self.parts], dtype=np.int64)
        place = code[self.part]
        if parts == ("",) and self.measure.subject == Subject.RESPONSE:
            alone = answers.items.only_system[self.item] >= 0
            place = np.where(alone, 0, -1)
        found = np.full(len(answers.items) * len(parts), np.nan)
        known = place >= 0
        found[self.item[known] * len(parts) + place[known]] = self.value[known]
        return found

    def by_response(self, n_items: int, most: int) -> Floats:
        """The number of each of an item's up to `most` responses, (n_items, most); nan where there is none.

        Of a measure of follow-up questions of responses, the mean over the response's follow-up questions.
        """
        if self.measure.subject not in (Subject.RESPONSE, Subject.FOLLOW_UP_RESPONSE):
            return np.full((n_items, most), np.nan)
        place = self.item.astype(np.int64) * most + response_places(self.parts)[self.part]
        times = np.bincount(place, minlength=n_items * most).astype(np.float64)
        total = sum_by(place, self.value, n_items * most)
        return divide(total, times).reshape(n_items, most)

    def of_responses(self, n_items: int, most: int) -> tuple[Ints, Ints, Floats]:
        """Every number that says something of one response: arrays (n,) of its item, the place of the response, below
        `most`, and the number.

        Of a measure of entries, the number of each entry; of others, one of each response.
        """
        if self.measure.subject == Subject.ENTRY:
            return self.item, response_places(self.parts)[self.part], self.value
        numbers = self.by_response(n_items, most)
        item, response = np.nonzero(np.isfinite(numbers))
        return item, response, numbers[item, response]

    def differences(self, n_items: int) -> Floats:
        """The second response's number less the first's by item, (n_items,); nan where one is missing."""
        if self.measure.subject == Subject.PAIR:
            found = np.full(n_items, np.nan)
            found[self.item] = self.value
            return found
        first, second = self.by_response(n_items, 2).T
        return np.asarray(second - first)


def picks_of_people(frame: AnswersFrame) -> Answers | None:
    """People's best picks; None where they were not asked for one, or gave none."""
    people = next((group for group in frame.groups if group.key == Rater.Kind.PERSON), None)
    picks = next((each.key for each in frame.questions if each.kind == Kind.PREFERENCE), None)
    return (
        None if people is None or picks is None or not len(people.answers[picks]) else people.answers[picks]
    )


def preferred_beside_other(
    counts: Ints, first: Floats, second: Floats, query: Ints
) -> tuple[Floats, Floats, Ints]:
    """Each preference for one of two responses: the number of the preferred one, of the other, and the query.

    `counts` (n, 3) are preferences for the first, the second and neither; `first` and `second` (n,) the responses'
    numbers, `query` (n,) codes.
    """
    times = counts[:, :2].ravel()
    chosen = np.repeat(np.stack([first, second], axis=1).ravel(), times)
    other = np.repeat(np.stack([second, first], axis=1).ravel(), times)
    return chosen, other, np.repeat(np.repeat(query, 2), times)


def picked_beside_others(answers: Answers, numbers: Floats) -> tuple[Floats, Floats, Ints]:
    """Each picked response against each other one of its item: their numbers, out of (n_items, m), and the query."""
    items, picks = answers.items, answers.as_picks()
    picked = picks.response >= 0
    item, response = picks.item[picked], picks.response[picked]
    offered = items.system[item] >= 0
    one, other = np.nonzero(offered & (np.arange(items.system.shape[1]) != response[:, None]))
    return numbers[item[one], response[one]], numbers[item[one], other], items.query[item[one]]


def read_measure_values(rows: StudyRows) -> tuple[MeasureValues, ...]:
    """Every measure that counts, rater by rater in the order of their rows."""
    raters = {pk: rater for pk, rater in rows.raters.items() if rater.measures}
    if not raters:
        return ()
    judgments = Judgment.objects.filter(rows.counting(), rater__in=list(raters))
    return tuple(_of_raters(rows, raters.items(), read_answer_rows(judgments, FIELDS, kind=MEASURE_KIND)))


def _of_raters(
    rows: StudyRows, raters: Iterable[tuple[int, KnownRater]], table: Columns
) -> Iterator[MeasureValues]:
    item, known = places(rows.item_pks, table.array("item_id"))
    rater, value = table.array("rater_id"), table.array("number")
    question, part = table.coded("question"), table.coded("part")
    for pk, known_rater in raters:
        for measure in known_rater.measures:
            if measure.key not in question.values:
                continue
            mine = known & (rater == pk) & (question.codes == question.values.index(measure.key))
            if not mine.any():
                continue
            unit = item[mine].astype(np.int64) * len(part.values) + part.codes[mine]
            order = np.lexsort((value[mine], unit))
            reduced = reduce_values(
                np.zeros(len(unit), dtype=np.int64), unit[order], value[mine][order], "mean"
            )
            first = unit[order][reduced.row]
            codes, at = np.unique(first % len(part.values), return_inverse=True)
            yield MeasureValues(
                measure,
                known_rater.pseudonym,
                known_rater.label,
                tuple(part.values[code] for code in codes),
                first // len(part.values),
                at,
                reduced.value,
                is_read_once=len(first) == len(unit),
            )
