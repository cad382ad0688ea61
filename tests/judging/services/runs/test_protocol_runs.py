"""A judge's run over a study of every protocol: from the items to the answers in the database."""

from __future__ import annotations

from collections import Counter

import pytest
from django.core.management import call_command
from django.utils.text import slugify

from evaluation.models import Answer, Context, Item, ItemResponse, Query, Response, Role, Study, System
from evaluation.protocols import PROTOCOLS, Kind, Over, QuestionSpec
from evaluation.protocols.answers.parts import parts_of
from evaluation.refusals import FieldsRefused, Refused
from evaluation.services.studies.creation import add_arms, create_study, write_questions_and_texts
from judging.asking import asking_of
from judging.prompting.settings import Settings
from judging.services.calls.plan import CallPlan
from judging.services.estimates.run_estimate import estimate
from judging.services.judges import create_judge, current_spec, heuristic_judge, preview_request
from judging.services.runs.judge_runs import start_run
from tests import factories
from tests.judging import endpoint
from tests.judging.build import judged, make_judge
from tests.judging.samples import EVERYTHING, QUESTIONS, SAMPLES, is_list

ITEMS = 4
NUMBERED = {Kind.SCALE, Kind.CHECKLIST, Kind.RANKING}


@pytest.fixture(scope="module")
def served():
    with endpoint.serve() as server:
        yield server


def make_once(owner):
    """A study of every sample, since most tests look at all of them."""
    studies = [make_study(name, owner, slug=slugify(name)) for name in SAMPLES]
    return studies[0]


def study_of(name):
    return Study.objects.get(slug=slugify(name))


def make_study(name, owner, slug="sample"):
    """A live study of that sample's protocol, with a few items like it."""
    spec, sample = SAMPLES[name]
    study = create_study(
        slug=slug, title="Sample", protocol=spec["protocol"], owner=owner, needs=spec.get("needs", {})
    )
    if name in (EVERYTHING, "custom"):
        write_questions_and_texts(study, spec)
    [arm] = add_arms(study, [{"label": "All", **spec["arms"][0]}])
    systems = [System.objects.create(study=study, key=each["system"]) for each in sample["responses"]]
    for number in range(ITEMS):
        _make_item(study, arm, systems, sample, number)
    return factories.launch(study, redundancy=1, steps={})


def _make_item(study, arm, systems, sample, number):
    of_sample = {key: sample["query"][key] for key in ("references", "information_need", "documents")}
    if "turns" in sample["query"]:
        of_sample |= {
            "turns": [{"role": each["role"], "text": each["text"]} for each in sample["query"]["turns"]],
            "document": sample["query"]["document"]["text"],
        }
    query = Query.objects.create(
        study=study, key=f"q{number}", text=sample["query"]["text"] and f"Question {number}?", **of_sample
    )
    context = sample["context"] and Context.objects.create(
        query=query, key="c", follow_ups=[{k: v for k, v in each.items() if k != "part"} for each in
                                          sample["context"]["follow_ups"]],
    )  # fmt: skip
    item = Item.objects.create(
        study=study, key=f"i{number}", query=query, context=context, arm=arm, role=Role.MAIN,
        clarifying_question=sample["clarifying_question"],
    )  # fmt: skip
    for system, response in zip(systems, sample["responses"], strict=True):
        text = response["text"] if is_list(response["text"]) else f"{response['text']} {'More. ' * number}"
        made = Response.objects.create(
            query=query, system=system, key=system.key, text=text, claims=response.get("claims", []),
            turns=[each["text"] for each in response.get("turns", [])],
        )  # fmt: skip
        ItemResponse.objects.create(item=item, response=made)


def cells(study, item):
    """(question, part) to the field that holds the answer, for everything that is asked of the item."""
    questions = [QuestionSpec.from_json(each) for each in current_spec(study)["questions"]]
    return {
        (each.key, part): "number"
        if each.kind in NUMBERED
        else "text"
        if each.kind == Kind.ENTRIES
        else "label"
        for each in questions
        if each.kind != Kind.TEXT
        for part in parts_of(each, item.stimulus)
    }


def answers_of(run, item, replicate=0):
    rows = Answer.objects.filter(
        judgment__rater=run.judging.rater, judgment__item=item, judgment__replicate=replicate
    )
    return list(rows)


def part_of(answer):
    """What the answer is about; a set of entries has as many as it has, and is about the item."""
    return "" if answer.kind == Kind.ENTRIES else answer.part


def given(answer):
    return next(name for name in ("number", "label", "text") if getattr(answer, name) is not None)


FORMS = {
    "json": {"json_schema": False, "json_object": True},
    "lines": {"json_schema": False, "json_object": False},
}


@pytest.fixture(scope="module", params=SAMPLES)
def answered(request, around_module, made_once, served):
    """A study of every sample with a run that is over, and the prompts that were sent."""
    study = study_of(request.param)
    # Of a name of its own, or the cache would answer the other tests.
    judge = make_judge(study, served, "coin:slow=0", name="answered")
    served.reset()
    run, _ = judged(study, judge)
    return run, [seen.body["messages"][-1]["content"] for seen in served.log]


