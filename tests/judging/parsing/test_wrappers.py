"""Known wrappers around a verdict: it is read where exactly one stands there, and never in the thoughts before it."""

import json
import random
import time
from collections import Counter
from pathlib import Path

import pytest

from evaluation.protocols import PROTOCOLS, Kind
from judging.backends.base import Reply
from judging.parsing.rejection import ReplyRejected
from judging.parsing.reply import read_reply
from judging.parsing.wrappers import said_in
from judging.prompting.item_call import ItemCall
from judging.prompting.settings import Settings
from tests.judging.sample import ABLE, PAIRWISE, make_spec, make_stimulus
from tests.judging.samples import SAMPLES, as_answers, as_lines, asked_of, intended, orders_of, spoken

THOUGHTS = 'Maybe {"answers": {"preference": "2"}}? No.\npreference: 2\n'
JSON = '{"rationale": "The first answers.", "answers": {"preference": "1"}}'
BARE = '{"answers": {"preference": "1"}}'
FENCED = f"```json\n{BARE}\n```"


def read(text, *, rationale="none", finish_reason="stop"):
    """The canonical label that is read, or the reason why nothing is."""
    settings = Settings(model="m", questions=("preference",), rationale=rationale)
    call = ItemCall(PAIRWISE, make_spec(), make_stimulus(), settings, order="r1,r2", capabilities=ABLE)
    try:
        return read_reply(call, Reply(text=text, finish_reason=finish_reason)).data["preference"]
    except ReplyRejected as rejected:
        return str(rejected)


# The rows of the table in docs/judges.md.
READ = {
    "thoughts in tags before it": f"<think>\n{THOUGHTS}</think>\n\n{BARE}",
    "other tags": f"<reasoning>{THOUGHTS}</reasoning>{BARE}",
    "thoughts of which the server keeps the opening tag": f"\n{THOUGHTS}</think>\n\n{BARE}",
    "thoughts before lines": f"<think>{THOUGHTS}</think>\npreference: 1",
    "a further block behind it": f"<think>{THOUGHTS}</think>\n{BARE}\n<reasoning>It is better.</reasoning>",
    "a further block before it": f"<think>x</think>\n<think>{THOUGHTS}</think>\npreference: 1",
    "a further block behind lines": f"{THOUGHTS}</think>\npreference: 1\n<thought>\n{THOUGHTS}</thought>",
    "a closing tag at the very end": f"<think>{THOUGHTS}</think>\n{BARE}\n</think>",
    "a fence": FENCED,
    "a fence without a language": f"```\n{BARE}\n```",
    "a fence with Windows' line ends": FENCED.replace("\n", "\r\n"),
    "a fence in prose": f"Here is my verdict:\n\n{FENCED}\n\nI hope this helps!",
    "one object in prose": f"My verdict is {BARE}. The rest is style.",
    "a name in bold": "**preference:** 1",
    "a name in bold, the colon outside": "**preference**: 1",
    "a line in bold": "**preference: 1**",
    "a value in bold": "preference: **1**",
    "a value in italics": "preference: *1*",
    "a value in code": "preference: `1`",
}
NOT_READ = {
    "thoughts alone": f"<think>{THOUGHTS}</think>",
    "thoughts that do not end": f"<think>{THOUGHTS}{BARE}",
    "a verdict in the thoughts alone": f"<think>{THOUGHTS}</think>\nI can't decide.",
    "a verdict in thoughts that speak of their tag": f"<think>No </think> yet: {BARE}\n</think>\nI can't decide.",
    "a verdict between two closing tags": f"Hm.\n</think>\n{BARE}\n</think>\nI can't decide.",
    "a verdict in thoughts without an opening tag": "preference: 2\n</think>\nI can't decide.",
    "a verdict before the last of two closing tags": f"<think>No </think> yet: {BARE}\n</think>",
    "a verdict in a further block": f"<think>x</think>\nI can't decide.\n<think>{BARE}</think>\nNo.",
    "a verdict in a further block within a line": f"<think>x</think>\nHm. <think>{BARE}</think>\nNo.",
    "a verdict in a further block that does not end": f"<think>x</think>\nI can't decide.\n<think>\n{BARE}",
    "a verdict in the line that the second closing tag ends": f"<think>x </think>\n{BARE}. No.</think>\nHm.",
    "two objects": f'{BARE}\n{{"answers": {{"preference": "2"}}}}',
    "two objects in prose": f'Either {BARE} or {{"answers": {{"preference": "2"}}}}.',
    "an object and a line": f"{BARE}\npreference: 2",
    "two lines": "preference: 1\npreference: 2",
    "lines in a fence": "```\npreference: 1\n```",
    "prose that names one": "I prefer Response 1, clearly.",
}


