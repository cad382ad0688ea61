"""Nothing of a study is listed, counted, linked or reachable for who is no member of it; viewers change nothing."""

import copy
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib import admin
from django.urls import reverse

from evaluation.models import Study, StudyMember
from tests.evaluation.admin.conftest import make_user, shared_study, signed_in, work_on

pytestmark = pytest.mark.django_db
OURS = ("evaluation", "annotator", "judging")
MODELS = [
    (model._meta.app_label, model._meta.model_name)
    for model in admin.site._registry
    if model._meta.app_label in OURS
]
# Pages about one study, and what each needs.
STUDY_PAGES = {
    "evaluation_study_overview": "view",
    "evaluation_study_launch": "view",
    "evaluation_study_members": "view",
    "evaluation_study_exports": "view",
    "evaluation_study_history": "view",
    "evaluation_study_change": "view",
    "evaluation_study_pause": "write",
    "evaluation_study_resume": "write",
    "evaluation_study_close": "write",
    "evaluation_study_revise": "write",
    "evaluation_study_redundancy": "write",
    "evaluation_study_replace": "write",
    "evaluation_study_panel": "view",
    "evaluation_study_panel_preset": "write",
    "evaluation_study_panel_filters": "write",
    "evaluation_study_panel_draft": "write",
    "evaluation_study_panel_places": "write",
    "evaluation_study_panel_publish": "write",
    "evaluation_study_panel_pause": "write",
    "evaluation_study_panel_start": "write",
    "evaluation_study_panel_sync": "write",
    "evaluation_study_panel_reading": "view",
    "evaluation_study_panel_approve": "write",
    "evaluation_study_panel_bonus": "write",
    "evaluation_study_panel_send": "write",
    "evaluation_study_panel_link": "write",
    "evaluation_study_panel_acknowledge": "write",
    "judging_judge_new": "write",
    "judging_judge_jury": "write",
}
# Viewers may export; a history answers a POST as it does a GET.
READ_BY_POST = ("evaluation_study_exports", "evaluation_study_history")
# Studies have a list of their own, and endpoints are of no study.
LISTED = [each for each in MODELS if each[1] not in ("study", "endpoint")]
# Pages about one row.
ROW_PAGES = {
    "evaluation_item_preview": ("item", "view"),
    "evaluation_item_withdraw": ("item", "write"),
    "evaluation_judgment_exclude": ("judgment", "write"),
    "evaluation_judgment_restore": ("judgment", "write"),
    "evaluation_itemflag_resolve": ("itemflag", "write"),
    "evaluation_job_watch": ("job", "view"),
    "judging_judge_edit": ("judge", "write"),
    "judging_judge_prompt": ("judge", "view"),
    "judging_judge_start": ("judge", "write"),
    "judging_judge_anchors": ("judge", "write"),
    "judging_run_watch": ("run", "view"),
    "judging_run_pause": ("run", "write"),
    "judging_run_resume": ("run", "write"),
    "judging_run_cancel": ("run", "write"),
    "judging_run_retry": ("run", "write"),
}


@pytest.fixture(scope="module")
def made(around_module: None) -> SimpleNamespace:
    """Both studies and their cast, for all tests here."""
    cast = {name: make_user(name) for name in ("owner", "colleague", "viewer", "outsider")}
    return SimpleNamespace(
        **cast,
        mine=shared_study(cast["owner"], cast["colleague"], cast["viewer"]),
        theirs=work_on("theirs", make_user("stranger")),
    )


@pytest.fixture
def world(db: None, made: SimpleNamespace) -> SimpleNamespace:
    """A copy of each test's own, as the database is."""
    return copy.deepcopy(made)


@pytest.fixture
def owner(world: SimpleNamespace) -> Any:
    return world.owner


@pytest.fixture
def colleague(world: SimpleNamespace) -> Any:
    return world.colleague


@pytest.fixture
def viewer(world: SimpleNamespace) -> Any:
    return world.viewer


@pytest.fixture
def outsider(world: SimpleNamespace) -> Any:
    return world.outsider


@pytest.fixture
def mine(world: SimpleNamespace) -> Any:
    return world.mine


@pytest.fixture
def theirs(world: SimpleNamespace) -> Any:
    return world.theirs


def url(app: str, model: str, page: str, *args: Any) -> str:
    return reverse(f"admin:{app}_{model}_{page}", args=args)


def test_every_model_of_ours_has_a_row_to_try() -> None:
    rows = {
        "study", "item", "query", "context", "response", "rater", "judgment", "itemflag", "revision", "exclusion",
        "import", "job", "panelrecord", "participant", "submission", "assignment", "slot", "endpoint", "judge", "run",
        "call",
    }  # fmt: skip
    assert {model for _, model in MODELS} == rows


def listed_on(page: Any) -> set[int]:
    """The ids of the rows of a list's page."""
    if "cl" in page.context:
        return {row.pk for row in page.context["cl"].queryset}
    return {row.item.pk for row in page.context.get("rows", ())}


def list_of(world: Any, app: str, model: str) -> str:
    return url(app, model, "list", world.study.slug)