def has_judged_everything(run):
    assert Counter(run.calls.values_list("outcome", "error")) == {("ok", ""): ITEMS}
    for item in run.study.items.all():
        found = {(answer.question, part_of(answer)): given(answer) for answer in answers_of(run, item)}
        assert found == cells(run.study, item)
        assert {call.order for call in run.calls.filter(item=item)} == {
            judgment.shown for judgment in run.judging.rater.judgments.filter(item=item)
        }


def test_a_run_judges_every_item_of_every_protocol(answered):
    run, _ = answered
    has_judged_everything(run)


def test_the_preview_is_what_was_sent(answered):
    run, sent = answered
    for call in run.calls.select_related("item"):
        shown = preview_request(run.judging.judge, call.item, order=call.order).messages[-1]["content"]
        assert shown in sent
        # As it is shown before the launch, from what the draft holds.
        call.item.stimulus = None
        again = preview_request(run.judging.judge, call.item, order=call.order).messages[-1]["content"]
        assert again == shown


@pytest.mark.parametrize("form", FORMS)
def test_whatever_form_a_model_can_answer_in(form, db, served):
    study = study_of(EVERYTHING)
    judge = make_judge(study, served, "coin")
    judge.endpoint.capabilities["coin"] |= FORMS[form]
    judge.endpoint.save()
    run, _ = judged(study, judge)
    has_judged_everything(run)


# Every kind of question, over everything that it can be over.
@pytest.mark.parametrize("name", ["pairwise", "condition_calibration", "custom", EVERYTHING])
def test_one_call_per_question_makes_one_judgment_of_all(name, db, served):
    study = study_of(name)
    run, _ = judged(study, make_judge(study, served, "coin", one_call_per_question=True))
    items = study.items.all()
    steps = {question for question, _ in cells(study, items[0])}
    assert run.calls.count() == ITEMS * len(steps)
    assert run.judging.rater.judgments.filter(outcome="ok").count() == ITEMS
    for item in items:
        assert {(each.question, part_of(each)) for each in answers_of(run, item)} == cells(study, item).keys()


@pytest.mark.parametrize("name", ["ranking", "aspects"])
def test_both_orders_of_any_number_of_responses(name, db, served):
    study = study_of(name)
    run, _ = judged(study, make_judge(study, served, "coin", orders="both"))
    n = len(SAMPLES[name][1]["responses"])
    canonical = [f"r{number}" for number in range(1, n + 1)]
    assert set(run.calls.values_list("replicate", "order")) == {
        (0, ",".join(canonical)), (1, ",".join(reversed(canonical))),
    }  # fmt: skip
    assert run.judging.rater.judgments.filter(outcome="ok").count() == 2 * ITEMS


ALONE = "which has no other order: both orders would ask the same twice. Choose one order."


@pytest.mark.parametrize("name", ["context_validation", "justification_coding"])
def test_both_orders_of_a_single_response_are_refused_wherever_a_judge_is_made_or_run(name, db, served):
    study = study_of(name)
    with pytest.raises(FieldsRefused, match=f"The study's items show one response at most, {ALONE}"):
        make_judge(study, served, "coin", orders="both")
    judge = make_judge(study, served, "coin")
    judge.orders = "both"
    judge.save()
    for begin in (estimate, start_run):
        with pytest.raises(Refused, match=ALONE):
            begin(study, judge)


@pytest.mark.parametrize("backend", ["constraints", "geval"])
def test_judges_of_one_response_at_a_time_are_asked_in_one_order(backend, db, served):
    study = study_of("aspects")
    with pytest.raises(FieldsRefused, match=f"This judge is asked about one response at a time, {ALONE}"):
        make_judge(study, served, "coin", backend=backend, orders="both")


def test_an_item_with_a_single_response_is_asked_in_one_order_among_others():
    spec, sample = SAMPLES["aspects"]
    plan = CallPlan(
        PROTOCOLS["aspects"], spec, Settings(model="m"), asking_of("chat"), "both", 4, frozenset()
    )
    several = {**sample, "query": {**sample["query"], "key": "q"}}
    alone = {**several, "responses": several["responses"][:1]}
    assert [call.order for call in plan.calls(several, 0)] == ["r1,r2,r3,r4", "r4,r3,r2,r1"] * 2
    assert [(call.replicate, call.order) for call in plan.calls(alone, 0)] == [(0, "r1"), (1, "r1")]


def test_presented_orders_of_several_responses_differ(db, served):
    study = study_of("ranking")
    run, _ = judged(study, make_judge(study, served, "coin", samples=3))
    assert len(set(run.calls.values_list("order", flat=True))) > 3
    firsts = Counter(order.split(",")[0] for order in run.calls.values_list("order", flat=True))
    assert max(firsts.values()) - min(firsts.get(f"r{n}", 0) for n in range(1, 6)) <= 2


