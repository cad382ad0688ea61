"""Answers of every protocol are revised: shown as they were recorded, changed, and the first ones kept."""

import copy

import pytest

from annotator.models import Assignment
from annotator.services.admission.entry import enter
from annotator.visit import Visit
from evaluation.demo.studies import STUDIES
from evaluation.dumps.imports.dump_import import import_dump
from evaluation.dumps.lines import FileSource
from evaluation.models import Judgment
from evaluation.services.answers import load_answers
from evaluation.services.studies.launch import launch_study
from evaluation.services.studies.verification import verify_study
from tests import factories
from tests.annotator.conftest import home, text
from tests.annotator.pages import LONG, Form
from tests.crowd import before

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module", params=STUDIES, ids=[demo.slug for demo in STUDIES])
def launched(request, around_module):
    """That demo study, live, for all tests here."""
    study = import_dump(FileSource(request.param.items), slug=request.param.slug)
    study.steps = factories.NO_STEPS
    study.save()
    launch_study(study)
    return study


@pytest.fixture
def participant(db, launched):
    """Somebody with the first item of that study before them."""
    return enter(copy.deepcopy(launched), Visit("link"))


@pytest.fixture
def done(client, participant):
    """An item that they have just submitted."""
    assignment = before(participant.token)
    form = Form(client.get(home(participant)).content.decode())
    answer = client.post(f"{home(participant)}a/{assignment.pk}/submit/", form.filled_in())
    assert "refused" not in answer["Location"], text(client.get(answer["Location"]))
    return Assignment.objects.get(pk=assignment.pk)


def again(participant, done):
    return f"{home(participant)}a/{done.pk}/again/"


def shown(client, participant, done):
    answer = client.get(again(participant, done))
    assert answer.status_code == 200
    return Form(answer.content.decode())


def answers(done):
    return set(load_answers(Judgment.objects.get(assignment=done)))


def changed(form):
    """Whatever can be chosen otherwise is."""
    sent = dict(form.sent)
    for name, values in form.choices.items():
        if not name.endswith(".keep"):
            sent[name] = next(value for value in values if value != sent.get(name))
    for name in form.texts:
        if sent[name]:
            sent[name] = f"{sent[name]} On second thought, more."
    tags = [
        name for name in form.boxes if not name.endswith((".merge", ".confirmed")) and ".cite." not in name
    ]
    for name in [name for name in tags if name not in sent and "." in name][:1]:
        sent[name] = form.boxes[name]
        sent.pop(f"{name.partition('.')[0]}.~none", None)
    places = [name for name, values in form.selects.items() if len(values) > 1]
    for name, value in zip(places, [form.sent[each] for each in reversed(places)], strict=True):
        sent[name] = value
    return sent


def test_what_was_recorded_is_shown_and_unchanged_it_stays(client, participant, done):
    recorded = answers(done)
    sent = shown(client, participant, done).sent
    assert LONG in sent.values() or not any(answer.text for answer in recorded)
    assert client.post(again(participant, done), sent)["Location"].endswith("revised")
    assert answers(done) == recorded
    assert "revised" not in Judgment.objects.get(assignment=done).trace


def test_other_answers_take_the_place_of_the_first(client, participant, done):
    first, sent = answers(done), changed(shown(client, participant, done))
    answer = client.post(again(participant, done), sent)
    assert answer["Location"].endswith("revised"), text(client.get(answer["Location"]))
    judgment = Judgment.objects.get(assignment=done)
    assert answers(done) != first
    assert judgment.trace["revised"] == 1
    kept = {(each["question"], each["part"]) for each in judgment.trace["first_answers"]}
    assert kept == {(each.question, each.part) for each in first}
    assert list(verify_study(participant.study)) == []
    # What was revised is what is shown now.
    again_sent = shown(client, participant, done).sent
    client.post(again(participant, done), again_sent)
    assert Judgment.objects.get(assignment=done).trace["revised"] == 1


def test_a_revision_that_is_begun_is_kept_and_counts_only_when_it_is_submitted(client, participant, done):
    first, sent = answers(done), changed(shown(client, participant, done))
    target = f"{again(participant, done)}draft/"
    assert client.post(target, sent, content_type="application/json").json() == {}
    assert answers(done) == first
    page = client.get(again(participant, done))
    assert "Your submitted answers count until you submit the revised ones" in text(page)
    form = Form(page.content.decode())
    # Of a set, the places of its rows are counted anew.
    beside = ("~held", ".place", ".was")
    same = {name: value for name, value in sent.items() if not name.endswith(beside)}
    assert {name: form.sent.get(name) for name in same} == same
    # Looking at the recorded answers begins anew.
    assert client.post(target)["Location"] == again(participant, done)
    assert "Your submitted answers count until you submit the revised ones" not in text(
        client.get(again(participant, done))
    )
    assert client.post(again(participant, done), shown(client, participant, done).sent).status_code == 303
    assert answers(done) == first


def test_a_revision_that_is_refused_shows_what_is_wrong_by_a_get(client, participant, done):
    first, form = answers(done), shown(client, participant, done)
    sent = {name: value for name, value in form.sent.items() if name not in form.choices | form.boxes}
    sent |= dict.fromkeys(form.texts, "")
    answer = client.post(again(participant, done), sent)
    assert answer.status_code == 303
    page = client.get(answer["Location"])
    refused = answer["Location"].endswith("refused")
    # Of boxes alone nothing is left to show, and what is recorded stands there once more.
    has_fields = any(not name.startswith("~") for name in sent)
    assert (refused and has_fields) is ('class="errors" role="alert"' in page.content.decode())
    assert answers(done) == first or not refused
    # What nothing was filled in of, as when a browser sends a form once more, shows what is recorded.
    recorded = answers(done)
    client.post(f"{again(participant, done)}draft/")
    client.post(again(participant, done), {})
    assert answers(done) == recorded
    client.post(again(participant, done), shown(client, participant, done).sent)
    assert answers(done) == recorded
