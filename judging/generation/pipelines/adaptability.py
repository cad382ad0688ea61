"""Implicit context and adaptability: whom default responses suit, and how well systems adapt to whoever asks.

ContextEval sections 6 and 7, with the attributes of the relevance protocol (its Table 8).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from evaluation.protocols.attributes import ATTRIBUTES, AttributeSpec
from judging.backends.chat_options import whole
from judging.backends.options import Input, JudgeOption
from judging.generation.adaptability.choosing import (
    AttributeFilter,
    ChosenQueries,
    chosen_attributes,
    known_attributes,
    read_own,
)
from judging.generation.adaptability.writing import AdaptedResponses, DefaultResponses
from judging.generation.pipeline import Cast, CastRole, KeptProduct, Making, Pipeline, QueryState, Record
from judging.generation.responding import ARMS, context_key
from judging.generation.systems import joined_key, model_systems, systems_once

# By shape, the arm of its study.
ARM_OF = {"default": "NoCtxGen-CtxEval", "adapted": "CtxGen-CtxEval"}
MOST_QUERIES = 1_000


def _own(lines: list[str]) -> list[str]:
    read_own(lines)
    return lines


class Adaptability(Pipeline):
    key, label = "adaptability", "Responses by attribute"
    about = (
        "Finds the queries for which an attribute of whoever asks matters, has models respond to them without knowing "
        "it and for each of its values, and makes studies of how well these responses suit whom."
    )
    roles = (
        CastRole(key="checker", label="Checker of queries", max_tokens=200),
        CastRole(key="writers", label="Systems", help="Each is a system of the study.", most=None, temperature=0.7,
                 max_tokens=1_500),
    )  # fmt: skip
    options = (
        JudgeOption(
            key="attributes", label="Attributes", input=Input.LINES, default=[],
            help="Keys of the relevance protocol's attributes and of the further ones; none: all of them.",
        ),
        JudgeOption(
            key="own_attributes", label="Further attributes", input=Input.LINES, default=[], clean=_own,
            help="A line each: KEY, QUESTION and two VALUES or more, with | between them.",
        ),
        JudgeOption(
            key="per_attribute", label="Queries for an attribute, at most", input=Input.NUMBER,
            default=MOST_QUERIES, clean=whole(1_000_000, 1),
        ),
        JudgeOption(
            key="responses", label="Responses are written", input=Input.CHOICE, default="both",
            choices={"both": "by default, and for each value", "default": "by default",
                     "adapted": "for each value"},
        ),
    )  # fmt: skip
    making = (
        JudgeOption(
            key="shape", label="People rate", input=Input.CHOICE, default="default",
            choices={"default": "default responses, for every value of the attribute",
                     "adapted": "adapted responses, for the value that they were written for"},
        ),
    )  # fmt: skip
    steps = (AttributeFilter(), ChosenQueries(), DefaultResponses(), AdaptedResponses())
    makes = "relevance"

    def problems(self, options: Mapping[str, Any], casts: Mapping[str, Cast]) -> list[str]:
        known = known_attributes(options)
        return [
            f"There is no attribute {key!r}; there are: {', '.join(known)}."
            for key in options["attributes"]
            if key not in known
        ]

    def header(self, making: Making) -> Record:
        arm = ARM_OF[str(making.options["shape"])]
        attributes = [
            # The researcher's own words stay as they are.
            (each.translated(making.translate) if each.key in ATTRIBUTES else each).as_json()
            for each in known_attributes(making.run_options).values()
        ]
        return {
            "spec": {
                **making.spec,
                "protocol": self.makes,
                "arms": [{"key": arm, **ARMS[arm]}],
                "attributes": attributes,
            },
            "systems": systems_once([*making.systems, *self.systems(making)]),
        }

    def systems(self, making: Making) -> Sequence[Record]:
        return [each.record() for each in model_systems(making.casts["writers"].models)]

    def records(self, making: Making, states: Iterable[QueryState]) -> Iterator[Record]:
        shape = str(making.options["shape"])
        for state in states:
            attributes = chosen_attributes(state)
            if not attributes:
                making.left_out["queries that were chosen for no attribute"] += 1
                continue
            for attribute in attributes:
                found = [
                    each
                    for each in state.products(shape)
                    if shape == "default" or each.content["attribute"] == attribute.key
                ]
                unknown = [
                    each for each in found if each.content.get("value", "") not in ("", *attribute.values)
                ]
                if unknown:
                    making.left_out["responses to a value that the attribute does not have"] += len(unknown)
                    found = [each for each in found if each not in unknown]
                if not found:
                    making.left_out[f"queries without {shape} responses for an attribute"] += 1
                for product in found:
                    yield _item(making, state, shape, attribute, product)


def _item(
    making: Making, state: QueryState, shape: str, attribute: AttributeSpec, product: KeptProduct
) -> Record:
    """A response with the attribute that it is rated for."""
    content = product.content
    value = content.get("value", "")
    said = making.translate(value) if attribute.key in ATTRIBUTES else value
    answer = {"answer": said} if value else {}
    follow_ups = [{"attribute": attribute.key, **answer}]
    context = {"key": context_key(follow_ups), "follow_ups": follow_ups}
    number = [str(attribute.values.index(value) + 1)] if value else []
    return {
        "key": joined_key(state.query.key, attribute.key, *number, content["system"]),
        "arm": ARM_OF[shape],
        "query": state.query.record(),
        "context": context,
        "responses": [
            {
                "system": content["system"],
                "key": joined_key(content["system"], *([attribute.key, *number] if value else ["default"])),
                "text": content["text"],
                "context": context["key"] if value else None,
            }
        ],
        "origin": {"item": state.query.key, "products": [product.product]},
    }


PIPELINE = Adaptability()
