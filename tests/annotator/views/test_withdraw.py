"""Withdrawing: asks first, ends the way, and on wish leaves out what was judged."""

import pytest
from django.contrib.admin.models import LogEntry
from django.utils import timezone

from annotator.models import Assignment, Panel, PanelRecord, Participant, ParticipantOutcome, Slot
from annotator.selectors.progress import crowd_needs
from annotator.services.admission.entry import enter
from annotator.services.erasing import WITHDREW, sweep_erasures
from annotator.services.work.progress import finish
from annotator.visit import Visit
from evaluation.models import Exclusion, Judgment
from evaluation.selectors import counting_judgments
from evaluation.services.progress import progress_of
from evaluation.services.studies.verification import verify_study
from tests.annotator.conftest import address, fields, home, text
from tests.annotator.services.erased import found_in_database

pytestmark = pytest.mark.django_db


def test_get_only_asks(client, participant):
    response = client.get(f"{home(participant)}withdraw/")
    assert "Also leave my answers so far out of the results" in text(response)
    assert "They are not deleted" in text(response)
    participant.refresh_from_db()
    assert participant.outcome == ""


@pytest.mark.parametrize(("given", "excluded"), [({}, 0), ({"leave_out": "1"}, 1)])
def test_ends_the_way(client, participant, given, excluded):
    client.post(address(client, participant), fields(client, participant))
    response = client.post(f"{home(participant)}withdraw/", given)
    assert response.status_code == 303
    assert "OUT-1" in text(client.get(home(participant)))
    assert Judgment.objects.count() == 1
    assert Exclusion.objects.filter(rater=participant.rater).count() == excluded
    assert not Slot.objects.filter(state="reserved").exists()
    assert set(Assignment.objects.values_list("state", flat=True)) == {"submitted", "returned"}


def test_afterwards_there_is_nothing_to_withdraw_or_submit(client, participant):
    target, given = address(client, participant), fields(client, participant)
    client.post(f"{home(participant)}withdraw/")
    assert client.get(f"{home(participant)}withdraw/")["Location"] == home(participant)
    assert client.post(f"{home(participant)}withdraw/").status_code == 303
    assert client.post(target, given).status_code == 303
    assert not Judgment.objects.exists()


def test_stranger_and_wrong_method(client, participant):
    for method in ("get", "post"):
        assert getattr(client, method)("/p/nobody-has-this-token-here/withdraw/").status_code == 404
    assert client.put(f"{home(participant)}withdraw/").status_code == 405


# --- where the study erases on request ------------------------------------------------------------------------------


@pytest.fixture
def erasing_study(pairs):
    pairs.erases_withdrawn = True
    pairs.save(update_fields=["erases_withdrawn"])
    return pairs


def test_the_page_says_which_it_is(client, participant, erasing_study):
    said = text(client.get(f"{home(participant)}withdraw/"))
    assert "Also delete everything that this study has stored about me" in said
    assert "They are not deleted" not in said


@pytest.mark.parametrize(
    ("language", "words", "promised"),
    [
        ("de", "Auch alles löschen", "wird gelöscht, sobald"),
        ("es", "Borrar también todo", "se borra en cuanto"),
        ("ar", "احذفوا", "فور تسوية مشاركتك"),
    ],
)
def test_it_says_so_in_every_language(client, make, language, words, promised):
    study = make(language=language, erases_withdrawn=True)
    participant = enter(study, Visit("prolific", "person-1", "panel-study", "visit-1"))
    assert words in text(client.get(f"{home(participant)}withdraw/"))
    client.post(f"{home(participant)}withdraw/", {"erase": "1"})
    assert promised in text(client.get(home(participant)))


def test_whoever_asks_reads_their_code_and_is_erased_by_a_worker(client, participant, erasing_study, owner):
    client.post(address(client, participant), fields(client, participant))
    client.post(f"{home(participant)}withdraw/", {"erase": "1"})
    # Meanwhile they are in no figure, and they can still read how to go back to the panel.
    said = text(client.get(home(participant)))
    assert "OUT-1" in said
    assert "Everything that this study has stored about you is deleted as soon as" in said
    assert not counting_judgments(erasing_study).exists()
    sweep_erasures()
    assert not Participant.objects.exists()
    assert not Judgment.objects.exists()
    assert found_in_database("person-1", "visit-1", participant.token, participant.rater.pseudonym) == set()
    assert client.get(home(participant)).status_code == 404
    assert list(verify_study(erasing_study)) == []
    assert LogEntry.objects.latest("pk").change_message.endswith(WITHDREW)


def test_whoever_asks_is_erased_though_the_panel_ended_their_visit_first(client, participant, erasing_study):
    client.post(address(client, participant), fields(client, participant))
    finish(participant, ParticipantOutcome.TIMED_OUT)
    client.post(f"{home(participant)}withdraw/", {"erase": "1"})
    assert not counting_judgments(erasing_study).exists()
    sweep_erasures()
    assert not Participant.objects.exists()


def test_unsettled_it_waits_for_the_panel_and_the_overview_lists_it(
    client, participant, erasing_study, owner
):
    panel = Panel.objects.create(study=erasing_study, platform="prolific", external_id="panel-study")
    now = timezone.now()
    PanelRecord.objects.create(
        panel=panel, external_id="visit-1", participant_id="person-1", status="active", status_at=now,
        submission=participant.submissions.get(),
    )  # fmt: skip
    client.post(address(client, participant), fields(client, participant))
    client.post(f"{home(participant)}withdraw/", {"erase": "1"})
    sweep_erasures()
    assert Judgment.objects.exists()
    needs = [each.text for each in crowd_needs(erasing_study, progress_of(erasing_study))]
    assert (
        "1 participant has withdrawn and asked to be erased, which is done once their submissions are settled."
        in needs
    )
    PanelRecord.objects.update(status="returned")
    sweep_erasures()
    assert not Judgment.objects.exists()
    assert not any("erased" in each.text for each in crowd_needs(erasing_study, progress_of(erasing_study)))


def test_nobody_is_erased_where_the_study_does_not_say_so(client, participant):
    client.post(address(client, participant), fields(client, participant))
    client.post(f"{home(participant)}withdraw/", {"erase": "1"})
    assert "is deleted" not in text(client.get(home(participant)))
    sweep_erasures()
    assert Judgment.objects.count() == 1
    assert Participant.objects.get().erasure_asked_at is None
