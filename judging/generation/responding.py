"""Responses to queries, as pipelines ask for them and items have them: the prompt, the arms, and keys."""

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.canonical import canonical_hash
from judging.generation.pipeline import ContentProblem, Prompt, Record, SourceQuery
from judging.generation.shapes import KEPT, LONG_TEXT, Shape

# ContextEval section 4.1.
ARMS: Mapping[str, Record] = {
    "NoCtxGen-NoCtxEval": {"label": "No context", "context_at_generation": False, "context_at_judging": False},
    "NoCtxGen-CtxEval": {
        "label": "Context at judging", "context_at_generation": False, "context_at_judging": True,
    },
    "CtxGen-CtxEval": {
        "label": "Context throughout", "context_at_generation": True, "context_at_judging": True,
    },
}  # fmt: skip

# The values of a response.
RESPONSE_SHAPES: Mapping[str, Shape] = {"system": KEPT, "text": LONG_TEXT}

WITH_CONTEXT = """\
Answer the person's query. You have asked them back about it, and their answers are given. Let each of them shape what \
you write, without repeating questions and answers."""


def response_prompt(
    query: SourceQuery, follow_ups: Sequence[Mapping[str, Any]], instruction: str = ""
) -> Prompt:
    """The query as a system is asked it, after the turns before it, with the answers to follow-up questions if any,
    and under an instruction of its own if it has one."""
    turns = [{"role": each["role"], "text": each["text"]} for each in query.turns[:-1] if "text" in each]
    asked = query.turns[-1]["text"] if query.turns else query.text
    if not follow_ups:
        return Prompt(asked, instruction, turns=turns)
    answered = "\n\n".join(
        f"You asked: {each['question']}\nThey answered: {each['answer']}" for each in follow_ups
    )
    system = "\n\n".join(filter(None, [instruction, WITH_CONTEXT]))
    return Prompt(f"{asked}\n\n{answered}", system, turns=turns)


def context_key(follow_ups: Sequence[Record]) -> str:
    return f"c-{canonical_hash(follow_ups)[:10]}"


def response_problems(content: Any) -> list[ContentProblem]:
    """The problems of a response that somebody wrote or edited."""
    if not isinstance(content, dict):
        return [ContentProblem("A response is a JSON object.")]
    return [
        ContentProblem(f'"{name}" must be a text.', name)
        for name in ("system", "text")
        if not isinstance(content.get(name), str) or not content[name].strip()
    ]
