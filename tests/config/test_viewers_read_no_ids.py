"""Viewers read no id that a platform has for a study's people, on any page, in any file, and by no search."""

from collections.abc import Iterator
from io import BytesIO
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotator.models import KnownMismatch, LinkedStudy, PanelRecord, Participant, Submission
from evaluation.dumps.exports.study_export import export_study
from evaluation.models import AnswerText, Exclusion, ItemFlag, Job, Judgment, Note, StudyMember
from evaluation.protocols import AnswerValue
from evaluation.services.exclusions import exclude
from evaluation.services.history import log_action
from evaluation.services.private_texts import private_words_in
from evaluation.services.tokens import make_token
from tests.answers import give_answers
from tests.config.addresses import ROUTES, world_of
from tests.evaluation.admin.conftest import make_user

# As Prolific makes them: of a person here and a visit, of one whom only the panel knows, of a further study there; and
# the address of an invited person.
PERSON, VISIT = "5f8d0d55b54764421b7156d9", "60d0fe4f5311236168a109ca"
OTHER, THEIR_VISIT = "61e1ac5b64764421b7156daa", "62f2bd6c75875532c8267ebb"
LINKED = "64b4df8e97a97754ea488adf"
INVITED = "ada.lovelace@example.org"
IDS = (PERSON, VISIT, OTHER, THEIR_VISIT, LINKED, INVITED)
# Pages that are made for people without an account, who hold their own key; the server's own.
NOT_OURS = ("s/", "p/", "i/", "w/", "hooks/", "patterns/")


@pytest.fixture(scope="module")
def made(around_module: None) -> SimpleNamespace:
    world = world_of("quokka", make_user("owner-of-quokka"))
    study, record = world.study, world.panelrecord
    Participant.objects.filter(pk=world.participant.pk).update(external_id=PERSON)
    Submission.objects.filter(participant=world.participant).update(external_id=VISIT)
    PanelRecord.objects.filter(pk=record.pk).update(
        external_id=VISIT, participant_id=PERSON, submission=world.submission, status="awaiting_review"
    )
    PanelRecord.objects.create(
        panel=record.panel, external_id=THEIR_VISIT, participant_id=OTHER, status_at=timezone.now(), code="C"
    )
    world.link.label = INVITED
    world.link.save()
    LinkedStudy.objects.create(
        panel=record.panel,
        platform="prolific",
        external_id=LINKED,
        visit_number=2,
        status_at=timezone.now(),
        places=1,
    )
    KnownMismatch.objects.create(panel=record.panel, key=f"x:{THEIR_VISIT}:y", note=f"{OTHER} wrote to us.")
    for each in IDS:
        log_action(study=study, by=world.owner, message=f"Rejecting {each}.", about=[world.run, world.judge])
    Job.objects.filter(pk=world.rows["job"].pk).update(
        message=f"Read {VISIT}.", problems=[f"{THEIR_VISIT} is another study's."]
    )
    told = f"{PERSON} wrote to us about {VISIT}, not about {OTHER}."
    note = Note.objects.filter(study=study).first()
    assert note is not None
    Note.objects.filter(pk=note.pk).update(text=told)
    judgment = world.judgment
    Note.objects.create(study=study, item=judgment.item, judgment=judgment, text=told, by=world.owner)
    Exclusion.objects.filter(study=study).update(reason=f"Of {PERSON}.")
    rater = world.participant.rater
    if not Exclusion.objects.filter(rater=rater, undone_at=None).exists():
        exclude(study=study, rater=rater, reason=f"By {PERSON}.", by=world.owner)
    ItemFlag.objects.update(note=told)
    give_answers(world.settled, [AnswerValue("justification", "text", text=told)])
    Judgment.objects.filter(pk=world.settled.pk).update(trace={"settled": {"reason": told, "shown": []}})
    viewer = make_user("viewer")
    StudyMember.objects.create(study=study, user=viewer, role="viewer")
    world.clients, world.tokens = {}, {}
    for name, person in {"viewer": viewer, "owner": world.owner}.items():
        world.clients[name] = Client()
        world.clients[name].force_login(person)
        world.tokens[name] = make_token(person, name="t")[1]
    return world


