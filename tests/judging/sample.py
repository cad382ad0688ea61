"""A spec and stimuli as launches compile them, for tests that need no database."""

from __future__ import annotations

from typing import Any

from hypothesis import settings

from evaluation.protocols import get_protocol

# Property tests with more examples than most.
many = settings(max_examples=200)

PAIRWISE = get_protocol("pairwise")
WITH_CONTEXT, WITHOUT_CONTEXT = "NoCtxGen-CtxEval", "NoCtxGen-NoCtxEval"
ORDERS = ("r1,r2", "r2,r1")
ABLE = {
    "json_schema": True,
    "json_object": True,
    "logprobs": True,
    "top_logprobs": 20,
    "seed": True,
    "temperature": True,
    "token_limit": "max_completion_tokens",
}


def make_spec(**changes: Any) -> dict[str, Any]:
    return {
        "protocol": "pairwise",
        "asker": "Person X",
        "show_references": False,
        "arms": [
            {"key": WITH_CONTEXT, "context_at_generation": False, "context_at_judging": True},
            {"key": WITHOUT_CONTEXT, "context_at_generation": False, "context_at_judging": False},
        ],
        "questions": [question.as_json() for question in PAIRWISE.default_questions()],
        "texts": PAIRWISE.default_texts(),
    } | changes


def make_stimulus(
    arm: str = WITH_CONTEXT,
    *,
    texts: tuple[str, str] = ("A cup a day is fine.", "Ask your doctor about coffee."),
    query: str = "Is coffee good for you?",
    follow_ups: int = 2,
    references: tuple[Any, ...] = ("Yes, within limits.",),
) -> dict[str, Any]:
    return {
        "arm": arm,
        "query": {"text": query, "references": list(references), "information_need": "the hidden need"},
        "context": {
            "follow_ups": [
                {
                    "part": f"f{n}",
                    "question": f"Follow-up {n}?",
                    "answers": ["a", "b"],
                    "answer": f"answer {n}",
                }
                for n in range(1, follow_ups + 1)
            ]
        },
        "clarifying_question": "",
        "responses": [
            {
                "part": f"r{n}",
                "key": f"key-{system}",
                "system": system,
                "text": text,
                "html": f"<p>{text}</p>",
            }
            for n, (system, text) in enumerate(zip(("aspen", "birch"), texts, strict=True), 1)
        ],
    }
