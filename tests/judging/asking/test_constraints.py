"""Constraint counting: one number per response or one for each follow-up question, and nothing where none is known."""

import json

import pytest
from django.urls import reverse

from evaluation.models import Answer, Item
from evaluation.refusals import FieldsRefused
from evaluation.services.studies.creation import PAPER_ARMS
from evaluation.services.studies.verification import verify_study
from judging.asking import asking_of
from judging.backends.base import Reply, Unmeasurable
from judging.parsing.rejection import ReplyRejected
from judging.prompting.settings import Settings
from judging.selectors import describe
from judging.services.estimates.run_estimate import estimate
from judging.services.judges import create_judge
from judging.services.runs.extension import extendable_run
from judging.services.runs.reply_examples import readable_example
from tests.crowd import make_crowd_study
from tests.judging import endpoint
from tests.judging.asking.build import asked, item_call
from tests.judging.build import judged, make_judge
from tests.judging.samples import SAMPLES

CONSTRAINTS = asking_of("constraints")
PERS = ("share", "count", "question")


def said(values, call):
    text = json.dumps({"answers": values})
    return CONSTRAINTS.read(call, Reply(text=text)).data


def test_the_prompt_holds_one_response_and_the_answers_that_are_known():
    text = asked("constraints", item_call("constraints", step="r2"))
    assert "Ask your doctor about coffee." in text
    assert "A cup a day is fine." not in text
    assert "Question: Are you ill?\n   Answer: no" in text
    assert "a number from 0 to 2" in text
    assert "The human reference." not in text


def test_arms_that_hide_the_context_from_people_show_it_to_the_counter():
    spec, _ = SAMPLES["pairwise"]
    hidden = spec | {"arms": [{**spec["arms"][0], "context_at_judging": False}]}
    assert "Answer: no" in asked("constraints", item_call("constraints", spec=hidden))


def test_count_share_and_each_of_the_same_reply():
    assert said({"satisfied": "1"}, item_call("constraints", step="r2")) == {
        "measure:constraints": {"r2": 0.5}
    }
    assert said({"satisfied": 2}, item_call("constraints", per="count")) == {"measure:constraints": {"r1": 2}}
    each = item_call("constraints", step="r2", per="question", measure="heeded")
    assert said({"follow_up_1": "no", "follow_up_2": "yes"}, each) == {
        "measure:heeded": {"f1.r2": 0, "f2.r2": 1}
    }


def test_follow_ups_without_an_answer_are_not_counted_and_keep_their_parts():
    _, stimulus = SAMPLES["pairwise"]
    first, second = stimulus["context"]["follow_ups"]
    partly = {**stimulus, "context": {"follow_ups": [{**first, "answer": " "}, second]}}
    call = item_call("constraints", stimulus=partly, per="question")
    assert first["question"] not in asked("constraints", call)
    assert said({"follow_up_1": "yes"}, call) == {"measure:constraints": {"f2.r1": 1}}


@pytest.mark.parametrize("context", [None, {"follow_ups": []}])
def test_without_a_context_there_is_nothing_to_count(context):
    _, stimulus = SAMPLES["pairwise"]
    with pytest.raises(Unmeasurable, match="nothing to count"):
        asked("constraints", item_call("constraints", stimulus={**stimulus, "context": context}))


@pytest.mark.parametrize("per", PERS)
@pytest.mark.parametrize("able", [{"json_schema": True}, {"json_object": True}, {}])
@pytest.mark.parametrize("rationale", ["none", "before", "after"])
def test_the_expected_reply_is_one_that_is_read(per, able, rationale):
    call = item_call("constraints", able=able, per=per, settings=Settings(model="m", rationale=rationale))
    expected = CONSTRAINTS.expected(call)
    reading = CONSTRAINTS.read(call, Reply(text=expected.text))
    assert set(reading.data["measure:constraints"].values()) <= {0, 0.5, 1}
    assert bool(reading.rationale) == (rationale != "none")


@pytest.mark.parametrize(
    "text",
    ["", "2", "It heeds both.", '{"answers": {"satisfied": "3"}}', '{"answers": {"satisfied": "1.5"}}',
     '{"answers": {}}', "satisfied: 1\nsatisfied: 2", '{"answers": {"satisfied": "1", "count": "1"}}'],
)  # fmt: skip
def test_whatever_is_no_number_of_them_is_no_score(text):
    with pytest.raises(ReplyRejected):
        CONSTRAINTS.read(item_call("constraints"), Reply(text=text))


# --- runs ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


@pytest.fixture
def study(db, owner):
    return make_crowd_study("heeded", owner=owner, queries=4, arms=PAPER_ARMS[:2])


