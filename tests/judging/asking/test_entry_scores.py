"""Condition and answer scores, citation recall and answer count of sets of entries against a reference set."""

import json

import pytest

from evaluation.models import Answer, Item
from evaluation.protocols.entries.references import reference_set, response_set
from evaluation.protocols.entries.sets import write_set
from evaluation.refusals import FieldsRefused
from judging.asking import asking_of
from judging.backends.base import Reply, Unmeasurable
from judging.backends.scores.entry_overlap import overlap_numbers
from judging.parsing.rejection import ReplyRejected
from judging.prompting.settings import Settings
from judging.services.estimates.run_estimate import estimate
from judging.services.judges import create_judge, heuristic_judge
from tests.judging import endpoint
from tests.judging.asking.build import asked, item_call
from tests.judging.build import judged, make_judge
from tests.judging.samples import SAMPLES, make_stimulus
from tests.judging.services.runs.test_protocol_runs import make_study

SCORES = asking_of("entry_scores")
NAME = "condition_calibration"
SUFFIXES = ("condition_score", "answer_score", "condition_score_greedy", "answer_score_greedy")
OF_ENTRIES = ("entry_condition_score", "entry_answer_score", "entry_citation_recall")


def entry(condition, answer="Yes", citations=()):
    return {"condition": condition, "answers": [answer], "citations": list(citations), "reason": ""}


def compared(sets, reference, **more):
    """An item whose responses are these sets, beside a reference set, with nine fragments to cite."""
    stimulus = make_stimulus(*map(write_set, sets))
    fragments = [{"title": str(n), "snippet": f"Fragment {n}."} for n in range(1, 10)]
    stimulus["query"] |= {"references": ["In words.", *reference], "documents": fragments, **more}
    return stimulus


GIVEN = [entry("planet", citations=[1, 2]), entry("metal", "No", [5]), entry("singer", "Maybe")]
REFERENCE = [entry("the planet", citations=[2, 5]), entry("the metal", citations=[7, 9])]


def call_of(sets=(GIVEN,), reference=({"entries": REFERENCE},), **more):
    return item_call("entry_scores", NAME, stimulus=compared(sets, reference), **more)


def replied(conditions, answers):
    """A reply with scores of each entry by each reference entry."""
    matrices = {"condition": conditions, "answer": answers}
    return {
        name: {
            f"entry_{row}": {f"reference_{column}": str(score) for column, score in enumerate(scores, 1)}
            for row, scores in enumerate(matrix, 1)
        }
        for name, matrix in matrices.items()
    }


def scored(call, conditions, answers):
    reading = SCORES.read(call, Reply(text=json.dumps({"answers": replied(conditions, answers)})))
    return {name.removeprefix("measure:"): parts for name, parts in reading.data.items()}


# --- no model ---------------------------------------------------------------------------------------------------------


def test_recall_and_count_by_hand():
    numbers = overlap_numbers(compared([GIVEN], [{"entries": REFERENCE}]))
    assert numbers == {
        "measure:citation_recall": {"r1": 0.5},
        "measure:answer_count_difference": {"r1": 1},
        "measure:answer_count": {"r1": len(GIVEN)},
    }


def test_quotations_are_compared_by_their_text():
    book = {"title": "A book", "text": "It is  so."}
    other = {"title": "The same book", "text": "It is so."}
    numbers = overlap_numbers(
        compared([[entry("x", citations=[book])]], [{"entries": [entry("y", citations=[other])]}])
    )
    assert numbers["measure:citation_recall"] == {"r1": 1}


def test_a_reference_that_cites_nothing_has_no_recall():
    numbers = overlap_numbers(compared([GIVEN, []], [{"entries": [entry("planet")]}]))
    assert numbers == {
        "measure:answer_count_difference": {"r1": 2, "r2": 1},
        "measure:answer_count": {"r1": 3, "r2": 0},
    }


def test_what_there_is_to_compare_with_is_the_first_reference_that_is_a_set():
    as_text = write_set(REFERENCE)
    for reference in ({"entries": REFERENCE}, as_text, {"text": as_text}):
        found = reference_set(compared([GIVEN], [reference, {"entries": GIVEN}]))
        assert [each["condition"] for each in found] == ["the planet", "the metal"]
    for nothing in (
        [],
        ["In words."],
        [{"entries": []}],
        [{"entries": [entry("x", citations=[99])]}],
        ['{"a": 1}'],
    ):
        stimulus = compared([GIVEN], nothing)
        assert reference_set(stimulus) is None
        with pytest.raises(Unmeasurable, match="no reference that is a set"):
            overlap_numbers(stimulus)
        with pytest.raises(Unmeasurable, match="no reference that is a set"):
            asked("entry_scores", item_call("entry_scores", NAME, stimulus=stimulus))


