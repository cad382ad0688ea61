"""Compilation of rows into their frozen forms: a study's spec and an item's stimulus."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from evaluation.models import Arm, ArmPer, Attribute, Context, Query, Question, RenderAs, Response, Study
from evaluation.protocols.attributes import Attributes, fill_in
from evaluation.protocols.base import Spec
from evaluation.rendering import RENDERER, render_plain

FORMAT = 1


def compile_spec(study: Study) -> dict[str, Any]:
    """Everything that a participant or a judge is told, and every rule that must not change under them."""
    return compile_rows(
        study,
        arms=study.arms.all(),
        questions=study.questions.all(),
        attributes=study.attributes.all() if study.protocol_object.has_attributes else (),
        texts=dict(study.texts.order_by("key").values_list("key", "body")),
    )


def compile_rows(
    study: Study,
    *,
    arms: Iterable[Arm],
    questions: Iterable[Question],
    attributes: Iterable[Attribute],
    texts: Mapping[str, str],
) -> dict[str, Any]:
    """The spec of a study with these rows, which may be unsaved; they come in their order."""
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
            for arm in arms
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
            for question in questions
        ],
        "texts": dict(texts),
    }
    # Named only where there are some: so the specs of all other studies are what they were before there were any.
    # The arm's rule likewise, where it is not the default.
    if named := _attributes(attributes):
        spec["attributes"] = named
    if study.needs:
        spec["needs"] = study.needs
    if study.arm_per != ArmPer.PARTICIPANT:
        spec["arm_per"] = study.arm_per
    return spec


def _attributes(attributes: Iterable[Attribute]) -> list[dict[str, Any]]:
    return [
        {"key": attribute.key, "question": attribute.question, "values": attribute.values}
        for attribute in attributes
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
    shown = query_content(query)
    if query.document:
        shown["document"] = {"text": query.document, "html": render(query.document)}
    return {
        "format": FORMAT,
        "renderer": RENDERER,
        "arm": arm,
        "query": shown,
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
                **_response_parts(response, render),
            }
            for number, response in enumerate(ordered, 1)
        ],
    }


def _response_parts(response: Response, render: Callable[[str], str]) -> dict[str, Any]:
    """Its replies by turn and its claims; named only where there are some, as nobody else's stimulus has them."""
    turns = [{"text": text, "html": render(text)} for text in response.turns]
    return {name: each for name, each in (("turns", turns), ("claims", list(response.claims))) if each}


def query_content(query: Query) -> dict[str, Any]:
    """A query as stimuli and dumps hold it; its document only where it has one."""
    return {
        **({"document": query.document} if query.document else {}),
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
