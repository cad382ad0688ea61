"""The prompts that docs/judges.md shows are those that are sent."""

from pathlib import Path

import pytest

from evaluation.protocols import get_protocol
from judging.prompting.item_call import ItemCall
from judging.prompting.request import build_request
from judging.prompting.settings import Example, Settings
from judging.services.juries import PERSONAS
from tests.judging.sample import PAIRWISE, WITHOUT_CONTEXT, make_spec
from tests.judging.sample import make_stimulus as make_pair
from tests.judging.samples import SAMPLES, make_stimulus

DOCS = (Path(__file__).resolve().parents[3] / "docs" / "judges.md").read_text()
QUALITY_SPEC = SAMPLES["question_quality"][0]
QUALITY = make_stimulus("Do you mean the animal?", query="jaguar")


def asked(spec, stimulus, options, *, order="r1", **call):
    """The messages of a request in lines, to a model that can do nothing but write."""
    settings = Settings(model="m", one_call_per_question=bool(call), options=options)
    request = build_request(
        ItemCall(
            get_protocol(spec["protocol"]), spec, stimulus, settings, order=order, capabilities={}, **call
        )
    )
    return [message["content"] for message in request.messages]


def last_question():
    ratings = {"clarification": {"clarification": {"r1": 8}}, "complexity": {"complexity": {"r1": 2}}}
    _, user = asked(QUALITY_SPEC, QUALITY, {"last_question": "overall"}, step="overall", earlier=ratings)
    return user[user.index("What you answered") :]


def worked_example():
    example = Example(QUALITY, {"overall": {"r1": 7}})
    settings = Settings(model="m", questions=("overall",), examples={QUALITY["arm"]: [example]})
    request = build_request(
        ItemCall(
            get_protocol("question_quality"), QUALITY_SPEC, QUALITY, settings, order="r1", capabilities={}
        )
    )
    told = request.messages[0]["content"]
    return told[told.index("# Worked examples") :]


def documents():
    spec, stimulus = SAMPLES["aspects"]
    order = ",".join(each["part"] for each in stimulus["responses"])
    settings = Settings(model="m", options={"documents": 1})
    request = build_request(
        ItemCall(get_protocol("aspects"), spec, stimulus, settings, order=order, capabilities={})
    )
    told = request.messages[1]["content"]
    return told[told.index("Documents to look") : told.index("=== Response 1")].rstrip()


def whole_form():
    """As ContextEval's judges are asked: the whole form, the verdict first and its reasons after it."""
    settings = Settings(model="m", rationale="after")
    request = build_request(
        ItemCall(
            PAIRWISE, make_spec(), make_pair(), settings, order="r1,r2", capabilities={"system_role": True}
        )
    )
    return "\n\n".join(message["content"] for message in request.messages)


def with_reference():
    """As HREF's judges with the reference: the preference alone, by JSON that is held to a schema."""
    settings = Settings(model="m", questions=("preference",), with_reference=True)
    stimulus = make_pair(WITHOUT_CONTEXT, follow_ups=0)
    request = build_request(
        ItemCall(PAIRWISE, make_spec(), stimulus, settings, order="r1,r2", capabilities={"json_schema": True})
    )
    told = request.messages[-1]["content"]
    return told[told.index("Written by people") :]


@pytest.mark.parametrize("render", [last_question, worked_example, documents, whole_form, with_reference])
def test_the_documented_prompt_is_the_one_that_is_sent(render):
    assert f"```\n{render()}\n```\n" in DOCS


@pytest.mark.parametrize("persona", PERSONAS, ids=[each.name for each in PERSONAS])
def test_the_documented_personas_are_those_that_prompts_begin_with(persona):
    system, _ = asked(QUALITY_SPEC, QUALITY, {"persona": persona.text}, step="overall")
    said = system.split("\n\n")[1]
    assert f"| {persona.name} | {persona.temperature} | {said} |" in DOCS
