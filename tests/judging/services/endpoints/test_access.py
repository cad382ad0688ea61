"""Who trusts an endpoint, whom it is open to, and what never leaves."""

import pytest
from django.core.management import call_command
from django.urls import reverse

from evaluation.models import Query, StudyMember
from evaluation.refusals import FieldsRefused, Refused
from judging.models import Endpoint, Judge, Run
from judging.services.calls.judged_items import drawn_items
from judging.services.endpoints.access import address_refusals, create_endpoint, offered_endpoints
from judging.services.estimates.run_estimate import estimate
from judging.services.judges import create_judge, edit_judge
from judging.services.runs.judge_runs import start_run
from judging.services.runs.lifecycle import resume_run
from judging.services.runs.work import work_on
from tests import factories
from tests.judging import endpoint as stub
from tests.judging.build import make_judge

ELSEWHERE = "https://models.example.org/v1"


@pytest.fixture
def served():
    with stub.serve() as server:
        yield server


@pytest.fixture
def chief(django_user_model):
    return django_user_model.objects.create_user("chief", is_staff=True, is_superuser=True)


@pytest.fixture
def editor(study, colleague):
    StudyMember.objects.create(study=study, user=colleague, role="editor")
    return colleague


def is_refused(endpoint):
    return bool(address_refusals(Endpoint.objects.select_related("trusted_by").get(pk=endpoint.pk)))


# --- trust ------------------------------------------------------------------------------------------------------------


def test_a_superuser_s_word_ends_with_their_account_or_their_rank(chief):
    made = create_endpoint(user=chief, name="far", base_url=ELSEWHERE)
    assert not is_refused(made)
    for name in ("is_active", "is_superuser"):
        setattr(chief, name, False)
        chief.save()
        assert is_refused(made), name
        setattr(chief, name, True)
        chief.save()
    assert not is_refused(made)
    chief.delete()
    assert is_refused(made)


def test_a_deleted_account_widens_nothing(settings, owner):
    """The allow-list still decides on what a member made, when nobody is left who made it."""
    settings.ASSAY_ENDPOINTS_ALLOWED = [ELSEWHERE]
    made = create_endpoint(user=owner, name="far", base_url=ELSEWHERE)
    owner.delete()
    assert not is_refused(made)
    settings.ASSAY_ENDPOINTS_ALLOWED = []
    assert is_refused(made)


def test_an_endpoint_without_a_maker_is_called_by_nobody_s_word(study, served, settings, owner):
    """Runs of a judge there are refused once its maker's account is deleted and the list has it no more."""
    settings.ASSAY_ENDPOINTS_ALLOWED = [served.url]
    made = create_endpoint(user=owner, name="here", base_url=served.url)
    judge = create_judge(study, user=owner, name="llm", model="coin", endpoint=made)
    owner.delete()
    settings.ASSAY_ENDPOINTS_ALLOWED = []
    with pytest.raises(Refused, match="ASSAY_ENDPOINTS_ALLOWED"):
        start_run(study, Judge.objects.get(pk=judge.pk))
    assert served.total == 0


def test_an_operator_s_word_stands_until_it_is_taken_back(db, capsys):
    made = create_endpoint(user=None, name="far", base_url=ELSEWHERE)
    assert not is_refused(made)
    call_command("set_endpoint", "far", "--no-trust")
    assert is_refused(made)
    said = capsys.readouterr().out
    assert "not trusted" in said
    assert f"add {ELSEWHERE} to the setting ASSAY_ENDPOINTS_ALLOWED" in said
    call_command("set_endpoint", "far", "--trust")
    assert not is_refused(made)


