"""The contents of a bundle of a study with people of a panel and a judge by chat, and what is never among them."""

import json
import socket
import zipfile
from datetime import UTC, datetime

import pytest
from django.contrib.auth import get_user_model

from analytics.reports.bundle.comparison import Sameness
from analytics.reports.bundle.replication import replicate
from analytics.reports.bundle.writing import export_bundle
from annotator.models import Panel, PanelRecord, PersonalLink
from annotator.services.admission.entry import enter
from annotator.visit import Visit
from evaluation.models import Judgment, Outcome, Rater
from evaluation.private_words import PrivateWords
from evaluation.services.exclusions import exclude
from evaluation.services.notes import add_note
from evaluation.services.studies.creation import PAPER_ARMS
from judging.models import Call, Endpoint
from tests.answers import give_answers
from tests.crowd import before, hand_in, make_crowd_study
from tests.judging import endpoint
from tests.judging.build import judged, make_judge

pytestmark = pytest.mark.django_db
PEOPLE = ("5f3c7d9e1a2b4c6d8e0f1a2b", "60d5ecb8f1a2c34d5e6f7a8b")
VISITS = ("64a1b2c3d4e5f60718293a4b", "64a1b2c3d4e5f60718293a4c")
PANEL_STUDY = "65ffeeddccbbaa9988776655"
LINK = "Rosalind the fourth"
KEY = "not-a-real-key-0123456789"


@pytest.fixture
def study():
    study = make_crowd_study("mixed", queries=3, arms=PAPER_ARMS[:1], redundancy=2)
    panel = Panel.objects.create(study=study, platform="prolific", external_id=PANEL_STUDY)
    PersonalLink.objects.create(study=study, label=LINK)
    for person, visit in zip(PEOPLE, VISITS, strict=True):
        participant = enter(study, Visit("prolific", person, PANEL_STUDY, visit))
        PanelRecord.objects.create(
            panel=panel, external_id=visit, participant_id=person, status_at=participant.created_at
        )
        while before(participant.token):
            hand_in(
                participant.token,
                justification=f"It says more about it. My Prolific ID is {person}. ({LINK})",
            )
    return study


@pytest.fixture
def served_study(study, monkeypatch):
    """The same, judged by a model, too; and the secrets of its endpoint."""
    monkeypatch.setenv("ASSAY_KEY_TEST", KEY)
    with endpoint.serve() as served:
        judge = make_judge(
            study, served, questions=["preference"], orders="both", samples=2, extra={"top_p": 0.9}
        )
        judged(study, judge)
        Endpoint.objects.update(key_name="ASSAY_KEY_TEST")
        address = served.url
    # As servers put them into what they say of a failure.
    said = f"404: no model at {address}/chat/completions for the key {KEY}"
    call = Call.objects.order_by("pk").last()
    Call.objects.filter(pk=call.pk).update(raw=said, rationale=said)
    failed = Judgment.objects.filter(rater__kind=Rater.Kind.JUDGE).order_by("pk").last()
    give_answers(failed, [])
    failed.outcome, failed.trace = Outcome.FAILED, {"raw": "", "error": said}
    failed.save()
    return study, (address, KEY)


