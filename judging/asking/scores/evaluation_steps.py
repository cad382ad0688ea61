"""The request for evaluation steps, written once per judge from its criteria, and the reading of its reply."""

import json
import re
from collections.abc import Mapping
from typing import Any, cast

from evaluation.protocols.base import Spec
from evaluation.storable import storable
from judging.asking.scores.geval import answered_question, criteria_of, scores_of
from judging.backends.base import Reply, Request
from judging.backends.scores.options import LONGEST_STEP, MOST_STEPS
from judging.parsing.json_values import load_json
from judging.parsing.rejection import reject, require_answer, require_complete
from judging.prompting.replies import capabilities_of
from judging.prompting.request import messages_of, parameters_of
from judging.prompting.settings import Settings

TASK = """\
You prepare the scoring of responses that were written to queries. Someone will see one query and one response at a \
time{reference}, and give the response a score from {low} to {high} by the criteria below. Write the steps that they \
are to go through for each response.

- Three to eight steps, in the order in which they are to be taken.
- Each is one sentence that says what to look at, and what raises or lowers the score for it.
- Follow from the criteria alone; add no criteria of your own.
- The steps must fit any query and response: give no examples of either, and no scores."""

CRITERIA = "# Criteria\n\n{criteria}"
NUMBERING = re.compile(r"^(?:\(?\d{1,2}[.):]\s+|[-*•]\s+)")
LEAST_STEPS = 2
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"steps": {"type": "array", "minItems": LEAST_STEPS, "items": {"type": "string"}}},
    "required": ["steps"],
    "additionalProperties": False,
}


def build_steps_request(spec: Spec, settings: Settings, *, capabilities: Mapping[str, Any]) -> Request:
    """The request for a judge's steps; `capabilities` are those of the model, or of an endpoint by model."""
    able = capabilities_of(capabilities, settings.model)
    form = next((name for name in ("json_schema", "json_object") if able.get(name)), "lines")
    question = answered_question(spec, settings)
    scores = scores_of(question, settings)
    criteria = criteria_of(settings)
    if question is not None:
        asked = " ".join(text for text in (question.prompt, question.help) if text)
        criteria = f"{criteria}\n\nThe score answers this question: {asked}"
    reference = (
        ", with a reference that people wrote" if settings.with_reference or spec["show_references"] else ""
    )
    task = TASK.format(reference=reference, low=scores[0], high=scores[-1])
    reply = (
        "Reply with the steps, a line each, without numbers and with nothing else."
        if form == "lines"
        else "Reply with one JSON object of the following JSON schema and with nothing else.\n\n"
        + json.dumps(SCHEMA)
    )
    return Request(
        model=settings.model,
        messages=messages_of(task, f"{CRITERIA.format(criteria=criteria)}\n\n{reply}", able),
        parameters=parameters_of(settings, form, able, settings.max_tokens),
        schema=SCHEMA if form == "json_schema" else None,
    )


def read_steps(reply: Reply) -> list[str]:
    """The steps in a reply, without their numbers; ReplyRejected where it has none, or is anything else."""
    require_answer(reply)
    require_complete(reply)
    text = storable(reply.text).strip()
    given = _from_json(text) if text.startswith(("{", "```")) else text.splitlines()
    steps = [NUMBERING.sub("", " ".join(line.split())) for line in given]
    steps = [step for step in steps if step]
    if not LEAST_STEPS <= len(steps) <= MOST_STEPS:
        reject(f"The reply has {len(steps)} steps; {LEAST_STEPS} to {MOST_STEPS} are read.")
    if any(len(step) > LONGEST_STEP for step in steps):
        reject(f"A step is longer than {LONGEST_STEP} characters.")
    return steps


def _from_json(text: str) -> list[str]:
    try:
        data = load_json(text)
        steps = data["steps"]
        if data.keys() != {"steps"} or not isinstance(steps, list):
            raise TypeError("something else than a list of steps")
        if not all(isinstance(step, str) for step in steps):
            raise TypeError("a step that is no text")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        return reject(f"The reply is not the JSON object that was asked for: {str(error)[:100]}.")
    return cast(list[str], steps)
