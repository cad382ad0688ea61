"""How a judge is asked whether both are bad, and how its reply is read in either order."""

import json
import math

import pytest

from evaluation.protocols import Kind, QuestionSpec, get_protocol
from judging.backends.base import Reply
from judging.parsing.rejection import ReplyRejected
from judging.parsing.reply import read_reply
from judging.prompting.item_call import ItemCall
from judging.prompting.request import build_request
from judging.prompting.settings import Settings
from tests.judging.samples import make_spec, make_stimulus

PAIRWISE = get_protocol("pairwise")
STIMULUS = make_stimulus("A cup a day is fine.", "Ask.")
JUDGE = Settings(model="m")
LABELS = Settings(model="m", verdict="logprobs")


def spec_of(**options: object) -> dict:
    question = QuestionSpec(
        "preference", Kind.PREFERENCE, "Which?", options={"form": {"both_bad": True}, **options}
    )
    return make_spec("pairwise", (question,))


def prompt(spec: dict, settings: Settings = JUDGE, **able: object) -> str:
    able = {"logprobs": True, "top_logprobs": 20, **able}
    call = ItemCall(PAIRWISE, spec, STIMULUS, settings, order="r1,r2", step="", capabilities=able)
    return "\n".join(message["content"] for message in build_request(call).messages)


def read(
    text: str, spec: dict, *, order: str = "r1,r2", settings: Settings = JUDGE, **reply: object
) -> tuple:
    found = read_reply(ItemCall(PAIRWISE, spec, STIMULUS, settings, order=order), Reply(text=text, **reply))
    (answer,) = found.answers
    return answer.label, answer.number


def test_the_fourth_verdict_is_offered_where_the_study_does():
    asked = prompt(spec_of(tie="Tie"))
    assert (
        "Answer 1 for Response 1, 2 for Response 2, tie for “Both are good”, or bad for “Both are bad”."
        in asked
    )
    assert "preference: <1, 2, tie or bad>" in asked
    assert '"enum": ["1", "2", "tie", "bad"]' in prompt(spec_of(), json_schema=True)
    own = prompt(spec_of(both_good="Equally good", both_bad="Useless"))
    assert "tie for “Equally good”, or bad for “Useless”" in own
    without = make_spec("pairwise", (QuestionSpec("preference", Kind.PREFERENCE, "Which?"),))
    assert "or tie for “Tie”." in prompt(without)
    assert "for “Both are bad”" not in prompt(without)


@pytest.mark.parametrize("order", ["r1,r2", "r2,r1"])
def test_no_order_changes_it(order):
    assert read("preference: bad", spec_of(), order=order) == ("both_bad", None)
    assert read("preference: tie", spec_of(), order=order) == ("tie", None)
    said = json.dumps({"answers": {"preference": "bad"}})
    assert read(said, spec_of(), order=order) == ("both_bad", None)
    first = "r1" if order == "r1,r2" else "r2"
    assert read("preference: 1", spec_of(), order=order) == (first, None)


def test_a_form_without_it_takes_no_such_verdict():
    spec = make_spec("pairwise", (QuestionSpec("preference", Kind.PREFERENCE, "Which?"),))
    with pytest.raises(ReplyRejected):
        read("preference: bad", spec)


def test_of_labels_its_mass_is_shared_as_a_ties():
    asked = prompt(spec_of(), LABELS)
    assert "T for “Both are good”, or B for “Both are bad”" in asked
    assert "(T says that both are good and B that both are bad)" in asked
    chances = {"1": 0.1, "2": 0.3, "T": 0.2, "B": 0.4}
    place = {token: math.log(chance) for token, chance in chances.items()}
    label, number = read("B", spec_of(), settings=LABELS, logprobs=[place])
    assert (label, number) == ("both_bad", pytest.approx(0.3 + 0.6 / 2))
    turned = read("B", spec_of(), settings=LABELS, order="r2,r1", logprobs=[place])
    assert turned == ("both_bad", pytest.approx(0.1 + 0.6 / 2))
