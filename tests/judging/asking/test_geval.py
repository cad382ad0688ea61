"""G-Eval style scores: criteria and steps in the prompt, and the mean over the labels' probabilities."""

import json
import math

import pytest

from evaluation.models import Answer, Item
from evaluation.refusals import FieldsRefused, Refused
from judging.asking import asking_of
from judging.backends.base import Reply
from judging.models import Judge
from judging.parsing.rejection import ReplyRejected
from judging.prompting.settings import CannotAsk, Settings
from judging.services.estimates.run_estimate import estimate
from judging.services.judges import create_judge
from judging.services.runs.judge_runs import start_run
from tests.judging import endpoint
from tests.judging.asking.build import asked, item_call
from tests.judging.build import judged, make_judge
from tests.judging.samples import SAMPLES
from tests.judging.services.runs.test_protocol_runs import make_study

GEVAL = asking_of("geval")
STEPS = ["Read the response.", "Check its facts."]
NO_LOGPROBS = {"json_schema": True}


def geval_call(name="pairwise", **options):
    return item_call("geval", name, **{"steps": STEPS, **options})


def score(reply, **options):
    [number] = GEVAL.read(geval_call(**options), reply).data["measure:geval"].values()
    return number


def label(*places, text="4"):
    logs = [{token: math.log(chance) for token, chance in place.items()} for place in places]
    return Reply(text=text, logprobs=logs)


def test_the_prompt_holds_criteria_steps_and_one_response():
    text = asked("geval", geval_call(criterion="own", criteria="How kind it is.", step="r2"))
    assert "How kind it is." in text
    assert "1. Read the response.\n2. Check its facts." in text
    assert "Ask your doctor about coffee." in text
    assert "A cup a day is fine." not in text
    assert "one score: 1, 2, 3, 4 or 5. 1 is the worst score and 5 the best." in text


def test_references_and_context_are_shown_as_settings_and_arm_say():
    assert "The human reference." not in asked("geval", geval_call())
    with_reference = asked("geval", geval_call(settings=Settings(model="m", with_reference=True)))
    assert "The human reference." in with_reference
    assert "Answer: no" in with_reference


def test_the_expected_value_by_hand():
    # 4 at .5 and " 4" at .1, 5 at .2, a word at .1 and what is not among the likeliest at .1.
    place = {"4": 0.5, "5": 0.2, " 4": 0.1, "Four": 0.1}
    assert score(label(place)) == pytest.approx((4 * 0.6 + 5 * 0.2) / 0.8)


def test_labels_with_less_than_half_of_the_probability_are_no_score():
    with pytest.raises(ReplyRejected, match=r"have 0\.40 of the probability"):
        score(label({"The": 0.6, "4": 0.4}))
    with pytest.raises(ReplyRejected, match="No log-probabilities"):
        score(Reply(text="4"))


def test_after_reasons_the_score_is_the_last_token():
    settings = Settings(model="m", rationale="before")
    reply = label({"The": 1.0}, {"2": 0.75, "3": 0.25}, text="The facts are off.\n2")
    reading = GEVAL.read(geval_call(settings=settings), reply)
    assert reading.data == {"measure:geval": {"r1": pytest.approx(2.25)}}
    assert reading.rationale == "The facts are off."


@pytest.mark.parametrize(
    ("options", "said", "wanted"),
    [
        ({"score": "said"}, "4", 4),
        ({"able": NO_LOGPROBS}, 2, 2),
        ({"range": "0-1"}, "0.7", 0.7),
        ({"range": "0-1", "measure": "geval"}, 1, 1),
    ],
)
def test_otherwise_the_score_is_the_one_that_is_said(options, said, wanted):
    assert score(Reply(text=json.dumps({"answers": {"score": said}})), **options) == wanted


@pytest.mark.parametrize("said", ["4.5", "6", "0", "four", "", "4 of 5"])
def test_what_is_no_score_is_rejected(said):
    with pytest.raises(ReplyRejected):
        score(Reply(text=json.dumps({"answers": {"score": said}})), score="said")


@pytest.mark.parametrize("able", [{}, {"json_object": True}, {"logprobs": True}])
@pytest.mark.parametrize("rationale", ["none", "before", "after"])
@pytest.mark.parametrize("range_", ["1-5", "0-1"])
def test_the_expected_reply_is_one_that_is_read(able, rationale, range_):
    call = geval_call(able=able, range=range_, settings=Settings(model="m", rationale=rationale))
    text = GEVAL.expected(call).text
    token = {"1": 0.0}
    reply = Reply(text=text, logprobs=(token, token) if able.get("logprobs") else ())
    assert GEVAL.read(call, reply).data["measure:geval"]["r1"] in (0, 1)


def test_without_steps_nothing_is_asked():
    with pytest.raises(CannotAsk, match="no evaluation steps"):
        asked("geval", geval_call(steps=[]))


