"""Runs from their start to their end: what is dealt, judged and recorded, and which run the figures are made of."""

import pytest
from django.core.management import call_command
from django.db.models import Count

from evaluation.models import Judgment, Outcome, Rater, Study
from evaluation.protocols import Kind
from evaluation.refusals import Refused, WrongState
from evaluation.services.studies.items import withdraw_item
from evaluation.services.studies.verification import verify_study
from judging.models import Call, CallState, Run
from judging.selectors import judges_in_figures
from judging.services.estimates.run_estimate import estimate
from judging.services.judges import edit_judge, heuristic_judge
from judging.services.runs.judge_runs import start_run
from judging.services.runs.lifecycle import cancel_run, pause_run, resume_run, retry_run
from judging.services.runs.progress import run_progress
from judging.services.runs.work import work_on
from tests import factories
from tests.evaluation.dumps.build import header, item, judgment, read_in, write
from tests.judging import endpoint
from tests.judging.build import create_calls, judged, make_judge
from tests.published import published_data


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


@pytest.fixture(autouse=True)
def quick(settings):
    settings.ASSAY_RUN_BACKOFF_SECONDS = 0.01


def make_once(owner):
    return factories.launched("shared", owner=owner)


def outcomes(run):
    rows = Judgment.objects.filter(rater=run.judging.rater_id).order_by("outcome")
    return dict(rows.values_list("outcome").annotate(Count("pk")))


# --- what is judged ---------------------------------------------------------------------------------------------------


def test_a_heuristic_judges_every_main_item_once(study):
    run, _ = judged(study, heuristic_judge(study, "longer"))
    assert run.state == "complete"
    assert run.judging.rater.in_figures
    judgments = Judgment.objects.filter(rater=run.judging.rater)
    assert judgments.count() == study.items.filter(role="main").count() == 12
    assert {each.answers.get().label for each in judgments} == {"tie"}, "aspen and birch say equally much"
    assert {each.shown for each in judgments} == {"r1,r2", "r2,r1"}
    assert list(verify_study(study)) == []


def test_a_model_judges_both_ways_and_its_reasons_are_kept(study, served):
    judge = make_judge(study, served, "first", orders="both", rationale="before")
    run, _ = judged(study, judge)
    assert outcomes(run) == {"ok": 24}
    assert run.judging.rater.about["reduction"] == "both_ways"
    for pair in study.items.filter(role="main"):
        readings = Judgment.objects.filter(rater=run.judging.rater, item=pair).order_by("replicate")
        assert [each.shown for each in readings] == ["r1,r2", "r2,r1"]
        labels = [each.answers.get(kind=Kind.PREFERENCE).label for each in readings]
        assert labels == ["r1", "r2"], "it always prefers what it is shown first"
        assert readings[0].answers.get(question="justification").text == endpoint.SENTENCE
    assert list(verify_study(study)) == []


def test_a_rationale_without_a_question_for_it_stays_with_the_judgment(draft, served):
    draft.questions.filter(key="justification").delete()
    study = factories.launch(draft)
    run, _ = judged(study, make_judge(study, served, rationale="after"))
    assert {each.trace["rationale"] for each in run.judging.rater.judgments.all()} == {endpoint.SENTENCE}


@pytest.mark.parametrize(
    ("how", "orders"),
    [
        ({"orders": "fixed", "samples": 2}, {"r1,r2": 24}),
        ({"orders": "random"}, {"r1,r2": 6, "r2,r1": 6}),
        ({"orders": "random", "samples": 2}, {"r1,r2": 12, "r2,r1": 12}),
        ({"orders": "both", "samples": 2}, {"r1,r2": 24, "r2,r1": 24}),
    ],
)
def test_orders_and_samples(study, served, how, orders):
    run, _ = judged(study, make_judge(study, served, **how))
    shown = (
        Judgment.objects.filter(rater=run.judging.rater).order_by().values_list("shown").annotate(Count("pk"))
    )
    assert dict(shown) == orders


