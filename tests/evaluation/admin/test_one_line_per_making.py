"""What brings something into a study, or makes a study of it: whichever way it is asked for, page, API or command, the
history has the same line, once, and names who asked."""

import re
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
from django.contrib.admin.models import LogEntry
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.urls import reverse
from rest_framework.test import APIClient

from annotator.models import Panel, PersonalLink
from evaluation import tasks
from evaluation.demo import studies as demo
from evaluation.models import Query, Study
from evaluation.services.history import SERVER
from evaluation.services.studies.creation import PAPER_ARMS
from evaluation.services.studies.rehearsals import rehearsal_of
from evaluation.services.studies.rehearsing import rehearse
from tests import factories
from tests.analytics.reports.answering import give, new_rater
from tests.calibrations import FERRY, OLD, calibrated, calibration_study, kept
from tests.crowd import make_crowd_study
from tests.evaluation.admin.conftest import signed_in
from tests.evaluation.dumps import build

pytestmark = pytest.mark.django_db

REASON = {"reason": "Needed."}


@pytest.fixture
def world(
    owner: Any, tmp_path: Path, settings: Any, monkeypatch: Any, django_capture_on_commit_callbacks: Any
) -> SimpleNamespace:
    """A member's browser and token, and a worker that does each job as soon as it is queued."""
    settings.ASSAY_JOB_FILES = str(tmp_path / "jobs")
    monkeypatch.setattr(tasks.work_on_job, "delay", tasks.work_on_job)
    api = APIClient()
    api.force_authenticate(owner)
    client = signed_in(owner)

    def post(address: str, data: Any) -> Any:
        with django_capture_on_commit_callbacks(execute=True):
            return client.post(address, data)

    return SimpleNamespace(owner=owner, post=post, api=api, folder=tmp_path)


def lines(study: Study) -> list[tuple[str, str]]:
    entries = LogEntry.objects.filter(object_id=str(study.pk), content_type__model="study").order_by("pk")
    return [(entry.user.username, entry.change_message) for entry in entries]


def by_page(world: SimpleNamespace, name: str, study: Study, data: Any, *more: Any, at: str = "") -> None:
    address = reverse(f"admin:evaluation_study_{name}", args=[study.slug, *more])
    answer = world.post(address + at, {**REASON, **data})
    assert answer.status_code == 302, re.findall("errorlist.*", answer.content.decode())


def by_api(world: SimpleNamespace, study: Study, path: str, body: Any) -> None:
    answer = world.api.post(f"/api/v1/studies/{study.slug}/{path}/", body, format="json")
    assert answer.status_code == 201, answer.content


def command(*arguments: Any, **options: Any) -> None:
    call_command(*arguments, stdout=StringIO(), stderr=StringIO(), **options)


def file_of(world: SimpleNamespace, text: str, name: str) -> Path:
    path: Path = world.folder / name
    path.write_text(text)
    return path


def upload(text: str, name: str) -> dict[str, Any]:
    return {"file": SimpleUploadedFile(name, text.encode())}


# --- the studies ------------------------------------------------------------------------------------------------------


def live(world: SimpleNamespace) -> Study:
    return make_crowd_study("contrast", owner=world.owner, queries=3, arms=PAPER_ARMS[:1])


def draft(world: SimpleNamespace) -> Study:
    return factories.make_study("a-draft", owner=world.owner, queries=2, arms=PAPER_ARMS[:1])


def with_references(world: SimpleNamespace) -> Study:
    study = draft(world)
    Query.objects.filter(study=study).update(references=["Leek."])
    return study


def judged(world: SimpleNamespace) -> Study:
    study = factories.launch(
        factories.make_study(
            "pairs", owner=world.owner, queries=2, arms=PAPER_ARMS[:1], contact="r@example.org"
        )
    )
    for name in ("ANNE", "BERT"):
        give(study, new_rater(study, name), [{"preference": "r1", "justification": f"{name} says."}] * 2)
    return study