def test_a_rationale_becomes_the_justification_where_the_form_asks_for_one(db, served):
    study = study_of("aspects")
    run, _ = judged(study, make_judge(study, served, "coin", rationale="before"))
    for item in study.items.all():
        [text] = [answer for answer in answers_of(run, item) if given(answer) == "text"]
        assert (text.question, text.text) == ("justification", endpoint.SENTENCE)


@pytest.mark.parametrize(
    ("name", "behaviour"), [("aspects", "babble"), ("ranking", "empty"), ("context_validation", "babble")]
)
def test_what_can_not_be_read_is_counted_and_kept(name, behaviour, db, served, settings):
    settings.ASSAY_RUN_UNREAD = 1
    study = study_of(name)
    run, _ = judged(study, make_judge(study, served, f"coin:{behaviour}"))
    assert set(run.judging.rater.judgments.values_list("outcome", flat=True)) == {"unparsed"}
    assert not Answer.objects.filter(judgment__rater=run.judging.rater).exists()
    assert all(judgment.trace["error"] for judgment in run.judging.rater.judgments.all())


# --- heuristics -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SAMPLES)
def test_the_random_judge_answers_everything(name, db):
    study = study_of(name)
    run, _ = judged(study, heuristic_judge(study, "random"))
    for item in study.items.all():
        found = {(answer.question, part_of(answer)): given(answer) for answer in answers_of(run, item)}
        assert found == cells(study, item)
    assert run.judging.rater.about["questions"] == list(dict.fromkeys(key for key, _ in cells(study, item)))


def by_length(question):
    return question.kind in (Kind.PREFERENCE, Kind.RANKING) or (
        question.kind == Kind.SCALE and question.over == Over.RESPONSE
    )


@pytest.mark.parametrize("name", SAMPLES)
def test_the_longer_judge_answers_what_it_can_or_can_not_be_made(name, db):
    study = study_of(name)
    questions = [QuestionSpec.from_json(each) for each in current_spec(study)["questions"]]
    wanted = [each.key for each in questions if by_length(each)]
    if not wanted:
        with pytest.raises(FieldsRefused, match="'longer' can't answer any of the questions here"):
            heuristic_judge(study, "longer")
        return
    run, _ = judged(study, heuristic_judge(study, "longer"))
    assert run.judging.rater.judgments.filter(outcome="ok").count() == ITEMS
    answered = set(
        Answer.objects.filter(judgment__rater=run.judging.rater).values_list("question", flat=True)
    )
    assert answered == set(wanted)
    assert run.judging.rater.about["questions"] == wanted


def test_a_heuristic_is_limited_to_its_questions_and_refused_one_that_is_none(db):
    study = study_of("aspects")
    judge = create_judge(study, name="quick", backend="longer", questions=["best"])
    run, _ = judged(study, judge)
    assert set(
        Answer.objects.filter(judgment__rater=run.judging.rater).values_list("question", flat=True)
    ) == {"best"}
    assert run.judging.rater.about["questions"] == ["best"]
    with pytest.raises(FieldsRefused, match="no question 'nice'"):
        create_judge(study, name="other", backend="longer", questions=["nice"])
    with pytest.raises(FieldsRefused, match="can't answer any of the questions here"):
        create_judge(study, name="other", backend="longer", questions=["justification"])


# --- judges in the admin and from the command line --------------------------------------------------------------------


@pytest.mark.parametrize("name", SAMPLES)
def test_the_admin_shows_the_prompt_of_any_item(name, owner, served, client):
    study = study_of(name)
    judge = make_judge(study, served, "coin")
    client.force_login(owner)
    item = study.items.last()
    page = client.get(f"/admin/judging/judge/{judge.pk}/prompt/", {"item": item.pk})
    assert page.status_code == 200
    assert page.context["problem"] == ""
    assert page.context["prompt"][-1][1] in [
        preview_request(judge, item, order=order).messages[-1]["content"] for order in page.context["orders"]
    ]
    assert len(page.context["orders"]) == (2 if len(SAMPLES[name][1]["responses"]) > 1 else 1)


@pytest.mark.parametrize("name", ["ranking", "relevance", EVERYTHING])
def test_a_judge_is_made_from_the_command_line_with_some_of_the_questions(name, db, served):
    study = study_of(name)
    make_judge(study, served, "coin")
    keys = list(dict.fromkeys(key for key, _ in cells(study, study.items.first())))[-1:]
    call_command(
        "add_judge", study.slug, "some", endpoint="here", model="coin", questions=",".join(keys), verbosity=0
    )
    run, _ = judged(study, study.judges.get(name="some"))
    assert set(
        Answer.objects.filter(judgment__rater=run.judging.rater).values_list("question", flat=True)
    ) == set(keys)


def test_every_kind_of_question_is_in_the_form_that_asks_everything():
    assert {question.kind for question in QUESTIONS} == set(Kind) - {Kind.ENTRIES}
