"""Strict reading of a step's reply: the very object that was asked for, or a text; nothing is guessed."""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from jsonschema import Draft202012Validator

from evaluation.storable import storable, storable_json
from judging.backends.base import Reply
from judging.generation.pipeline import Content, PipelineStep, Prompt, UnitFacts, Unreadable
from judging.parsing.json_values import load_json
from judging.parsing.rejection import ReplyRejected, reject, require_answer, require_complete

# No product is longer, whatever a model writes: items and pages are for people.
MAX_TEXT = 50_000


def read_products(step: PipelineStep, asked: UnitFacts, prompt: Prompt, reply: Reply) -> Sequence[Content]:
    """The products in a reply to this prompt; ReplyRejected if there are none."""
    require_answer(reply)
    require_complete(reply)
    text = storable(reply.text).strip()
    if not text:
        reject("The reply is empty.")
    if len(text) > MAX_TEXT:
        reject(f"The reply has {len(text):,} characters; {MAX_TEXT:,} are the most that is read.")
    value = text if prompt.schema is None else read_object(text, prompt.schema)
    try:
        return [storable_json(each) for each in step.read(asked, value)]
    except Unreadable as problem:
        raise ReplyRejected("unparsed", str(problem)) from None


def read_object(text: str, schema: Mapping[str, Any]) -> Any:
    """The JSON object of that schema; ReplyRejected with the first fault."""
    try:
        value = load_json(text)
    except (ValueError, RecursionError) as error:
        reject(f"The reply is not the JSON object that was asked for: {str(error)[:100]}.")
    fault = next(_validator(json.dumps(schema, sort_keys=True)).iter_errors(value), None)
    if fault is not None:
        where = "".join(f"[{part!r}]" for part in fault.absolute_path)
        reject(f"The reply is not the JSON object that was asked for: {where or 'it'}: {fault.message[:200]}")
    return value


@lru_cache(maxsize=256)
def _validator(schema: str) -> Any:
    return Draft202012Validator(json.loads(schema))