def test_a_run_ends_where_trust_has(study, served, chief):
    judge = create_judge(
        study, user=chief, name="llm", model="coin",
        endpoint=create_endpoint(user=chief, name="here", base_url=served.url),
    )  # fmt: skip
    run = start_run(study, judge)
    chief.is_active = False
    chief.save()
    work_on(run.pk)
    run.refresh_from_db()
    assert run.state == "stopped"
    assert "The endpoint here is not allowed" in run.reason
    assert served.total == 0
    with pytest.raises(Refused, match="The endpoint here is not allowed"):
        start_run(study, Judge.objects.get(pk=judge.pk))


def test_a_member_who_moves_an_endpoint_loses_the_trust_in_it(client, settings, owner, chief):
    settings.ASSAY_ENDPOINTS_ALLOWED = ["https://listed.example.org"]
    made = create_endpoint(user=owner, name="far", base_url="https://listed.example.org/v1")
    client.force_login(chief)
    page = reverse("admin:judging_endpoint_change", args=[made.pk])
    data = {
        "name": "far",
        "base_url": ELSEWHERE,
        "timeout_seconds": 60,
        "max_in_flight": 4,
        "batch_price_factor": 1,
    }
    data |= {"prices-TOTAL_FORMS": 0, "prices-INITIAL_FORMS": 0}
    assert client.post(page, {**data, "trusted": "on", "local": "on"}).status_code == 302
    made.refresh_from_db()
    assert (made.trust, made.trusted_by, made.local) == ("superuser", chief, True)
    client.force_login(owner)
    shown = client.get(page).content.decode()
    assert 'name="trusted"' not in shown
    assert 'name="local"' not in shown
    assert client.post(page, {**data, "timeout_seconds": 5}).status_code == 200, "still not listed"
    moved = {**data, "base_url": "https://listed.example.org/v2", "trusted": "on", "local": "on"}
    assert client.post(page, moved).status_code == 302
    made.refresh_from_db()
    assert (made.trust, made.trusted_by, made.local) == ("", None, False)


def test_a_superuser_may_leave_it_to_the_list(client, chief):
    client.force_login(chief)
    data = {
        "name": "far",
        "base_url": ELSEWHERE,
        "timeout_seconds": 60,
        "max_in_flight": 4,
        "batch_price_factor": 1,
    }
    refused = client.post(reverse("admin:judging_endpoint_add"), data)
    assert "ASSAY_ENDPOINTS_ALLOWED" in refused.content.decode()
    assert not Endpoint.objects.exists()


# --- opened to studies ------------------------------------------------------------------------------------------------


def test_an_editor_is_offered_what_was_opened_to_the_study(study, owner, editor, chief, settings, client):
    settings.ASSAY_ENDPOINTS_ALLOWED = [ELSEWHERE]
    other = factories.launch(factories.make_study("other", owner=owner))
    for name in ("opened", "elsewhere", "to-all"):
        create_endpoint(user=chief, name=name, base_url=ELSEWHERE, open_to_all=name == "to-all")
    create_endpoint(user=owner, name="the-owner-s", base_url=ELSEWHERE)
    create_endpoint(user=editor, name="my-own", base_url=ELSEWHERE)
    call_command("set_endpoint", "opened", "--open-to", study.slug)
    call_command("set_endpoint", "elsewhere", "--open-to", other.slug)

    def offered(user):
        return [each.name for each in offered_endpoints(study, user)]

    assert offered(editor) == ["my-own", "opened", "to-all"]
    assert offered(chief) == ["elsewhere", "my-own", "opened", "the-owner-s", "to-all"]
    client.force_login(editor)
    form = client.get(reverse("admin:judging_judge_new", args=[study.slug])).content.decode()
    assert ">opened<" in form
    assert ">elsewhere<" not in form


def test_an_endpoint_of_others_can_not_be_taken(study, editor, chief):
    made = create_endpoint(user=chief, name="far", base_url=ELSEWHERE)
    with pytest.raises(FieldsRefused, match="The endpoint far is not open to this study"):
        create_judge(study, user=editor, name="llm", endpoint=made, model="m")
    assert not made.studies.exists()
    create_judge(study, user=chief, name="llm", endpoint=made, model="m")
    assert list(made.studies.all()) == [study], "who may open it does so by choosing it"
    create_judge(study, user=editor, name="second", endpoint=made, model="m")


