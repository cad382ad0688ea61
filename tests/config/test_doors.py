"""No way past authorisation: every address that the site has, tried by everybody who has no business there.

The addresses are those that Django resolves. A new one is closed until it is proved here that it opens for whom it is
meant, and to no other; what it takes to find a row by it stands in `tests.config.addresses`.
"""

import hashlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.contrib.sessions.models import Session
from django.db import transaction
from django.test import Client

from annotator.models import Participant
from annotator.services.work.leave import withdraw
from evaluation.models import ItemTally, Progress, StaleItem, StudyMember
from evaluation.services.tokens import make_token
from tests import factories
from tests.config.addresses import BY_TOKEN, PARAMETER, ROUTES, world_of
from tests.crowd import come, filled_in
from tests.evaluation.admin.conftest import make_user, work_on

# Stands in every name and text of the study, and nowhere else.
SECRET = "zyzzyva"
# A study is not secret where people come in by its link, and who logs out does so for themselves.
OPEN = {
    "s/<slug:slug>/": "the door for participants",
    "invitations/<slug:invitation>/": "the door for whoever holds its link",
    "admin/logout/": "one's own session",
    "docs/<path:page>/": "the documentation, for every member",
    "docs/images/<slug:name>.png": "and its pictures",
}
# Where a superuser finds nothing either.
NOBODY_S = {
    "admin/r/<path:content_type_id>/<path:object_id>/": "no model has an address on the site",
    "admin/(?P<url>.*)$": "everything else below /admin/",
    "api/v1/^[\\s\\S]*$": "everything else below /api/v1/",
    "hooks/<slug:platform>/": "for whoever signs with a platform's secret",
    "patterns/": "only where DEBUG is on",
}
# And nothing by such a request: it lacks what it would be about, the study is in another state, or it is others' own.
NOT_NOW = {
    "admin/judging/judge/<int:pk>/steps/",
    "admin/autocomplete/", "admin/evaluation/rater/exclude/", "admin/evaluation/rater/restore/",
    "studies/<slug:slug>/delete/", "studies/<slug:slug>/upload/", "studies/<slug:slug>/resolve/",
    "studies/<slug:slug>/pair-references/", "admin/judging/judge/<int:pk>/map/",
    "admin/evaluation/job/<int:pk>/map/", "admin/evaluation/job/<int:pk>/map/<int:number>/",
    "admin/evaluation/job/<int:pk>/confirm/", "admin/evaluation/job/<int:pk>/left-out/",
    "admin/evaluation/job/<int:pk>/download/", "admin/evaluation/job/<path:object_id>/history/",
    "admin/judging/judge/together/", "api/v1/studies/<slug:slug>/run-groups/estimate/",
    "api/v1/studies/<slug:slug>/additions/", "studies/<slug:slug>/design-preview/",
    "api/v1/studies/<slug:slug>/participants/<str:pseudonym>/erasure/",
    "admin/judging/judge/<int:pk>/conditions/", "api/v1/studies/<slug:slug>/judges/<int:judge>/map/",
    "api/v1/studies/<slug:slug>/judges/composites/",
    "api/v1/studies/<slug:slug>/report/files/", "api/v1/studies/<slug:slug>/report/file/",
    "api/v1/studies/<slug:slug>/report/", "api/v1/studies/<slug:slug>/scores/",
    "api/v1/studies/<slug:slug>/scores/file/", "api/v1/studies/<slug:slug>/revisions/",
    "account/tokens/<slug:key>/revoke/", "api/v1/table-maps/<int:table_map>/",
    "api/v1/studies/<slug:slug>/queries/", "api/v1/studies/<slug:slug>/bundle/file/",
    "studies/<slug:slug>/report/bundle.zip", "api/v1/studies/<slug:slug>/comparison/",
    "studies/<slug:slug>/comparison.<slug:suffix>",
    "api/v1/uploads/", "api/v1/uploads/<int:upload>/", "api/v1/jobs/<int:job>/confirm/",
    "api/v1/studies/<slug:slug>/additions/file/", "api/v1/studies/<slug:slug>/flags/<int:flag>/resolve/",
    "api/v1/jobs/<int:job>/file/", "api/v1/jobs/<int:job>/left-out/",
    *(f"api/v1/studies/<slug:slug>/{act}/"
      for act in ("pause", "close", "reopen", "exclusions/<int:exclusion>/undo", "redundancy", "replacements",
                  "withdrawals", "withdrawals/undo")),
    *(f"leaderboards/<slug:slug>/{file}" for file in ("", "leaderboard.json", "leaderboard.csv")),
    *(f"api/v1/studies/<slug:slug>/generation/{act}/"
      for act in ("estimate", "import", "runs/<int:run>/later-steps",
                  "runs/<int:run>/products/drop", "runs/<int:run>/products/restore")),
    *(f"studies/<slug:slug>/panel/{act}/"
      for act in ("reading", "link", "acknowledge", "settle-paid/<int:act>", "pay-again/<int:act>",
                  "take-down/<int:record>")),
}  # fmt: skip
# Where viewers have a file written, by a job.
WRITES_FILES = {
    "studies/<slug:slug>/exports/", "studies/<slug:slug>/report/bundle/",
    "api/v1/studies/<slug:slug>/bundle/", "api/v1/studies/<slug:slug>/exports/",
}  # fmt: skip
# What the services make and keep, nobody adds or deletes by hand.
BY_HAND = ("auth", "evaluation/study", "judging/endpoint")
FORM = {"reason": "I want to", "redundancy": "9", "start": "1", "post": "yes", "who": "staff", "button": "1"}


