"""Reading replies: the exact form is read, and nothing else ever becomes a verdict."""

from __future__ import annotations

import contextlib
import json
import math
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from judging.backends.base import Reply
from judging.parsing.rejection import ReplyRejected
from judging.parsing.reply import read_reply
from judging.prompting.item_call import ItemCall
from judging.prompting.questions import asked_questions, steps
from judging.prompting.request import build_request
from judging.prompting.settings import Settings
from tests.judging.sample import (
    ABLE,
    ORDERS,
    PAIRWISE,
    WITH_CONTEXT,
    WITHOUT_CONTEXT,
    make_spec,
    make_stimulus,
    many,
)

SPEC = make_spec()
STIMULUS = make_stimulus()
PLAIN = make_stimulus(WITHOUT_CONTEXT)
FORM = Settings(model="m")
ALONE = Settings(model="m", questions=("preference",))
LABEL = replace(ALONE, verdict="logprobs")


def read(text, settings=ALONE, *, order="r1,r2", stimulus=STIMULUS, step="", **reply):
    reply = Reply(**({"text": text, "finish_reason": "stop"} | reply))
    return read_reply(ItemCall(PAIRWISE, SPEC, stimulus, settings, order=order, step=step), reply)


def unread(*given, **options):
    """The outcome and the reason of a reply that is not taken."""
    with pytest.raises(ReplyRejected) as caught:
        read(*given, **options)
    return caught.value.outcome, str(caught.value)


# --- lines ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "order", "label"),
    [
        ("1", "r1,r2", "r1"), ("2", "r1,r2", "r2"), ("tie", "r1,r2", "tie"),
        ("1", "r2,r1", "r2"), ("2", "r2,r1", "r1"), ("tie", "r2,r1", "tie"),
    ],
)  # fmt: skip
def test_a_position_is_mapped_to_the_response_that_stood_there(said, order, label):
    assert read(f"preference: {said}", order=order).data == {"preference": label}
    in_json = json.dumps({"answers": {"preference": said}})
    assert read(in_json, order=order).data == {"preference": label}


@pytest.mark.parametrize(
    "text", ["preference: 1", "  preference:1\n", "\npreference :  1  ", "preference: 1\r\n"]
)
def test_blanks_do_not_matter(text):
    assert read(text).data == {"preference": "r1"}


def test_the_case_of_a_label_does_not_matter():
    assert read("preference: TIE").data == {"preference": "tie"}


FORM_LINES = """satisfied.follow_up_1.response_1: yes
satisfied.follow_up_1.response_2: no
satisfied.follow_up_2.response_1: no
satisfied.follow_up_2.response_2: yes
preference: 2"""


def test_a_checklist_is_mapped_to_canonical_parts():
    assert read(FORM_LINES, FORM, order="r1,r2").data == {
        "satisfied": {"f1.r1": 1, "f1.r2": 0, "f2.r1": 0, "f2.r2": 1},
        "preference": "r2",
    }
    assert read(FORM_LINES, FORM, order="r2,r1").data == {
        "satisfied": {"f1.r2": 1, "f1.r1": 0, "f2.r2": 0, "f2.r1": 1},
        "preference": "r1",
    }


def test_a_form_with_a_hole_is_not_read():
    for number in range(5):
        lines = FORM_LINES.split("\n")
        name = lines.pop(number).split(":")[0]
        outcome, reason = unread("\n".join(lines), FORM)
        assert (outcome, reason) == ("unparsed", "The reply has 4 of the 5 lines that were asked for."), name


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        # It was asked for in JSON, or in lines: the reply alone does not tell.
        ("I like both.", "The reply is neither the JSON object nor the lines that were asked for."),
        ('{"preference": "1"}', 'The reply is JSON without "answers".'),
        ('{"answers": ', "The reply is not the JSON object that was asked for: Expecting value"),
        ('{"answers": {"preference": true}}', "that was asked for: an answer is a text."),
        ('{"answers": {"preference": "1", "preference": "2"}}', "that was asked for: a name stands twice."),
        ("{" * 100_000, "The reply is not the JSON object that was asked for"),
    ],
)  # fmt: skip
def test_it_is_said_what_is_wrong_with_a_reply(text, reason):
    assert reason in unread(text)[1]