def test_a_response_in_words_is_no_set():
    stimulus = {**compared([GIVEN], [{"entries": REFERENCE}]), **make_only_words()}
    assert response_set(stimulus, "r1") is None
    with pytest.raises(Unmeasurable, match="no set of entries"):
        overlap_numbers(stimulus)


def make_only_words():
    return {"responses": make_stimulus("Just words.")["responses"]}


# --- asked of a model -------------------------------------------------------------------------------------------------


def test_all_pairs_are_asked_in_one_call():
    call = call_of()
    request = SCORES.request(call, {})
    conditions = request.schema["properties"]["answers"]["properties"]["condition"]["properties"]
    assert {name: list(each["properties"]) for name, each in conditions.items()} == {
        f"entry_{n}": ["reference_1", "reference_2"] for n in (1, 2, 3)
    }
    text = asked("entry_scores", call)
    assert "Entry 2\nCondition: metal\nAnswer: No" in text
    assert "Reference 1\nCondition: the planet" in text
    assert "Fragment 3." not in text


CONDITIONS, ANSWERS = [[9, 8], [8, 0], [1, 1]], [[9, 8], [8, 0], [1, 1]]


def test_optimal_matching_beside_the_greedy_one_by_hand():
    assert scored(call_of(), CONDITIONS, ANSWERS) == {
        # The first entry with the second reference, the second with the first; the third, unmatched, counts 0.
        "condition_score": {"r1": pytest.approx(1.6 / 3)},
        "answer_score": {"r1": pytest.approx(1.6 / 3)},
        # The first entry takes the first reference, the second what is left.
        "condition_score_greedy": {"r1": pytest.approx(0.45)},
        "answer_score_greedy": {"r1": pytest.approx(0.45)},
        "entry_condition_score": {"e1.r1": 0.8, "e2.r1": 0.8, "e3.r1": 0},
        "entry_answer_score": {"e1.r1": 0.8, "e2.r1": 0.8, "e3.r1": 0},
        # {1, 2} beside {7, 9}, and {5} beside {2, 5}.
        "entry_citation_recall": {"e1.r1": 0, "e2.r1": 0.5, "e3.r1": 0},
    }


def test_a_perfect_set_scores_one_whatever_its_order():
    found = scored(call_of(sets=(REFERENCE[::-1],)), [[0, 10], [10, 0]], [[0, 10], [10, 0]])
    assert {name: found[name] for name in SUFFIXES} == {name: {"r1": 1.0} for name in SUFFIXES}
    assert found["entry_condition_score"] == {"e1.r1": 1, "e2.r1": 1}


def test_conditions_and_answers_are_those_of_the_same_pairs():
    # Answers weigh more: the entry goes with the reference whose answer it has.
    found = scored(call_of(sets=([entry("x")],)), [[10, 2]], [[0, 10]])
    assert found["condition_score_greedy"] == {"r1": 0.2}
    assert found["answer_score"] == {"r1": 0.5}


def test_entries_whose_conditions_were_given_are_held_against_these():
    swapped = [entry("the planet", "No"), entry("the metal", "Yes")]
    reference = [entry("the planet", "Yes"), entry("the metal", "No")]
    call = call_of(sets=(swapped,), reference=({"entries": reference},))
    found = scored(call, [[10, 0], [0, 10]], [[0, 10], [10, 0]])
    assert (found["answer_score"], found["answer_score_greedy"]) == ({"r1": 0.0}, {"r1": 0.0})
    assert found["entry_answer_score"] == {"e1.r1": 0, "e2.r1": 0}
    # Said in words of its own, the other condition's answer is what fits best.
    own = [entry("planet", "No"), entry("metal", "Yes")]
    found = scored(
        call_of(sets=(own,), reference=({"entries": reference},)), [[9, 0], [0, 9]], [[0, 10], [10, 0]]
    )
    assert found["answer_score"] == {"r1": 1.0}


