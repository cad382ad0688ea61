"""Compilation of rows into their frozen forms: a study's spec and an item's stimulus."""

from collections.abc import Callable, Sequence
from typing import Any

from evaluation.models import ArmPer, Context, Query, RenderAs, Response, Study
from evaluation.protocols.attributes import Attributes, fill_in
from evaluation.protocols.base import Spec
from evaluation.rendering import RENDERER, render_plain

FORMAT = 1


def compile_spec(study: Study) -> dict[str, Any]:
    """Everything that a participant or a judge is told, and every rule that must not change under them."""
    spec = {
        "format": FORMAT,
        "protocol": study.protocol,
        "title": study.title,
        "asker": study.asker,
        "seed": study.seed,
        "once_per": study.once_per,
        "render_as": study.render_as,
        "baseline": study.baseline,
        "show_references": study.show_references,
        "steps": study.steps,
        "skips": study.skips,
        "arms": [
            {
                "key": arm.key,
                "label": arm.label,
                "context_at_generation": arm.context_at_generation,
                "context_at_judging": arm.context_at_judging,
            }
            for arm in study.arms.all()
        ],
        "questions": [
            {
                "key": question.key,
                "kind": question.kind,
                "prompt": question.prompt,
                "help": question.help,
                "required": question.required,
                "shown": question.shown,
                "options": question.options,
            }
            for question in study.questions.all()
        ],
        "texts": dict(study.texts.order_by("key").values_list("key", "body")),
    }
    # Named only where there are some: so the specs of all other studies are what they were before there were any.
    # The arm's rule likewise, where it is not the default.
    if study.protocol_object.has_attributes and (attributes := _attributes(study)):
        spec["attributes"] = attributes
    if study.arm_per != ArmPer.PARTICIPANT:
        spec["arm_per"] = study.arm_per
    return spec


def _attributes(study: Study) -> list[dict[str, Any]]:
    return [
        {"key": attribute.key, "question": attribute.question, "values": attribute.values}
        for attribute in study.attributes.all()
    ]


def compile_stimulus(
    *,
    arm: str,
    query: Query,
    context: Context | None,
    clarifying_question: str,
    responses: Sequence[Response],
    attributes: Attributes,
    render: Callable[[str], str],
) -> dict[str, Any]:
    """The item as it will be judged, by people and judges alike. `attributes`: the study's, which contexts may name.

    Responses stand in canonical order: by their system's key, then their own. Needs only the rows' attributes,
    so unsaved rows do too.
    """
    ordered = sorted(responses, key=lambda response: (response.system.key, response.key))
    return {
        "format": FORMAT,
        "renderer": RENDERER,
        "arm": arm,
        "query": query_content(query),
        "context": context
        and {
            "key": context.key,
            "follow_ups": [
                {
                    "part": f"f{number}",
                    **follow_up,
                }
                for number, follow_up in enumerate(fill_in(context.follow_ups, attributes), 1)
            ],
        },
        "clarifying_question": clarifying_question,
        "responses": [
            {
                "part": f"r{number}",
                "key": response.key,
                "system": response.system.key,
                "text": response.text,
                "html": render(response.text),
            }
            for number, response in enumerate(ordered, 1)
        ],
    }


def query_content(query: Query) -> dict[str, Any]:
    """A query as stimuli and dumps hold it."""
    return {
        "key": query.key,
        "text": query.text,
        "category": query.category,
        "source": query.source,
        "split": query.split,
        "information_need": query.information_need,
        "references": query.references,
        "documents": query.documents,
    }


def systems_key(stimulus: dict[str, Any]) -> str:
    """The stratum within an arm: which systems are compared."""
    return " | ".join(response["system"] for response in stimulus["responses"])[:500]


def response_lengths(stimulus: dict[str, Any]) -> str:
    """Characters of each response's text, in canonical order."""
    return ",".join(str(len(response["text"])) for response in stimulus["responses"])[:200]


def renderer_for(spec: Spec, markdown: Callable[[str], str]) -> Callable[[str], str]:
    """The renderer of this study's responses to HTML; the same text is rendered once per batch of items."""
    render = markdown if spec["render_as"] == RenderAs.MARKDOWN else render_plain
    cache: dict[str, str] = {}

    def cached(text: str) -> str:
        if text not in cache:
            if len(cache) > 4_000:
                cache.clear()
            cache[text] = render(text)
        return cache[text]

    return cached