def calibrators(world: SimpleNamespace) -> Study:
    study = calibration_study({"q1": [[OLD]]}, contact="r@example.org", pay="2.00")
    study.members.create(user=world.owner, role="owner")
    for name in ("ANNE", "BERT"):
        give(study, new_rater(study, name), [calibrated(kept(OLD, "r1.e1"), FERRY)])
    return study


def with_panel(world: SimpleNamespace) -> Study:
    study = draft(world)
    Panel.objects.create(study=study, platform="prolific")
    return study


def with_link(world: SimpleNamespace) -> Study:
    study = live(world)
    PersonalLink.objects.create(study=study, label="Ann")
    return study


def with_revoked_link(world: SimpleNamespace) -> Study:
    study = with_link(world)
    command("links", study.slug, "--revoke", "Ann", reason="Needed.")
    return study


def rehearsed(world: SimpleNamespace) -> Study:
    study = make_draft_to_rehearse(world)
    rehearse(study, {"participants": 1, "hurried": 0, "random": 0})
    return study


def make_draft_to_rehearse(world: SimpleNamespace) -> Study:
    return factories.make_study(
        "a-draft", owner=world.owner, queries=2, arms=PAPER_ARMS[:1], contact="r@example.org", pay="1.00"
    )


# --- the ways ---------------------------------------------------------------------------------------------------------


def item_record() -> dict[str, Any]:
    return {
        "key": "late",
        "arm": "NoCtxGen-NoCtxEval",
        "query": {"key": "late", "text": "What about late?"},
        "responses": [{"system": system, "text": f"{system} says."} for system in ("aspen", "birch")],
    }


def add_items_by_page(world: SimpleNamespace, study: Study) -> None:
    text = orjson.dumps(item_record()).decode()
    by_page(world, "add_items", study, {**upload(text, "late.jsonl"), "against": "all"})
    job = study.jobs.latest("pk")
    assert world.post(reverse("admin:evaluation_job_confirm", args=[job.pk]), {}).status_code == 302


def add_items_by_command(world: SimpleNamespace, study: Study) -> None:
    path = file_of(world, orjson.dumps(item_record()).decode(), "late.jsonl")
    command("add_items", study.slug, str(path), yes=True)


SCORES = "item,system,name,score\n{item},aspen,length,3\n{item},birch,length,4\n"


def scores_of(study: Study) -> str:
    item = study.items.filter(role="main")[0]
    return SCORES.format(item=item.key)


def scores_by_api(world: SimpleNamespace, study: Study) -> None:
    rows = [dict(zip(("item", "system", "name", "score"), line.split(","), strict=True)) for line in
            scores_of(study).splitlines()[1:]]  # fmt: skip
    scores = [row | {"score": float(row["score"])} for row in rows]
    by_api(world, study, "scores", {"judge": "Script", "scores": scores, "measures": []})


def scores_by_command(world: SimpleNamespace, study: Study) -> None:
    command("import_scores", study.slug, str(file_of(world, scores_of(study), "scores.csv")), judge="Script")


DERIVED = {"title": "Codes", "slug": "codes"}


def delete_by_page(world: SimpleNamespace, study: Study) -> None:
    rehearsal = rehearsal_of(study)
    assert rehearsal is not None
    by_page(world, "delete_rehearsal", rehearsal, {})


def withdraw_by_page(world: SimpleNamespace, study: Study) -> None:
    item = study.items.get(key=study.items.filter(role="main").order_by("key")[0].key)
    assert world.post(reverse("admin:evaluation_item_withdraw", args=[item.pk]), REASON).status_code == 302


def link_page(name: str) -> Callable[[SimpleNamespace, Study], None]:
    return lambda world, study: by_page(world, name, study, {}, PersonalLink.objects.get(study=study).pk)


