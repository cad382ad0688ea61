"""Worked examples in a prompt, prompts without the guideline, and the four conditions of both."""

import io

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from evaluation.models import Item, Role
from evaluation.protocols import get_protocol
from evaluation.refusals import FieldsRefused
from judging.backends.base import Reply
from judging.models import Judge
from judging.parsing.reply import read_reply
from judging.prompting.examples import can_be_shown
from judging.prompting.item_call import ItemCall
from judging.prompting.request import build_request
from judging.prompting.settings import Example, Settings
from judging.services.judges import heuristic_judge, judge_settings, preview_request
from tests.judging import endpoint
from tests.judging.build import judged, make_judge
from tests.judging.sample import PAIRWISE, WITH_CONTEXT, make_spec, make_stimulus

ASKED = {"questions": ["preference"]}


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


def with_examples(study, served, n=1, **fields):
    return make_judge(study, served, "coin", options={"demonstrations": n}, **ASKED, **fields)


def system_of(judge, item, **options):
    return preview_request(judge, item, **options).messages[0]["content"]


def main_item(study, arm):
    return study.items.filter(role=Role.MAIN, arm__key=arm).order_by("pk")[0]


def test_an_example_is_the_training_item_that_people_saw_with_its_gold_answer(study, served):
    judge = with_examples(study, served)
    for arm in study.arms.values_list("key", flat=True):
        told = system_of(judge, main_item(study, arm))
        training = Item.objects.get(study=study, role=Role.TRAINING, arm__key=arm)
        assert told.count("## Example") == 1
        example = told[told.index("## Example 1") :]
        assert all(each["text"] in example for each in training.stimulus["responses"])
        assert training.stimulus["query"]["text"] in example
        assert example.endswith('The reply:\n\n{"answers": {"preference": "1"}}')
    run, _ = judged(study, judge)
    assert set(run.calls.values_list("outcome", flat=True)) == {"ok"}
    assert run.judging.rater.about["options"]["demonstrations"] == 1


def test_reasons_in_an_example_are_the_note_that_training_shows(study, served):
    judge = with_examples(study, served, rationale="before")
    told = system_of(judge, main_item(study, "NoCtxGen-NoCtxEval"))
    assert told.endswith('{"rationale": "The first response says more.", "answers": {"preference": "1"}}')


def test_more_examples_than_there_are_are_refused_in_words(study, served):
    with pytest.raises(
        FieldsRefused, match="shown 2 worked examples, and NoCtxGen-NoCtxEval has 1 training item"
    ):
        with_examples(study, served, 2)
    with pytest.raises(FieldsRefused, match="has 0 training items whose gold answers everything"):
        make_judge(study, served, "coin", name="all", options={"demonstrations": 1})  # of the checklist, too
    with pytest.raises(FieldsRefused, match="a whole number from 0 to 20"):
        with_examples(study, served, 2.5)


STIMULUS = make_stimulus(WITH_CONTEXT)
GOLD = {
    "preference": ["r2", "tie"],
    "satisfied": {"f1.r1": 1, "f1.r2": 0, "f2.r1": [1], "f2.r2": 1},
    "note": "So.",
}


@pytest.mark.parametrize("able", [{}, {"json_schema": True}])
@pytest.mark.parametrize("rationale", ["none", "before", "after"])
@pytest.mark.parametrize("number", [1, 2])
def test_the_reply_of_an_example_can_be_read_and_means_the_gold(able, rationale, number):
    settings = Settings(
        model="m", rationale=rationale, examples={WITH_CONTEXT: [Example(STIMULUS, GOLD)] * number}
    )
    request = build_request(
        ItemCall(PAIRWISE, make_spec(), STIMULUS, settings, order="r1,r2", capabilities=able)
    )
    told = request.messages[0]["content"]
    reply = told.rpartition("The reply:\n\n")[2]
    order = "r1,r2" if number % 2 else "r2,r1"
    read = read_reply(ItemCall(PAIRWISE, make_spec(), STIMULUS, settings, order=order), Reply(text=reply))
    assert read.data == {"preference": "r2", "satisfied": {"f1.r1": 1, "f1.r2": 0, "f2.r1": 1, "f2.r2": 1}}
    assert read.rationale == ("So." if rationale != "none" else "")
    first, second = (told.rindex(each["text"]) for each in STIMULUS["responses"])
    assert (first < second) == (order == "r1,r2"), "every other example has its responses the other way round"