def test_several_steps_make_one_judgment(study, served):
    judge = make_judge(study, served, one_call_per_question=True, rationale="after")
    run, _ = judged(study, judge)
    with_context = study.items.filter(role="main", arm__context_at_judging=True).count()
    assert Call.objects.filter(run=run).count() == 12 + with_context
    judgments = run.judging.rater.judgments.filter(item__arm__context_at_judging=True)
    assert judgments.count() == with_context
    for each in judgments:
        assert set(each.answers.values_list("question", flat=True)) == {
            "preference",
            "satisfied",
            "justification",
        }
        assert each.answers.get(question="justification").text.count(endpoint.SENTENCE) == 2
    assert outcomes(run) == {"ok": 12}
    assert list(verify_study(study)) == []


def test_of_several_steps_the_worst_outcome_is_the_judgment_s(study, served):
    judge = make_judge(study, served, "coin:refusal@0.3", one_call_per_question=True)
    run, _ = judged(study, judge)
    calls = Call.objects.filter(run=run)
    broken = set(calls.filter(outcome="refused").values_list("item", flat=True))
    assert 0 < len(broken) < 12
    assert set(run.judging.rater.judgments.filter(outcome="refused").values_list("item", flat=True)) == broken
    assert calls.filter(item__in=broken, outcome="ok").exists(), "one step was fine, and is not scored"
    assert list(verify_study(study)) == []


def test_items_with_its_own_system_are_left_out_without_a_call(study, served):
    run, _ = judged(study, make_judge(study, served, "aspen"))
    assert run.judging.judge.own_system == "aspen", "found by the model's name"
    assert served.total == 0
    assert outcomes(run) == {"excluded_self": 12}
    assert run.state == "complete"
    assert list(verify_study(study)) == []


def test_items_with_a_system_of_its_family_are_left_out(study, served):
    judge = make_judge(study, served, self_preference="family", own_family="test")
    assert outcomes(judged(study, judge)[0]) == {"excluded_self": 12}


def test_a_run_on_a_few_items_draws_them_by_the_seed(study):
    judge = heuristic_judge(study, "random")
    drawn = [
        set(judged(study, judge, max_items=5, purpose="trial")[0].calls.values_list("item", flat=True))
        for _ in range(2)
    ]
    assert len(drawn[0]) == 5
    assert drawn[0] == drawn[1]


def test_items_are_dealt_in_batches(study, settings):
    settings.ASSAY_BATCH_SIZE = 5
    run, _ = judged(study, heuristic_judge(study, "longer"))
    assert outcomes(run) == {"ok": 12}


def test_an_imported_study_without_orders_gets_them(tmp_path, db):
    dump = write(tmp_path / "dump.jsonl", header(), *[item(n, judgments=[judgment()]) for n in range(8)])
    study = read_in(dump)
    study.items.update(start_order=None)
    run, _ = judged(study, heuristic_judge(study, "random"))
    shown = list(run.judging.rater.judgments.values_list("shown", flat=True))
    assert (shown.count("r1,r2"), shown.count("r2,r1")) == (4, 4)


def test_a_withdrawn_item_is_not_paid_for(study, served):
    run = start_run(study, make_judge(study, served))
    create_calls(run)
    withdrawn = study.items.filter(role="main").first()
    withdraw_item(withdrawn)
    work_on(run.pk)
    run.refresh_from_db()
    assert run.state == "complete"
    assert outcomes(run) == {"ok": 11}
    assert not run.calls.filter(item=withdrawn).exists()


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_a_draft_is_not_judged(draft):
    with pytest.raises(Refused, match="launch the study first"):
        start_run(draft, heuristic_judge(draft, "longer"))


@pytest.mark.parametrize("wrong", [{"budget": 0}, {"max_items": 0}, {"in_flight": 0}, {"purpose": "fun"}])
def test_bad_settings_start_nothing(study, wrong):
    with pytest.raises(Refused):
        start_run(study, heuristic_judge(study, "longer"), **wrong)
    assert not Run.objects.exists()
    assert not Rater.objects.filter(kind="judge").exists()


