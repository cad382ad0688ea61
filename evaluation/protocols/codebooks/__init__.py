"""Codebooks: the tags for what a justification says. Each is a file beside this; a study may edit its own copy."""

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

from evaluation.protocols.base import ABOUT, FORM, Kind, QuestionSpec

FOLDER = Path(__file__).parent
CODEBOOKS = tuple(sorted(path.stem for path in FOLDER.glob("*.json")))


class Tag(NamedTuple):
    key: str
    label: str
    meaning: str
    # What a report counts it under, if the codebook has groups.
    group: str = ""


class Codebook(NamedTuple):
    title: str
    source: str
    # In the order of the form.
    tags: tuple[Tag, ...]


@cache
def read_codebook(name: str) -> Codebook:
    """The codebook of that name; KeyError names the known ones."""
    if name not in CODEBOOKS:
        raise KeyError(f"no codebook {name!r}; there are: {', '.join(CODEBOOKS)}")
    data = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return Codebook(data["title"], data["source"], tuple(Tag(**tag) for tag in data["tags"]))


def codebook_question(name: str) -> QuestionSpec:
    """The question that asks for the tags of that codebook."""
    tags = read_codebook(name).tags
    form = {"over": "choice", "choices": [tag.key for tag in tags], "none": True}
    groups = {tag.key: tag.group for tag in tags if tag.group}
    return QuestionSpec(
        "criteria",
        Kind.CHECKLIST,
        "What is the reason about?",
        help="Tick everything that it names.",
        options={
            **{tag.key: tag.label for tag in tags},
            **{ABOUT + tag.key: tag.meaning for tag in tags},
            FORM: form | ({"groups": groups} if groups else {}),
        },
    )