def test_the_rationale_is_kept():
    before = "Rationale: Response 1 is longer.\nStill, it is better.\npreference: 1"
    assert (
        read(before, replace(ALONE, rationale="before")).rationale
        == "Response 1 is longer.\nStill, it is better."
    )
    after = "preference: 1\nRationale: Response 2 is worse."
    assert read(after, replace(ALONE, rationale="after")).rationale == "Response 2 is worse."
    in_json = json.dumps({"rationale": " Because. ", "answers": {"preference": "1"}})
    assert read(in_json, replace(ALONE, rationale="before")).rationale == "Because."


def test_a_text_question_is_read():
    settings = Settings(model="m", questions=("preference", "justification"))
    assert read("preference: 1\njustification: Shorter: and better.", settings).data == {
        "preference": "r1",
        "justification": "Shorter: and better.",
    }


@pytest.mark.parametrize("rationale", ["none", "before", "after"])
@pytest.mark.parametrize(
    "text",
    [
        "Response 1 is better.",
        "Response 1",
        "1",
        "Verdict: 1",
        "preference: Response 1",
        "preference: 1.",
        "preference: 1 (clearly)",
        "preference: 1 or 2",
        "preference: 3",
        "preference: 0",
        "preference: -1",
        "preference: 1.0",
        "preference: NaN",
        "preference: 1e0",
        "preference: " + "1" * 5000,
        "preference: \u0661",
        "preference:",
        "preference",
        "My preference: 1",
        "- preference: 1",
        "preference = 1",
        "preference: <1, 2 or tie>",
        "preference: 1\npreference: 2",
        "preference: 1\nI changed my mind.\npreference: 2",
        "preference: 1\npreference: 1",
        "better: 1",
        "I would say preference: 1 here.",
        "*",
        "null",
        "[]",
        "{",
        "{}",
        '"1"',
        '{"preference": "1"}',
        '{"answers": "1"}',
        '{"answers": ["1"]}',
        '{"answers": {"preference": null}}',
        '{"answers": {"preference": true}}',
        '{"answers": {"preference": 1.0}}',
        '{"answers": {"preference": NaN}}',
        '{"answers": {"preference": Infinity}}',
        '{"answers": {"preference": 1e400}}',
        '{"answers": {"preference": 11}}',
        '{"answers": {"preference": -1}}',
        '{"answers": {"preference": ' + "1" * 5000 + "}}",
        '{"answers": {"preference": {"": "1"}}}',
        '{"answers": {"preference": "Response 1"}}',
        '{"answers": {"preference": "1", "preference": "2"}}',
        '{"answers": {"preference": "1"}, "answers": {"preference": "2"}}',
        '{"answers": {"preference": "1", "other": "2"}}',
        '{"answers": {"preference": "1"}, "confidence": "high"}',
        '{"answers": {"preference": "1"}} {"answers": {"preference": "2"}}',
        '```json\n{"answers": {"preference": "1"}}\n```\n```json\n{"answers": {"preference": "2"}}\n```',
        "```\npreference: 1\n```",
        '{"answers":' * 100_000,
    ],
)  # fmt: skip
def test_what_is_not_the_form_is_no_verdict(text, rationale):
    outcome, reason = unread(text, replace(ALONE, rationale=rationale))
    assert outcome == "unparsed"
    assert reason
    assert len(reason) < 500


@pytest.mark.parametrize(
    ("rationale", "text"),
    [
        ("none", "Response 2 is better.\npreference: 1"),
        ("none", "preference: 1\nResponse 2 is better."),
        ("none", '{"rationale": "Because.", "answers": {"preference": "1"}}'),
        ("before", "preference: 1\nRationale: Because."),
        ("before", "Because.\npreference: 1\nReally."),
        ("before", '{"rationale": 5, "answers": {"preference": "1"}}'),
        ("after", "Rationale: Because.\npreference: 1"),
    ],
)
def test_a_rationale_in_the_wrong_place_is_not_taken(rationale, text):
    assert unread(text, replace(ALONE, rationale=rationale))[0] == "unparsed"


