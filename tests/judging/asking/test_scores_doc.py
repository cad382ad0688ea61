"""The page on scores shows each kind of score's prompt as it is sent.

`ASSAY_WRITE_GOLDENS=1` and this test write the prompts anew; the difference is to be looked at.
"""

import os
import re
from pathlib import Path

import pytest

from judging.backends import BACKENDS
from judging.backends.options import Input
from judging.prompting.settings import Settings
from tests.judging.asking.build import asked, item_call
from tests.judging.asking.test_entry_scores import compared, entry

PAGE = Path(__file__).parents[3] / "docs" / "scores.md"
STEPS = [
    "Check each statement of the response against the reference and against what is well known.",
    "Weigh what is false by how much of the response depends on it.",
]
EXAMPLES = {
    "constraints": item_call("constraints", able={}),
    "geval": item_call(
        "geval",
        able={"logprobs": True},
        criterion="accuracy",
        steps=STEPS,
        settings=Settings(model="m", with_reference=True),
    ),
    "entry_scores": item_call(
        "entry_scores",
        "condition_calibration",
        able={},
        stimulus=compared(
            [[entry("The planet, at noon", "About 430 degrees", [1])]],
            [
                {
                    "entries": [
                        entry("The planet by day", "430 degrees", [1]),
                        entry("The metal", "It boils at 357", [2]),
                    ]
                }
            ],
            text="How hot does mercury get?",
        ),
    ),
}


@pytest.mark.parametrize("backend", EXAMPLES)
def test_the_page_shows_the_prompt(backend):
    text, page = asked(backend, EXAMPLES[backend]), PAGE.read_text()
    shown = re.compile(rf"(<!-- prompt: {backend} -->\n```text\n).*?(\n```\n)", re.DOTALL)
    if os.environ.get("ASSAY_WRITE_GOLDENS"):
        page = shown.sub(lambda match: match[1] + text + match[2], page)
        PAGE.write_text(page)
    [found] = shown.finditer(page)
    assert found[0] == found[1] + text + found[2]


@pytest.mark.parametrize("backend", EXAMPLES)
def test_the_page_names_every_option_and_its_choices(backend):
    rows = dict(re.findall(rf"^\| {backend} `(\w+)` \| (.*?) \|", PAGE.read_text(), re.MULTILINE))
    options = {option.key: option for option in BACKENDS[backend].options}
    assert rows.keys() == options.keys()
    for key, option in options.items():
        if option.input == Input.CHOICE:
            assert set(re.findall(r"`([^`]+)`", rows[key])) == set(option.choices)