# By act: the study before it, the ways, and what its history has then, with or without a reason and a file's name.
ACTS: dict[str, tuple[Callable[[SimpleNamespace], Study], dict[str, Any], str]] = {
    "add items": (
        live,
        {
            "page": add_items_by_page,
            "api": lambda world, study: by_api(world, study, "additions", {"items": [item_record()]}),
            "command": add_items_by_command,
        },
        "Added 1 item as revision 2.",
    ),
    "add queries": (
        draft,
        {
            "page": lambda world, study: by_page(
                world, "generation_queries", study, upload("prompt\nIs rain wet?\n", "queries.csv")
            ),
            "api": lambda world, study: by_api(
                world, study, "queries", {"queries": [{"key": "wet", "text": "Is rain wet?"}]}
            ),
            "command": lambda world, study: command(
                "import_queries", str(file_of(world, "prompt\nIs rain wet?\n", "queries.csv")), slug=study.slug
            ),
        },
        "1 query added.",
    ),
    "import scores": (
        live,
        {
            "page": lambda world, study: by_page(
                world, "scores", study, {**upload(scores_of(study), "scores.csv"), "judge": "Script",
                                         "direction": "higher"}
            ),
            "api": scores_by_api,
            "command": scores_by_command,
        },
        "Script: length of 1 item.",
    ),
    "derive": (
        judged,
        {
            "page": lambda world, study: by_page(
                world, "derive", study,
                {**DERIVED, "make": "1", "option-raters": "people", "option-question": "", "option-longest": "0",
                 "option-codebook": "criteria"},
                at="?kind=justifications",
            ),
            "api": lambda world, study: by_api(world, study, "derivations", {"kind": "justifications", **DERIVED}),
            "command": lambda world, study: command("derive_study", study.slug, "justifications", **DERIVED),
        },
        "Derived Codes.",
    ),
    "duplicate": (
        draft,
        {
            "page": lambda world, study: by_page(
                world, "duplicate", study, {"extent": "items", "title": "Again", "slug": "again"}
            ),
            "api": lambda world, study: by_api(world, study, "duplicates", {"title": "Again", "slug": "again"}),
            "command": lambda world, study: command("duplicate_study", study.slug, title="Again", slug="again"),
        },
        "Duplicated as Again.",
    ),
    "derive the resolver's": (
        calibrators,
        {
            "page": lambda world, study: by_page(world, "resolve", study, {"title": "Settling", "slug": "settling"}),
            "command": lambda world, study: command(
                "derive_resolver", study.slug, title="Settling", slug="settling"
            ),
        },
        "Derived the resolver's study. Settling is a draft. Queries: 1, sets: 2.",
    ),
    "pair with references": (
        with_references,
        {
            "page": lambda world, study: by_page(world, "pair_references", study, {}),
            "command": lambda world, study: command("pair_references", study.slug),
        },
        "Added 4 pairs with the human-written reference of 4 queries.",
    ),
    "rehearse": (
        make_draft_to_rehearse,
        {
            "page": lambda world, study: by_page(
                world, "rehearse", study, {"participants": 1, "hurried": 0, "random": 0}
            ),
            "command": lambda world, study: command("rehearse", study.slug, participants=1, hurried=0, random=0),
        },
        "Rehearsed as a-draft-rehearsal.",
    ),
    "delete the rehearsal": (
        rehearsed,
        {
            "page": delete_by_page,
            "command": lambda world, study: command("delete_rehearsal", study.slug),
        },
        "Deleted the rehearsal a-draft-rehearsal.",
    ),
    "withdraw": (live, {"page": withdraw_by_page}, "Withdrew item "),
    "seal": (live, {"command": lambda world, study: command("seal", study.slug)}, "Sealed as it was found."),
    "make links": (
        live,
        {
            "page": lambda world, study: by_page(world, "links", study, {"names": "Ann"}),
            "command": lambda world, study: command("links", study.slug, "Ann"),
        },
        "Created 1 personal link.",
    ),
    "revoke a link": (
        with_link,
        {
            "page": link_page("revoke_link"),
            "command": lambda world, study: command("links", study.slug, "--revoke", "Ann", reason="Needed."),
        },
        "Revoked the personal link for Ann.",
    ),
    "restore a link": (
        with_revoked_link,
        {
            "page": link_page("restore_link"),
            "command": lambda world, study: command("links", study.slug, "--restore", "Ann", reason="Needed."),
        },
        "Restored the personal link for Ann.",
    ),
    "recruit by a preset": (
        with_panel,
        {
            "page": lambda world, study: by_page(world, "panel_preset", study, {"preset": "lfqa"}),
            "command": lambda world, study: command("panel", study.slug, "preset", "lfqa"),
        },
        "Recruiting as ",
    ),
    "set whom to recruit": (
        with_panel,
        {
            "page": lambda world, study: by_page(
                world, "panel_filters", study, {"approval_rate": "95", "devices": ["desktop"]}
            ),
            "command": lambda world, study: command("panel", study.slug, "whom", "approval_rate=95"),
        },
        "Eligibility: ",
    ),
}  # fmt: skip
# What only says that a worker will do it.
ANNOUNCEMENTS = ("Started ",)