def test_a_judge_of_another_study_is_refused(study):
    other = factories.make_study("other")
    with pytest.raises(Refused, match="another study"):
        start_run(study, heuristic_judge(other, "longer"))


# --- the figures ------------------------------------------------------------------------------------------------------


def test_the_latest_complete_main_run_is_in_the_figures(study):
    judge = heuristic_judge(study, "longer")
    first, _ = judged(study, judge)
    corrections = Study.objects.get(pk=study.pk).corrections
    trial, _ = judged(study, judge, purpose="trial")
    unfinished = start_run(study, judge)
    assert in_figures(study) == [first.pk]
    work_on(unfinished.pk)
    assert in_figures(study) == [unfinished.pk]
    assert Study.objects.get(pk=study.pk).corrections > corrections, "cached reports are old now"
    assert Rater.objects.get(judge_run=trial.pk).in_figures is False
    assert list(verify_study(study)) == []


def in_figures(study):
    return list(Run.objects.filter(study=study, judging__rater__in_figures=True).values_list("pk", flat=True))


def test_a_new_version_takes_its_predecessor_out(study, served):
    judge = make_judge(study, served)
    judged(study, judge)
    newer = edit_judge(judge, temperature=0.5)
    assert newer.version == 2
    run, _ = judged(study, newer)
    assert in_figures(study) == [run.pk]
    assert run.judging.rater.label == "llm v2"


def test_the_report_s_methods_tell_of_the_judge(study, served):
    judge = make_judge(study, served, orders="both", samples=2, rationale="before", questions=["preference"])
    judged(study, judge)
    [sentence] = judges_in_figures(study)
    assert sentence == (
        "Judge llm v1: the model longer; with a prompt derived from the protocol, asked for preference; with a "
        "rationale before the verdict; temperature 0; each item in both orders, a flip counted as a tie and as "
        "inconsistent, 2 samples each."
    )


def test_the_methods_name_what_the_model_does_not_take(study, served):
    judge = make_judge(study, served)
    judged(study, judge)
    endpoint = judge.endpoint
    endpoint.refresh_from_db()
    endpoint.capabilities[judge.model] |= {"temperature": False, "seed": False}
    endpoint.save()
    [sentence] = judges_in_figures(study)
    assert "temperature 0" not in sentence
    assert (
        "at the model's own temperature, since it takes none; without a seed, since it takes none" in sentence
    )


# --- pause, resume, cancel, retry -------------------------------------------------------------------------------------


def test_a_paused_run_goes_on_where_it_stood(study, served):
    served.latency = 0.1
    run = start_run(study, make_judge(study, served, in_flight=1))
    work_on(run.pk, should_stop=lambda: served.total >= 4)
    served.latency = 0
    done = Call.objects.filter(run=run, state=CallState.FINAL).count()
    assert 0 < done < 12
    assert not Call.objects.filter(run=run, state=CallState.LEASED).exists(), "what was claimed is given back"
    pause_run(run)
    assert work_on(run.pk).final == 0
    resume_run(run)
    work_on(run.pk)
    assert outcomes(run) == {"ok": 12}
    run.refresh_from_db()
    assert run.state == "complete"


def test_what_can_not_be(study):
    run, _ = judged(study, heuristic_judge(study, "longer"))
    for act in (pause_run, resume_run, cancel_run):
        with pytest.raises(WrongState):
            act(run)


def test_a_cancelled_run_is_in_no_figure_and_at_its_end(study):
    run = start_run(study, heuristic_judge(study, "longer"))
    cancel_run(run)
    work_on(run.pk)
    assert not Judgment.objects.filter(rater=run.judging.rater).exists()
    assert in_figures(study) == []
    for act in (resume_run, retry_run):
        with pytest.raises(WrongState):
            act(run)