def test_a_question_of_the_study_is_answered_by_its_own_points():
    settings = Settings(model="m", questions=("factuality",))
    call = geval_call("aspects", settings=settings, step="r3")
    spec, _ = SAMPLES["aspects"]
    [question] = [each for each in spec["questions"] if each["key"] == "factuality"]
    text = asked("geval", call)
    assert question["prompt"] in text
    assert "one score: 0, 1, 2 or 3." in text
    assert f"- 0: {question['options']['0']}" in text
    data = GEVAL.read(call, label({"3": 0.5, "2": 0.5}, text="3")).data
    assert data == {"factuality": {"r3": pytest.approx(2.5)}}
    assert GEVAL.measures(call.settings) == ()


def test_scales_with_other_points_than_digits_are_answered_in_words():
    settings = Settings(model="m", questions=("formality",))
    call = geval_call("aspects", settings=settings)
    assert not GEVAL.request(call, {}).labels
    reading = GEVAL.read(call, Reply(text='{"answers": {"score": "-1"}}'))
    assert reading.data == {"formality": {"r1": -1}}


# --- runs -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def served():
    with endpoint.serve() as server:
        yield server


def numbers(run):
    return list(Answer.objects.filter(judgment__rater=run.judging.rater).values_list("question", "number"))


@pytest.mark.parametrize(
    "name", ["pairwise", "aspects", "question_quality", "ranking", "condition_calibration"]
)
def test_responses_of_any_protocol_are_scored(name, owner, served):
    study = make_study(name, owner)
    judge = make_judge(study, served, "coin", backend="geval", options={"steps": STEPS, "measure": "kind"})
    served.reset()
    run, _ = judged(study, judge)
    n = sum(len(item.stimulus["responses"]) for item in Item.objects.filter(study=study))
    assert served.total == n == len(numbers(run))
    assert {question for question, _ in numbers(run)} == {"measure:kind"}
    # The endpoint's label at .8, "1" at .1 (or "2", beside a "1" that was drawn) and so on: never a whole number.
    assert all(1 < number < 5 and not number.is_integer() for _, number in numbers(run))


def test_a_run_answers_the_study_s_own_scale(owner, served):
    study = make_study("aspects", owner)
    judge = make_judge(
        study, served, "coin", backend="geval", options={"steps": STEPS}, questions=["factuality"]
    )
    run, _ = judged(study, judge)
    assert {question for question, _ in numbers(run)} == {"factuality"}
    assert all(0 < number < 3 for _, number in numbers(run))
    assert "measures" not in run.judging.rater.about
    assert run.judging.rater.about["questions"] == ["factuality"]


def test_where_the_endpoint_gives_no_log_probabilities_the_score_is_said(owner, served):
    study = make_study("aspects", owner)
    judge = make_judge(study, served, "coin", backend="geval", options={"steps": STEPS})
    judge.endpoint.capabilities["coin"] |= {"logprobs": False}
    judge.endpoint.save()
    run, _ = judged(study, judge)
    assert numbers(run)
    assert all(number in (1, 2, 3, 4, 5) for _, number in numbers(run))


@pytest.mark.parametrize(
    ("behaviour", "outcome"), [("deaf_logprobs", "unparsed"), ("refusal", "refused"), ("filtered", "refused")]
)
def test_what_is_no_score_is_recorded_and_no_number_is_invented(behaviour, outcome, owner, served, settings):
    settings.ASSAY_RUN_UNREAD_FIRST = 0
    study = make_study("aspects", owner)
    judge = make_judge(study, served, f"coin:{behaviour}", backend="geval", options={"steps": STEPS})
    run, _ = judged(study, judge)
    assert set(run.calls.values_list("outcome", flat=True)) == {outcome}
    assert set(run.judging.rater.judgments.values_list("outcome", flat=True)) == {outcome}
    assert not numbers(run)


def test_no_run_and_no_estimate_without_steps(owner, served):
    study = make_study("pairwise", owner)
    judge = make_judge(study, served, "coin", backend="geval")
    for start in (start_run, estimate):
        with pytest.raises(Refused, match="no evaluation steps yet"):
            start(study, judge)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"questions": ["preference"]}, "a scale over the responses, or none"),
        ({"options": {"criterion": "own"}}, "none are entered"),
        ({"options": {"steps": ["Look."] * 13}}, "at most 12 steps"),
        ({"template": "{query} {responses} {format}"}, "no prompt of one's own"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(owner, served, fields, sentence):
    study = make_study("pairwise", owner)
    other = make_judge(study, served, "coin")
    with pytest.raises(FieldsRefused, match=sentence):
        create_judge(study, name="g", backend="geval", model="coin", endpoint=other.endpoint, **fields)
    assert not Judge.objects.filter(name="g").exists()


def test_a_study_of_follow_ups_alone_has_nothing_to_score(owner, served):
    study = make_study("context_validation", owner)
    with pytest.raises(FieldsRefused, match="no responses to score"):
        make_judge(study, served, "coin", backend="geval")