def test_gold_that_leaves_something_open_is_no_example():
    def fits(gold, **settings):
        return can_be_shown(PAIRWISE, make_spec(), Example(STIMULUS, gold), Settings(model="m", **settings))

    assert fits(GOLD)
    assert not fits({**GOLD, "satisfied": {"f1.r1": 1}})
    assert not fits({key: GOLD[key] for key in ("preference", "satisfied")}, rationale="before")
    assert fits({"preference": "tie"}, questions=("preference",), verdict="logprobs")
    assert not fits({"preference": "tie"}, one_call_per_question=True)


def test_the_reference_stands_in_examples_where_the_judge_sees_it():
    for shown in (True, False):
        settings = Settings(
            model="m", with_reference=shown, examples={WITH_CONTEXT: [Example(STIMULUS, GOLD)]}
        )
        request = build_request(
            ItemCall(PAIRWISE, make_spec(), STIMULUS, settings, order="r1,r2", capabilities={})
        )
        assert ("Reference 1" in request.messages[0]["content"]) == shown


def test_without_the_guideline_the_questions_are_asked_alone(study, served):
    judge = make_judge(study, served, "coin", options={"without_guideline": True})
    item = main_item(study, "NoCtxGen-NoCtxEval")
    told = system_of(judge, item)
    guideline = get_protocol("pairwise").guideline(study.revisions.get().spec, with_context=False)
    assert guideline not in told
    assert "guideline" not in told.lower()
    assert "# Questions" in told
    assert judge_settings(judge).guideline is False


def test_four_conditions_are_made_of_one_judge(study, served):
    make_judge(study, served, "coin", name="href", samples=2, **ASKED)
    out = io.StringIO()
    call_command("add_conditions", study.slug, "href", demonstrations=1, stdout=out)
    item = main_item(study, "NoCtxGen-NoCtxEval")
    found = {}
    for judge in Judge.objects.exclude(name="href"):
        told = system_of(judge, item)
        found[judge.name] = "# Guideline" in told, "# Worked examples" in told
        assert judge.samples == 2
    assert found == {
        "href-basic": (False, False), "href-examples": (False, True),
        "href-guideline": (True, False), "href-guideline-examples": (True, True),
    }  # fmt: skip
    assert "href-guideline-examples v1" in out.getvalue()
    with pytest.raises(CommandError, match="already has a judge"):
        call_command("add_conditions", study.slug, "href", demonstrations=1)
    with pytest.raises(CommandError, match="has no judge 'nobody'"):
        call_command("add_conditions", study.slug, "nobody")


def test_conditions_are_made_on_a_page_of_the_judge(study, served, admin_client):
    judge = make_judge(study, served, "coin", name="href", **ASKED)
    address = reverse("admin:judging_judge_conditions", args=[judge.pk])
    shown = admin_client.get(reverse("admin:judging_judge_change", args=[judge.pk])).content.decode()
    assert f'href="{address}"' in shown
    assert "<code>href-guideline-examples</code>" in admin_client.get(address).content.decode()
    refused = admin_client.post(address, {"demonstrations": "5"})
    assert refused.status_code == 422
    assert "worked examples" in refused.content.decode()
    made = admin_client.post(address, {"demonstrations": "1"})
    assert (made.status_code, Judge.objects.exclude(name="href").count()) == (302, 4)
    assert "together" in made["Location"]
    plain = heuristic_judge(study, "longer")
    assert admin_client.get(reverse("admin:judging_judge_conditions", args=[plain.pk])).status_code == 404


def test_conditions_without_enough_examples_leave_no_judge_behind(study, served):
    make_judge(study, served, "coin", name="href", **ASKED)
    with pytest.raises(CommandError, match="worked examples"):
        call_command("add_conditions", study.slug, "href", demonstrations=5)
    assert Judge.objects.count() == 1
