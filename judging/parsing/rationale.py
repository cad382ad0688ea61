"""The rationale beside a verdict."""

from collections.abc import Sequence

HEADING = "Rationale:"


def without_heading(lines: Sequence[str]) -> str:
    """Join the lines of a rationale, without the word that announces it."""
    return "\n".join(lines).removeprefix(HEADING).strip()
