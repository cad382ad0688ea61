"""Recruiting by commands, what an installation needs for it, and the page that tells of both."""

import re
from pathlib import Path

import pytest
from django.contrib.admin.models import LogEntry
from django.core.management import CommandError
from django.urls import resolve
from django.utils import timezone

from annotator.management.commands import panel as panel_command
from annotator.models import Panel, PanelEvent, PanelRecord
from annotator.panels import checks
from annotator.panels.prolific.drafts import CODE_TYPES, OTHER
from annotator.panels.prolific.presets import PRESETS
from annotator.panels.prolific.recruitment_filters import LABELS
from annotator.panels.prolific.webhooks import KINDS
from annotator.panels.services import study_draft
from annotator.panels.services.preflight import draft_warnings
from config import logs
from evaluation.services.history import SERVER
from tests.annotator.panels.recruits import run

pytestmark = pytest.mark.django_db


def test_a_study_is_recruited_for_by_commands(prolific, study):
    assert "5.25 USD for 3 items in 21 minutes" in run("panel", "pairs", "preset", "contexteval")
    assert "can be drafted" in run("panel", "pairs", "check")
    assert "a draft, 4 places" in run("panel", "pairs", "draft")
    assert "recruiting, 4 places" in run("panel", "pairs", "publish")
    assert "recruiting, 6 places" in run("panel", "pairs", "places", "2")
    session = prolific.arrive(next(iter(prolific.studies)), "person-1")
    assert "1 submission read, 1 with news" in run("panel", "pairs", "sync")
    kept_event(session, "RETURNED")
    assert "1 event of the panel applied again" in run("panel", "pairs", "replay")
    assert PanelRecord.objects.get().status == "returned"
    assert "paused" in run("panel", "pairs", "pause")
    assert "recruiting" in run("panel", "pairs", "start")
    of_study = LogEntry.objects.filter(content_type__model="study").order_by("pk")
    entries = of_study.exclude(change_message__startswith="Created from")
    assert {entry.user.username for entry in entries} == {SERVER}
    assert [entry.change_message.split(",")[0].split(":")[0] for entry in entries] == [
        "Recruiting as ContextEval",
        f"Drafted as {Panel.objects.get().external_id}",
        "Published on the panel.",
        "Added 2 places",
        "Recruiting paused.",
        "Recruiting resumed.",
    ]


def kept_event(session, status):
    """A webhook that was applied once."""
    now = timezone.now()
    payload = {"event_type": "submission.status.change", "resource_id": session, "status": status}
    PanelEvent.objects.create(
        platform="prolific", event_id="an-event", kind=payload["event_type"], occurred_at=now, applied_at=now,
        payload=payload, panel=Panel.objects.get(),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nothing", "draft"), "no study 'nothing'"),
        (("pairs", "publish"), "not drafted"),
        (("pairs", "places", "many"), "Give a number"),
        (("pairs", "draft", "now"), "not 'now'"),
        (("pairs", "preset"), "there is no preset ''"),
    ],
)
def test_a_command_says_what_is_wrong(study, words, said):
    with pytest.raises(CommandError, match=re.compile(re.escape(said), re.IGNORECASE)):
        run("panel", *words)


def test_a_command_passes_on_what_the_panel_says(prolific, study):
    prolific.fail("POST", "^/studies/$", "400")
    with pytest.raises(CommandError, match=r"Prolific refused: .*As the test wants it"):
        run("panel", "pairs", "draft")


def test_webhooks_are_set_up_by_a_command(prolific, settings):
    printed = run("panel_hooks", "workspace", "--new-secret")
    assert f"ASSAY_PROLIFIC_WEBHOOK_SECRET={prolific.secret}" in printed
    assert prolific.subscriptions == {}
    assert "https://assay.example.org/hooks/prolific/" in run("panel_hooks", "workspace")
    there = {each["event_type"]: each["is_enabled"] for each in prolific.subscriptions.values()}
    assert there == dict.fromkeys(KINDS, True)
    assert "already" in run("panel_hooks", "workspace")
    assert len(prolific.subscriptions) == len(KINDS)
    assert resolve("/hooks/prolific/").url_name == "panel-hook"
    settings.ASSAY_PROLIFIC_WEBHOOK_SECRET = ""
    with pytest.raises(CommandError, match="--new-secret"):
        run("panel_hooks", "workspace")


# --- the installation ------------------------------------------------------------------------------------------------


def test_a_token_without_a_secret_is_found(settings, study):
    settings.ASSAY_PROLIFIC_TOKEN, settings.ASSAY_PROLIFIC_WEBHOOK_SECRET = "a-token", ""
    [message] = checks.check_deployed_platforms(None)
    assert message.id == "assay.W008"
    assert any("webhooks" in each for each in draft_warnings(study))
    settings.ASSAY_PROLIFIC_WEBHOOK_SECRET = "a-secret"
    assert checks.check_deployed_platforms(None) == []
    [said] = draft_warnings(study)
    assert said.startswith("Prolific pays 5.25 in the currency of your account")
    assert said.endswith("it must be USD.")


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("https://assay.example.org", False),
        ("http://127.0.0.1:8000", False),
        ("https://assay.example.org/assay", True),
        ("assay.example.org", True),
        ("https://", True),
        ("https://assay.example.org:port", True),
    ],
)
def test_a_public_address_that_is_none_is_found(settings, address, found):
    settings.ASSAY_PUBLIC_URL = address
    assert [each.id for each in checks.check_public_url(None)] == ["assay.E010"] * found


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("https://api.prolific.com/api/v1", False),
        ("http://127.0.0.1:9000/api/v1", False),
        ("http://api.prolific.com/api/v1", True),
        ("https://me:word@api.prolific.com", True),
    ],
)
def test_an_address_that_no_token_may_be_sent_to_is_found(settings, address, found):
    settings.ASSAY_PROLIFIC_URL = address
    messages = checks.check_platforms(None)
    assert [each.id for each in messages] == ["assay.E011"] * found
    assert all("word" not in f"{each.msg}{each.hint}" for each in messages)


def test_token_and_secret_never_reach_a_log():
    environment = {
        "ASSAY_PROLIFIC_TOKEN": "the-token-there\n",
        "ASSAY_PROLIFIC_WEBHOOK_SECRET": "the-secret-there",
    }
    assert {"the-token-there", "the-secret-there"} <= set(logs.secret_values(environment))


# --- the page --------------------------------------------------------------------------------------------------------


def test_the_page_names_what_there_is():
    page = (Path(__file__).resolve().parents[3] / "docs/prolific.md").read_text()
    acts = re.findall(r"manage\.py panel my-study (\w+)", page)
    assert set(acts) == set(panel_command.ACTS)
    for key, preset in PRESETS.items():
        assert re.search(rf"^\| `{key}` \|", page, re.MULTILINE), key
        for each in preset.takes.sentences():
            assert each in page, each
    for name, label in LABELS.items():
        assert f"`{name}`" in page, name
        assert label in page, label
    for outcome, reason in study_draft.RETURN_REASONS.items():
        kind = CODE_TYPES.get(outcome, OTHER)
        action = "asks to return" if reason else "you decide"
        assert re.search(rf"^\| `{outcome}` \| `{kind}` \| .*{action}", page, re.MULTILINE), outcome
