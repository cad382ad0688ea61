"""Each pipeline has its page in docs/pipelines, with its options, its roles and the very prompts that are sent.

ASSAY_WRITE_PROMPTS=1 writes what is generated into the pages.
"""

import os
import re
from pathlib import Path

import pytest

from judging.generation.pipeline import PlacedModel
from judging.generation.pipelines import PIPELINES
from judging.generation.prompts import build_request

PAGES = Path(__file__).resolve().parents[3] / "docs" / "pipelines"
OPENING, CLOSING = "<!-- generated: what this pipeline asks -->", "<!-- end -->"
FENCE = "````"


@pytest.mark.parametrize("key", list(PIPELINES))
def test_its_page_shows_what_it_asks(key):
    page = PAGES / f"{key}.md"
    text = page.read_text("utf-8")
    shown = re.search(f"{OPENING}\n(.*){CLOSING}", text, re.DOTALL)
    assert shown, f"{page.name} has no place between {OPENING} and {CLOSING}."
    expected = asked(PIPELINES[key])
    if os.environ.get("ASSAY_WRITE_PROMPTS"):
        page.write_text(text[: shown.start(1)] + expected + text[shown.end(1) :], "utf-8")
    else:
        assert shown[1] == expected


def test_the_list_names_each_pipeline():
    listed = re.findall(
        r"^\| \[`(\w+)`\]\((\w+)\.md\) \|", (PAGES / "README.md").read_text("utf-8"), re.MULTILINE
    )
    assert sorted(listed) == sorted((key, key) for key in PIPELINES)


def asked(pipeline):
    """Roles, options, and the prompt of each step that asks a model, on its example."""
    lines = [f"Version {pipeline.version} of its prompts.", ""]
    if pipeline.roles:
        lines += ["| role | models | temperature | tokens at most |", "| --- | --- | --- | --- |"]
    for role in pipeline.roles:
        most = "any number" if role.most is None else role.most
        models = role.least if role.least == role.most else f"{role.least} to {most}"
        temperature = "the model's own" if role.temperature is None else f"{role.temperature:g}"
        lines.append(f"| `{role.key}`: {role.label} | {models} | {temperature} | {role.max_tokens:,} |")
    lines += [""] if pipeline.roles else []
    options = [*pipeline.options, *pipeline.making]
    if options:
        lines += ["| option | | otherwise |", "| --- | --- | --- |"]
    for option in options:
        choices = f" ({', '.join(f'`{each}`' for each in option.choices)})" if option.choices else ""
        about = ". ".join(filter(None, [f"{option.label}{choices}", option.help.rstrip(".")]))
        lines.append(f"| `{option.key}` | {about} | `{option.default!r}` |")
    lines += [""] if options else []
    for step in pipeline.steps:
        example = step.example()
        if step.role and example is None:
            raise AssertionError(f"The step {step.key} asks a model and has no example.")
        if example is None:
            lines += [f"### `{step.key}`: {step.label}", "", "Nobody is asked.", ""]
            continue
        request = build_request(
            step.prompt(example), PlacedModel("model"), place="", temperature=None, max_tokens=1, seed=None,
            capabilities={},
        )  # fmt: skip
        lines += [f"### `{step.key}`: {step.label}", ""]
        for message in request.messages:
            lines += [f"{message['role']}:", "", FENCE, message["content"], FENCE, ""]
    return "\n".join(lines).rstrip() + "\n"