# Each row of the table by its beginning, with what of it is read and what is not.
DOCUMENTED = {
    "thoughts at the very beginning": (
        ["thoughts in tags before it", "other tags", "thoughts of which the server keeps the opening tag",
         "thoughts before lines", "a further block behind it"],
        ["a verdict in the thoughts", "a verdict in a further block", "thoughts that do not end", "thoughts alone"],
    ),
    "a fence": (
        ["a fence", "a fence without a language", "a fence with Windows' line ends"], ["lines in a fence"]
    ),
    "prose around one JSON object": (
        ["a fence in prose", "one object in prose"], ["two objects in prose", "an object and a line"]
    ),
    "bold, italics or code": (
        ["a name in bold", "a line in bold", "a value in bold", "a value in italics", "a value in code"],
        ["prose that names one"],
    ),
}  # fmt: skip


def test_the_documentation_s_rows_are_those_that_are_tested():
    page = (Path(__file__).parents[3] / "docs" / "judges.md").read_text("utf-8")
    table = page.partition("| Around the verdict | Read | Not read |\n")[2].partition("\n\n")[0]
    rows = [line.split("|")[1].strip() for line in table.splitlines()[1:]]
    assert len(rows) == len(DOCUMENTED)
    for row, (beginning, (read_so, not_read)) in zip(rows, DOCUMENTED.items(), strict=True):
        assert row.startswith(beginning)
        assert all(any(name.startswith(each) for name in READ) for each in read_so)
        assert all(any(name.startswith(each) for name in NOT_READ) for each in not_read)


@pytest.mark.parametrize("text", READ.values(), ids=READ)
def test_a_known_wrapper_is_seen_through(text):
    assert read(text) == "r1"


@pytest.mark.parametrize("text", NOT_READ.values(), ids=NOT_READ)
def test_what_says_nothing_or_two_things_is_not_read(text):
    assert read(text) not in ("r1", "r2", "tie")


def test_a_tag_within_the_rationale_stays():
    said = "It writes <think> and </think> in its text."
    assert read(json.dumps({"rationale": said, "answers": {"preference": "1"}}), rationale="before") == "r1"
    assert read(f"Rationale: {said}\npreference: 1", rationale="before") == "r1"


def test_a_reason_that_speaks_of_the_tag_at_its_line_s_end_stays():
    text = "<think>x</think>\nReason: it never closes its </think>\npreference: 1"
    assert said_in(Reply(text=text)) == "Reason: it never closes its </think>\npreference: 1"
    assert read(text, rationale="before") == "r1"


def test_many_tags_take_no_time():
    began = time.perf_counter()
    for each in ("<think>\n", "<think>a", "</think> ", "a</think>\n", "<think>\n</reasoning>\n"):
        said_in(Reply(text="<think>x</think>\n" + each * 50_000))
    assert time.perf_counter() - began < 2


def test_a_rationale_that_holds_another_verdict_in_json_is_not_read():
    assert "in lines and as JSON" in read(f"See {BARE.replace('1', '2')}\npreference: 1", rationale="before")


# --- made replies -----------------------------------------------------------------------------------------------------

EVERY_ORDER = [(name, order) for name, (_, stimulus) in SAMPLES.items() for order in orders_of(stimulus)]
RATIONALE = "It names the risk, and Response 2 does not."
TAGGED = (
    "<think>{}</think>\n",
    "<Reasoning>\n{}\n</Reasoning>",
    "{}\n</think>\n",
    "<think>They say </think> of it.\n{}\n</think>\n\n",
)
BEHIND = ("", "", "", "\n<reasoning>{}</reasoning>", "\n<think>\n{}\n</think>", "\n<thought>{}")
AROUND_JSON = (
    "{}",
    "```json\n{}\n```",
    "```\r\n{}\r\n```",
    "Sure!\n\n```json\n{}\n```\nThat is all.",
    "I weighed both. {}",
    "{} I hope this helps!",
)
AROUND_LINES = ("{}: {}", "**{}:** {}", "{}: **{}**", "**{}: {}**", "{} : `{}`", "- {}: {}")