def test_failures_are_tried_again_and_ok_stays(study, served, settings):
    settings.ASSAY_RUN_ATTEMPTS = 1
    judge = make_judge(study, served, "coin")
    served.behaviours = "500@0.5"
    run, _ = judged(study, judge)
    first = outcomes(run)
    assert set(first) == {"ok", "failed"}
    kept = set(run.judging.rater.judgments.filter(outcome="ok").values_list("pk", flat=True))

    # What a like request of another item was answered is not taken from there.
    Call.objects.update(cache_key="")
    served.behaviours = "500"
    assert retry_run(run) == first["failed"]
    assert in_figures(study) == [], "while it is being retried it is not complete"
    work_on(run.pk)
    assert outcomes(run) == first, "a failure that fails again changes nothing"

    served.behaviours = ""
    retry_run(run)
    work_on(run.pk)
    assert outcomes(run) == {"ok": 12}
    assert kept <= set(run.judging.rater.judgments.values_list("pk", flat=True))
    assert in_figures(study) == [run.pk]
    assert list(verify_study(study)) == []


def test_cancelling_a_retry_leaves_what_stood(study, served, settings):
    settings.ASSAY_RUN_ATTEMPTS = 1
    run, _ = judged(study, make_judge(study, served, "coin:500@0.5"))
    before = outcomes(run)
    retry_run(run)
    cancel_run(run)
    assert run.state == "complete"
    assert in_figures(study) == [run.pk]
    assert outcomes(run) == before
    assert list(verify_study(study)) == []


def test_inconsistent_is_never_retried(study, served):
    run, _ = judged(study, make_judge(study, served, "first", orders="both"))
    assert retry_run(run) == 0
    with pytest.raises(WrongState):
        retry_run(run, ["ok"])


# --- estimate and progress --------------------------------------------------------------------------------------------


def test_the_estimate_is_near_what_it_takes(study, served):
    judge = make_judge(study, served, orders="both", price_prompt=1, price_completion=2)
    before = estimate(study, judge)
    assert (before.items, before.calls, before.measured) == (12, 24, False)
    run, _ = judged(study, judge)
    spent = run_progress(run)
    assert before.prompt_tokens == pytest.approx(spent.prompt_tokens, rel=0.05)
    assert estimate(study, judge).cached_share == 1.0
    assert estimate(study, judge).cost == 0


def test_progress_counts_what_is_there_and_what_is_to_come(study, settings):
    settings.ASSAY_BATCH_SIZE = 5
    run = start_run(study, heuristic_judge(study, "longer"))
    at = run_progress(run)
    assert (at.total, at.final, at.active) == (12, 0, True)
    work_on(run.pk)
    run.refresh_from_db()
    at = run_progress(run)
    assert (at.total, at.final, at.outcomes, at.share) == (12, 12, {Outcome.OK: 12}, 1.0)


# --- published pairs --------------------------------------------------------------------------------------------------


@pytest.fixture
def pandalm(db):
    path = published_data("pandalm/testset-v1.json")
    call_command("import_published", "pandalm", str(path), slug="pandalm", verbosity=0)
    return Study.objects.get(slug="pandalm")


def test_published_pairs_are_judged_by_length_and_by_a_model(pandalm, served):
    run, _ = judged(pandalm, heuristic_judge(pandalm, "longer"))
    assert outcomes(run) == {"ok": 999}
    judge = make_judge(pandalm, served, "longer", name="model", orders="both", in_flight=32)
    run, _ = judged(pandalm, judge, max_items=200)
    assert outcomes(run) == {"ok": 400}
    by_length = {
        each.item_id: each.answers.get().label
        for each in Judgment.objects.filter(rater__label="longer v1").prefetch_related("answers")
    }
    readings = Judgment.objects.filter(rater=run.judging.rater).values_list("item", "answers__label")
    assert all(by_length[item] == label for item, label in readings), "whichever way round it is shown"
