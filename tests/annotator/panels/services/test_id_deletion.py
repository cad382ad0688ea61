"""After a study's retention period no platform's id and no exact time is left in it, and no figure is another."""

from datetime import UTC, timedelta
from io import BytesIO
from typing import Any

import pytest
from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.db import models
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotator.models import (
    Assignment,
    KnownMismatch,
    PanelAct,
    PanelEvent,
    PanelRecord,
    Participant,
    PersonalLink,
    Submission,
)
from annotator.panels.money.decisions import intend_bonuses
from annotator.panels.reconciliation.overview import reconcile
from annotator.panels.selectors import panels_to_sync
from annotator.panels.services import events
from annotator.panels.services.readings import sync
from annotator.panels.services.retention import id_deletion
from annotator.panels.services.retention.id_deletion import delete_ids
from annotator.panels.tasks import delete_due_ids
from evaluation.dumps.exports.study_export import export_study
from evaluation.models import Exclusion, Judgment, Note, Rater, Study
from evaluation.refusals import Refused, WrongState
from evaluation.services.exclusions import exclude
from evaluation.services.history import log_action
from evaluation.services.studies.duplication import duplicate_study
from evaluation.services.studies.launch import close_study, reopen_study
from evaluation.services.studies.retention import deletion_day, reduce_times, retention_text
from evaluation.services.studies.verification import verify_study
from tests.analytics.reports.reading import build_report
from tests.annotator.panels.panel_rows import act, make_panel_study, record, work
from tests.evaluation.admin.conftest import signed_in

pytestmark = pytest.mark.django_db
PEOPLE = ("5f8d0d55b54764421b7156d9", "61e1ac5b64764421b7156daa")
KNOWN_THERE = "70e1ac5b64764421b7156dcc"


@pytest.fixture
def panel(owner: Any) -> Any:
    made = make_panel_study("kept", owner=owner, exact_times=False)
    study = made.study
    for name in PEOPLE:
        person = work(study, name)
        there = record(
            made, name, "approved", submission=person.submissions.get(), completed_at=timezone.now()
        )
        act(made, there, "bonus", "done", purpose="goodwill", amount="1.00", note=f"Paid to {name}.")
    record(made, KNOWN_THERE, "returned")
    # One who came again, after a time.
    again = Participant.objects.get(external_id=PEOPLE[0])
    Submission.objects.create(participant=again, external_id="visit-again-and-again")
    PanelEvent.objects.create(
        platform="prolific", event_id="e", kind="x", occurred_at=timezone.now(), panel=made,
        payload={"participant_id": PEOPLE[0]},
    )  # fmt: skip
    KnownMismatch.objects.create(panel=made, key=f"kind:visit-{KNOWN_THERE}:x", note=f"{KNOWN_THERE} wrote.")
    PersonalLink.objects.create(study=study, label="ada.lovelace@example.org")
    log_action(study=study, by=owner, message=f"Asking to return {PEOPLE[0]}.")
    judgment = Judgment.objects.filter(study=study).order_by("pk")[0]
    exclude(study=study, judgment=judgment, reason=f"{PEOPLE[0]} said so.", by=owner)
    Note.objects.create(study=study, item=judgment.item, text=f"See {PEOPLE[1]}.")
    study.retention_days = 30
    study.save(update_fields=["retention_days"])
    close_study(study)
    return made


def overdue(study: Study) -> None:
    Study.objects.filter(pk=study.pk).update(closed_at=timezone.now() - timedelta(days=31))
    study.refresh_from_db()


def mentions(words: tuple[str, ...]) -> list[tuple[str, str]]:
    found = []
    for model in apps.get_models():
        if not model._meta.managed:
            continue
        for field in model._meta.concrete_fields:
            if isinstance(field, models.CharField | models.TextField | models.JSONField):
                texts = map(str, model._base_manager.values_list(field.attname, flat=True))
                found += [
                    (model.__name__, field.name) for text in texts if any(word in text for word in words)
                ]
    return found


def exact_times(study: Study) -> list[str]:
    """The moments of people's work that are at no midnight, but for their lengths and their order."""
    begun = [
        *Participant.objects.filter(study=study).values_list("created_at", flat=True),
        *PanelRecord.objects.filter(
            panel__study=study, started_at__isnull=False, submission=None
        ).values_list("started_at", flat=True),
        *(
            each.replace(microsecond=0)
            for each in Judgment.objects.filter(study=study, rater__kind="person").values_list(
                "judged_at", flat=True
            )
        ),
    ]
    return [str(each) for each in begun if each.astimezone(UTC).time().isoformat() != "00:00:00"]