@pytest.fixture
def world(db: None, made: SimpleNamespace, settings: Any) -> SimpleNamespace:
    settings.ASSAY_API_READS_PER_MINUTE = 10_000
    return made


def read(world: SimpleNamespace, who: str, address: str, **query: str) -> str:
    headers = {"authorization": f"Bearer {world.tokens[who]}"} if address.startswith("/api/") else {}
    response = world.clients[who].get(address, query, headers=headers)
    body = b"".join(response.streaming_content) if response.streaming else response.content
    return body.decode(errors="replace")


def pages(world: SimpleNamespace) -> Iterator[tuple[str, str]]:
    for route in ROUTES:
        if not route.startswith(NOT_OURS) and "<token:token>" not in route and "logout" not in route:
            yield route, world.find(route)


def test_on_no_page(world: SimpleNamespace) -> None:
    found = [
        (route, each)
        for route, address in pages(world)
        for body in [read(world, "viewer", address)]
        for each in IDS
        if each in body
    ]
    assert found == []


@pytest.mark.parametrize(
    "page",
    [
        "panel/",
        "panel/records/",
        "links/",
        "participants/",
        "participants/<int:pk>/",
        "submissions/",
        "history/",
        "jobs/",
    ],
)
def test_those_who_run_the_study_read_them(world: SimpleNamespace, page: str) -> None:
    body = read(world, "owner", world.find(f"studies/<slug:slug>/{page}"))
    assert any(each in body for each in IDS)


@pytest.mark.parametrize("format", ["jsonl", "csv", "tsv", "notes"])
def test_in_no_export(world: SimpleNamespace, format: str) -> None:
    out = BytesIO()
    export_study(world.study, format=format, out=out)
    assert not [each for each in (PERSON, VISIT, OTHER, THEIR_VISIT) if each.encode() in out.getvalue()]


@pytest.mark.parametrize(
    "page",
    ["notes/", "exclusions/", "judgments/", "raters/", "participants/", "flags/", "quality/", "settled/"],
)
def test_editors_read_them_in_the_api_and_viewers_the_rest(world: SimpleNamespace, page: str) -> None:
    address = world.find(f"api/v1/studies/<slug:slug>/{page}")
    assert PERSON in read(world, "owner", address)
    body = read(world, "viewer", address)
    assert PERSON not in body
    assert "x" * len(PERSON) in body or page == "participants/"


def test_answers_of_settled_labels_are_blacked_out_in_the_api(world: SimpleNamespace) -> None:
    for page in ("settled/", "judgments/"):
        address = world.find(f"api/v1/studies/<slug:slug>/{page}")
        for who, shown in (("owner", PERSON), ("viewer", "x" * len(PERSON))):
            found = world.clients[who].get(
                address, {"kind": "settled"} if page == "judgments/" else {},
                headers={"authorization": f"Bearer {world.tokens[who]}"},
            ).json()["results"]  # fmt: skip
            judgment = found[0].get("judgment", found[0])
            assert judgment["answers"][0]["text"].startswith(f"{shown} wrote to us")


@pytest.mark.parametrize(("page", "letters"), [("", 160), ("flags/", 120), ("judgments/", 160)])
def test_nor_the_beginning_of_one_where_a_text_is_cut(
    world: SimpleNamespace, page: str, letters: int
) -> None:
    told = "a" * (letters - 12) + f" {PERSON}"
    ItemFlag.objects.update(note=told)
    AnswerText.objects.filter(judgment=world.settled).update(text=told)
    address = world.find(f"studies/<slug:slug>/{page}")
    assert f"a {PERSON[:8]}" in read(world, "owner", address)
    assert PERSON[:8] not in read(world, "viewer", address)


def test_by_no_search_and_no_lookup(world: SimpleNamespace) -> None:
    people = f"/studies/{world.study.slug}/participants/"
    name = str(world.participant.rater)
    for address, query in (
        (people, {"q": PERSON}),
        (f"/studies/{world.study.slug}/panel/", {"q": PERSON}),
        (f"/studies/{world.study.slug}/panel/", {"q": PERSON[:4]}),
        (people, {"external_id": PERSON}),
        (people, {"external_id__startswith": PERSON[:4]}),
        (f"/studies/{world.study.slug}/assignments/", {"q": PERSON}),
        (f"/studies/{world.study.slug}/assignments/", {"participant__external_id": PERSON}),
    ):
        body = read(world, "viewer", address, **query)
        listed = body.partition('id="visits"' if "/panel/" in address else "<main")[2]
        assert name not in listed, (address, query)
    assert name in read(world, "owner", people, q=PERSON)
    assert name in read(world, "viewer", people, q=name.split()[-1])