def numbers(run):
    rows = Answer.objects.filter(judgment__rater=run.judging.rater)
    return list(rows.values_list("judgment__item", "question", "part", "number"))


@pytest.mark.parametrize("per", PERS)
def test_a_run_gives_every_response_its_number(study, served, per):
    judge = make_judge(study, served, "coin", backend="constraints", options={"per": per})
    told = estimate(study, judge)
    run, _ = judged(study, judge)
    items = Item.objects.filter(study=study, role="main")
    asked_about = [item for item in items if item.stimulus["context"]]
    assert asked_about
    assert served.total == 2 * len(asked_about) <= told.calls
    found = numbers(run)
    assert {question for _, question, _, _ in found} == {"measure:constraints"}
    for item in items:
        given = {part: number for pk, _, part, number in found if pk == item.pk}
        follow_ups = item.stimulus["context"]["follow_ups"] if item.stimulus["context"] else []
        parts = [f"{each['part']}.{r}" for each in follow_ups for r in ("r1", "r2")]
        assert set(given) == set(parts if per == "question" else ["r1", "r2"] if follow_ups else [])
        assert all(0 <= number <= (len(follow_ups) if per == "count" else 1) for number in given.values())
    assert run.judging.rater.about["questions"] == []
    assert [each["name"] for each in run.judging.rater.about["measures"]] == ["constraints"]


def test_items_without_a_context_are_left_out_and_not_asked_about(study, served):
    without = Item.objects.filter(study=study, role="main", arm__context_at_judging=False)
    for item in without:
        item.stimulus |= {"context": None}
        item.save()
    judge = make_judge(study, served, "coin", backend="constraints")
    told = estimate(study, judge)
    run, _ = judged(study, judge)
    items = Item.objects.filter(study=study, role="main").count()
    asked = items - without.count()
    assert without.exists()
    assert (run.state, served.total, told.calls) == ("complete", 2 * asked, 2 * asked)
    assert (
        f"{without.count()} of {items} sampled items have nothing to ask about, and are left out."
        in told.basis
    )
    judgments = study.judgments.filter(rater=run.judging.rater)
    assert set(judgments.values_list("outcome", flat=True)) == {"ok"}
    assert not judgments.filter(item__in=without).exists()
    skipped = run.calls.filter(outcome="skipped")
    assert set(skipped.values_list("item", flat=True)) == set(without.values_list("pk", flat=True))
    assert (run.asked, run.unanswered) == (2 * asked, 0)
    assert f"{without.count()} items that leave it nothing to score left out" in describe(run)
    # The stimuli that this test has changed aside.
    assert [each for each in verify_study(study) if "stimulus was changed" not in each] == []
    assert extendable_run(study, judge) is None, "nothing is left to judge"


def test_unreadable_replies_are_asked_again_and_recorded(study, served, settings):
    settings.ASSAY_RUN_UNREAD = 2
    settings.ASSAY_RUN_UNREAD_FIRST = 0
    run, _ = judged(study, make_judge(study, served, "coin:babble", backend="constraints"))
    call = run.calls.exclude(raw="").first()
    assert (call.outcome, call.unread) == ("unparsed", 2)
    assert readable_example(run, call) == '{"answers": {"satisfied": "0"}}'
    assert not numbers(run)


def test_the_prompt_page_shows_each_response_s_call(study, served, client, owner):
    judge = make_judge(study, served, "coin", backend="constraints")
    client.force_login(owner)
    item = next(each for each in Item.objects.filter(study=study) if each.stimulus["context"])
    address = reverse("admin:judging_judge_prompt", args=[judge.pk])
    for step in ("r1", "r2"):
        page = client.get(address, {"item": item.pk, "step": step})
        text = next(each["text"] for each in item.stimulus["responses"] if each["part"] == step)
        assert text.strip() in page.context["prompt"][-1][1]


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"questions": ["preference"]}, "answers none of the study's questions"),
        ({"template": "{query} {responses} {format}"}, "no prompt of one's own"),
        ({"verdict": "logprobs"}, "one of its options"),
        ({"options": {"measure": "a b"}}, "Name of the measure: a name is letters"),
        ({"options": {"per": "each"}}, "Number given: one of"),
    ],
)
def test_settings_that_mean_nothing_here_are_refused(study, served, fields, sentence):
    make_judge(study, served, "coin")
    with pytest.raises(FieldsRefused, match=sentence):
        create_judge(
            study, name="counter", backend="constraints", model="coin",
            endpoint=study.judges.get(name="llm").endpoint, **fields,
        )  # fmt: skip
