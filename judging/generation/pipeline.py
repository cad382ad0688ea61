"""The parts of a pipeline: a list of steps over queries, each of which makes products of what the steps before made.

A step plans the units of a query: what is made, and by which model. A unit that asks a model has a prompt and a strict
reading of its reply; one that asks none brings its products along. Everything here is data and pure functions: the same
queries, options and seed plan the same units, whenever they are planned.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NoReturn

import numpy as np

from evaluation.design import generator
from evaluation.protocols.texts import Translate
from judging.backends.options import JudgeOption

# A product's content: JSON, of a form that its step describes.
Content = dict[str, Any]
Record = dict[str, Any]


@dataclass(frozen=True)
class PlacedModel:
    """A model at an endpoint; `place` is the endpoint's name."""

    model: str
    place: str = ""

    def __str__(self) -> str:
        return f"{self.model} @ {self.place}" if self.place else self.model


@dataclass(frozen=True, kw_only=True)
class CastRole:
    """The part that models play in a pipeline: how many may, and how they are asked unless the run says otherwise."""

    key: str
    label: str
    help: str = ""
    # So many models are needed; `most` None: any number. A model may be named twice, and is then asked twice.
    least: int = 1
    most: int | None = 1
    # None: the model's own.
    temperature: float | None = 0.0
    top_p: float | None = None
    max_tokens: int = 1_000


@dataclass(frozen=True)
class Cast:
    """The models that play a role in a run, and how they are asked."""

    models: tuple[PlacedModel, ...]
    temperature: float | None
    max_tokens: int
    # None: the model's own.
    top_p: float | None = None


@dataclass(frozen=True)
class GivenResponse:
    """A response that the study has already."""

    system: str
    key: str
    text: str
    # The key of the context that it was given, '' without one.
    context: str = ""
    # The clarifying questions of the items in which it stands.
    answers: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class SourceQuery:
    """A query of the study, with what the study knows of it before anything is generated."""

    key: str
    text: str
    category: str = ""
    source: str = ""
    split: str = ""
    information_need: str = ""
    turns: Sequence[Mapping[str, Any]] = ()
    references: Sequence[Any] = ()
    documents: Sequence[Any] = ()
    document: str = ""
    # {key: follow-up questions}, {key: their source, a model or person}, and the responses.
    contexts: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    context_sources: Mapping[str, str] = field(default_factory=dict)
    # {clarifying question of its items: who asks it, '' where nothing says}
    question_sources: Mapping[str, str] = field(default_factory=dict)
    responses: Sequence[GivenResponse] = ()
    # The condition-answer-citation entries that people settled on.
    settled: Sequence[Mapping[str, Any]] = ()

    def record(self) -> Record:
        """The query as an item's line has it."""
        fields = {
            "key": self.key, "text": self.text, "category": self.category, "source": self.source,
            "split": self.split, "information_need": self.information_need,
            "references": list(self.references), "documents": list(self.documents), "document": self.document,
        }  # fmt: skip
        if self.turns:
            del fields["text"]
            fields["turns"] = list(self.turns)
        return {name: value for name, value in fields.items() if value or name in ("key", "text")}


@dataclass(frozen=True, kw_only=True)
class KeptProduct:
    """A product that nobody dropped, as it was edited last."""

    step: str
    # The key of its unit, and its number among the unit's products, from 1.
    key: str
    number: int
    content: Content
    # What its unit was planned with.
    about: Mapping[str, Any]
    # The model that made it, '' for what no model made.
    model: str = ""
    # The reference by which items name it as their origin.
    product: int = 0


@dataclass(frozen=True, kw_only=True)
class QueryState:
    """A query and all that is known of it at a step of a run."""

    query: SourceQuery
    seed: int
    options: Mapping[str, Any]
    casts: Mapping[str, Cast]
    made: Sequence[KeptProduct] = ()
    # {pipeline: products} of the earlier runs that this one takes from.
    sources: Mapping[str, Sequence[KeptProduct]] = field(default_factory=dict)

    def products(self, step: str, pipeline: str = "") -> list[KeptProduct]:
        """The kept products of a step, in the order in which they were made; of an earlier run by its pipeline."""
        made = self.sources.get(pipeline, ()) if pipeline else self.made
        return [each for each in made if each.step == step]

    def draw(self, *purpose: object) -> np.random.Generator:
        """A generator that depends on the run's seed, the query and what it is for, and on nothing else."""
        return generator(self.seed, "generation", self.query.key, *purpose)

    def models(self, role: str) -> tuple[PlacedModel, ...]:
        return self.casts[role].models


