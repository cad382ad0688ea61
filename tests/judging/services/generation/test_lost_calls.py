"""Studies of runs of which calls failed: the queries are named, and asked again, left out, or kept."""

import re

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.urls import reverse

from evaluation import tasks
from evaluation.models import Study
from evaluation.refusals import FieldsRefused
from judging.services.generation.made_studies import UnevenRefused, left_out_of, make_study, uneven_of
from judging.services.generation.products import drop_products, pass_over, products_of
from judging.services.runs.lifecycle import retry_run
from judging.services.runs.work import work_on
from tests.judging import endpoint
from tests.judging.generating import generated, make_endpoint, study_of_queries

QUERIES = [{"key": f"q{n}", "text": f"Which soup can I make on day {n}?"} for n in range(4)]
FEW = {"facets": 3, "questions": 4}
# The script's replies come to known calls.
ONE_BY_ONE = {"in_flight": 1}


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


@pytest.fixture
def study(db, tmp_path, served, owner):
    make_endpoint(served)
    made = study_of_queries(tmp_path, QUERIES)
    made.members.create(user=owner, role="owner")
    return made


def keys(study):
    return set(study.items.values_list("query__key", flat=True))


def test_a_reply_that_is_cut_off_takes_no_query_out_in_silence(study, served):
    served.script = ["truncated", "truncated"]
    run = generated(study, "clarifying_questions", options=FEW, **ONE_BY_ONE)
    with pytest.raises(UnevenRefused) as refused:
        make_study(run, slug="ranked")
    assert refused.value.problems == [
        "Calls failed for 2 of 4 queries.",
        "q0 is in no item (facets, aspen, truncated: The reply was cut off at the token limit).",
        "q1 is in no item (facets, aspen, truncated: The reply was cut off at the token limit).",
        f"Retry these calls of run {run.pk}, leave the queries out, or keep them with what they have.",
    ]
    assert not Study.objects.filter(slug="ranked").exists()
    retry_run(run)
    work_on(run.pk)
    run.refresh_from_db()
    assert keys(make_study(run, slug="ranked")) == {"q0", "q1", "q2", "q3"}


def test_the_systems_that_a_query_lacks_are_named(study, served):
    served.script = ["ok", "ok", "ok", "refusal"]
    run = generated(
        study, "responses", models=("aspen", "birch", "cedar"), options={"settings": "without"}, **ONE_BY_ONE
    )
    [query] = uneven_of(run, by=None)
    assert (query.key, query.has_items, list(query.lacks)) == ("q1", True, ["aspen"])
    assert str(query).startswith("q1 lacks aspen (responses, aspen, refused")
    kept = make_study(run, uneven="keep", slug="kept")
    pairs = kept.items.filter(query__key="q1")
    assert [sorted(each.responses.values_list("system__key", flat=True)) for each in pairs] == [
        ["birch", "cedar"]
    ]
    notes = Study.objects.get(slug="kept").created_by_import.notes
    assert notes["uneven"] == {"choice": "keep", "queries": ["q1"]}
    left_out = make_study(run, uneven="leave_out", slug="even")
    assert keys(left_out) == {"q0", "q2", "q3"}
    assert left_out_of(left_out)["queries for which calls failed"] == 1
    with pytest.raises(FieldsRefused, match="'some' is neither of leave_out, keep"):
        make_study(run, uneven="some", slug="none")


def test_of_several_arms_that_is_named_in_which_a_system_is_lacking(study, served):
    told = [{"question": "For whom?", "answers": ["Me", "Us"], "answer": "Us"}]
    study.queries.get(key="q0").contexts.create(key="own", source="dublin", follow_ups=told)
    # Of the query with a context each system writes two.
    served.script = ["ok", "ok", "ok", "truncated"]
    run = generated(study, "responses", models=("aspen", "birch"), **ONE_BY_ONE)
    [query] = uneven_of(run, by=None)
    assert list(query.lacks) == [f"{system} in CtxGen-CtxEval" for system in ("aspen", "birch")]


