"""Needs: what a figure reads of a study beside a group's answers, each a class that makes itself of the study."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

from analytics.frames.study import StudyFrame
from evaluation.filters import Filters
from evaluation.models import Study


@dataclass(frozen=True, eq=False)
class NeedSource:
    """Of what needs are made: the study with the spec of its latest revision, the view, its frame, and the records of
    its judges as a report has them."""

    study: Study
    spec: Mapping[str, Any]
    filters: Filters
    frame: StudyFrame
    judges: Sequence[Mapping[str, Any]]


class Need(Protocol):
    """Made only for figures that name it, before the first of them is computed, so that all are of one moment."""

    @classmethod
    @abstractmethod
    def of(cls, source: NeedSource) -> Self: ...
