"""The judges that need no server: what they say in every protocol, evenly or by length, and always the same."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from evaluation.protocols import PROTOCOLS, Kind, QuestionSpec
from evaluation.protocols.answers.parts import parts_of
from judging.backends import BACKENDS, heuristics
from judging.backends.base import StopRun
from judging.backends.heuristics import heuristic_data
from tests.judging import sample
from tests.judging.samples import EVERYTHING, QUESTIONS, SAMPLES, asked_of, make_spec, make_stimulus

LENGTHS = [name for name in SAMPLES if not name.startswith(("con", "relevance", "justification"))]


def pair(kind, texts=("a", "bb"), *, spec=None, seed=1, item_key="i", replicate=0):
    stimulus = sample.make_stimulus(texts=texts)
    spec = spec or sample.make_spec()
    return heuristic_data(BACKENDS[kind], spec, stimulus, seed=seed, item_key=item_key, replicate=replicate)


def judge(kind, name, item_key="i", *, seed=1, replicate=0, questions=(), stimulus=None):
    spec, known = SAMPLES[name]
    return heuristic_data(
        BACKENDS[kind],
        spec,
        stimulus or known,
        seed=seed,
        item_key=item_key,
        replicate=replicate,
        questions=questions,
    )


# --- pairs ----------------------------------------------------------------------------------------------------------


def test_longer_and_shorter_count_characters():
    assert pair("longer") == {"preference": "r2"}
    assert pair("shorter") == {"preference": "r1"}
    assert pair("longer", ("bb ", "bb")) == {"preference": "r1"}
    assert pair("shorter", ("", "a")) == {"preference": "r1"}


@pytest.mark.parametrize("kind", ["longer", "shorter"])
def test_equal_lengths_are_a_tie(kind):
    assert pair(kind, ("äö", "ab")) == {"preference": "tie"}


def test_random_is_even_and_reproducible():
    draws = [pair("random", item_key=f"item {n}")["preference"] for n in range(2000)]
    assert draws == [pair("random", item_key=f"item {n}")["preference"] for n in range(2000)]
    counts = Counter(draws)
    assert set(counts) == {"r1", "r2"}
    assert abs(counts["r1"] - 1000) < 3.5 * math.sqrt(500)


def test_random_depends_on_seed_item_and_replicate():
    base = [pair("random", item_key=str(n)) for n in range(64)]
    assert base != [pair("random", item_key=str(n), seed=2) for n in range(64)]
    assert base != [pair("random", item_key=str(n), replicate=1) for n in range(64)]


# --- every protocol -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SAMPLES)
def test_random_answers_everything_but_texts_as_the_protocol_takes_it(name):
    spec, stimulus = SAMPLES[name]
    wanted = {(each.key, part) for each in asked_of(spec) for part in parts_of(each, stimulus)}
    for item in range(20):
        answers = PROTOCOLS[spec["protocol"]].clean(
            spec, stimulus, judge("random", name, str(item)), source="judge"
        )
        # A set has a part per entry that is kept.
        answered = {(each.question, "" if each.kind == Kind.ENTRIES else each.part) for each in answers}
        assert answered == wanted


@pytest.mark.parametrize("name", LENGTHS)
@pytest.mark.parametrize("kind", ["longer", "shorter"])
def test_lengths_answer_what_they_say_something_about(kind, name):
    spec, stimulus = SAMPLES[name]
    answers = PROTOCOLS[spec["protocol"]].clean(spec, stimulus, judge(kind, name), source="judge")
    answered = {answer.question for answer in answers}
    assert answered == {
        each.key
        for each in asked_of(spec)
        if each.kind in (Kind.PREFERENCE, Kind.RANKING) or (each.kind, each.over) == (Kind.SCALE, "response")
    }


@pytest.mark.parametrize("name", [name for name in SAMPLES if name not in LENGTHS])
@pytest.mark.parametrize("kind", ["longer", "shorter"])
def test_where_lengths_say_nothing_the_run_stops(kind, name):
    with pytest.raises(StopRun, match="has nothing to say"):
        judge(kind, name)


def test_a_form_of_texts_alone_stops_every_heuristic():
    spec = make_spec("aspects", QUESTIONS[-1:])
    for heuristic in (each for each in heuristics() if not each.measures):
        with pytest.raises(StopRun, match="has nothing to say"):
            heuristic_data(heuristic, spec, SAMPLES["aspects"][1], seed=1, item_key="i", replicate=0)


def test_a_heuristic_may_be_limited_to_some_questions():
    assert set(judge("longer", "aspects", questions=["best", "formality"])) == {"best", "formality"}
    assert set(judge("random", "pairwise", questions=["satisfied"])) == {"satisfied"}


# --- random ---------------------------------------------------------------------------------------------------------


def test_every_question_and_part_is_drawn_for_itself():
    """Of 2,000 items, no two cells of the form go together more than chance allows."""
    drawn = [judge("random", "aspects", str(n)) for n in range(2000)]
    columns = [[data["acceptability"][part] > 1 for data in drawn] for part in ("r1", "r2", "r3")]
    columns += [
        [data["factuality"]["r1"] > 1 for data in drawn],
        [data["none_appropriate"] == 1 for data in drawn],
    ]
    for at, column in enumerate(columns):
        for other in columns[:at]:
            same = sum(a == b for a, b in zip(column, other, strict=True))
            assert abs(same - 1000) < 4 * math.sqrt(500)


def test_every_point_place_and_choice_comes_up_evenly():
    drawn = [judge("random", EVERYTHING, str(n)) for n in range(3000)]
    for values, expected in (
        ([data["grade"] for data in drawn], {-1, -0.5, 0, 0.5, 1}),
        ([data["topic"] for data in drawn], {"a", "A", "x-1"}),
        ([data["order"]["r2"] for data in drawn], {1, 2, 3}),
        ([data["best"] for data in drawn], {"r1", "r2", "r3"}),
        ([data["safe"]["r1"] for data in drawn], {0, 1}),
    ):
        counts, even = Counter(values), 3000 / len(expected)
        assert set(counts) == expected
        assert all(abs(n - even) < 4.5 * math.sqrt(even) for n in counts.values())


@pytest.mark.parametrize("name", SAMPLES)
def test_random_is_the_same_for_the_same_seed_item_and_replicate(name):
    base = [judge("random", name, str(n)) for n in range(30)]
    assert base == [judge("random", name, str(n)) for n in range(30)]
    assert base != [judge("random", name, str(n), seed=2) for n in range(30)]
    assert base != [judge("random", name, str(n), replicate=1) for n in range(30)]


# --- lengths --------------------------------------------------------------------------------------------------------


def test_the_longest_has_the_high_end_of_a_scale_and_the_rest_lie_between():
    stimulus = make_stimulus("four", "a", "seven77", "ten4567890")
    longer = judge("longer", "aspects", stimulus=stimulus)
    assert longer["best"] == "r4"
    assert longer["acceptability"] == {"r1": 1.0, "r2": 0.0, "r3": 2.0, "r4": 3.0}
    assert longer["amount_info"] == pytest.approx({"r1": -1 / 3, "r2": -1.0, "r3": 1 / 3, "r4": 1.0})
    shorter = judge("shorter", "aspects", stimulus=stimulus)
    assert shorter["best"] == "r2"
    assert shorter["acceptability"] == {"r1": 2.0, "r2": 3.0, "r3": 1.0, "r4": 0.0}


def test_equals_share_a_place_and_one_alone_has_the_middle():
    assert judge("longer", "aspects", stimulus=make_stimulus("aa", "bb", "c"))["acceptability"] == {
        "r1": 2.25, "r2": 2.25, "r3": 0.0,
    }  # fmt: skip
    assert judge("longer", "question_quality", stimulus=make_stimulus("Why?"))["clarity"] == {"r1": 5.5}


def test_rankings_go_by_length():
    stimulus = make_stimulus("four", "a", "seven77")
    assert judge("longer", "ranking", stimulus=stimulus) == {"ranking": {"r1": 2, "r2": 3, "r3": 1}}
    assert judge("shorter", "ranking", stimulus=stimulus) == {"ranking": {"r1": 2, "r2": 1, "r3": 3}}


def test_where_equals_have_no_place_the_seed_decides():
    stimulus = make_stimulus("bb", "aa", "c")
    best = [judge("longer", "aspects", str(n), stimulus=stimulus)["best"] for n in range(400)]
    assert set(best) == {"r1", "r2"}
    assert abs(best.count("r1") - 200) < 4 * math.sqrt(100)
    ranked = [judge("longer", "ranking", str(n), stimulus=stimulus)["ranking"] for n in range(400)]
    assert {(each["r1"], each["r2"], each["r3"]) for each in ranked} == {(1, 2, 3), (2, 1, 3)}
    assert judge("longer", EVERYTHING, stimulus=stimulus | {"context": SAMPLES[EVERYTHING][1]["context"]})["order"] == {
        "r1": 1.5, "r2": 1.5, "r3": 3,
    }  # fmt: skip


def test_questions_of_a_new_kind_would_be_noticed():
    """Every kind is either answered or left out on purpose."""
    for kind in Kind:
        form = {"low": 0, "high": 1, "choices": ["a", "b"]}
        over = {"over": "response"} if kind in (Kind.SCALE, Kind.CHECKLIST, Kind.RANKING) else {}
        spec = make_spec("aspects", (QuestionSpec("x", kind, "?", options={"form": form | over}),))
        if kind in (
            Kind.TEXT,
            Kind.ENTRIES,
        ):  # entries are drawn from drafts, which only their own protocol has
            continue
        data = heuristic_data(
            BACKENDS["random"], spec, SAMPLES["aspects"][1], seed=1, item_key="i", replicate=0
        )
        assert set(data) == {"x"}