def test_a_study_that_it_is_closed_to_asks_no_more(study, served):
    judge = make_judge(study, served)
    call_command("set_endpoint", "here", "--close-to", study.slug)
    with pytest.raises(Refused, match="The endpoint here is not open to this study"):
        estimate(study, judge)


def test_members_open_what_they_made_to_studies_that_they_may_change(
    client, settings, study, owner, colleague
):
    settings.ASSAY_ENDPOINTS_ALLOWED = [ELSEWHERE]
    theirs = factories.launch(factories.make_study("theirs", owner=colleague))
    client.force_login(owner)
    data = {
        "name": "mine",
        "base_url": ELSEWHERE,
        "timeout_seconds": 60,
        "max_in_flight": 4,
        "batch_price_factor": 1,
    }
    refused = client.post(reverse("admin:judging_endpoint_add"), {**data, "studies": [theirs.pk]})
    assert refused.status_code == 200
    assert (
        client.post(reverse("admin:judging_endpoint_add"), {**data, "studies": [study.pk]}).status_code == 302
    )
    made = Endpoint.objects.get()
    assert (list(made.studies.all()), made.trust, made.open_to_all) == ([study], "", False)


def test_a_member_s_address_on_no_list_is_refused_with_the_setting(owner):
    with pytest.raises(FieldsRefused, match=f"add {ELSEWHERE} to the setting ASSAY_ENDPOINTS_ALLOWED"):
        create_endpoint(user=owner, name="far", base_url=ELSEWHERE)


# --- what never leaves ------------------------------------------------------------------------------------------------


@pytest.fixture
def private(study):
    Query.objects.filter(study=study, key__in=["q0", "q1"]).update(split="private")
    return study


def test_items_of_a_private_split_go_nowhere_else(private, served):
    judge = make_judge(private, served)
    for refusing in (estimate, start_run):
        with pytest.raises(Refused, match="6 items are of queries whose split is private"):
            refusing(private, judge)
    assert not Run.objects.exists()
    assert served.total == 0
    call_command("set_endpoint", "here", "--local")
    judge = Judge.objects.get()
    assert estimate(private, judge).items == 12
    run = start_run(private, judge)
    work_on(run.pk)
    run.refresh_from_db()
    assert (run.state_text, served.total) == ("complete", 12)


def test_they_are_refused_again_when_they_are_to_be_sent(private, served):
    """The mark was taken back while the run was under way."""
    judge = make_judge(private, served)
    Endpoint.objects.update(local=True)
    run = start_run(private, Judge.objects.get(pk=judge.pk))
    Endpoint.objects.update(local=False)
    work_on(run.pk)
    run.refresh_from_db()
    assert run.state == "stopped"
    assert "whose split is private" in run.reason
    assert served.total == 0
    assert not run.calls.exclude(state="open").exists()
    Endpoint.objects.update(local=True)
    resume_run(run)
    work_on(run.pk)
    run.refresh_from_db()
    assert run.state_text == "complete"


def test_a_draw_without_private_items_is_none_of_it(private, served):
    judge = make_judge(private, served)
    drawn = private.items.filter(pk__in=drawn_items(private, 1)).values("query")
    Query.objects.filter(pk__in=drawn).update(split="")
    assert estimate(private, judge, max_items=1).items == 1
    Query.objects.filter(pk__in=drawn).update(split="private")
    with pytest.raises(Refused, match="1 item is of a query whose split is private"):
        estimate(private, judge, max_items=1)


def test_heuristics_send_nothing(private, served):
    judge = edit_judge(make_judge(private, served), backend="longer", endpoint=None, model="")
    assert estimate(private, judge).items == 12