@pytest.mark.parametrize(("act", "way"), [(act, way) for act, (_, ways, _) in ACTS.items() for way in ways])
def test_an_act_leaves_one_line_whichever_way_it_comes_in(world: SimpleNamespace, act: str, way: str) -> None:
    prepare, ways, said = ACTS[act]
    study = prepare(world)
    LogEntry.objects.all().delete()
    ways[way](world, study)
    found = [(who, line) for who, line in lines(study) if not line.startswith(ANNOUNCEMENTS)]
    assert [who for who, _ in found] == [SERVER if way == "command" else world.owner.username], found
    assert said in found[0][1]


@pytest.mark.parametrize(
    ("act", "slug", "said", "way"),
    [
        (act, slug, said, way)
        for act, slug, said in (
            ("derive", "codes", "Derived from Contrast."),
            ("duplicate", "again", "Copied from Contrast."),
            ("derive the resolver's", "settling", "Derived from "),
        )
        for way in ACTS[act][1]
    ],
)
def test_a_study_that_is_made_says_of_what(
    world: SimpleNamespace, act: str, slug: str, said: str, way: str
) -> None:
    prepare, ways, _ = ACTS[act]
    ways[way](world, prepare(world))
    [(who, line)] = lines(Study.objects.get(slug=slug))
    assert who == (SERVER if way == "command" else world.owner.username)
    assert line.startswith(said[:8])


@pytest.mark.parametrize("way", ["page", "command", "command of an owner"])
def test_a_study_from_a_file_begins_with_its_line(world: SimpleNamespace, way: str) -> None:
    path = build.write(world.folder / "soups.jsonl", build.header(), build.item())
    if way == "page":
        data = {
            **upload(path.read_text(), "soups.jsonl"),
            "slug": "soups",
            "title": "Soups",
            "protocol": "pairwise",
        }
        assert world.post(reverse("admin:evaluation_study_from_file"), data).status_code == 302
    else:
        owner = world.owner.username if "owner" in way else ""
        command("import_study", str(path), slug="soups", owner=owner)
    [(who, line)] = lines(Study.objects.get(slug="soups"))
    assert who == (SERVER if way == "command" else world.owner.username)
    assert line == "Created from soups.jsonl: 1 item."


def test_the_demo_s_studies_were_launched_by_their_owner(world: SimpleNamespace, monkeypatch: Any) -> None:
    [smallest] = demo.STUDIES[:1]
    monkeypatch.setattr("evaluation.management.commands.load_demo.STUDIES", [smallest])
    monkeypatch.setattr("evaluation.management.commands.load_demo.simulate", lambda study, simulation: 0)
    monkeypatch.setattr("evaluation.management.commands.load_demo.extensions", lambda: [])
    command("load_demo")
    study = Study.objects.get()
    assert [(who, line.split()[0]) for who, line in lines(study)] == [
        ("demo", "Created"),
        ("demo", "Launched"),
    ]
