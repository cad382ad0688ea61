"""The parts of a derivation: a draft made from what was judged in another study, through the dump format.

One module in `evaluation/dumps/derivations/` each; the other apps' are in their extensions' `derivations`.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from evaluation.models import Revision, Study, System
from evaluation.permissions import studies_for
from evaluation.protocols.base import Spec
from evaluation.refusals import Refused

Record = dict[str, Any]
Value = str | int | float
Options = Mapping[str, Value]


@dataclass(frozen=True, kw_only=True)
class DerivationOption:
    """A choice of whoever derives; its kind is that of the default. Numbers have their limits, texts their choices."""

    name: str
    label: str
    default: Value
    help: str = ""
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()

    def clean(self, given: Any) -> Value:
        """The value; ValueError says in words what is wrong with it."""
        kind = type(self.default)
        try:
            value: Value = kind(given)
        except (TypeError, ValueError):
            raise ValueError(
                f"{self.name}: {given!r} is no {'number' if kind is not str else 'text'}"
            ) from None
        if not isinstance(value, str) and not (self.low or 0) <= value <= (self.high or 1_000_000):
            raise ValueError(f"{self.name}: must be from {self.low or 0:g} to {self.high or 1_000_000:g}")
        if self.choices and value not in self.choices:
            raise ValueError(f"{self.name}: {value!r} is none of {', '.join(self.choices)}")
        return value


@dataclass
class Deriving:
    """One act of deriving: the study, its latest spec, who derives (None: whoever runs the server), what they chose;
    the counts of what is left out, by the reason, and the studies that were read."""

    study: Study
    revision: Revision
    by: Any
    options: Options
    left_out: Counter[str] = field(default_factory=Counter)
    read: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.read.add(self.study.pk)

    @property
    def spec(self) -> Spec:
        spec: Spec = self.revision.spec
        return spec

    def other_study(self, slug: str) -> Study:
        """Another study that is read; Refused for who may not see it, as for one that does not exist."""
        studies = Study.objects.visible() if self.by is None else studies_for(self.by)
        found = studies.filter(slug=slug).first()
        if found is None:
            raise Refused(f"There is no study {slug!r}.")
        self.read.add(found.pk)
        return found


class StudyDerivation(ABC):
    """A way to make a study from another one."""

    key: ClassVar[str]
    label: ClassVar[str]
    about: ClassVar[str]
    options: ClassVar[Sequence[DerivationOption]] = ()

    @abstractmethod
    def refusal(self, study: Study, spec: Spec) -> str:
        """The reason for which nothing can be derived from this study; empty where something can."""

    @abstractmethod
    def header(self, deriving: Deriving) -> Record:
        """The draft's line, as in a dump: `spec`, which names the protocol, and `systems`."""

    @abstractmethod
    def records(self, deriving: Deriving) -> Iterator[Record]:
        """The draft's items, as in a dump, each with its `origin`."""


def shared_spec(deriving: Deriving, protocol: str, arms: Sequence[Mapping[str, Any]]) -> Record:
    """The part of a spec that another protocol takes over: how things are shown, and to whom they are said to be."""
    spec = deriving.spec
    kept = ("asker", "seed", "render_as", "show_references", "language", "texts_language")
    return {"protocol": protocol, "arms": list(arms), **{name: spec[name] for name in kept if name in spec}}


def same_spec(deriving: Deriving) -> Record:
    """The spec of a second study of the same kind, word for word, with its training and checks."""
    return {name: value for name, value in deriving.spec.items() if name != "title"}


def own_systems(study: Study) -> list[Record]:
    """The study's systems as a study's line has them, by key."""
    return [system_record(system) for system in study.systems.order_by("key")]


def system_record(system: System) -> Record:
    record = {name: getattr(system, name) for name in ("key", "label", "family", "kind")}
    return record | ({"setting": system.setting, "base": system.base} if system.setting else {})
