"""The request for one call."""

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.canonical import canonical_hash
from evaluation.protocols import Kind, QuestionSpec
from evaluation.protocols.base import sees_context
from judging.backends.base import Request
from judging.prompting.cells import cells_of, named_cells
from judging.prompting.examples import examples_text
from judging.prompting.item_call import ItemCall, joined_by_part
from judging.prompting.material import material_of
from judging.prompting.own_answers import own_answers_block
from judging.prompting.questions import asked_questions
from judging.prompting.replies import capabilities_of, form_of, reply_form, reply_schema
from judging.prompting.settings import ENTRIES_TOKENS, OWN_PARAMETERS, CannotAsk, Settings
from judging.prompting.template import fill_template, needed_of, template_problems
from judging.prompting.texts import (
    MARKED,
    MATERIAL,
    context_block,
    documents_block,
    persona_text,
    query_block,
    questions_text,
    reference_block,
    responses_block,
    system_text,
)
from judging.prompting.view import View, view_of

# Tokens for a label alone: some tokenisers put a blank before it.
LABEL_TOKENS = 8
TOP_LOGPROBS = 20
# The item's part of the prompt.
ORDER = ("query", "documents", "context", "reference", "responses", "own_answers", "format")


# So many frames are kept: where attributes have chosen values, nearly every item has a view of its own.
MOST_FRAMES = 500


@dataclass(frozen=True)
class Frame:
    """The common part of the requests for all items of an arm that share a view: all but their texts."""

    # The blocks of a prompt that say what to do.
    guideline: str
    questions: str
    examples: str
    format: str
    # All but the seed.
    parameters: Mapping[str, Any]
    schema: Mapping[str, Any] | None
    labels: tuple[str, ...]


def build_request(call: ItemCall, frames: MutableMapping[Any, Frame] | None = None) -> Request:
    """The request for one call; the question that is asked last shows what was said to those before it.

    CannotAsk where the settings do not fit the protocol or what the model can do. Who makes many requests of the same
    protocol, spec, settings and capabilities gives them one mapping of `frames`, empty at first.
    """
    protocol, spec, stimulus, settings = call.protocol, call.spec, call.stimulus, call.settings
    questions = asked_questions(protocol, spec, stimulus, settings, call.step)
    if not questions:
        raise CannotAsk("This item's arm asks none of the judge's questions.")
    view = view_of(stimulus, call.order)
    able = capabilities_of(call.capabilities, settings.model)
    with_context = sees_context(spec, stimulus)
    frames = {} if frames is None else frames
    arm = stimulus["arm"] if settings.examples else ""
    same = (with_context, arm, tuple(question.key for question in questions), view)
    frame = frames.get(same)
    if frame is None:
        if len(frames) >= MOST_FRAMES:
            frames.clear()
        guideline = protocol.guideline(spec, with_context=with_context) if settings.guideline else ""
        examples = examples_text(protocol, spec, arm, settings, call.step, able)
        frame = frames[same] = _frame(guideline, examples, questions, settings, view, able)
    material = material_of(protocol, spec, stimulus, settings, view)
    blocks = {
        "query": query_block(material),
        "documents": documents_block(material),
        "context": context_block(material),
        "reference": reference_block(material),
        "responses": responses_block(material),
        "guideline": frame.guideline,
        "questions": frame.questions,
        "examples": frame.examples,
        "own_answers": own_answers_block(
            protocol.questions(spec, stimulus), view, joined_by_part(call.earlier.values())
        )
        if call.earlier
        else "",
        "format": frame.format,
    }
    seeded = {"seed": call.seed} if call.seed is not None and able.get("seed") else {}
    return Request(
        model=settings.model,
        messages=_messages(settings, material.mark, blocks, able),
        parameters={**frame.parameters, **seeded},
        schema=frame.schema,
        labels=frame.labels,
    )


