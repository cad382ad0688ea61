"""A way of deriving judgments from other raters' judgments."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evaluation.protocols.answers.measures import Measure
from evaluation.protocols.base import Spec, Stimulus
from judging.backends.derived import named_members
from judging.models import Judge, JudgeRun
from judging.services.derived.members import Member, find_members

# {question: value} of an item with this stimulus and key; Unmeasurable where a member has not judged it.
Answering = Callable[[Stimulus, str], Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Preparation:
    """The outcome of a choice or fit before a run: it stays as it is for all items of the run.

    `about` is what reports say and read of it, with `fitted` true where it depends on what people said; `by_query` is
    the fold of each query by its key.
    """

    about: Mapping[str, Any]
    # True where nobody who reads has a part in it.
    heuristic: bool = False
    # True where a member saw the human-written reference.
    reference: bool = False
    by_query: Mapping[str, int] = field(default_factory=dict)


class JudgmentDerivation(ABC):
    """`key` is that of the backend whose judges derive so."""

    key: str

    @abstractmethod
    def problems(self, judge: Judge, spec: Spec) -> list[str]:
        """Sentences that say why these settings can't be in a study of this spec."""

    @abstractmethod
    def questions(self, judge: Judge, spec: Spec) -> list[str]:
        """Keys of the questions that are answered."""

    def measures(self, judge: Judge, spec: Spec) -> tuple[Measure, ...]:
        return ()

    @abstractmethod
    def prepare(self, judge: Judge, spec: Spec) -> Preparation:
        """The choice or fit before a run; Refused where there is none."""

    @abstractmethod
    def answering(self, judging: JudgeRun) -> Answering:
        """The way in which items of a run are judged; StopRun where none of them can be."""


def members_of(judge: Judge) -> list[Member]:
    """The raters that the judge's options name; Refused where there is no such rater."""
    return find_members(judge.study, named_members(judge.options.get("members") or []))


def prepared_with(
    members: Sequence[Member], about: Mapping[str, Any], *, fitted: bool, by_query: Mapping[str, int]
) -> Preparation:
    """A preparation with the facts that every derived judge has, beside those of its kind."""
    return Preparation(
        about={**about, "members": {each.name: each.key for each in members}, "fitted": fitted},
        heuristic=all(each.heuristic for each in members),
        reference=any(each.reference for each in members),
        by_query=by_query,
    )