def test_a_query_that_went_on_without_a_call_is_named_still(study, served):
    served.script = ["ok"] * 4 + ["truncated"]
    run = generated(study, "clarifying_questions", options=FEW, **ONE_BY_ONE)
    pass_over(run)
    work_on(run.pk)
    run.refresh_from_db()
    [query] = uneven_of(run, by=None)
    assert (query.lacking, query.has_items) == ("lacks no system, and was made of less", True)
    assert query.reasons == ["facet_questions, aspen, truncated: The reply was cut off at the token limit"]


def test_what_a_researcher_dropped_is_no_lost_call(study):
    run = generated(study, "responses", models=("aspen", "birch"), options={"settings": "without"})
    drop_products(run, [products_of(run).first().pk])
    assert make_study(run, slug="dropped").items.count() == 3


def test_calls_that_an_earlier_run_lost_are_named_with_it(study, served):
    served.script = ["truncated"]
    questions = generated(study, "clarifying_questions", options=FEW, **ONE_BY_ONE)
    study.queries.update(information_need="A soup without meat.")
    run = generated(study, "simulated_answers")
    with pytest.raises(UnevenRefused) as refused:
        make_study(run, slug="pairs")
    assert f"facets of run {questions.pk}, aspen, truncated" in str(refused.value)
    assert f"(and run {questions.pk}, whose products are then taken up by a new run)" in str(refused.value)


def test_the_command_names_them_and_the_three_ways(study, served, capsys):
    served.script = ["truncated"]
    run = generated(study, "clarifying_questions", options=FEW, **ONE_BY_ONE)
    make = ("generate", study.slug, "--run", str(run.pk), "--make", "--slug", "ranked")
    with pytest.raises(CommandError) as refused:
        call_command(*make)
    assert "q0 is in no item" in str(refused.value)
    assert "with --retry-failed, --uneven leave-out, or --uneven keep." in str(refused.value)
    call_command(*make, "--uneven", "leave-out")
    said = capsys.readouterr().out
    assert "is a draft of 3 items. Left out: 1 queries for which calls failed." in said
    assert "Calls failed for q0, which are left out." in said
    again = ("generate", study.slug, "--run", str(run.pk), "--retry-failed", "--make", "--slug", "whole")
    call_command(*again)
    assert "is a draft of 4 items. Its slug is whole." in capsys.readouterr().out


def test_the_page_names_them_and_takes_the_choice(
    client, owner, study, served, monkeypatch, django_capture_on_commit_callbacks
):
    owner.is_staff = True
    owner.save()
    client.force_login(owner)
    served.script = ["truncated"]
    run = generated(study, "clarifying_questions", options=FEW, **ONE_BY_ONE)
    make = reverse("admin:evaluation_study_generation_make", args=[study.slug, run.pk])
    page = " ".join(client.get(make).content.decode().split())
    assert "Calls failed for one query" in page
    assert "<td>is in no item</td>" in page
    assert reverse("admin:evaluation_study_generation_steer", args=[study.slug, run.pk, "retry"]) in page
    form = {"option-study": "ranking", "option-given": "human", "title": "Soups", "slug": "soups"}
    unanswered = client.post(make, form)
    assert (unanswered.status_code, set(unanswered.context["form"].errors)) == (422, {"uneven"})
    sent = []
    monkeypatch.setattr(tasks.work_on_job, "delay", sent.append)
    with django_capture_on_commit_callbacks(execute=True):
        begun = client.post(make, form | {"uneven": "leave_out"})
    assert begun.status_code == 302
    tasks.work_on_job(sent[-1])
    assert keys(Study.objects.get(slug="soups")) == {"q1", "q2", "q3"}
    assert re.search("Left out: 1 queries for which calls failed", client.get(begun.url).content.decode())


def test_an_even_run_asks_nothing(client, owner, study):
    owner.is_staff = True
    owner.save()
    client.force_login(owner)
    run = generated(study, "responses", models=("aspen", "birch"), options={"settings": "without"})
    page = client.get(reverse("admin:evaluation_study_generation_make", args=[study.slug, run.pk]))
    assert "uneven" not in page.context["form"].fields
    assert "Calls failed" not in page.content.decode()