def _frame(
    guideline: str,
    examples: str,
    questions: Sequence[QuestionSpec],
    settings: Settings,
    view: View,
    able: Mapping[str, Any],
) -> Frame:
    form = form_of(questions, settings, able)
    as_labels = form == "label"
    if as_labels and able.get("logprobs") is False:
        raise CannotAsk(
            "This model gives no log-probabilities at this endpoint; take the verdict from the text."
        )
    return Frame(
        guideline=guideline,
        questions=questions_text(questions, view, as_labels=as_labels),
        examples=examples,
        format=reply_form(form, questions, view, settings),
        parameters=parameters_of(settings, form, able, room_for(questions, settings)),
        schema=reply_schema(named_cells(questions, view), settings) if form == "json_schema" else None,
        labels=tuple(cells_of(questions[0], view, as_labels=True)[0].choices or ()) if as_labels else (),
    )


def _messages(
    settings: Settings, mark: str, blocks: Mapping[str, str], able: Mapping[str, Any]
) -> tuple[dict[str, str], ...]:
    """System and user message. What is the same for all items of an arm comes first, so that servers can reuse it."""
    marked, template = MARKED.format(mark=mark), settings.template
    if template:
        problems = template_problems(template, needed_of(bool(blocks["responses"])))
        if problems:
            raise CannotAsk(" ".join(problems))
        persona = persona_text(settings.persona)
        system = f"{persona}\n\n{MATERIAL}" if persona else MATERIAL
        user = f"{marked}\n\n{fill_template(template, blocks)}"
    else:
        system = system_text(blocks["guideline"], blocks["questions"], settings.persona, blocks["examples"])
        user = "\n\n".join([marked, *(blocks[name] for name in ORDER if blocks[name])])
    return messages_of(system, user, able)


def messages_of(system: str, user: str, able: Mapping[str, Any]) -> tuple[dict[str, str], ...]:
    """System and user message; both in one for a model that takes no system message."""
    if not able.get("system_role", True):
        return ({"role": "user", "content": f"{system}\n\n{user}"},)
    return ({"role": "system", "content": system}, {"role": "user", "content": user})


def room_for(questions: Sequence[QuestionSpec], settings: Settings) -> int:
    """Tokens for a reply: those of the settings, and more where a whole set is to be given."""
    has_sets = any(question.kind == Kind.ENTRIES for question in questions)
    return max(settings.max_tokens, ENTRIES_TOKENS) if has_sets else settings.max_tokens


def parameters_of(
    settings: Settings, form: str, capabilities: Mapping[str, Any], room: int
) -> dict[str, Any]:
    """The parameters of a request whose reply is in that form and has room for so many tokens; all but the seed."""
    own = sorted(OWN_PARAMETERS & settings.extra.keys())
    if own:
        raise CannotAsk(f"{', '.join(own)} can't be among the further parameters.")
    parameters = dict(settings.extra)
    if settings.temperature is not None and capabilities.get("temperature", True):
        parameters["temperature"] = settings.temperature
    label_alone = form == "label" and settings.rationale == "none"
    limit = min(room, LABEL_TOKENS) if label_alone else room
    parameters[capabilities.get("token_limit") or "max_tokens"] = limit
    if form == "json_object":
        parameters["response_format"] = {"type": "json_object"}
    if form == "label":
        parameters |= {"logprobs": True, "top_logprobs": capabilities.get("top_logprobs") or TOP_LOGPROBS}
    return parameters


def cache_key(base_url: str, request: Request, *, replicate: int, step: str) -> str:
    """sha256 over everything that a reply depends on."""
    if request.repeatable:
        replicate, step = 0, ""
    return canonical_hash(
        {
            "base_url": base_url.rstrip("/"),
            "model": request.model,
            "messages": [dict(message) for message in request.messages],
            "parameters": dict(request.parameters),
            "schema": request.schema,
            "labels": list(request.labels),
            "replicate": replicate,
            "step": step,
        }
    )