def answers_of(name, text, order, settings):
    """What is read, by question and part; None where nothing is."""
    spec, stimulus = SAMPLES[name]
    protocol = PROTOCOLS[spec["protocol"]]
    reply = Reply(text=text, finish_reason="stop")
    try:
        found = read_reply(ItemCall(protocol, spec, stimulus, settings, order=order), reply).data
    except ReplyRejected:
        return None
    cleaned = protocol.clean(spec, stimulus, found, source="judge")
    return {
        (each.question, each.part): each.label or each.text if each.number is None else each.number
        for each in cleaned
    }


def made_reply(rng, said, rationale):
    """Answers in any of the forms and wrappers."""
    if rng.random() < 0.5:
        answers = {"answers": as_answers(said)}
        reasons = {"rationale": RATIONALE}
        whole = {"none": answers, "before": reasons | answers, "after": answers | reasons}[rationale]
        return rng.choice(AROUND_JSON).format(json.dumps(whole, indent=rng.choice((None, 2))))
    around = rng.choice(AROUND_LINES)
    lines = "\n".join(around.format(".".join(path), value) for path, value in said.items())
    reasons = f"Rationale: {RATIONALE}"
    return {"none": lines, "before": f"{reasons}\n{lines}", "after": f"{lines}\n{reasons}"}[rationale]


def test_of_two_thousand_made_replies_none_is_read_wrongly():
    """Each has known answers, of every kind of question, and may have thoughts before it that say otherwise."""
    rng = random.Random(1)
    read_right, kinds = Counter(), set()
    for turn in range(2000):
        name, order = EVERY_ORDER[turn % len(EVERY_ORDER)]
        spec, stimulus = SAMPLES[name]
        wanted, other = (intended(spec, stimulus, n) for n in rng.sample(range(4), 2))
        rationale = rng.choice(("none", "before", "after"))
        text = made_reply(rng, spoken(spec, stimulus, order, wanted), rationale)
        if rng.random() < 0.6:
            otherwise = spoken(spec, stimulus, order, other)
            thought = rng.choice(
                (as_lines(otherwise), json.dumps({"answers": as_answers(otherwise)}), "Well. {")
            )
            behind = rng.choice(BEHIND).replace("{}", thought)
            text = rng.choice(TAGGED).replace("{}", thought) + text + behind
        found = answers_of(name, text, order, Settings(model="m", rationale=rationale))
        assert found is None or found == pytest.approx(wanted), text
        read_right[name] += found is not None
        kinds |= {each.kind for each in asked_of(spec)}
    assert kinds == {*Kind} - {Kind.TEXT}
    assert (
        min(
            read_right[name] / (2000 * len(orders_of(SAMPLES[name][1])) / len(EVERY_ORDER))
            for name in SAMPLES
        )
        > 0.7
    )
    assert read_right.total() > 1600


def test_of_made_labels_with_log_probabilities_none_is_read_wrongly():
    rng = random.Random(2)
    labels = {"1": "r1", "2": "r2", "T": "tie"}
    read_right = 0
    for _ in range(300):
        verdict, other = rng.sample(list(labels), 2)
        likely = {rng.choice((verdict, f" {verdict}", verdict.lower())): -0.1, other: -3.0, "Well": -4.0}
        unlikely = {other: -0.2, verdict: -2.0}
        rationale = rng.choice(("none", "before", "after"))
        text = {"none": verdict, "before": f"{RATIONALE}\n{verdict}", "after": f"{verdict}\n{RATIONALE}"}[
            rationale
        ]
        places = {"none": (likely,), "before": (unlikely, likely), "after": (likely, unlikely)}[rationale]
        if rng.random() < 0.5:
            behind = rng.choice(BEHIND).replace("{}", other)
            text = rng.choice(TAGGED).replace("{}", other) + text + behind
            places = (unlikely, likely if rationale != "after" else unlikely)
            if behind:
                places = (likely, unlikely)
        settings = Settings(model="m", questions=("preference",), rationale=rationale, verdict="logprobs")
        call = ItemCall(PAIRWISE, make_spec(), make_stimulus(), settings, order="r1,r2", capabilities=ABLE)
        try:
            found = read_reply(call, Reply(text=text, finish_reason="stop", logprobs=places)).data[
                "preference"
            ]
        except ReplyRejected:
            continue
        assert found["label"] == labels[verdict], text
        read_right += 1
    assert read_right > 150