@pytest.mark.parametrize("rare", [2_000, 0], ids=["rare", "common"])
@pytest.mark.parametrize("page", ["items/", "judgments/", "flags/"])
def test_nor_is_a_text_found_by_one_that_is_blacked_out_in_it(
    world: SimpleNamespace, page: str, rare: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if page != "judgments/":
        monkeypatch.setattr("evaluation.explorer.search.RARE", rare)
    address, key = f"/studies/{world.study.slug}/{page}", world.judgment.item.key
    told = f"{PERSON} wrote to us"
    ItemFlag.objects.filter(item=world.judgment.item).update(note=told)
    ItemFlag.objects.get_or_create(item=world.judgment.item, defaults={"reason": "reported", "note": told})
    give_answers(world.judgment, [AnswerValue("justification", "text", text=told)])

    def listed(who: str, words: str) -> bool:
        return f">{key}<" in read(world, who, address, q=words).partition("<main")[2]

    for words in (PERSON, PERSON[:6], f"{PERSON[3:9].upper()} wrote"):
        assert listed("owner", words), words
        assert not listed("viewer", words), words
        assert page != "items/" or "<span>0 items" in read(world, "viewer", address, q=words)
    assert listed("viewer", "wrote") == (page != "flags/")


@pytest.mark.parametrize(
    "lookup",
    [
        "flags/?note__contains=", "exclusions/?reason__contains=", "jobs/?message__contains=",
        "participants/?comments__contains=", "participants/?token__startswith=",
    ],
)  # fmt: skip
def test_viewers_look_nothing_up_by_what_is_blacked_out(world: SimpleNamespace, lookup: str) -> None:
    address = f"/studies/{world.study.slug}/{lookup}{PERSON[:6]}"
    refused, listed = (world.clients[who].get(address) for who in ("viewer", "owner"))
    assert refused.status_code in (302, 400), refused.status_code
    assert listed.status_code == 200


def come_as(world: SimpleNamespace, *ids: str) -> None:
    for each in ids:
        rater = world.study.raters.create(kind="person", pseudonym=f"P-{each}"[:40])
        revision = world.participant.revision
        world.study.participants.create(external_id=each, rater=rater, revision=revision, quota=1)


def test_no_id_that_a_participant_came_with_breaks_a_page(world: SimpleNamespace) -> None:
    come_as(world, "stylesheet", "csrfmiddlewaretoken", "participants", "pseudonym", "reserved")
    log_action(study=world.study, by=world.owner, message="Rejecting csrfmiddlewaretoken.")
    here = f"/studies/{world.study.slug}"
    history = read(world, "viewer", f"{here}/history/")
    assert '<link rel="stylesheet"' in history
    assert 'name="csrfmiddlewaretoken"' in history
    assert f'href="{here}/participants/"' in history
    assert f"Rejecting {'x' * len('csrfmiddlewaretoken')}." in history
    assert "state__exact=reserved" in read(world, "viewer", f"{here}/slots/")


@pytest.mark.parametrize("page", ["slots/", "history/", "participants/", "exclusions/"])
def test_words_are_asked_for_once_a_page(world: SimpleNamespace, page: str) -> None:
    with CaptureQueriesContext(connection) as queries:
        assert "<html" in read(world, "viewer", f"/studies/{world.study.slug}/{page}")
    keys = [
        each["sql"] for each in queries if '"annotator_personallink"."key"' in each["sql"].split("FROM")[0]
    ]
    assert len(keys) == 1


def test_a_page_asks_for_no_id_that_is_not_on_it(world: SimpleNamespace) -> None:
    come_as(world, "somebody-else", "Grace Hopper")
    texts = [f"By {PERSON}, {VISIT}; Grace Hopper."]
    private = private_words_in(world.study, texts)
    assert private.blacked_out(texts[0]) == f"By {'x' * 24}, {'x' * 24}; {'x' * 12}."
    assert private.blacked_out("somebody-else") == "somebody-else"
