"""Needs that several figures have; one that a single figure has stands in its module."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from analytics.frames.measures import MeasureValues
from analytics.frames.needs import NeedSource
from analytics.frames.pairs import PairFrame, PairGroup
from evaluation.protocols import QuestionSpec
from evaluation.selectors import judges_in_figures

# How a judge was made of others, as its rater's `about` has it.
Derived = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class StudyMeasures:
    """The measures of the whole study, whoever gave them."""

    values: tuple[MeasureValues, ...]

    @classmethod
    def of(cls, source: NeedSource) -> Self:
        return cls(source.frame.measures)


@dataclass(frozen=True, eq=False)
class SystemKinds:
    """The kind of each system (person, model, prompt), by its key."""

    by_key: Mapping[str, str]

    @classmethod
    def of(cls, source: NeedSource) -> Self:
        return cls(source.frame.systems)

    def of_systems(self, keys: Sequence[str]) -> tuple[str, ...]:
        return tuple(self.by_key.get(key, "") for key in keys)


@dataclass(frozen=True, eq=False)
class DerivedJudges:
    """Of what and how judges were made that are derived from others (`Rater.about`), by key."""

    by_key: Mapping[str, Derived]

    @classmethod
    def of(cls, source: NeedSource) -> Self:
        judges = judges_in_figures(source.study)
        return cls({each.pseudonym: each.about["derived"] for each in judges if "derived" in each.about})

    def about(self, key: str) -> Derived:
        """Nothing of a judge that is not derived."""
        return self.by_key.get(key, {})


@dataclass(frozen=True, eq=False)
class EarlierPreferences:
    """Preferences that the form asks for, in its order, with the judgments of each group."""

    frames: tuple[PairFrame, ...]

    @classmethod
    def of(cls, source: NeedSource) -> Self:
        return cls(source.frame.pairs)

    def before(self, question: QuestionSpec, group: str) -> list[tuple[QuestionSpec, PairGroup]]:
        """The same group's judgments under the preferences before this one."""
        found = []
        for frame in self.frames:
            if frame.preference is None or frame.preference.key == question.key:
                break
            found += [(frame.preference, each) for each in frame.groups if each.key == group]
        return found


# Ends of the names of judges that were made as prompt conditions of one, and that of the condition with everything.
CONDITIONS, EVERYTHING = ("-basic", "-examples", "-guideline"), "-guideline-examples"


@dataclass(frozen=True, eq=False)
class PromptConditions:
    """By the key of a judge, that of the same judge with both the guideline and examples, where both are in figures."""

    full: Mapping[str, str]

    @classmethod
    def of(cls, source: NeedSource) -> Self:
        judges = judges_in_figures(source.study)
        names = {str(rater.about.get("judge", "")): rater.pseudonym for rater in judges}
        found: dict[str, str] = {}
        for full, key in names.items():
            stem = full.removesuffix(EVERYTHING)
            if stem != full:
                found |= {names[stem + end]: key for end in CONDITIONS if stem + end in names}
        return cls(found)