def members(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def lines(content):
    return [json.loads(line) for line in content.splitlines()]


def test_everything_that_the_figures_were_computed_from_is_inside(served_study, tmp_path):
    study, _ = served_study
    export_bundle(study, tmp_path / "bundle.zip")
    found = members(tmp_path / "bundle.zip")
    header, *items = lines(found["study.jsonl"])
    revision = study.revisions.get()
    assert header["spec"] == revision.spec
    assert header["spec"]["seed"] == study.seed
    assert [each["key"] for each in items] == list(
        study.items.order_by("position", "pk").values_list("key", flat=True)
    )
    assert all(each["responses"] and each["query"]["text"] for each in items)
    judgments = [each for item in items for each in item["judgments"]]
    assert len(judgments) == study.judgments.count()
    assert {tuple(each["shown"]) for each in judgments} == {("r1", "r2"), ("r2", "r1")}
    assert {each["kind"] for each in judgments} == {"person", "judge"}
    assert {each["start_order"] for each in items} == {0, 1}
    assert json.loads(found["revisions.json"])[0]["spec"] == revision.spec
    (run,) = lines(found["judging/judges.jsonl"])
    assert (run["judge"]["model"], run["judge"]["extra"]) == ("longer", {"top_p": 0.9})
    calls = lines(found["judging/calls.jsonl"])
    assert len(calls) == Call.objects.count()
    texts = {each["query"]["text"] for each in items}
    assert all(any(text in each["messages"][-1]["content"] for text in texts) for each in calls)
    assert all(each["raw"] for each in calls)
    assert {each["parameters"]["top_p"] for each in calls} == {0.9}
    assert len({each["parameters"]["seed"] for each in calls}) == 4  # two orders, two samples
    versions = json.loads(found["versions.json"])
    assert {"django", "numpy"} <= versions["packages"].keys()
    assert versions["python"]
    assert versions["assay"]
    report = json.loads(found["report/report.json"])
    assert report["records"]
    assert report["parameters"]["seed"] == study.seed
    assert any(name.startswith("report/tables/") for name in found)
    assert b"<svg" in found["report/report.html"]
    assert set(json.loads(found["MANIFEST.json"])["sha256"]) == set(found) - {"MANIFEST.json"}


def test_no_id_of_a_platform_no_address_and_no_key_is_in_any_member(served_study, tmp_path):
    study, secrets = served_study
    person = Rater.objects.get(participant__external_id=PEOPLE[1])
    exclude(study=study, rater=person, reason=f"{PEOPLE[1]} returned {VISITS[1]}.", by=None)
    author = get_user_model().objects.create_superuser("author")
    given = study.judgments.order_by("pk")[0]
    add_note(given.item, text=f"{PEOPLE[0]} wrote to us.", judgment=given, by=author)
    export_bundle(study, tmp_path / "bundle.zip")
    tokens = study.participants.values_list("token", flat=True)
    keys = PersonalLink.objects.values_list("key", flat=True)
    private = (*PEOPLE, *VISITS, PANEL_STUDY, LINK, *secrets, secrets[0].split("/")[2], *tokens, *keys)
    found = members(tmp_path / "bundle.zip")
    for name, content in found.items():
        assert [word for word in private if word.encode() in content] == [], name
    # Where they stood the sentence is as long as it was.
    reason = json.loads(found["exclusions.json"])["exclusions"][0]["reason"]
    assert reason == f"{'x' * 24} returned {'x' * 24}."
    notes = [
        note["text"]
        for each in lines(found["study.jsonl"])[1:]
        for judgment in each["judgments"]
        for note in judgment.get("notes", ())
    ]
    assert notes == [f"{'x' * 24} wrote to us."]
    assert f"My Prolific ID is {'x' * 24}. ({'x' * len(LINK)})".encode() in found["study.jsonl"]


def test_what_was_blacked_out_changes_no_figure_and_nothing_is_asked_of_a_network(
    served_study, tmp_path, monkeypatch
):
    study, _ = served_study
    export_bundle(study, tmp_path / "bundle.zip")

    def refuse(*args, **kwargs):
        raise AssertionError("a replication needs no network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    done = replicate(tmp_path / "bundle.zip")
    assert {each.name: each.sameness for each in done.figures if each.sameness != Sameness.EXACT} == {}
    assert [key for key, same in done.tables if not same] == []


def test_times_of_people_who_worked_one_after_the_other_are_the_same_to_the_last_digit(study, tmp_path):
    # Moments are left out and the order of each person's day is kept, so that who came between whom is lost; of these
    # seconds the standard deviation has another last digit in another order.
    judgments = Judgment.objects.filter(study=study, outcome=Outcome.OK).order_by("rater", "pk")
    for second, judgment, duration in zip(
        range(6), judgments, (1100, 2300, 4700, 9100, 17_300, 33_900), strict=True
    ):
        judgment.duration_ms, judgment.judged_at = duration, datetime(2026, 3, 4, 11, 0, second, tzinfo=UTC)
        judgment.save()
    export_bundle(study, tmp_path / "bundle.zip")
    done = replicate(tmp_path / "bundle.zip")
    assert {each.name: each.sameness for each in done.figures}["times"] == Sameness.EXACT


def test_only_whole_words_of_some_length_are_blacked_out():
    words = PrivateWords(["5f3c7d9e1a2b", "12345", "ada@example.org", "http://10.0.0.7:8000/v1", "", " "])
    for text, black in {
        "I am 5f3c7d9e1a2b.": f"I am {'x' * 12}.",
        "5f3c7d9e1a2bc is another": "5f3c7d9e1a2bc is another",
        "In 12345 of them": "In 12345 of them",
        "(ada@example.org)": f"({'x' * 15})",
        "http://10.0.0.7:8000/v1/models": f"{'x' * 23}/models",
        "été 5f3c7d9e1a2b-": f"été {'x' * 12}-",
    }.items():
        assert words.blacked_out(text) == black
    assert words.blacked_out_json({"5f3c7d9e1a2b": ["5f3c7d9e1a2b", 3, None]}) == {
        "5f3c7d9e1a2b": ["x" * 12, 3, None]
    }
    assert PrivateWords([]).blacked_out("5f3c7d9e1a2b") == "5f3c7d9e1a2b"


def test_days_and_not_moments_are_told(served_study, tmp_path):
    study, _ = served_study
    Judgment.objects.filter(study=study).update(judged_at=datetime(2026, 3, 4, 11, 22, 33, tzinfo=UTC))
    export_bundle(study, tmp_path / "bundle.zip")
    assert not [name for name, content in members(tmp_path / "bundle.zip").items() if b"11:22:33" in content]
