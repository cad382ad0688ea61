"""Compilation of rows into their frozen forms: a study's spec and an item's stimulus."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from evaluation.models import (
    Arm,
    ArmPer,
    Attribute,
    Context,
    Language,
    Query,
    Question,
    RenderAs,
    Response,
    Study,
)
from evaluation.models.item import BETWEEN_SYSTEMS
from evaluation.models.study import DEFAULT_EPSILON
from evaluation.protocols.attributes import Attributes, fill_in
from evaluation.protocols.base import Spec
from evaluation.rendering.images import describe_images
from evaluation.rendering.markdown import render_plain
from evaluation.rendering.rules import RENDERER, WITHOUT_BREAKS, RenderRules

FORMAT = 1
# Rendered texts that are kept for items of the same query and of other arms.
MOST_CACHED = 4_000
# Rules of rendering that a spec names only where they are on.
SHOWN_WHERE_SET = ("single_dollars", "written_formulas", "show_images")

# A text as HTML, by the rules of its study.
Markdown = Callable[[str, RenderRules], str]


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
    # The arm's rule, the language and epsilon likewise, where they are not the default.
    if named := _attributes(attributes):
        spec["attributes"] = named
    if study.needs:
        spec["needs"] = study.needs
    if study.shares:
        spec["shares"] = study.shares
    if study.arm_per != ArmPer.PARTICIPANT:
        spec["arm_per"] = study.arm_per
    if study.stopping:
        spec["stopping"] = study.stopping
    if study.human_sample is not None:
        spec["human_sample"] = study.human_sample
    if study.language != Language.ENGLISH:
        spec["language"] = study.language
    if study.texts_language:
        spec["texts_language"] = study.texts_language
    if study.epsilon != DEFAULT_EPSILON:
        spec["epsilon"] = study.epsilon
    return spec | {name: True for name in SHOWN_WHERE_SET if getattr(study, name)}


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
    render: "ResponseRenderer",
) -> dict[str, Any]:
    """The item as it will be judged, by people and judges alike. `attributes`: the study's, which contexts may name.

    Responses stand in canonical order: by their system's key, then their own. Needs only the rows' attributes,
    so unsaved rows do too.
    """
    ordered = sorted(responses, key=lambda response: (response.system.key, response.key))
    return {
        "format": FORMAT,
        "renderer": render.version,
        "arm": arm,
        "query": _query_to_judge(query, render),
        **_prompt(query, render),
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


def _prompt(query: Query, render: "ResponseRenderer") -> dict[str, str]:
    """The query's text as HTML, where it is one text; the earlier versions of the renderer left it as it was."""
    if query.turns or not query.text or render.version in WITHOUT_BREAKS:
        return {}
    return {"prompt_html": render(query.text)}


def _response_parts(response: Response, render: "ResponseRenderer") -> dict[str, Any]:
    """Its replies by turn and its claims; named only where there are some, as nobody else's stimulus has them."""
    turns = [{"text": text, "html": render(text)} for text in response.turns]
    return {name: each for name, each in (("turns", turns), ("claims", list(response.claims))) if each}


def _query_to_judge(query: Query, render: "ResponseRenderer") -> dict[str, Any]:
    """A query's content; its document and the turns of a conversation also as HTML."""
    content = query_content(query)
    if query.document:
        content["document"] = {"text": query.document, "html": render(query.document, is_wrapped=True)}
    if query.turns:
        content["turns"] = [{**turn, "html": render(turn["text"])} for turn in query.turns]
    return content


def query_content(query: Query) -> dict[str, Any]:
    """A query as dumps hold it, and stimuli but for what is rendered; document and turns only where it has some."""
    optional = {"document": query.document, "turns": query.turns}
    return {
        **{name: value for name, value in optional.items() if value},
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
    return BETWEEN_SYSTEMS.join(response["system"] for response in stimulus["responses"])[:500]


def response_lengths(stimulus: dict[str, Any]) -> str:
    """Characters of each response's text, in canonical order; an image in it counts as its description."""
    return ",".join(str(len(describe_images(response["text"]))) for response in stimulus["responses"])[:200]


class ResponseRenderer:
    """A study's responses as HTML, by one version of the renderer; the same text is rendered once per batch of
    items."""

    def __init__(self, spec: Spec, markdown: Markdown, version: str = RENDERER) -> None:
        self.version = version
        self._plain = spec["render_as"] != RenderAs.MARKDOWN
        self._rules = RenderRules(
            version,
            spec.get("single_dollars", False),
            written_formulas=spec.get("written_formulas", False),
            images=spec.get("show_images", False),
        )
        self._markdown = markdown
        self._cache: dict[tuple[str, bool], str] = {}

    def __call__(self, text: str, *, is_wrapped: bool = False) -> str:
        """A response or turn with its line breaks; of a document, whose lines are wrapped, with its paragraphs."""
        breaks = not is_wrapped and self.version not in WITHOUT_BREAKS
        if (text, breaks) not in self._cache:
            if len(self._cache) > MOST_CACHED:
                self._cache.clear()
            rules = replace(self._rules, breaks=breaks)
            self._cache[text, breaks] = render_plain(text) if self._plain else self._markdown(text, rules)
        return self._cache[text, breaks]


class _Unrendered(ResponseRenderer):
    """Where nobody is to see the HTML, which is then empty."""

    def __init__(self) -> None:
        self.version = RENDERER

    def __call__(self, text: str, *, is_wrapped: bool = False) -> str:
        return ""


UNRENDERED = _Unrendered()