def test_one_of_two_given_conditions_leaves_the_other_unanswered():
    reference = [entry("the planet", "Yes"), entry("the metal", "No")]
    call = call_of(sets=([entry("the metal", "No")],), reference=({"entries": reference},))
    found = scored(call, [[0, 10]], [[0, 10]])
    assert found["answer_score"] == {"r1": 0.5}


def test_without_conditions_there_is_no_condition_score():
    bare = [entry("", "Yes"), entry("", "No")]
    call = call_of(sets=(bare,))
    assert "condition" not in SCORES.request(call, {}).schema["properties"]["answers"]["properties"]
    reply = {"answer": replied([], [[0, 8], [6, 0]])["answer"]}
    reading = SCORES.read(call, Reply(text=json.dumps({"answers": reply})))
    found = {name.removeprefix("measure:"): parts for name, parts in reading.data.items()}
    assert found["answer_score"] == {"r1": 0.7}
    assert not any("condition" in name for name in found)


def test_a_response_without_entries_scores_nothing_and_is_not_asked_about():
    stimulus = compared([[], GIVEN], [{"entries": REFERENCE}])
    call = item_call("entry_scores", NAME, stimulus=stimulus, step="r2")
    assert SCORES.steps(call.protocol, call.spec, stimulus, call.settings) == ("r2",)
    assert scored(call, CONDITIONS, ANSWERS)["condition_score"] == {"r1": 0, "r2": pytest.approx(1.6 / 3)}
    empty = item_call("entry_scores", NAME, stimulus=compared([[]], [{"entries": REFERENCE}]))
    assert SCORES.steps(empty.protocol, empty.spec, empty.stimulus, empty.settings) == ("r1",)
    with pytest.raises(Unmeasurable, match="No response has any entry"):
        asked("entry_scores", empty)


def test_an_empty_set_has_a_condition_score_where_its_setting_has_conditions():
    """The systems are aspen, which found no condition, and birch and cedar, which were to give none."""
    bare = [entry("", "Yes")]
    settings = Settings(model="m", without_conditions=frozenset({"birch", "cedar"}))
    stimulus = compared([[], [], bare, GIVEN], [{"entries": REFERENCE}])
    for response, system in zip(stimulus["responses"], ("aspen", "birch", "cedar", "dahlia"), strict=True):
        response["system"] = system
    found = scored(
        item_call("entry_scores", NAME, stimulus=stimulus, step="r4", settings=settings), CONDITIONS, ANSWERS
    )
    assert found["condition_score"] == {"r1": 0, "r4": pytest.approx(1.6 / 3)}
    assert found["condition_score_greedy"].keys() == {"r1", "r4"}
    assert found["answer_score"] == {"r1": 0, "r2": 0, "r4": pytest.approx(1.6 / 3)}
    call = item_call("entry_scores", NAME, stimulus=stimulus, step="r3", settings=settings)
    reply = {"answer": replied([], [[10, 0]])["answer"]}
    data = SCORES.read(call, Reply(text=json.dumps({"answers": reply}))).data
    assert data["measure:condition_score"] == {"r1": 0}
    assert data["measure:answer_score"] == {"r1": 0, "r2": 0, "r3": 0.5}


def test_very_large_sets_are_not_asked_about_in_one_call():
    many = [entry(f"reading {n}") for n in range(11)]
    with pytest.raises(Unmeasurable, match="110 pairs, and at most 100"):
        asked("entry_scores", call_of(sets=(many,), reference=({"entries": many[:10]},)))


def test_there_is_room_for_all_pairs():
    ten = [entry(f"reading {n}") for n in range(10)]
    call = call_of(sets=(ten,), reference=({"entries": ten},))
    limit = SCORES.request(call, {}).parameters["max_tokens"]
    assert SCORES.expected(call).tokens < limit
    assert SCORES.request(call_of(), {}).parameters["max_tokens"] == 1024


@pytest.mark.parametrize("able", [{"json_schema": True}, {"json_object": True}, {}])
@pytest.mark.parametrize("rationale", ["none", "before", "after"])
def test_the_expected_reply_is_one_that_is_read(able, rationale):
    call = call_of(able=able, settings=Settings(model="m", rationale=rationale))
    data = SCORES.read(call, Reply(text=SCORES.expected(call).text)).data
    assert {name.removeprefix("measure:") for name in data} == {*SUFFIXES, *OF_ENTRIES}