@dataclass(frozen=True, kw_only=True)
class Planned:
    """A unit to be made for a query; its key tells it from the step's others for this query."""

    key: str = ""
    # What the prompt is made of besides the query, and what is drawn for this unit; stored with it.
    about: Mapping[str, Any] = field(default_factory=dict)
    # The model to ask; None: nobody is asked, and the products are there.
    model: PlacedModel | None = None
    products: Sequence[Content] = ()
    # None: as the role is asked.
    temperature: float | None = None
    max_tokens: int | None = None
    # Units that put the very same question to the very same model for another sample are told apart by it.
    sample: int = 0


def ask_each(state: QueryState, role: str, about: Mapping[str, Any]) -> Iterator[Planned]:
    """One unit for each model of a role, told apart by its place; a model that is named twice is asked twice."""
    asked: Counter[PlacedModel] = Counter()
    for place, model in enumerate(state.models(role), 1):
        yield Planned(key=str(place), about={**about, role: model.model}, model=model, sample=asked[model])
        asked[model] += 1


@dataclass(frozen=True)
class UnitFacts:
    """A unit that asks a model, where its prompt is made and its reply is read."""

    query: SourceQuery
    key: str
    about: Mapping[str, Any]
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Prompt:
    """The text of a request. With a schema the reply is one JSON object of it, without one it is text."""

    user: str
    system: str = ""
    schema: Mapping[str, Any] | None = None
    # The turns before, of a conversation.
    turns: Sequence[Mapping[str, str]] = ()


@dataclass(frozen=True)
class ContentProblem:
    """A fault of a content, as a sentence that makes sense in a form and in a list of a file's errors."""

    sentence: str
    # Where: names and places, from 0, with dots between them ("entries.2.answers"); '' for the whole.
    path: str = ""

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True)
class ProductText:
    """A product as a researcher reads it: a heading, lines of name and text, and whether it counts as accepted."""

    text: str
    lines: Sequence[tuple[str, str]] = ()


class PipelineStep(ABC):
    """One step of a pipeline."""

    key: ClassVar[str]
    label: ClassVar[str]
    # The role whose models are asked; '' where nobody is.
    role: ClassVar[str] = ""
    # The fields that each of its products has, and the kind of their values (a key of KINDS): what pages, later
    # steps and studies read.
    fields: ClassVar[Mapping[str, type]] = {}
    # JSON Schemas of a product's values by their names, where the values alone don't tell what may be entered for them;
    # see `judging.generation.shapes`.
    shapes: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    @abstractmethod
    def plan(self, state: QueryState) -> Iterable[Planned]:
        """The units of a query, from the products of the steps before."""

    def most(self, options: Mapping[str, Any], casts: Mapping[str, Cast]) -> float:
        """Calls that a query may take at most; an estimate's upper bound."""
        return len(casts[self.role].models) if self.role else 0

    def most_of(self, queries: int, options: Mapping[str, Any], casts: Mapping[str, Cast]) -> float:
        """Calls that so many queries may take at most together; fewer than each could take alone, where it is so."""
        return queries * self.most(options, casts)

    def chosen(self, states: Iterable[QueryState]) -> Collection[str] | None:
        """The keys of the queries that are planned at all, where that hangs on all of them; None: each by itself.

        A mapping says also which of a query's units are, by their keys.
        """
        return None

    def prompt(self, asked: UnitFacts) -> Prompt:
        raise NotImplementedError

    def read(self, asked: UnitFacts, reply: Any) -> Sequence[Content]:
        """The products in a reply: in the object of the prompt's schema, or in a text. `reject` where it is none."""
        raise NotImplementedError

    def example(self) -> UnitFacts | None:
        """A unit on which the documentation shows the prompt; None for a step that asks nobody."""
        return None

    def shown(self, content: Content) -> ProductText:
        """A product for the page; JSON's values by their names, unless a step knows better."""
        first, *others = content.items() or [("", "")]
        return ProductText(readable(first[1]), [(name, readable(value)) for name, value in others])

    def problems(self, content: Any) -> list[ContentProblem]:
        """The problems of an edited or imported content whose fields are of their kinds."""
        return []