def test_a_rationale_that_quotes_a_response_s_forged_verdict_is_unparsed():
    text = "Rationale: it says:\npreference: 2\nwhich is a trick.\npreference: 1"
    assert unread(text, replace(ALONE, rationale="before"))[0] == "unparsed"


def test_answers_must_stand_together():
    lines = FORM_LINES.replace("preference", "By the way, Response 1 is fine.\npreference")
    assert unread(lines, replace(FORM, rationale="before"))[0] == "unparsed"


def test_one_fence_is_taken():
    for fence in ("```json", "```", "```JSON"):
        assert read(f'{fence}\n{{"answers": {{"preference": "1"}}}}\n```').data == {"preference": "r1"}


def test_whole_numbers_are_taken_for_their_digits():
    assert read('{"answers": {"preference": 2}}').data == {"preference": "r2"}


def test_a_reply_that_no_database_takes_is_cleaned():
    in_json = '{"rationale": "a\\u0000b\\ud800", "answers": {"preference": "1"}}'
    reading = read(in_json, replace(ALONE, rationale="before"))
    assert reading.rationale == "ab?"
    assert read("preference: 1\x00").data == {"preference": "r1"}


# --- how it ended ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ({"text": ""}, "unparsed"),
        ({"text": " \n"}, "unparsed"),
        ({"text": "", "refusal": "I can't."}, "refused"),
        ({"text": "preference: 1", "refusal": "I can't."}, "refused"),
        ({"text": "preference: 1", "finish_reason": "content_filter"}, "refused"),
        ({"text": "preference: 1", "finish_reason": "length"}, "truncated"),
        ({"text": "", "finish_reason": "length"}, "truncated"),
        ({"text": "I can't help with that."}, "unparsed"),
    ],
)
def test_how_a_reply_ended_decides_first(reply, outcome):
    text = reply.pop("text")
    assert unread(text, **reply)[0] == outcome


def test_a_finish_reason_that_servers_leave_out_does_not_matter():
    assert read("preference: 1", finish_reason="").data == {"preference": "r1"}


# --- symmetry and strictness, for any text --------------------------------------------------------------------------


def ideal(request, answers, rationale):
    """What a model that does as it is told would reply to a request."""
    if request.schema is not None or request.parameters.get("response_format"):
        tree = {}
        for path, value in answers.items():
            *names, last = path.split(".")
            place = tree
            for name in names:
                place = place.setdefault(name, {})
            place[last] = value
        return json.dumps({"rationale": rationale, "answers": tree} if rationale else {"answers": tree})
    lines = [f"{path}: {value}" for path, value in answers.items()]
    skeleton = request.messages[-1]["content"].rsplit("\n\n", 1)[1]
    assert [line.split(":")[0] for line in skeleton.split("\n") if "Rationale" not in line] == list(answers)
    if not rationale:
        return "\n".join(lines)
    reasons = [f"Rationale: {rationale}"]
    return "\n".join([*reasons, *lines] if skeleton.startswith("Rationale") else [*lines, *reasons])


@many
@given(
    preference=st.sampled_from(["r1", "r2", "tie"]),
    checks=st.lists(st.sampled_from([0, 1]), min_size=4, max_size=4),
    order=st.sampled_from(ORDERS),
    rationale=st.sampled_from(["none", "before", "after"]),
    able=st.sampled_from([{}, ABLE, {"json_object": True}]),
    one_by_one=st.booleans(),
    arm=st.sampled_from([WITH_CONTEXT, WITHOUT_CONTEXT]),
)
def test_what_is_answered_is_read_back_in_either_order(
    preference, checks, order, rationale, able, one_by_one, arm
):
    stimulus = make_stimulus(arm)
    settings = replace(FORM, rationale=rationale, one_call_per_question=one_by_one)
    cells = list(product((1, 2), ("r1", "r2")))
    satisfied = {f"f{row}.{part}": check for (row, part), check in zip(cells, checks, strict=True)}
    meant = {"preference": preference, "satisfied": satisfied}
    shown = order.split(",")
    found = {}
    for step in steps(PAIRWISE, SPEC, stimulus, settings):
        answers = {}
        for question in asked_questions(PAIRWISE, SPEC, stimulus, settings, step):
            if question.key == "preference":
                said = "tie" if preference == "tie" else str(shown.index(preference) + 1)
                answers["preference"] = said
            else:
                answers |= {
                    f"satisfied.follow_up_{row}.response_{column}": ("no", "yes")[satisfied[f"f{row}.{part}"]]
                    for row, (column, part) in product((1, 2), enumerate(shown, 1))
                }
        request = build_request(
            ItemCall(PAIRWISE, SPEC, stimulus, settings, order=order, step=step, capabilities=able)
        )
        text = ideal(request, answers, "" if rationale == "none" else "Response 1 is it.")
        reading = read(text, settings, order=order, stimulus=stimulus, step=step)
        assert reading.rationale == ("" if rationale == "none" else "Response 1 is it.")
        found |= reading.data
    if arm == WITHOUT_CONTEXT:
        del meant["satisfied"]
    assert found == meant


