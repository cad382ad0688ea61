"""How a judge is asked for a grade, how its reply is read, and what judges without a model grade."""

import json

import pytest

from evaluation.protocols import Kind, QuestionSpec, get_protocol
from judging.backends import BACKENDS
from judging.backends.base import Reply
from judging.backends.heuristics import heuristic_data
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


def spec_of(points: int = 5, *, ties: bool = True) -> dict:
    options = {"tie": "Equal", "2": "miles better", "form": {"points": points, "ties": ties}}
    return make_spec("pairwise", (QuestionSpec("preference", Kind.PREFERENCE, "Which?", options=options),))


def prompt(spec: dict, settings: Settings = JUDGE, order: str = "r1,r2") -> str:
    able = {"logprobs": True, "top_logprobs": 20}
    request = build_request(
        ItemCall(PAIRWISE, spec, STIMULUS, settings, order=order, step="", capabilities=able)
    )
    return "\n".join(message["content"] for message in request.messages)


def read(
    text: str, spec: dict, *, order: str = "r1,r2", settings: Settings = JUDGE, **reply: object
) -> tuple:
    found = read_reply(ItemCall(PAIRWISE, spec, STIMULUS, settings, order=order), Reply(text=text, **reply))
    (answer,) = found.answers
    return answer.label, answer.number


def test_every_point_is_named_with_the_response_that_it_is_for():
    asked = prompt(spec_of())
    assert "Answer with one of the points 1, 2, 3, 4 or 5:" in asked
    points = [line for line in asked.splitlines() if line.startswith(("- 1", "- 2", "- 3", "- 4", "- 5"))]
    assert points == [
        "- 1: Response 1 is miles better",
        "- 2: Response 1 is slightly better",
        "- 3: Equal",
        "- 4: Response 2 is slightly better",
        "- 5: Response 2 is miles better",
    ]
    four = [
        line for line in prompt(spec_of(ties=False), order="r2,r1").splitlines() if line.startswith("- 4")
    ]
    assert four == ["- 4: Response 2 is miles better"]


@pytest.mark.parametrize(
    ("said", "order", "stored"),
    [
        ("1", "r1,r2", ("r1", -2.0)),
        ("1", "r2,r1", ("r2", 2.0)),
        ("4", "r1,r2", ("r2", 1.0)),
        ("4", "r2,r1", ("r1", -1.0)),
        ("3", "r2,r1", ("tie", 0.0)),
    ],
)
def test_a_point_is_read_in_the_order_that_was_shown(said, order, stored):
    assert read(f"preference: {said}", spec_of(), order=order) == stored
    assert read(json.dumps({"answers": {"preference": int(said)}}), spec_of(), order=order) == stored


@pytest.mark.parametrize("said", ["0", "6", "-2", "tie", "Response 1", "3.5", "1 or 2", ""])
def test_nothing_else_is_a_point(said):
    with pytest.raises(ReplyRejected):
        read(f"preference: {said}", spec_of())


def test_without_ties_there_is_no_middle():
    assert read("preference: 3", spec_of(ties=False), order="r1,r2") == ("r2", 1.0)
    with pytest.raises(ReplyRejected):
        read("preference: 5", spec_of(ties=False))


def test_log_probabilities_give_a_label_and_no_grade():
    """A probability would be read as a grade near a tie."""
    asked = prompt(spec_of(), LABELS)
    assert "one of the labels 1, 2 or T alone" in asked
    assert "much better" not in asked
    place = {"1": -0.1, "2": -3.0, "T": -4.0}
    assert read("1", spec_of(), order="r2,r1", settings=LABELS, logprobs=[place]) == ("r2", None)


def graded(kind: str, *texts: str, points: int = 7, ties: bool = True, **where: object) -> float:
    where = {"seed": 1, "item_key": "a", "replicate": 0, **where}
    return heuristic_data(BACKENDS[kind], spec_of(points, ties=ties), make_stimulus(*texts), **where)[
        "preference"
    ]


def test_lengths_are_graded_by_the_share_that_is_missing():
    assert graded("longer", "aaaa", "a") == -3  # three quarters are missing
    assert graded("shorter", "aaaa", "a") == 3
    assert graded("longer", "aaaa", "aaaaa") == 1
    assert graded("longer", "aaaaaa", "aaaa") == -1  # a third of them
    assert graded("longer", "", "a") == 3
    assert graded("longer", "aa", "bb") == 0
    assert abs(graded("longer", "aa", "bb", ties=False)) == 1


def test_random_grades_come_up_evenly_and_are_never_a_tie():
    drawn = [graded("random", "a", "b", points=5, item_key=str(number)) for number in range(400)]
    assert {grade: 70 < drawn.count(grade) < 130 for grade in (-2, -1, 1, 2)} == dict.fromkeys(
        (-2, -1, 1, 2), True
    )
    assert len(drawn) == sum(drawn.count(grade) for grade in (-2, -1, 1, 2))
