"""The queries of an attribute: those that a model finds fit for it, and as many of them as are wanted."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from evaluation.protocols.attributes import ATTRIBUTES, KEY, AttributeSpec, find_attribute_problems
from judging.generation.pipeline import (
    Cast,
    Content,
    ContentProblem,
    PipelineStep,
    Planned,
    ProductText,
    Prompt,
    QueryState,
    SourceQuery,
    UnitFacts,
)
from judging.generation.prompts import about_material
from judging.generation.shapes import KEPT

EXAMPLE = SourceQuery(key="soup", text="Which soup can I make tonight?")
UNNAMED = ContentProblem('"attribute" must be the key of an attribute.', "attribute")
TESTS = ("important", "independent", "well_formed")

TASK = """\
Somebody put a query to an assistant, which could ask them back one question, with the answers that are listed. Say \
yes (true) or no (false) to each of the following:

- important: to respond to this query well, the assistant has to know which of the answers is theirs.
- independent: the query leaves all of the answers open. It does not if it says or implies one of them, or excludes \
one.
- well_formed: the query is in English and one can tell from it what is wanted. Mistakes of language, and things that \
it leaves open, do no harm."""

SCHEMA = {
    "type": "object",
    "properties": {test: {"type": "boolean"} for test in TESTS},
    "required": list(TESTS),
    "additionalProperties": False,
}


def read_own(lines: Iterable[str]) -> dict[str, AttributeSpec]:
    """Attributes by key, each written as KEY | QUESTION | VALUE | VALUE; ValueError where it is none."""
    found: dict[str, AttributeSpec] = {}
    for line in lines:
        key, *rest = [part.strip() for part in line.split("|")]
        question, values = (rest[0] if rest else ""), tuple(rest[1:])
        each = AttributeSpec(key, key, question, values)
        if key in ATTRIBUTES or key in found:
            raise ValueError(f"there is an attribute {key!r} already; choose another key.")
        if problems := find_attribute_problems([each.as_json()]):
            raise ValueError(f"{line!r}: {str(problems[0]).partition(': ')[2]}.")
        found[key] = each
    return found


def known_attributes(options: Mapping[str, Any]) -> dict[str, AttributeSpec]:
    """The protocol's attributes, and those that a run brings, by key."""
    return {**ATTRIBUTES, **read_own(options.get("own_attributes", ()))}


def attributes_of(options: Mapping[str, Any]) -> list[AttributeSpec]:
    """The attributes of a run, in the order of the protocol's; all of them where none is chosen."""
    known = known_attributes(options)
    wanted = options["attributes"] or list(known)
    return [attribute for key, attribute in known.items() if key in wanted]


def chosen_attributes(state: QueryState) -> list[AttributeSpec]:
    """Those that the query was chosen for."""
    keys = [each.content["attribute"] for each in state.products("chosen")]
    return [attribute for key, attribute in known_attributes(state.options).items() if key in keys]


def _fit(state: QueryState) -> list[str]:
    """The attributes that the query is fit for."""
    return [
        each.content["attribute"]
        for each in state.products("filter")
        if all(each.content[test] for test in TESTS)
    ]


def names_attribute(content: Any) -> bool:
    """True for a product that names an attribute; which ones there are is the run's to know."""
    key = content.get("attribute") if isinstance(content, dict) else None
    return isinstance(key, str) and bool(KEY.fullmatch(key))


class AttributeFilter(PipelineStep):
    key, label, role = "filter", "Queries for an attribute", "checker"
    fields: ClassVar[Mapping[str, type]] = {"attribute": str, **dict.fromkeys(TESTS, bool)}
    shapes: ClassVar = {"attribute": KEPT}

    def plan(self, state: QueryState) -> Iterable[Planned]:
        [model] = state.models(self.role)
        for attribute in attributes_of(state.options):
            yield Planned(key=attribute.key, about={"attribute": attribute.key}, model=model)

    def most(self, options: Mapping[str, Any], casts: Mapping[str, Cast]) -> float:
        return len(attributes_of(options))

    def prompt(self, asked: UnitFacts) -> Prompt:
        attribute = known_attributes(asked.options)[asked.about["attribute"]]
        answers = "\n".join(f"- {value}" for value in attribute.values)
        texts = [("Query", asked.query.text), ("Question", attribute.question), ("Answers", answers)]
        return about_material(TASK, texts, schema=SCHEMA)

    def read(self, asked: UnitFacts, reply: Any) -> Sequence[Content]:
        return [{"attribute": asked.about["attribute"], **reply}]

    def example(self) -> UnitFacts:
        return UnitFacts(EXAMPLE, "expertise", {"attribute": "expertise"}, {})

    def shown(self, content: Content) -> ProductText:
        fit = "fit" if all(content[test] for test in TESTS) else "not fit"
        lines = [(test.replace("_", " "), "yes" if content[test] else "no") for test in TESTS]
        return ProductText(f"{content['attribute']}: {fit}", lines)

    def problems(self, content: Any) -> list[ContentProblem]:
        if not names_attribute(content):
            return [UNNAMED]
        return [
            ContentProblem(f'"{test}" must be true or false.', test)
            for test in TESTS
            if not isinstance(content.get(test), bool)
        ]


class ChosenQueries(PipelineStep):
    """At most so many queries for an attribute, drawn by the seed among those that are fit for it."""

    key, label = "chosen", "Queries chosen"
    fields: ClassVar[Mapping[str, type]] = {"attribute": str}

    def chosen(self, states: Iterable[QueryState]) -> Mapping[str, Sequence[str]]:
        places: dict[str, list[tuple[bool, float, str]]] = {}
        most = 0
        for state in states:
            most = int(state.options["per_attribute"])
            taken = {each.content["attribute"] for each in state.products(self.key)}
            for attribute in _fit(state):
                # Those that were chosen before come first: a query that is filtered later displaces none.
                place = (attribute not in taken, float(state.draw(attribute).random()), state.query.key)
                places.setdefault(attribute, []).append(place)
        found: dict[str, list[str]] = {}
        for attribute, queries in places.items():
            for *_, query in sorted(queries)[:most]:
                found.setdefault(query, []).append(attribute)
        return found

    def plan(self, state: QueryState) -> Iterable[Planned]:
        for attribute in _fit(state):
            yield Planned(key=attribute, products=[{"attribute": attribute}])

    def problems(self, content: Any) -> list[ContentProblem]:
        return [] if names_attribute(content) else [UNNAMED]
