"""Queries that are conversations: turns, and the transcript that stands for them wherever one text is read."""

from collections.abc import Iterable, Mapping

# By role: how a transcript names whoever speaks.
SPEAKERS = {"user": "User", "assistant": "Assistant", "system": "System"}

Turn = Mapping[str, str]


def transcript(turns: Iterable[Turn]) -> str:
    """The turns as one text, each under who speaks: what judges, tables and lists read."""
    return "\n\n".join(f"{SPEAKERS[turn['role']]}: {turn['text']}" for turn in turns)


def written_turns(turns: Iterable[Turn]) -> list[dict[str, str]]:
    """The turns as they were written, without what was made of them."""
    return [{"role": turn["role"], "text": turn["text"]} for turn in turns]