@pytest.fixture(scope="module")
def made(around_module: None) -> SimpleNamespace:
    world = world_of(SECRET, make_user(f"owner-of-{SECRET}"))
    world.people = {
        "account": make_user("account"),
        "staff": make_user("staff"),
        "neighbour": make_user("neighbour"),
        "viewer": make_user("viewer"),
        "chief": make_user("chief", is_superuser=True),
    }
    world.people["account"].is_staff = False
    world.people["account"].save()
    # Whoever was a member and is none any more is as much an outsider as anybody.
    for name in ("account", "neighbour"):
        StudyMember.objects.create(study=world.study, user=world.people[name], role="editor").delete()
    work_on("next-door", world.people["neighbour"])
    StudyMember.objects.create(study=world.study, user=world.people["viewer"], role="viewer")
    world.tokens = {name: make_token(person, name="t")[1] for name, person in world.people.items()}
    world.clients = {"nobody": Client()}
    for name, person in world.people.items():
        world.clients[name] = Client()
        world.clients[name].force_login(person)
    return world


@pytest.fixture
def world(db: None, made: SimpleNamespace, settings: Any) -> SimpleNamespace:
    # Whoever asks this much would be asked to wait before they are turned away.
    settings.ASSAY_API_READS_PER_MINUTE = settings.ASSAY_API_WRITES_PER_MINUTE = 10_000
    # With a secret, by which a platform's webhooks are told from everybody else's.
    settings.ASSAY_PROLIFIC_WEBHOOK_SECRET = "a-secret"
    return made


def ask(world: SimpleNamespace, who: str, method: str, address: str) -> Any:
    """One request: of a form, or of JSON with their token where the API is."""
    client = world.clients[who]
    if address.startswith("/api/"):
        headers = {"authorization": f"Bearer {world.tokens[who]}"} if who in world.tokens else {}
        return client.generic(method, address, "{}", content_type="application/json", headers=headers)
    return client.get(address) if method == "GET" else client.post(address, FORM)


def methods(route: str) -> tuple[str, ...]:
    return ("GET", "POST", "PUT", "PATCH", "DELETE") if route.startswith("api/") else ("GET", "POST")


def everything() -> dict[str, str]:
    """What stands in every table but that of sessions, as a hash; and not when somebody last logged in."""
    found = {}
    for model in apps.get_models(include_auto_created=True):
        # The counts of a study and of its items are kept by the pages that show them.
        if model in (Session, Progress, ItemTally, StaleItem):
            continue
        names = [field.attname for field in model._meta.concrete_fields if field.attname != "last_login"]
        rows = sorted(map(repr, model._base_manager.values_list(*names)))
        found[model._meta.label] = hashlib.sha256("".join(rows).encode()).hexdigest()
    return found


