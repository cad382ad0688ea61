"""A study's frame: what each group of raters gave, question by question."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analytics.frames.answers import answers_frame, countable_questions
from analytics.frames.arrays import AnswersFrame, StudyItems
from analytics.frames.directions import Directed
from analytics.frames.measures import MeasureValues, read_measure_values
from analytics.frames.pairs import PairFrame, PairGroup, asked_in_turns, pair_frames
from analytics.frames.rows import JUDGES, StudyRows, read_rows
from analytics.statistics.core.tidy import MISSING, sorted_codes
from analytics.statistics.core.values import n_distinct
from evaluation.filters import EVERYTHING, Filters
from evaluation.models import Rater, Study
from evaluation.protocols import Kind, Over, QuestionSpec


@dataclass(frozen=True, eq=False)
class RaterGroup:
    """Raters who are read together; `per_rater` counts judgments by pseudonym, replicates of a judge once."""

    key: str
    label: str
    kind: str
    heuristic: bool
    judgments: int
    items: int
    per_rater: Mapping[str, int]
    # True of a jury as one rater.
    is_jury: bool = False
    # The key of the group that this one is a part of.
    within: str = ""


@dataclass(frozen=True, eq=False)
class StudyFrame:
    """The arrays of a study: `pairs` of each preference between two responses, `answers` of its other questions.

    `questions` are those that can be counted, in the order of the form. `systems` has the kind of each system by key.
    Raters that give nothing but `measures` are in no group, unless nobody gives anything else: then each is one.
    """

    questions: tuple[QuestionSpec, ...]
    groups: tuple[RaterGroup, ...]
    pairs: tuple[PairFrame, ...]
    answers: AnswersFrame | None
    systems: Mapping[str, str]
    measures: tuple[MeasureValues, ...]
    study_items: StudyItems
    rows: StudyRows

    @property
    def items(self) -> int:
        return len(self.study_items)

    @property
    def queries(self) -> int:
        return len(self.study_items.queries)

    @property
    def has_answers(self) -> bool:
        """False where measures are all that there is."""
        return bool(self.pairs and any(frame.groups for frame in self.pairs)) or bool(
            self.answers and self.answers.groups
        )

    @property
    def unanswered(self) -> tuple[QuestionSpec, ...]:
        """Preferences between two responses that nobody has answered, of a study that asks for several."""
        asked = [each for each in self.questions if each.kind == Kind.PREFERENCE] if self.pairs else []
        if len(asked) < 2 or asked_in_turns(asked):
            return ()
        known = {frame.preference.key.partition(".")[0] for frame in self.pairs if frame.preference}
        return tuple(each for each in asked if each.key not in known)

    @property
    def judges_apart(self) -> tuple[RaterGroup, ...]:
        """The groups in which each rater stands once: neither all judges together, nor juries as one rater, nor parts
        of people."""
        return tuple(
            group for group in self.groups if group.kind != JUDGES and not (group.is_jury or group.within)
        )


def study_frame(study: Study, filters: Filters = EVERYTHING, only: Sequence[int] | None = None) -> StudyFrame:
    """The study's main items that are not withdrawn, and the counting judgments of each group of raters; of both what
    the filters leave. `only` these raters, by primary key, whether they are in figures or not.

    Questions are those of the latest revision; texts can't be counted.
    """
    directed, rows = countable_questions(study), read_rows(study, only, filters)
    paired, others = paired_and_others(study, directed)
    compares = study.compares_pairs and (bool(paired) or not study.needs)
    pairs = tuple(pair_frames(rows, paired)) if compares else ()
    answers = answers_frame(rows, others) if others or not compares else None
    measures = read_measure_values(rows)
    return StudyFrame(
        questions=tuple(each.question for each in directed),
        groups=tuple(_groups(pairs, answers)) or tuple(_measuring(measures)),
        pairs=pairs,
        answers=answers,
        systems=dict(study.systems.values_list("key", "kind")),
        measures=measures,
        study_items=rows.items,
        rows=rows,
    )


def paired_and_others(
    study: Study, directed: Iterable[Directed]
) -> tuple[list[QuestionSpec], list[Directed]]:
    """The questions that are counted over two responses, and the others."""
    found = list(directed)
    paired = [each.question for each in found if study.compares_pairs and is_of_pairs(each.question)]
    return paired, [each for each in found if each.question not in paired]


def is_of_pairs(question: QuestionSpec) -> bool:
    """True of what is counted over two responses that are compared: the preference, and the list of follow-ups."""
    if question.kind == Kind.CHECKLIST:
        return question.over == Over.FOLLOW_UP_RESPONSE
    return question.kind == Kind.PREFERENCE


def _groups(pairs: Iterable[PairFrame], answers: AnswersFrame | None) -> Iterable[RaterGroup]:
    """Of all questions together. Who answered other questions too is counted by those, which are of all judgments."""
    found: dict[str, list[PairGroup]] = {}
    for frame in pairs:
        for group in frame.groups:
            found.setdefault(group.key, []).append(group)
    of_answers = {group.key: group for group in answers.groups} if answers is not None else {}
    for key in dict.fromkeys([*of_answers, *found]):
        if key in of_answers:
            known = of_answers[key]
            yield RaterGroup(
                key,
                known.label,
                known.kind,
                known.heuristic,
                known.n_judgments,
                known.n_items,
                dict(zip(known.raters, known.per_rater, strict=True)),
                known.is_jury,
                known.within,
            )
        else:
            yield _group_of_pairs(found[key])


def _measuring(measures: Iterable[MeasureValues]) -> Iterable[RaterGroup]:
    """A group per rater that gives measures; an item that it measured is one judgment."""
    found: dict[str, list[MeasureValues]] = {}
    for measured in measures:
        found.setdefault(measured.rater, []).append(measured)
    for rater, given in found.items():
        n = n_distinct(np.concatenate([each.item for each in given]))
        yield RaterGroup(rater, given[0].label, str(Rater.Kind.JUDGE), False, n, n, {rater: n})


def _group_of_pairs(parts: list[PairGroup]) -> RaterGroup:
    first = parts[0]
    read = n_distinct(np.concatenate([part.read for part in parts]))
    judged = [part.judgments.item[part.judgments.label != MISSING] for part in parts]
    return RaterGroup(
        first.key,
        first.label,
        first.kind,
        first.heuristic,
        read,
        n_distinct(np.concatenate(judged)),
        judgments_per_rater(parts),
        first.is_jury,
        first.within,
    )


def judgments_per_rater(parts: Iterable[PairGroup]) -> dict[str, int]:
    """By pseudonym; what one rater said of one item under several preferences is one judgment."""
    parts = list(parts)
    names = sorted({name for part in parts for name in part.judgments.raters})
    place = {name: at for at, name in enumerate(names)}
    size = 1 + max((int(part.judgments.item.max(initial=0)) for part in parts), default=0)
    judged = [
        np.array([place[name] for name in part.judgments.raters])[part.judgments.rater] * size
        + part.judgments.item
        for part in parts
    ]
    times = np.bincount(sorted_codes(np.concatenate(judged)) // size, minlength=len(names))
    return dict(zip(names, times.tolist(), strict=True))
