"""The prompts that docs/judges.md shows are those that are sent."""

from pathlib import Path

import pytest

from evaluation.protocols import get_protocol
from judging.prompting import Example, Settings, build_request
from judging.services.juries import PERSONAS
from tests.judging.samples import SAMPLES, make_stimulus

DOCS = (Path(__file__).resolve().parents[3] / "docs" / "judges.md").read_text()
QUALITY_SPEC = SAMPLES["question_quality"][0]
QUALITY = make_stimulus("Do you mean the animal?", query="jaguar")


def asked(spec, stimulus, options, *, order="r1", **call):
    """The messages of a request in lines, to a model that can do nothing but write."""
    settings = Settings(model="m", one_call_per_question=bool(call), options=options)
    request = build_request(
        get_protocol(spec["protocol"]), spec, stimulus, settings, order=order, capabilities={}, **call
    )
    return [message["content"] for message in request.messages]


def last_question():
    ratings = {"clarification": {"r1": 8}, "complexity": {"r1": 2}}
    _, user = asked(QUALITY_SPEC, QUALITY, {"last_question": "overall"}, step="overall", earlier=ratings)
    return user[user.index("What you answered") :]


def worked_example():
    example = Example(QUALITY, {"overall": {"r1": 7}})
    settings = Settings(model="m", questions=("overall",), examples={QUALITY["arm"]: [example]})
    request = build_request(
        get_protocol("question_quality"), QUALITY_SPEC, QUALITY, settings, order="r1", capabilities={}
    )
    told = request.messages[0]["content"]
    return told[told.index("# Worked examples") :]


def documents():
    spec, stimulus = SAMPLES["aspects"]
    order = ",".join(each["part"] for each in stimulus["responses"])
    settings = Settings(model="m", options={"documents": 1})
    request = build_request(get_protocol("aspects"), spec, stimulus, settings, order=order, capabilities={})
    told = request.messages[1]["content"]
    return told[told.index("Documents to look") : told.index("=== Response 1")].rstrip()


@pytest.mark.parametrize("render", [last_question, worked_example, documents])
def test_the_documented_prompt_is_the_one_that_is_sent(render):
    assert f"```\n{render()}\n```\n" in DOCS


@pytest.mark.parametrize("persona", PERSONAS, ids=[each.name for each in PERSONAS])
def test_the_documented_personas_are_those_that_prompts_begin_with(persona):
    system, _ = asked(QUALITY_SPEC, QUALITY, {"persona": persona.text}, step="overall")
    said = system.split("\n\n")[1]
    assert f"| {persona.name} | {persona.temperature} | {said} |" in DOCS