@pytest.mark.parametrize(
    ("conditions", "answers"),
    [
        ([[9, 8], [8, 0]], ANSWERS),
        ([[11, 8], [8, 0], [1, 1]], ANSWERS),
        ([["x", 8], [8, 0], [1, 1]], ANSWERS),
    ],
)
def test_missing_and_strange_scores_are_rejected(conditions, answers):
    with pytest.raises(ReplyRejected):
        scored(call_of(), conditions, answers)


# --- runs -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def served():
    with endpoint.serve() as server:
        yield server


@pytest.fixture
def study(owner):
    """A live calibration of two drafted sets per query, each query with a reference set."""
    study = make_study(NAME, owner)
    for item in Item.objects.filter(study=study):
        item.stimulus["query"]["references"] = [
            {"entries": [entry("As a drink", "Yes, in moderation", [1, 2])]}
        ]
        item.save()
    return study


def numbers(run):
    rows = Answer.objects.filter(judgment__rater=run.judging.rater)
    return {(item, key, part): number for item, key, part, number in rows.values_list(
        "judgment__item", "question", "part", "number"
    )}  # fmt: skip


def test_a_run_gives_every_set_its_four_scores_and_every_entry_three(study, served):
    judge = make_judge(study, served, "coin", backend="entry_scores")
    told = estimate(study, judge)
    served.reset()
    run, _ = judged(study, judge)
    items = Item.objects.filter(study=study)
    assert told.calls == served.total == 2 * len(items)
    found = numbers(run)
    parts = dict.fromkeys(SUFFIXES, ("r1", "r2")) | dict.fromkeys(OF_ENTRIES, ("e1.r1", "e2.r1", "e1.r2"))
    assert set(found) == {
        (item.pk, f"measure:{name}", part) for item in items for name, of in parts.items() for part in of
    }
    assert all(0 <= number <= 1 for number in found.values())
    # Two entries against one: half of what the matched one has, at most.
    assert all(found[item.pk, "measure:condition_score", "r1"] <= 0.5 for item in items)
    assert run.judging.rater.about["reference"]


def test_the_overlap_needs_no_model(study):
    run, _ = judged(study, heuristic_judge(study, "entry_overlap"))
    found = numbers(run)
    item = Item.objects.filter(study=study).first().pk
    assert found[item, "measure:answer_count_difference", "r1"] == 1
    assert found[item, "measure:answer_count", "r1"] == 2
    assert found[item, "measure:citation_recall", "r1"] == 0.5
    assert run.calls.filter(outcome="ok").count() == Item.objects.filter(study=study).count()


def test_a_system_s_sets_are_the_reference(owner, served):
    study = make_study(NAME, owner)
    first, second = study.systems.order_by("pk")
    for item in Item.objects.filter(study=study):
        item.stimulus["responses"] = item.stimulus["responses"][:1]
        item.save()
    judge = create_judge(study, name="overlap", backend="entry_overlap", reference_from=second.key)
    run, _ = judged(study, judge)
    assert set(run.judging.rater.judgments.values_list("outcome", flat=True)) == {"ok"}
    assert {part for _, _, part in numbers(run)} == {"r1"}
    own = create_judge(study, name="own", backend="entry_overlap", reference_from=first.key)
    run, _ = judged(study, own)
    assert set(run.judging.rater.judgments.values_list("outcome", flat=True)) == {"failed"}


def test_items_without_a_reference_set_fail_and_nothing_is_sent(owner, served):
    study = make_study(NAME, owner)
    judge = make_judge(study, served, "coin", backend="entry_scores")
    served.reset()
    run, _ = judged(study, judge)
    assert (run.state, served.total) == ("complete", 0)
    assert set(run.calls.values_list("error", flat=True)) == {
        "The query has no reference that is a set of entries."
    }


def test_unreadable_replies_are_recorded_and_no_score_is_invented(study, served, settings):
    settings.ASSAY_RUN_UNREAD_FIRST = 0
    run, _ = judged(study, make_judge(study, served, "coin:truncated", backend="entry_scores"))
    assert set(run.calls.values_list("outcome", flat=True)) == {"truncated"}
    assert not numbers(run)


def test_only_sets_of_entries_have_these_scores(owner, served):
    study = make_study("pairwise", owner)
    with pytest.raises(FieldsRefused, match="sets of condition-answer-citation entries"):
        make_judge(study, served, "coin", backend="entry_scores")
    spec, _ = SAMPLES["pairwise"]
    assert spec["protocol"] == study.protocol
