"""A judge whose earlier runs were read by another reader judges as its next version."""

import pytest
from django.contrib.admin.models import LogEntry

from judging.acts import begin_run
from judging.models import Judge
from judging.services import judges as judge_services
from judging.services.runs import judge_runs
from judging.services.runs.work import work_on
from tests import factories
from tests.judging import endpoint
from tests.judging.build import judged, make_judge


def make_once(owner):
    return factories.launched(owner=owner)


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


@pytest.fixture
def newer(monkeypatch):
    """The version of Assay after one that reads otherwise."""
    for module in (judge_runs, judge_services):
        monkeypatch.setattr(module, "READER", 99)


def test_a_newer_reader_is_a_new_version(study, owner, served, newer, monkeypatch):
    judge = make_judge(study, served, "coin", temperature=0.2)
    with monkeypatch.context() as before:
        for module in (judge_runs, judge_services):
            before.setattr(module, "READER", 98)
        judged(study, judge)
        assert begin_run(study, judge, by=owner, queue=False).judging.judge == judge
    served.reset()
    run = begin_run(study, judge, by=owner, queue=False)
    work_on(run.pk)
    later = run.judging.judge
    assert (later.version, later.temperature, later.model) == (2, 0.2, "coin")
    assert (run.judging.rater.label, run.judging.rater.about["reader"]) == ("llm v2", 99)
    # What was asked before is read anew and not asked again.
    assert served.total == 0
    said = LogEntry.objects.filter(change_message__contains="Replies are read otherwise since llm v1 ran")
    assert said.get().change_message.endswith("(reader 99 now): llm v2 judges in its place.")
    # Whoever begins the old version again gets the same new one, and a run of the new one is a second run.
    assert begin_run(study, judge, by=owner, queue=False).judging.judge == later
    assert begin_run(study, later, by=owner, queue=False).judging.judge == later
    assert Judge.objects.filter(study=study).count() == 2


def test_the_items_that_were_added_are_judged_by_the_new_version_with_all_others(study, owner, served, newer):
    judge = make_judge(study, served, "coin")
    run, _ = judged(study, judge)
    run.judging.rater.about |= {"reader": 1}
    run.judging.rater.save()
    query, _ = factories.make_query(study, "added")
    systems = list(study.systems.order_by("pk"))
    arm = study.arms.earliest("pk")
    factories.admit(study, factories.make_item(study, query, None, arm, systems, key="added"))
    again = begin_run(study, judge, by=owner, queue=False)
    assert (again.pk != run.pk, again.judging.judge.version) == (True, 2)


def test_without_a_reader_there_is_no_new_version(study, owner, newer):
    heuristic = judge_services.heuristic_judge(study, "longer")
    judged(study, heuristic)
    assert begin_run(study, heuristic, by=owner, queue=False).judging.judge == heuristic