def lines_of(study: Study) -> bytes:
    out = BytesIO()
    export_study(study, format="csv", out=out)
    # An id stands in the reason of an exclusion.
    return out.getvalue().replace(PEOPLE[0].encode(), b"x" * 24)


def lengths(study: Study) -> list[Any]:
    rows = Assignment.objects.filter(participant__study=study).order_by("participant", "ended_at", "pk")
    return [
        (pk, ended and ended - begun)
        for pk, begun, ended in rows.values_list("pk", "reserved_at", "ended_at")
    ]


def test_nothing_that_a_platform_knows_people_by_is_left(panel: Any) -> None:
    study = panel.study
    before = lines_of(study), lengths(study), build_report(study)["groups"]
    owed = reconcile(panel).money.total
    mismatches = len(reconcile(panel).mismatches)
    assert mentions(PEOPLE)
    assert exact_times(study)
    delete_ids(study)
    study.refresh_from_db()
    panel.refresh_from_db()
    panel.study = study
    words = (*PEOPLE, KNOWN_THERE, "ada.lovelace", "visit-again")
    assert mentions(words) == []
    assert exact_times(study) == []
    assert PanelEvent.objects.count() == 0
    assert list(verify_study(study)) == []
    # Days, durations, the order of each person's work, money and what does not match are as they were.
    assert (lines_of(study), lengths(study), build_report(study)["groups"]) == before
    assert reconcile(panel).money.total == owed
    assert len(reconcile(panel).mismatches) == mismatches
    assert [str(each) for each in PanelAct.objects.values_list("amount", flat=True)] == ["1.00", "1.00"]
    assert PanelRecord.objects.filter(submission__isnull=False).count() == 2
    assert LogEntry.objects.filter(change_message__startswith="Deleted platform ids").count() == 1
    assert "x" * 24 in Exclusion.objects.get().reason