@pytest.mark.parametrize(("app", "model"), LISTED)
def test_lists_hold_the_study_s_own_rows_only(
    mine: Any, theirs: Any, owner: Any, app: str, model: str
) -> None:
    client = signed_in(owner)
    page = client.get(list_of(mine, app, model))
    listed = listed_on(page)
    assert mine.rows[model].pk in listed
    assert theirs.rows[model].pk not in listed
    assert "theirs" not in page.content.decode().lower()
    assert client.get(list_of(theirs, app, model)).status_code == 404


@pytest.mark.parametrize(("app", "model"), LISTED)
def test_no_filter_leads_to_another_study(mine: Any, theirs: Any, owner: Any, app: str, model: str) -> None:
    """Whatever filter or search is put into the address."""
    client = signed_in(owner)
    for query in ("?q=theirs", f"?arm={theirs.item.arm_id}", "?run=1&rater=2"):
        page = client.get(list_of(mine, app, model) + query, follow=True)
        # Of items: what is not among one's own is named, with what there is instead.
        assert page.status_code == (200 if model != "item" or query == "?q=theirs" else 422)
        assert theirs.rows[model].pk not in listed_on(page)
        assert "theirs endpoint" not in page.content.decode()
    # The address that a list had in the admin tells nothing of a study that one is no member of.
    for wanted in (theirs.study.pk, "x"):
        old = f"{url(app, model, 'changelist')}?study={wanted}"
        assert client.get(old)["Location"] == "/studies/"


def key(world: Any, model: str) -> Any:
    """By which the row stands in addresses."""
    return world.study.slug if model == "study" else world.rows[model].pk


@pytest.mark.parametrize(("app", "model"), MODELS)
@pytest.mark.parametrize("page", ["change", "history", "delete"])
@pytest.mark.parametrize("method", ["get", "post"])
def test_rows_of_another_study_are_not_there(
    mine: Any, theirs: Any, colleague: Any, app: str, model: str, page: str, method: str
) -> None:
    """An editor of one study gets nothing of another by its address: as if it did not exist."""
    client = signed_in(colleague)
    answer = getattr(client, method)(url(app, model, page, key(theirs, model)), {"reason": "x"})
    assert answer.status_code in (302, 403, 404)
    if answer.status_code == 302:
        assert answer["Location"] == reverse("admin:index")
    theirs.rows[model].refresh_from_db()


@pytest.mark.parametrize(("app", "model"), MODELS)
def test_every_row_of_one_s_own_opens(mine: Any, viewer: Any, owner: Any, app: str, model: str) -> None:
    for user in (viewer, owner):
        if model == "endpoint" and user is viewer:
            continue
        page = signed_in(user).get(url(app, model, "change", key(mine, model)), follow=True)
        assert page.status_code == 200, (user, model)


@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize("name", STUDY_PAGES)
def test_pages_of_a_study(mine: Any, theirs: Any, viewer: Any, outsider: Any, name: str, method: str) -> None:
    address = reverse(f"admin:{name}", args=[mine.study.slug])
    elsewhere = reverse(f"admin:{name}", args=[theirs.study.slug])
    before = Study.objects.values().get(pk=mine.study.pk)
    for user, where in ((outsider, address), (viewer, elsewhere)):
        answer = getattr(signed_in(user), method)(where, {"reason": "I want to", "redundancy": 9})
        nothing = answer.status_code in (404, 405) or answer.get("Location") == reverse("admin:index")
        assert nothing, (name, answer.status_code)
    seen = getattr(signed_in(viewer), method)(
        address, {"reason": "I want to", "redundancy": 9, "who": "outsider"}
    )
    if STUDY_PAGES[name] == "write" or (method == "post" and name not in READ_BY_POST):
        assert seen.status_code in (403, 405), (name, seen.status_code)
    assert Study.objects.values().get(pk=mine.study.pk) == before
    assert not StudyMember.objects.filter(user=outsider).exists()


@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize("name", ROW_PAGES)
def test_pages_of_a_row(mine: Any, theirs: Any, viewer: Any, outsider: Any, name: str, method: str) -> None:
    model, need = ROW_PAGES[name]
    own = reverse(f"admin:{name}", args=[mine.rows[model].pk])
    elsewhere = reverse(f"admin:{name}", args=[theirs.rows[model].pk])
    for user, where in ((outsider, own), (viewer, elsewhere)):
        answer = getattr(signed_in(user), method)(where, {"reason": "I want to", "start": 1})
        assert answer.status_code in (404, 405), (name, answer.status_code)
    answer = getattr(signed_in(viewer), method)(own, {"reason": "I want to", "start": 1})
    wanted = (403, 405) if need == "write" else (200, 405, 422)
    assert answer.status_code in wanted, (name, answer.status_code)
    missing = reverse(f"admin:{name}", args=[10**9])
    assert getattr(signed_in(viewer), method)(missing, {"reason": "x"}).status_code in (404, 405)


