"""Trusting a judge: halves, variants, a choice for good, a test that is opened once, and what is said of it after."""

import pytest

from analytics.reports.build import build_report
from evaluation.models import Judgment, Rater, Role, Study
from evaluation.permissions import NoRight
from evaluation.refusals import Refused
from evaluation.services.members import add_member
from evaluation.services.studies.verification import verify_study
from evaluation.tasks import work_on_job
from judging import validation_acts as acts
from judging.acts import begin_run
from judging.models import Half, JudgeValidation, RunState
from judging.services.judges import create_judge, edit_judge
from judging.services.runs.work import work_on
from judging.services.validation import check_validation, tuning_runs, validation_of
from tests import factories
from tests.judging.trusting import run_of, study_with_people

pytestmark = pytest.mark.django_db

QUERIES = 140


def open_it(study, owner):
    work_on_job(acts.open_test(study, by=owner, queue=False).pk)
    return validation_of(study)


def walked(study, owner, backend="longer"):
    """To the opened test, with one other variant."""
    chosen = create_judge(study, name="chosen", backend=backend)
    other = create_judge(study, name="other", backend="random")
    acts.begin_validation(study, "preference", by=owner)
    for each in (chosen, other):
        assert run_of(acts.try_variant, study, each).state == RunState.COMPLETE
    acts.choose_variant(study, chosen, by=owner)
    assert run_of(acts.begin_test, study).state == RunState.COMPLETE
    return open_it(study, owner)


def make_once(owner):
    return study_with_people(owner=owner)


def test_a_judge_that_answers_as_people_do_may_replace_one(study, owner):
    found = walked(study, owner)
    assert found.result["claim"] == "replaces"
    assert [part["part"] for part in found.result["parts"]] == ["", "how", "why"]
    assert found.variants == ["chosen v1", "other v1"]
    run = run_of(acts.judge_all, study)
    facts = run.judging.rater.about["validation"]
    assert (facts["tuning"], facts["test"]) == (70, 70)
    said = build_report(study)["methods_paragraph"]
    assert "The judge chosen was chosen among 2 variants (chosen v1, other v1) on 70 queries" in said
    assert "may stand in for a person" in said
    assert list(check_validation(study)) == []


def test_a_judge_that_throws_a_coin_may_not_be_used(study, owner):
    found = walked(study, owner, backend="random")
    assert found.result["claim"] == "unsupported"


def test_halves_are_of_every_category_and_share_no_query(study, owner):
    acts.begin_validation(study, "preference", by=owner)
    found = validation_of(study)
    assert not set(found.tuning) & set(found.test)
    assert len(found.tuning) == len(found.test) == QUERIES // 2
    of = dict(study.queries.values_list("key", "category"))
    assert sum(of[key] == "how" for key in found.tuning) == QUERIES // 4


def test_variants_judge_the_tuning_half_alone(study, owner):
    acts.begin_validation(study, "preference", by=owner)
    run = run_of(acts.try_variant, study, create_judge(study, name="one", backend="longer"))
    keys = set(Judgment.objects.filter(rater=run.judging.rater).values_list("item__query__key", flat=True))
    assert keys == set(validation_of(study).tuning)
    assert not run.judging.rater.in_figures


def test_what_comes_after_the_choice_is_refused(study, owner):
    found = walked(study, owner)
    late = create_judge(study, name="late", backend="shorter")
    for act, words in (
        (lambda: acts.try_variant(study, late, by=owner), "has been chosen"),
        (lambda: acts.choose_variant(study, late, by=owner), "has been chosen"),
        (lambda: acts.begin_validation(study, "preference", by=owner), "stay as they are"),
        (lambda: acts.begin_test(study, by=owner), "has its run on the test half"),
        (lambda: acts.open_test(study, by=owner), "is opened once"),
    ):
        with pytest.raises(Refused, match=words):
            act()
    again = validation_of(study)
    assert (again.result, again.opened_at) == (found.result, found.opened_at)


