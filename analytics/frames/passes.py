"""Passes of a judge over items at different times: its first main run and its anchor runs."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from analytics.frames.answers import answers_frame, countable_questions
from analytics.frames.arrays import AnswerGroup, Answers, AnswersFrame
from analytics.frames.needs import NeedSource
from analytics.frames.pairs import PairFrame, PairGroup, pair_frames
from analytics.frames.rows import read_rows
from analytics.frames.study import paired_and_others
from evaluation.models import Rater

MAIN, ANCHOR = "main", "anchor"
# A judge's name and version.
Version = tuple[str, int]


@dataclass(frozen=True)
class Pass:
    """A complete run of one version of a judge, by its rater; `finished` is when, as ISO 8601 in UTC."""

    rater: str
    purpose: str
    finished: str


@dataclass(frozen=True, eq=False)
class StudyPasses:
    """The passes of each version that has anchor runs, in their order: the first is what later ones are held against.

    `by_rater` has them by the pseudonym of any rater of that version.
    """

    by_rater: Mapping[str, tuple[Pass, ...]]
    pairs: tuple[PairFrame, ...] = ()
    answers: AnswersFrame | None = None

    @classmethod
    def of(cls, source: NeedSource) -> Self:
        """The passes of judges with anchor runs that came to their end; nothing is read of a study without any."""
        versions: dict[Version, list[tuple[int, Pass]]] = defaultdict(list)
        raters: dict[Version, list[str]] = defaultdict(list)
        rows = (
            source.study.raters.filter(kind=Rater.Kind.JUDGE)
            .order_by("pk")
            .values_list("pk", "pseudonym", "about")
        )
        for pk, pseudonym, about in rows:
            if not source.filters.admits(pseudonym, None):
                continue
            version = str(about.get("judge", "")), int(about.get("version") or 0)
            raters[version].append(pseudonym)
            if about.get("finished") and about.get("purpose") in (MAIN, ANCHOR):
                made = Pass(pseudonym, str(about["purpose"]), str(about["finished"]))
                versions[version].append((pk, made))
        kept = {version: _in_order(found) for version, found in versions.items()}
        kept = {version: found for version, found in kept.items() if len(found) > 1}
        if not kept:
            return cls({})
        read = read_rows(source.study, [pk for found in kept.values() for pk, _ in found], source.filters)
        # A member of a jury is held against itself alone.
        alone = {pk: replace(rater, jury="") for pk, rater in read.raters.items()}
        read = replace(read, raters=alone)
        by_rater = {
            rater: tuple(each for _, each in found)
            for version, found in kept.items()
            for rater in raters[version]
        }
        paired, others = paired_and_others(source.study, countable_questions(source.study))
        pairs = tuple(pair_frames(read, paired)) if paired else ()
        return cls(by_rater, pairs, answers_frame(read, others) if others else None)

    def of_rater(self, rater: str) -> tuple[Pass, ...]:
        return self.by_rater.get(rater, ())

    def pair_group(self, question: str, each: Pass) -> PairGroup | None:
        frames = [
            frame for frame in self.pairs if (frame.preference.key if frame.preference else "") == question
        ]
        groups = [group for frame in frames for group in frame.groups]
        return next((group for group in groups if group.key == each.rater), None)

    def answer_group(self, each: Pass) -> AnswerGroup | None:
        groups = self.answers.groups if self.answers else ()
        return next((group for group in groups if group.key == each.rater), None)


def _in_order(found: Sequence[tuple[int, Pass]]) -> list[tuple[int, Pass]]:
    """The first main run, or the first anchor where there is none, and the anchors after it."""
    ordered = sorted(found, key=lambda each: (each[1].finished, each[0]))
    mains = [each for each in ordered if each[1].purpose == MAIN]
    anchors = [each for each in ordered if each[1].purpose == ANCHOR]
    if not mains:
        return anchors
    return [mains[0], *(each for each in anchors if each[1].finished >= mains[0][1].finished)]


def with_parts(answers: Answers, parts: Sequence[str]) -> Answers:
    """The same answers with the codes that parts have elsewhere; answers of other parts are left out."""
    if tuple(parts) == answers.parts:
        return answers
    place = {name: code for code, name in enumerate(parts)}
    codes = np.array([place.get(name, -1) for name in answers.parts], dtype=np.int64)
    part = codes[answers.part] if len(codes) else answers.part
    return replace(answers, parts=tuple(parts), part=part).where(part >= 0)
