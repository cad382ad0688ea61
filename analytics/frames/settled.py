"""Settled labels as arrays, which every group is held against."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from analytics.frames.answers import answers_frame, countable_questions
from analytics.frames.arrays import AnswerGroup, AnswersFrame
from analytics.frames.needs import NeedSource
from analytics.frames.pairs import PairFrame, PairGroup, pair_frames
from analytics.frames.rows import read_rows
from analytics.frames.study import paired_and_others
from evaluation.filters import Filters
from evaluation.models import Rater


@dataclass(frozen=True, eq=False)
class SettledLabels:
    """The labels that members of the study have settled, of the items in the view; whatever else the view leaves of
    others' judgments, all of these stand. `labels` are the names of those who settle, by pseudonym."""

    labels: Mapping[str, str] = field(default_factory=dict)
    pairs: tuple[PairFrame, ...] = ()
    answers: AnswersFrame | None = None

    @classmethod
    def of(cls, source: NeedSource) -> Self:
        """Nothing is read of a study in which nobody has settled anything."""
        raters = source.study.raters.filter(kind=Rater.Kind.SETTLED).order_by("pk")
        settlers = dict(raters.values_list("pk", "pseudonym"))
        if not settlers:
            return cls()
        read = read_rows(source.study, list(settlers), _of_items(source.filters))
        # They are read together, as people are.
        together = {pk: replace(rater, kind=str(Rater.Kind.PERSON)) for pk, rater in read.raters.items()}
        read = replace(read, raters=together)
        paired, others = paired_and_others(source.study, countable_questions(source.study))
        return cls(
            {each.pseudonym: each.label for each in together.values()},
            tuple(pair_frames(read, paired)) if paired else (),
            answers_frame(read, others) if others else None,
        )

    def pair_group(self, question: str) -> PairGroup | None:
        asked = [frame for frame in self.pairs if frame.preference and frame.preference.key == question]
        return next((group for frame in asked for group in frame.groups), None)

    @property
    def answer_group(self) -> AnswerGroup | None:
        return next(iter(self.answers.groups), None) if self.answers else None


def _of_items(view: Filters) -> Filters:
    """The part of a view that chooses items, and whom it leaves out."""
    return replace(view, groups=(), raters=(), revision=None, first_day=None, last_day=None, judges=None)