def is_turned_away(response: Any, home: str = "/admin/") -> bool:
    """Nothing is there, or the way leads to the login, to one's own first page, or to an address tried by itself."""
    if response.status_code not in (301, 302, 303):
        return response.status_code in (400, 401, 403, 404, 405)
    path = response["Location"].partition("?")[0]
    return path in ("/admin/login/", home) or path == response.request["PATH_INFO"] + "change/"


def names_a_row(route: str) -> bool:
    """True of an address of somebody's data; the library's entries are everybody's who makes studies."""
    others = route in NOBODY_S or "app_label" in route or "/library/" in route
    return bool(PARAMETER.search(route)) and not others


def says_secret(response: Any, address: str) -> bool:
    body = b"".join(response) if response.streaming else response.content
    return SECRET in body.decode(errors="replace").lower().replace(address.lower(), "")


# The neighbour may all that the two of the audit may, and has a study besides.
@pytest.mark.parametrize(
    "who",
    ["nobody", "neighbour", *(pytest.param(who, marks=pytest.mark.audit) for who in ("account", "staff"))],
)
def test_outsiders_get_nothing_and_change_nothing(world: SimpleNamespace, who: str) -> None:
    before, wrong = everything(), []
    for route in ROUTES:
        if route in OPEN or route in BY_TOKEN:
            continue
        address = world.find(route)
        for method in methods(route):
            answer = ask(world, who, method, address)
            if names_a_row(route) and not is_turned_away(answer):
                wrong.append(f"{method} {route}: {answer.status_code}")
            if says_secret(answer, address):
                wrong.append(f"{method} {route}: tells of the study")
    assert not wrong, "\n".join(wrong)
    assert everything() == before


def test_viewers_change_nothing(world: SimpleNamespace) -> None:
    """They may have figures computed, an export and a bundle written, and nothing else."""
    ask(world, "viewer", "GET", world.find("studies/<slug:slug>/report/"))
    before = everything()
    for route in ROUTES:
        if route in OPEN or route in BY_TOKEN or route in WRITES_FILES:
            continue
        for method in set(methods(route)) - {"GET"}:
            ask(world, "viewer", method, world.find(route))
    assert everything() == before


def test_a_token_is_good_for_its_own_assignments_alone(world: SimpleNamespace) -> None:
    elsewhere = factories.launch(factories.make_study("elsewhere", training=False, checks=0))
    others = [
        come(world.study, "somebody-else"),
        come(world.study, "left"),
        come(elsewhere, "at-another-study"),
    ]
    withdraw(others[1].token)
    form = FORM | filled_in(world.assignment)
    before, wrong = everything(), []
    for route in BY_TOKEN:
        tokens = ["a-token-that-nobody-was-given"]
        if "assignment_id" in route:
            tokens += [other.token for other in others]
        for token in tokens:
            address = world.find(route, token=token)
            for answer in (Client().get(address), Client().post(address, form)):
                if not is_turned_away(answer, f"/p/{token}/") or says_secret(answer, address):
                    wrong.append(f"{answer.request['REQUEST_METHOD']} {address}: {answer.status_code}")
    assert not wrong, "\n".join(wrong)
    assert everything() == before
    assert Participant.objects.filter(token=world.token).exists()


def test_the_addresses_are_real(world: SimpleNamespace) -> None:
    """Or it would be no wonder that nobody gets in: each opens for a superuser, or with the participant's token."""
    wrong = []
    for route in sorted(set(ROUTES) - set(NOBODY_S) - set(OPEN) - NOT_NOW):
        if not (is_never_by_hand(route) or any(_as_chief(world, route))):
            wrong.append(route)
    assert not wrong, "\n".join(wrong)


def is_never_by_hand(route: str) -> bool:
    made_by_hand = route.startswith(tuple(f"admin/{each}" for each in BY_HAND)) and route.endswith("/add/")
    return route.startswith("admin/") and route.endswith(("/add/", "/delete/")) and not made_by_hand


def _as_chief(world: SimpleNamespace, route: str) -> Iterator[bool]:
    """Whether each method finds something; of what it does nothing is left."""
    for method in methods(route):
        with transaction.atomic():
            answer = ask(world, "chief", method, world.find(route, token=world.token))
            transaction.set_rollback(True)
        leads_on = answer.status_code in (302, 303) and answer["Location"].endswith(("/change/", "/admin/"))
        yield leads_on or not is_turned_away(answer)