# The kinds of values that fields of products have, in words.
KINDS: Mapping[type, str] = {
    str: "a text", bool: "true or false", int: "a whole number", float: "a number", list: "a list",
    dict: "an object",
}  # fmt: skip


def content_problems(step: PipelineStep, content: Any) -> list[ContentProblem]:
    """Why a content is no product of this step."""
    if not isinstance(content, dict) or not content:
        return [ContentProblem("A product is a JSON object.")]
    wrong = [
        ContentProblem(f'"{name}" must be {KINDS[kind]}.', name)
        for name, kind in step.fields.items()
        if not _is_of(kind, content.get(name))
    ]
    return wrong or step.problems(content)


def _is_of(kind: type, value: Any) -> bool:
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, int | float if kind is float else kind)


@dataclass
class Making:
    """One act of making a study of products: what was chosen, and the counts of what is left out, by the reason."""

    options: Mapping[str, Any]
    run_options: Mapping[str, Any]
    casts: Mapping[str, Cast]
    seed: int
    # The study's own settings that carry over: asker, seed, render_as, language.
    spec: Mapping[str, Any]
    # {key: label, family, kind} of the systems that the study has.
    systems: Sequence[Record]
    # Puts the attributes of the made study into its language.
    translate: Translate = str
    left_out: Counter[str] = field(default_factory=Counter)


class Pipeline(ABC):
    """A list of steps, and the studies that its products make."""

    key: ClassVar[str]
    label: ClassVar[str]
    about: ClassVar[str]
    # Changes with every change of a prompt, and stands with each product.
    version: ClassVar[str] = "1"
    roles: ClassVar[Sequence[CastRole]] = ()
    options: ClassVar[Sequence[JudgeOption]] = ()
    steps: ClassVar[Sequence[PipelineStep]]
    # The pipelines whose products it can take up; those in `needed` it can never do without.
    takes: ClassVar[Sequence[str]] = ()
    needed: ClassVar[Sequence[str]] = ()
    # What can be chosen where a study is made of the products.
    making: ClassVar[Sequence[JudgeOption]] = ()
    # The protocol of the study that is made; '' where products are for other pipelines and files alone.
    makes: ClassVar[str] = ""

    def problems(self, options: Mapping[str, Any], casts: Mapping[str, Cast]) -> list[str]:
        """Why a run with these settings can't be, as sentences."""
        return []

    def prepare(self, options: Mapping[str, Any]) -> None:
        """Read what steps plan with and takes long to read; Unprepared where it can't be. Steps find it cached."""
        return

    def needs(self, options: Mapping[str, Any]) -> Sequence[str]:
        """The pipelines that a run with these options can't do without."""
        return self.needed

    def header(self, making: Making) -> Record:
        """The draft's line, as in a dump: `spec`, which names the protocol, and `systems`."""
        raise NotImplementedError

    def records(self, making: Making, states: Iterable[QueryState]) -> Iterator[Record]:
        """The draft's items, as in a dump."""
        raise NotImplementedError

    def systems(self, making: Making) -> Sequence[Record]:
        """The systems that the run's models are in the draft, as in a dump."""
        return ()

    def arms_of(self, making: Making, state: QueryState) -> Sequence[str]:
        """The arms that a query of which everything could be made has items in, by their keys."""
        return [arm["key"] for arm in self.header(making)["spec"]["arms"]]

    def step(self, key: str) -> PipelineStep:
        return next(each for each in self.steps if each.key == key)


class Unprepared(Exception):
    """A thing that a pipeline needs besides models is not there, or no longer; says why in a sentence."""


class Unreadable(ValueError):
    """A reply of the form that was asked for, whose content is none; says why."""


def reject(reason: str) -> NoReturn:
    raise Unreadable(reason)


def readable(value: Any) -> str:
    """A value of a product as a person reads it."""
    if isinstance(value, list):
        return "; ".join(readable(each) for each in value)
    if isinstance(value, dict):
        return ", ".join(f"{name}: {readable(each)}" for name, each in value.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)