def test_it_happens_whole_or_not_at_all(panel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    before = mentions(PEOPLE), exact_times(panel.study), PersonalLink.objects.count()
    monkeypatch.setattr(id_deletion, "log_action", lambda **line: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        delete_ids(panel.study)
    assert (mentions(PEOPLE), exact_times(panel.study), PersonalLink.objects.count()) == before
    assert list(verify_study(panel.study)) == []


def test_what_was_changed_past_the_application_still_shows(panel: Any) -> None:
    study = panel.study
    changed = Judgment.objects.filter(study=study).order_by("pk")[1]
    Judgment.objects.filter(pk=changed.pk).update(duration_ms=1)
    faults = list(verify_study(study))
    assert faults
    delete_ids(study)
    assert list(verify_study(Study.objects.get(pk=study.pk))) == faults


def test_the_order_within_a_day_stays(panel: Any) -> None:
    rater = Rater.objects.filter(study=panel.study, kind="person").order_by("pk")[0]
    rows = list(Judgment.objects.filter(rater=rater).order_by("pk"))
    noon = timezone.now().astimezone(UTC).replace(hour=12, minute=0, second=0, microsecond=0)
    for judgment, moment in zip(rows, (noon + timedelta(hours=1), noon), strict=True):
        Judgment.objects.filter(pk=judgment.pk).update(judged_at=moment)
    reduce_times(panel.study)
    midnight = noon.replace(hour=0)
    found = Judgment.objects.filter(rater=rater).order_by("pk").values_list("judged_at", flat=True)
    assert list(found) == [midnight + timedelta(microseconds=n) for n in (2, 1)]
    reduce_times(panel.study)
    assert list(found.all()) == [midnight + timedelta(microseconds=n) for n in (2, 1)]


def test_beat_deletes_what_is_due_and_waits_for_what_is_not_settled(panel: Any) -> None:
    study = panel.study
    delete_due_ids()
    study.refresh_from_db()
    assert study.ids_deleted_at is None
    overdue(study)
    PanelRecord.objects.filter(participant_id=PEOPLE[0]).update(status="awaiting_review")
    delete_due_ids()
    study.refresh_from_db()
    assert study.ids_deleted_at is None
    page = signed_in(study.members.get(role="owner").user).get(f"/studies/{study.slug}/").content.decode()
    assert "Platform ids were to be deleted on" in page
    assert "1 submission is not settled on the panel" in page
    PanelRecord.objects.filter(participant_id=PEOPLE[0]).update(status="approved")
    # Somebody came since the panel was read.
    late = Submission.objects.create(
        participant=study.participants.first(),
        external_id="a-late-visit",
        entered_at=panel.synced_at + timedelta(1),
    )
    delete_due_ids()
    study.refresh_from_db()
    assert study.ids_deleted_at is None
    late.delete()
    delete_due_ids()
    study.refresh_from_db()
    assert study.ids_deleted_at is not None
    assert LogEntry.objects.filter(user__username="command-line", object_id=str(study.pk)).exists()
    delete_due_ids()
    with pytest.raises(WrongState, match="of a closed study, and once"):
        delete_ids(study)


def test_nothing_is_read_or_asked_afterwards(panel: Any) -> None:
    study = panel.study
    PanelRecord.objects.filter(participant_id=PEOPLE[0]).update(status="approved")
    assert panel in panels_to_sync()
    delete_ids(study)
    panel.refresh_from_db()
    assert panel not in panels_to_sync()
    for ask in (
        lambda: sync(panel),
        lambda: intend_bonuses(panel, {panel.records.all()[0]: 1}, "goodwill", None),
        lambda: reopen_study(Study.objects.get(pk=study.pk)),
    ):
        with pytest.raises(Refused, match="Nothing is read of the study or asked of its panel any more"):
            ask()
    # What the panel still delivers is not kept.
    late = {"event_type": "submission.status.change", "resource_id": "x", "status": "APPROVED"}
    PanelEvent.objects.create(
        platform="prolific",
        event_id="late",
        kind="submission.status.change",
        occurred_at=timezone.now(),
        panel=panel,
        payload={**late, "participant_id": PEOPLE[0]},
    )
    events.apply_events()
    assert not PanelEvent.objects.exists()
    assert mentions(PEOPLE) == []


def test_the_pages_say_when(panel: Any, owner: Any) -> None:
    study, client = panel.study, signed_in(owner)
    day = deletion_day(study)
    assert day == (timezone.now() + timedelta(days=30)).date()
    said = f"Platform ids and exact times are deleted on {day.day} {day:%B %Y}."
    for address in (f"/studies/{study.slug}/", f"/studies/{study.slug}/panel/"):
        assert said in client.get(address).content.decode(), address
    delete_ids(study)
    study.refresh_from_db()
    assert "were deleted on" in client.get(f"/studies/{study.slug}/").content.decode()
    assert "were deleted on" in retention_text(study)


def test_it_is_set_on_people_and_pay(owner: Any, panel: Any) -> None:
    client, study = signed_in(owner), panel.study
    page = client.get(reverse("admin:evaluation_study_change", args=[study.slug]))
    assert 'name="retention_days" value="30"' in page.content.decode()
    delete_ids(study)
    form = {"items_per_participant": 2, "paid_minutes": 20, "lease_minutes": 60, "currency": "GBP",
            "going_back": "last", "exact_times": "on", "retention_days": "0"}  # fmt: skip
    answer = client.post(reverse("admin:evaluation_study_change", args=[study.slug]), form).content.decode()
    assert "Platform ids and exact times were deleted on" in answer
    assert "greater than or equal to 1" in answer
    # A day past the calendar's end could be shown nowhere.
    far = client.post(
        reverse("admin:evaluation_study_change", args=[study.slug]), form | {"retention_days": "99999999"}
    )
    assert "less than or equal to 10000" in far.content.decode()
    study.refresh_from_db()
    assert study.retention_days == 30


def test_a_copy_keeps_the_period_and_nothing_else_of_it(panel: Any, owner: Any) -> None:
    delete_ids(panel.study)
    copy = duplicate_study(Study.objects.get(pk=panel.study.pk), slug="a-copy", by=owner)
    assert (copy.retention_days, copy.closed_at, copy.ids_deleted_at) == (30, None, None)
    assert (
        retention_text(copy) == "Platform ids and exact times are deleted 30 days after the study is closed."
    )


def test_who_opens_their_link_afterwards_is_told_that_it_is_over(panel: Any) -> None:
    token = Participant.objects.filter(study=panel.study)[0].token
    delete_ids(panel.study)
    assert Client().get(f"/p/{token}/").status_code == 200