@pytest.mark.parametrize("name", ["exclude", "restore"])
def test_raters_of_another_study_can_not_be_chosen(
    mine: Any, theirs: Any, owner: Any, viewer: Any, outsider: Any, name: str
) -> None:
    address = reverse(f"admin:evaluation_rater_{name}")
    both = f"{mine.rater.pk},{theirs.rater.pk}"
    for user, ids, wanted in (
        (owner, theirs.rater.pk, 404), (owner, both, 404), (owner, "", 404), (owner, "1;2", 404),
        (outsider, mine.rater.pk, 404), (viewer, mine.rater.pk, 403),
    ):  # fmt: skip
        for method in ("get", "post"):
            data = {} if method == "get" else {"data": {"reason": "x"}}
            answer = getattr(signed_in(user), method)(f"{address}?ids={ids}", **data)
            assert answer.status_code == wanted, (user, ids, method)
    assert mine.study.exclusions.filter(rater__isnull=False).count() == 0


def test_an_action_takes_no_rows_of_others(mine: Any, theirs: Any, owner: Any) -> None:
    data = {"action": "exclude_selected", "_selected_action": [mine.rater.pk, theirs.rater.pk]}
    answer = signed_in(owner).post(list_of(mine, "evaluation", "rater"), data)
    assert answer["Location"].endswith(f"?ids={mine.rater.pk}")


@pytest.mark.parametrize(("app", "model"), MODELS)
def test_nothing_can_be_added_or_deleted_in_passing(mine: Any, colleague: Any, app: str, model: str) -> None:
    client = signed_in(colleague)
    add = client.get(url(app, model, "add"))
    assert add.status_code == (200 if model in ("study", "endpoint") else 403)
    assert client.post(url(app, model, "delete", key(mine, model)), {"post": "yes"}).status_code in (
        302,
        403,
    )
    mine.rows[model].refresh_from_db()
    page = client.get(list_of(mine, app, model) if (app, model) in LISTED else url(app, model, "changelist"))
    assert b"delete_selected" not in page.content


def test_autocompletes_list_no_users_and_no_rows_of_others(mine: Any, theirs: Any, owner: Any) -> None:
    client = signed_in(owner)
    address = reverse("admin:autocomplete")
    for model, field in (("studymember", "user"), ("study", "created_by_import"), ("exclusion", "by")):
        query = {"app_label": "evaluation", "model_name": model, "field_name": field, "term": "s"}
        assert client.get(address, query).status_code in (403, 404)
    raters = {"app_label": "evaluation", "model_name": "judgment", "field_name": "rater", "term": ""}
    found = {each["id"] for each in client.get(address, raters).json()["results"]}
    assert found == {str(pk) for pk in mine.study.raters.values_list("pk", flat=True)}
    assert client.get(reverse("admin:auth_user_changelist")).status_code == 403


def test_lookups_across_tables_are_refused(mine: Any, owner: Any) -> None:
    client = signed_in(owner)
    for lookup in ("study__members__user__password__startswith=p", "created_by__password__contains=a"):
        for model in ("evaluation_item", "judging_run", "evaluation_study"):
            answer = client.get(f"{reverse(f'admin:{model}_changelist')}?{lookup}")
            assert answer.status_code in (302, 400)


def test_members_need_no_flag_to_work_in_a_study(mine: Any, django_user_model: Any) -> None:
    """Only to begin one, which costs the installation something."""
    someone = django_user_model.objects.create_user("someone", password="someone-password")
    StudyMember.objects.create(study=mine.study, user=someone, role="owner")
    client = signed_in(someone)
    for name in ("overview", "change", "members", "pause"):
        assert client.get(url("evaluation", "study", name, mine.study.slug)).status_code == 200, name
    assert client.get(url("evaluation", "study", "add")).status_code == 403
    assert client.get(reverse("admin:evaluation_study_from_file")).status_code == 403
    assert client.get(reverse("admin:index"))["Location"] == "/studies/"


def test_sections_ask_for_membership(mine: Any, outsider: Any, viewer: Any) -> None:
    for name in ("slots-section", "participants-section"):
        address = reverse(f"annotator:{name}", args=[mine.study.slug])
        assert signed_in(viewer).get(address).status_code == 200
        assert signed_in(outsider).get(address).status_code == 404
        assert signed_in(viewer).post(address).status_code == 405


def test_a_superuser_reaches_everything(mine: Any, theirs: Any, chief: Any) -> None:
    client = signed_in(chief)
    for app, model in LISTED:
        for world in (mine, theirs):
            page = client.get(list_of(world, app, model))
            assert world.rows[model].pk in listed_on(page)
    assert "Users" in client.get(reverse("admin:index")).content.decode()
    assert client.get(reverse("admin:evaluation_study_overview", args=[theirs.study.slug])).status_code == 200


def test_a_study_that_is_just_being_imported_is_nobody_s(mine: Any, owner: Any) -> None:
    hidden: SimpleNamespace = work_on("hidden", owner)
    hidden.rows["import"].state = "running"
    hidden.rows["import"].save()
    client = signed_in(owner)
    assert client.get(reverse("admin:evaluation_study_overview", args=[hidden.study.slug])).status_code == 404
    assert "Hidden" not in client.get(reverse("evaluation:study-list")).content.decode()
