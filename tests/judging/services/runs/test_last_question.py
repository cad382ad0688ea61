"""A question that is asked once the judge has answered the others, and from these answers."""

import re
from collections import Counter

import pytest

from evaluation.models import Answer
from evaluation.refusals import FieldsRefused
from evaluation.services.studies.verification import verify_study
from judging.models import Call, CallState
from judging.services.calls.leases import claim_calls
from judging.services.estimates.run_estimate import estimate
from judging.services.judges import edit_judge, preview_request
from judging.services.runs.judge_runs import start_run
from judging.services.runs.lifecycle import cancel_run, retry_run
from judging.services.runs.progress import run_progress
from judging.services.runs.work import work_on
from tests import factories
from tests.judging import endpoint
from tests.judging.build import create_calls, judged, make_judge
from tests.judging.questions_study import ASPECTS, make_questions_study

LAST = {"one_call_per_question": True, "options": {"last_question": "overall"}}
OWN = re.compile(r"^(\w+)\.response_1: (\d+)$", re.MULTILINE)


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


@pytest.fixture(autouse=True)
def quick(settings):
    settings.ASSAY_RUN_BACKOFF_SECONDS = 0.01


def make_once(owner):
    return make_questions_study(owner, queries=2)


@pytest.fixture
def questions(study):
    return study


def text(request):
    return "\n".join(each["content"] for each in request.body["messages"])


def last_requests(served):
    return [each for each in served.log if "\noverall: " in text(each)]


def test_the_last_question_is_asked_from_the_judge_s_own_other_answers(questions, served):
    judge = make_judge(questions, served, "coin", samples=2, **LAST)
    run, _ = judged(questions, judge)
    assert run.state == "complete"
    assert Counter(run.calls.values_list("step", "outcome")) == {
        (key, "ok"): 20 for key in (*ASPECTS, "overall")
    }
    for item in questions.items.all():
        for replicate in (0, 1):
            answers = Answer.objects.filter(
                judgment__rater=run.judging.rater, judgment__item=item, judgment__replicate=replicate
            )
            given = {each.question: f"{each.number:g}" for each in answers}
            question = item.stimulus["responses"][0]["text"]
            told = [dict(OWN.findall(text(each))) for each in last_requests(served) if question in text(each)]
            assert len(told) == 2
            assert {key: given[key] for key in ASPECTS} in told
    others = [each for each in served.log if each not in last_requests(served)]
    assert not any(OWN.search(text(each)) for each in others), "each of the others is asked by itself"
    assert list(verify_study(questions)) == []


def test_the_last_question_waits_for_the_others(questions, served):
    run = start_run(questions, make_judge(questions, served, "coin", **LAST))
    create_calls(run)
    run.refresh_from_db()
    assert run_progress(run).total == 70
    claimed = claim_calls(run.pk, 100)
    assert len(claimed) == 60
    assert {call.step for call in claimed} == set(ASPECTS)
    assert claim_calls(run.pk, 100) == []
    assert Call.objects.filter(run=run, state=CallState.LATER).count() == 10


def test_an_estimate_counts_the_last_question_with_the_answers_it_is_asked_from(questions, served):
    told = estimate(questions, make_judge(questions, served, "coin", name="last", **LAST))
    plain = estimate(questions, make_judge(questions, served, "coin", one_call_per_question=True))
    assert told.calls == plain.calls == 70
    assert told.prompt_tokens > plain.prompt_tokens


def test_where_another_question_failed_the_last_one_is_not_asked_and_a_retry_asks_both(
    questions, served, settings
):
    settings.ASSAY_RUN_ATTEMPTS = 1
    judge = make_judge(questions, served, "coin", **LAST)
    served.behaviours = "500@0.3"
    run, _ = judged(questions, judge)
    failed = run.calls.filter(outcome="failed").exclude(step="overall")
    broken = set(failed.values_list("item", flat=True))
    assert 0 < len(broken) < 10
    unasked = run.calls.filter(step="overall", item__in=broken)
    assert {(call.attempts, call.outcome) for call in unasked} == {(0, "failed")}
    assert all(call.error.startswith("Not asked, as it follows the other questions: ") for call in unasked)
    assert run.judging.rater.judgments.filter(outcome="failed", item__in=broken).count() == len(broken)
    assert list(verify_study(questions)) == []

    served.behaviours = ""
    served.reset()
    again = run.calls.filter(outcome="failed").count()
    assert retry_run(run) == again
    work_on(run.pk)
    assert set(run.judging.rater.judgments.values_list("outcome", flat=True)) == {"ok"}
    assert served.total == again, "nothing else is asked anew"
    assert all(len(OWN.findall(text(each))) == 6 for each in last_requests(served))
    assert list(verify_study(questions)) == []


