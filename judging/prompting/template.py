"""A researcher's own prompt: plain text with placeholders, which are names in braces and nothing more."""

import re
from collections.abc import Mapping, Sequence

PLACEHOLDERS = (
    "query",
    "documents",
    "context",
    "responses",
    "reference",
    "guideline",
    "questions",
    "examples",
    "own_answers",
    "format",
)
FENCED = frozenset({"query", "documents", "context", "responses", "reference"})
REQUIRED_PLACEHOLDERS = ("query", "responses", "format")
# {{ and }} stand for braces; whatever else looks like a name in braces is meant as a placeholder. JSON is left alone.
PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([A-Za-z0-9_][^{}\s\"':,]*(?:[!:][^{}\s\"']*)?)\}")


def needed_of(has_responses: bool) -> tuple[str, ...]:
    """The placeholders that a template must have; {responses} only where there are any."""
    return (
        REQUIRED_PLACEHOLDERS
        if has_responses
        else tuple(name for name in REQUIRED_PLACEHOLDERS if name != "responses")
    )


def template_problems(template: str, needed: Sequence[str] = REQUIRED_PLACEHOLDERS) -> list[str]:
    """Problems of a researcher's template: unknown placeholders, and required ones that are missing."""
    found = [match[1] for match in PLACEHOLDER.finditer(template) if match[1]]
    known = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
    problems = [
        f"There is no placeholder {{{name}}}; there are: {known}. Write {{{{{name}}}}} for braces in the text."
        for name in dict.fromkeys(found)
        if name not in PLACEHOLDERS
    ]
    return problems + [f"The placeholder {{{name}}} is missing." for name in needed if name not in found]


def fill_template(template: str, blocks: Mapping[str, str]) -> str:
    """The template with its placeholders replaced, once: what is filled in is not looked at again."""

    def replaced(match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0][0]
        block = blocks[match[1]]
        if match[1] not in FENCED or not block:
            return block
        # The fences stand in lines of their own, wherever the placeholder stands.
        opening = "\n" if template[: match.start()][-1:] not in ("", "\n") else ""
        closing = "\n" if template[match.end() :][:1] not in ("", "\n") else ""
        return f"{opening}{block}{closing}"

    return PLACEHOLDER.sub(replaced, template)