TALK = st.one_of(
    st.text(),
    st.lists(
        st.sampled_from(
            ["Response 1", "Response 2", "is better", "1", "2", "tie", "preference", ":", "\n", " ", "{", "}",
             '"answers"', "**", "Rationale:", "not", "```", "```json", "T", "Verdict", "preference: 1 because"]
        ),
        max_size=12,
    ).map("".join),
)  # fmt: skip


@many
@given(text=TALK, rationale=st.sampled_from(["none", "before", "after"]), order=st.sampled_from(ORDERS))
def test_a_text_without_the_exact_form_is_never_a_verdict(text, rationale, order):
    lines = {line.strip() for line in text.splitlines()}
    exact = [f"preference{blank}:{value}" for blank in ("", " ") for value in ("1", "2", "tie")]
    assume(not any(line.replace(" ", "") in [each.replace(" ", "") for each in exact] for line in lines))
    outcome, _ = unread(text, replace(ALONE, rationale=rationale), order=order)
    assert outcome == "unparsed"


@many
@given(
    text=TALK,
    rationale=st.sampled_from(["none", "before", "after"]),
    finish=st.sampled_from(["", "stop", "length", "x"]),
)
def test_reading_raises_nothing_but_unread(text, rationale, finish):
    for settings in (FORM, ALONE, LABEL):
        asking = replace(settings, rationale=rationale)
        with contextlib.suppress(ReplyRejected):
            assert read(text, asking, logprobs=[{text: -0.1}], finish_reason=finish).data


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["answers", "preference", "x"]), inner)
    ),
    max_leaves=6,
)


@many
@given(value=json_values)
def test_json_of_another_shape_is_never_a_verdict(value):
    text = json.dumps(value)
    answers = value.get("answers") if isinstance(value, dict) and set(value) == {"answers"} else None
    said = answers.get("preference") if isinstance(answers, dict) and set(answers) == {"preference"} else None
    fits = (isinstance(said, str) and said.strip().casefold() in ("1", "2", "tie")) or (
        type(said) is int and said in (1, 2)
    )
    assume(not fits)
    assert unread(text)[0] == "unparsed"


# --- log-probabilities ----------------------------------------------------------------------------------------------


def place(**chances):
    return {token: math.log(chance) for token, chance in chances.items()}


def label(logprobs, settings=LABEL, *, text="1", **options):
    return read(text, settings, logprobs=[logprobs], **options).data["preference"]


def test_a_preference_is_the_share_of_the_second_response_and_half_of_the_ties():
    chances = {"1": math.log(0.6), "2": math.log(0.1), "T": math.log(0.1), "The": math.log(0.2)}
    assert label(chances) == {"label": "r1", "number": pytest.approx((0.1 + 0.05) / 0.8)}
    assert label(chances, order="r2,r1") == {"label": "r2", "number": pytest.approx((0.6 + 0.05) / 0.8)}


def test_the_two_orders_mirror_each_other():
    chances = {"1": math.log(0.5), "2": math.log(0.3), "T": math.log(0.2)}
    forth, back = label(chances), label(chances, order="r2,r1")
    assert forth["number"] + back["number"] == pytest.approx(1)


def test_variants_of_a_label_are_one_label():
    chances = {"1": 0.2, " 1": 0.2, "\u01201": 0.1, "\u25811": 0.1, "2": 0.3, "t": 0.05, " T": 0.05}
    found = label({token: math.log(chance) for token, chance in chances.items()})
    assert found == {"label": "r1", "number": pytest.approx(0.3 + 0.05)}