def test_a_refusal_is_shared_and_not_asked_about_again(questions, served):
    run, _ = judged(questions, make_judge(questions, served, "coin:refusal@0.2", **LAST))
    refused = set(run.calls.filter(outcome="refused").exclude(step="overall").values_list("item", flat=True))
    assert refused
    assert set(run.calls.filter(step="overall", item__in=refused).values_list("outcome", "attempts")) == {
        ("refused", 0)
    }
    assert retry_run(run) == 0


def test_a_retry_that_is_cancelled_leaves_what_stood_before(questions, served, settings):
    settings.ASSAY_RUN_ATTEMPTS = 1
    judge = make_judge(questions, served, "coin", **LAST)
    served.behaviours = "500@0.3"
    run, _ = judged(questions, judge)
    before = sorted(run.calls.values_list("pk", "outcome"))
    retry_run(run)
    assert run.calls.filter(state=CallState.LATER).exists()
    cancel_run(run)
    run.refresh_from_db()
    assert run.state == "complete"
    assert sorted(run.calls.values_list("pk", "outcome")) == before
    assert list(verify_study(questions)) == []


def test_verify_names_a_call_that_waits_for_nothing(questions, served):
    run, _ = judged(questions, make_judge(questions, served, "coin", **LAST))
    call = run.calls.filter(step="overall")[0]
    Call.objects.filter(pk=call.pk).update(state=CallState.LATER, outcome="")
    assert f"Run {run.pk}: item {call.item.key}, replicate 0, waits for calls that are all final." in list(
        verify_study(questions)
    )


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"options": {"last_question": "overall"}}, "choose one call per question"),
        ({**LAST, "options": {"last_question": "beauty"}}, "it is not asked that at all"),
        ({**LAST, "questions": ["clarity"]}, "it is not asked that at all"),
        ({**LAST, "questions": ["overall"]}, "it is asked nothing else"),
        ({**LAST, "template": "{query} {responses} {format}"}, "The placeholder {own_answers} is missing"),
    ],
)
def test_what_can_not_be_asked_last_is_refused(questions, served, fields, said):
    with pytest.raises(FieldsRefused, match=said):
        make_judge(questions, served, "coin", **fields)


def test_a_judge_from_before_the_options_is_the_same_with_their_defaults(questions, served):
    judge = make_judge(questions, served, "coin")
    type(judge).objects.filter(pk=judge.pk).update(options={})
    judged(questions, judge)
    judge.refresh_from_db()
    assert edit_judge(judge, options={"last_question": ""}) == judge
    assert edit_judge(judge, one_call_per_question=True, options={"last_question": "overall"}).version == 2


def test_a_preference_by_log_probabilities_is_told_by_its_label(owner, served):
    study = factories.launched(owner=owner)
    judge = make_judge(
        study, served, "coin", verdict="logprobs", one_call_per_question=True,
        options={"last_question": "satisfied"},
    )  # fmt: skip
    run, _ = judged(study, judge)
    assert set(run.calls.values_list("outcome", flat=True)) == {"ok"}
    item = study.items.filter(role="main", arm__context_at_judging=True)[0]
    asked = preview_request(judge, item, step="satisfied").messages[1]["content"]
    assert re.search(r"^preference: (1|2|tie)$", asked, re.MULTILINE)
    alone = study.items.filter(role="main", arm__context_at_judging=False)
    assert set(run.calls.filter(item__in=alone).values_list("step", flat=True)) == {"preference"}