def test_only_what_was_tried_can_be_chosen_and_only_what_was_chosen_tested(study, owner):
    one = create_judge(study, name="one", backend="longer")
    with pytest.raises(Refused, match="Draw the halves first"):
        acts.try_variant(study, one, by=owner)
    acts.begin_validation(study, "preference", by=owner)
    with pytest.raises(Refused, match="no complete run on the tuning half"):
        acts.choose_variant(study, one, by=owner)
    with pytest.raises(Refused, match="Choose the judge first"):
        acts.begin_test(study, by=owner)
    run = acts.try_variant(study, one, by=owner, queue=False)
    with pytest.raises(Refused, match="no complete run"):
        acts.choose_variant(study, one, by=owner)
    work_on(run.pk)
    other = acts.try_variant(study, create_judge(study, name="two", backend="random"), by=owner, queue=False)
    with pytest.raises(Refused, match="two v1"):
        acts.choose_variant(study, one, by=owner)
    work_on(other.pk)
    acts.choose_variant(study, one, by=owner)
    with pytest.raises(Refused, match="is not complete"):
        acts.open_test(study, by=owner)
    with pytest.raises(Refused, match="not been tested"):
        acts.judge_all(study, by=owner)


def test_an_edited_variant_is_a_version_of_its_own(study, owner):
    acts.begin_validation(study, "preference", by=owner)
    one = create_judge(study, name="one", backend="longer")
    run_of(acts.try_variant, study, one)
    two = edit_judge(one, user=owner, samples=3)
    run_of(acts.try_variant, study, two)
    acts.choose_variant(study, two, by=owner)
    assert validation_of(study).variants == ["one v1", "one v2"]


def test_a_judge_that_the_report_had_before_the_test_is_named(study, owner):
    early = create_judge(study, name="early", backend="longer")
    run_of(begin_run, study, early)
    found = walked(study, owner)
    assert found.seen == ["early v1"]


def test_viewers_can_do_nothing_of_it(study, owner, django_user_model):
    viewer = django_user_model.objects.create_user("viewer", is_staff=True)
    add_member(study, user=viewer, role="viewer", by=owner)
    one = create_judge(study, name="one", backend="longer")
    acts.begin_validation(study, "preference", by=owner)
    for act in (
        lambda: acts.begin_validation(study, "preference", by=viewer),
        lambda: acts.try_variant(study, one, by=viewer),
        lambda: acts.choose_variant(study, one, by=viewer),
        lambda: acts.set_people_part(study, 10, by=viewer),
    ):
        with pytest.raises(NoRight):
            act()
    assert not tuning_runs(study).exists()


def test_the_part_of_people_is_set_in_a_draft_alone(owner):
    draft = factories.make_study("draft", owner=owner, queries=20, training=False, checks=0)
    acts.set_people_part(draft, 12, by=owner)
    draft.refresh_from_db()
    assert draft.human_sample == 12
    with pytest.raises(Refused, match="1 to all"):
        acts.set_people_part(draft, 200, by=owner)
    acts.set_people_part(draft, None, by=owner)
    draft.refresh_from_db()
    draft.stopping = {"figure": "win_rate"}
    draft.save(update_fields=["stopping"])
    with pytest.raises(Refused, match="can't have a stopping rule"):
        acts.set_people_part(draft, 5, by=owner)
    draft.stopping = {}
    draft.save(update_fields=["stopping"])
    factories.launch(draft)
    with pytest.raises(Refused, match="drawn at launch"):
        acts.set_people_part(draft, 5, by=owner)


def test_verify_finds_halves_that_were_changed(study, owner):
    acts.begin_validation(study, "preference", by=owner)
    found = validation_of(study)
    moved = found.test.pop()
    JudgeValidation.objects.filter(pk=found.pk).update(tuning=sorted([*found.tuning, moved]), test=found.test)
    assert "not those that the study's seed draws" in " ".join(verify_study(study))


def test_people_judge_a_random_part_and_only_it_is_halved(owner):
    study = study_with_people("sampled", owner=owner, queries=100, sample=80)
    acts.begin_validation(study, "preference", by=owner)
    found = validation_of(study)
    assert len(found.tuning) + len(found.test) == 80
    assert Half.TUNING.value == "tuning"
    assert Study.objects.get(pk=study.pk).items.filter(role=Role.MAIN).count() == 100
    assert Rater.objects.filter(study=study, kind="person").count() == 3