def test_the_likeliest_label_is_the_label():
    assert label({"T": math.log(0.5), "1": math.log(0.3), "2": math.log(0.2)})["label"] == "tie"
    assert label({"1": math.log(0.4), "2": math.log(0.4), "T": math.log(0.2)}) == {
        "label": "tie",
        "number": 0.5,
    }


def test_too_little_mass_on_the_labels_is_unparsed():
    enough = {"1": math.log(0.5), "The": math.log(0.4)}
    assert label(enough) == {"label": "r1", "number": 0.0}
    too_little = [{"1": math.log(0.49), "The": math.log(0.4)}]
    outcome, reason = unread("The", LABEL, logprobs=too_little)
    assert outcome == "unparsed"
    assert "0.49" in reason
    lenient = replace(LABEL, options={"label_share": 40})
    assert label(too_little[0], lenient) == {"label": "r1", "number": 0.0}


@pytest.mark.parametrize(
    "logprobs", [(), [{}], [{"1": math.nan}], [{"1": 5.0}], [{"1": "high"}], [{"1": -math.inf}]]
)
def test_log_probabilities_that_are_none_are_unparsed(logprobs):
    assert unread("1", LABEL, logprobs=logprobs)[0] == "unparsed"


def test_a_label_alone_may_be_cut_off_after_it():
    """Only its first token counts, so that a model which goes on talking is read all the same."""
    assert label({"1": -0.01}, text="1\n\nBecause", finish_reason="length")["label"] == "r1"


def test_the_verdict_s_place_follows_the_rationale():
    first, last = {"The": -0.01}, {"2": -0.01}
    before = replace(LABEL, rationale="before")
    reading = read("The first is worse.\n2", before, logprobs=[first, last])
    assert reading.data["preference"]["label"] == "r2"
    assert reading.rationale == "The first is worse."
    after = replace(LABEL, rationale="after")
    reading = read("2\nThe first is worse.", after, logprobs=[last, first])
    assert reading.data["preference"]["label"] == "r2"
    assert reading.rationale == "The first is worse."


@pytest.mark.parametrize("text", ["The first is worse.", "1\nor rather\n2", "Worse: 2", "2.", ""])
@pytest.mark.parametrize("rationale", ["before", "after"])
def test_a_label_that_does_not_stand_alone_is_no_verdict(text, rationale):
    settings = replace(LABEL, rationale=rationale)
    assert unread(text, settings, logprobs=[{"2": -0.01}, {"2": -0.01}])[0] == "unparsed"


def test_a_rationale_that_is_cut_off_is_truncated():
    for rationale in ("before", "after"):
        settings = replace(LABEL, rationale=rationale)
        assert (
            unread("1\nBecause", settings, logprobs=[{"1": -0.01}], finish_reason="length")[0] == "truncated"
        )


def test_a_label_s_refusal_is_a_refusal():
    assert unread("", LABEL, refusal="No.", logprobs=[{"1": -0.01}])[0] == "refused"


def test_other_questions_of_a_judge_by_probabilities_are_read_from_text():
    settings = replace(FORM, verdict="logprobs", one_call_per_question=True)
    checks = "\n".join(FORM_LINES.split("\n")[:4])
    assert set(read(checks, settings, step="satisfied").data) == {"satisfied"}
    reading = read("1", settings, step="preference", logprobs=[{"1": -0.01}])
    assert reading.data["preference"]["label"] == "r1"


def test_what_is_read_is_what_the_protocol_takes():
    chances = {"1": math.log(0.7), "2": math.log(0.2), "T": math.log(0.1)}
    data = read("1", LABEL, logprobs=[chances]).data
    [answer] = PAIRWISE.clean(SPEC, STIMULUS, data, source="judge")
    assert (answer.label, answer.number) == ("r1", pytest.approx(0.25))


def test_an_answer_that_the_protocol_refuses_is_unparsed():
    settings = Settings(model="m", questions=("justification",))
    outcome, reason = unread("justification: " + "a" * 20_001, settings)
    assert outcome == "unparsed"
    assert "20000" in reason
