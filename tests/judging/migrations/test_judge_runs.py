"""Runs that were there before judges' runs had rows of their own keep their judge, rater, purpose and calls."""

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from judging.models import Call, GenerationUnit, Run
from judging.services import heuristic_judge, start_run
from judging.services.runs.work import work_on
from tests import factories

BEFORE = [("judging", "0009_judge_backends_from_registry")]


def migrate(targets):
    executor = MigrationExecutor(connection)
    executor.migrate(targets)
    return MigrationExecutor(connection).loader.project_state(targets).apps


@pytest.fixture
def back_to_today():
    yield
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())


@pytest.fixture
def study(owner):
    return factories.launch(factories.make_study("contrast", owner=owner, queries=4))


def rows(runs, prefix):
    names = ("judge", "rater", "revision", "purpose", "max_items")
    return list(runs.order_by("pk").values_list("pk", "state", "spent", *(prefix + name for name in names)))


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("back_to_today")
def test_runs_and_calls_are_the_same_before_and_after(study):
    done = start_run(study, heuristic_judge(study, "longer"))
    work_on(done.pk)
    start_run(study, heuristic_judge(study, "shorter"), purpose="trial", max_items=2)
    today = rows(Run.objects.all(), "judging__")
    calls = list(Call.objects.order_by("pk").values_list("pk", "item", "outcome"))
    assert len(calls) == 12

    old = migrate(BEFORE)
    assert rows(old.get_model("judging", "Run").objects.all(), "") == today
    columns = {each.name for each in connection.introspection.get_table_description(connection.cursor(), "judging_run")}
    assert "judge_id" in columns
    old.get_model("judging", "Run").objects.filter(pk=done.pk).update(purpose="revision")

    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())
    today[0] = tuple("revision" if each == "main" else each for each in today[0])
    assert rows(Run.objects.all(), "judging__") == today
    assert list(Run.objects.order_by("pk").values_list("work", flat=True)) == ["revision", "judging"]
    assert list(Call.objects.order_by("pk").values_list("pk", "item", "outcome")) == calls


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("back_to_today")
def test_a_run_that_judges_nothing_keeps_the_tables_from_going_back(study):
    run = Run.objects.create(study=study, work="generation")
    unit = GenerationUnit.objects.create(run=run, query=study.queries.first(), step="context")
    Call.objects.create(run=run, unit=unit)
    with pytest.raises(RuntimeError, match=rf"judge nothing.*\[{run.pk}\]"):
        migrate(BEFORE)
