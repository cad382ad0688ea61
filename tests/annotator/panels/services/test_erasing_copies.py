"""Somebody is erased whose words and ids are all over the place: what is left of them, here and in others' studies."""

from datetime import timedelta
from decimal import Decimal
from io import StringIO
from types import SimpleNamespace

import pytest
from django.contrib.admin.models import LogEntry
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from analytics.leaderboard.boards import leaderboard_record
from analytics.reports.cache import compute_report
from annotator.models import (
    Assignment,
    DraftRound,
    ErasedVisit,
    KnownMismatch,
    Panel,
    PanelEvent,
    PanelRecord,
    Participant,
)
from annotator.panels.reconciliation.overview import reconcile
from annotator.panels.services.events import apply_events
from annotator.panels.services.panel_settings import panel_of
from annotator.panels.services.submission_records import ReportedState, note_status
from annotator.selectors.participants import get_participant
from annotator.services.admission.entry import enter
from annotator.services.erasing import erase_participant, plan_erasure, sweep_erasures
from annotator.services.work.draft_rounds import request_round
from annotator.services.work.submit import submit
from annotator.visit import Visit
from evaluation.dumps.derive import derive_study
from evaluation.dumps.exports.study_export import export_to
from evaluation.dumps.imports import dump_import
from evaluation.dumps.imports.dump_import import import_dump
from evaluation.dumps.lines import FileSource
from evaluation.dumps.pooling import pool_rounds
from evaluation.extension import Reviser
from evaluation.filters import Filters
from evaluation.forms.input.posted_fields import read_fields
from evaluation.models import (
    AnswerText,
    ApiRequest,
    CachedReport,
    InstallationKey,
    Job,
    Judgment,
    Note,
    PublishedLeaderboard,
    Rater,
    SavedView,
    Study,
)
from evaluation.refusals import Refused
from evaluation.selectors import counting_judgments
from evaluation.services.exclusions import exclude, restore
from evaluation.services.history import log_action
from evaluation.services.jobs import begin_job, mark_sent, new_file_name
from evaluation.services.leaderboards import publish_leaderboard
from evaluation.services.seals import seal_new
from evaluation.services.studies.launch import launch_study
from evaluation.services.studies.resolver import derive_resolver
from evaluation.services.studies.sealing import rotate_secret
from evaluation.services.studies.verification import erased_facts, verify_study
from evaluation.services.tokens import make_token
from evaluation.tasks import work_on_job
from judging.models import Call, Judge, JudgeRun, Run, WorkKind
from tests.annotator.panels.panel_rows import act, make_panel_study, record, work
from tests.annotator.services.erased import found_in_database, found_in_files
from tests.calibrations import FERRY, NEW, OLD, calibration_study, entry, form, kept
from tests.crowd import before, come, hand_in
from tests.extensions import extend
from tests.judging.build import judged, make_judge
from tests.judging.endpoint.server import serve

pytestmark = pytest.mark.django_db

WORDS = "Xylophones quarrel beneath the marmalade"
REASON = "They wrote to us and asked for it."
SESSION, PERSON = "visit-5f1d2ann", "5f1d2ann"


@pytest.fixture(autouse=True)
def folders(settings, tmp_path):
    settings.ASSAY_JOB_FILES = str(tmp_path / "jobs")


@pytest.fixture
def panel(owner):
    return make_panel_study("paid", owner=owner, queries=4)


@pytest.fixture
def study(panel):
    return panel.study


def hands_in(study, name, words, n=2):
    """Somebody who gives their words as reasons."""

    there = panel_of(study)
    token = enter(study, Visit("prolific", name, there.external_id, f"visit-{name}")).token
    for number in range(n):
        assert before(token) is not None
        hand_in(token, justification=f"{words}, number {number}, as anybody can see.")
    return get_participant(token)


@pytest.fixture
def person(panel):
    """Approved and paid a bonus on the panel, with an event, and a mismatch that was looked at."""
    participant = hands_in(panel.study, PERSON, WORDS)
    visit = participant.submissions.get()
    there = record(panel, PERSON, "approved", submission=visit, completed_at=timezone.now(), code="CDONE")
    act(panel, there, "bonus", "done", amount=Decimal("0.75"), purpose="goodwill", note=f"for {PERSON}")
    PanelEvent.objects.create(
        platform="prolific", event_id="e-1", kind="submission.status.change", occurred_at=timezone.now(), panel=panel,
        applied_at=timezone.now(), payload={"resource_id": SESSION, "participant_id": PERSON, "status": "APPROVED"},
    )  # fmt: skip
    KnownMismatch.objects.create(panel=panel, key=f"late:{SESSION}:approved", note=f"{PERSON} is fine")
    return participant


def names(participant):
    return participant.external_id, SESSION, participant.rater.pseudonym, participant.token


def erase(participant, owner, **named):
    named = {"reason": REASON, "typed": participant.rater.pseudonym, "deal_again": True, **named}
    return erase_participant(participant, by=owner, **named)


def test_another_secret_key_forgets_nobody(panel, person, owner, settings):
    settings.ASSAY_SEAL_SECRETS = ["first"]
    erase(person, owner)
    seen = ReportedState(SESSION, PERSON, "approved", timezone.now() + timedelta(minutes=1))
    settings.SECRET_KEY = "another one, as after a rotation"
    assert note_status(panel, seen) is None
    settings.ASSAY_SEAL_SECRETS = ["second", "first"]
    done, closed = rotate_secret()
    assert (done, closed) == (2, [])
    settings.ASSAY_SEAL_SECRETS = ["second"]
    assert note_status(panel, seen) is None


def test_without_the_secret_nobody_is_erased_and_what_comes_is_kept(panel, person, owner, settings):
    settings.ASSAY_SEAL_SECRETS = ["first"]
    work(panel.study, "bob")
    erase(person, owner)
    settings.ASSAY_SEAL_SECRETS = ["lost the first"]
    seen = ReportedState("visit-new", "carol", "active", timezone.now())
    assert note_status(panel, seen) is not None
    bob = panel.study.participants.exclude(external_id="").get()
    record(panel, "bob", "approved", submission=bob.submissions.get())
    [problem] = plan_erasure(bob, by=owner).problems
    assert "ASSAY_SEAL_SECRETS does not name" in problem
    assert "`manage.py seal --new-key`" in problem
    with pytest.raises(Refused, match="ASSAY_SEAL_SECRETS does not name"):
        erase(bob, owner)
    assert panel.study.participants.filter(pk=bob.pk).exists()


def test_a_key_whose_secret_is_lost_is_replaced_and_people_can_be_erased_again(
    panel, person, owner, settings
):
    settings.ASSAY_SEAL_SECRETS = ["first"]
    erase(person, owner)
    with pytest.raises(CommandError, match="there is none to replace"):
        call_command("seal", new_key=True)
    settings.ASSAY_SEAL_SECRETS = ["lost the first"]
    with pytest.raises(CommandError, match="seal --new-key"):
        call_command("seal", rotate=True)
    call_command("seal", new_key=True)
    # Forgotten, as the command says.
    assert note_status(panel, ReportedState(SESSION, PERSON, "approved", timezone.now())) is not None
    bob = hands_in(panel.study, "bob-the-second", WORDS)
    there = record(panel, "bob-the-second", "approved", submission=bob.submissions.get())
    seen = ReportedState(
        there.external_id, "bob-the-second", "approved", timezone.now() + timedelta(minutes=1)
    )
    assert plan_erasure(bob, by=owner).problems == []
    erase(bob, owner)
    assert note_status(panel, seen) is None


def test_a_plan_makes_no_key(panel, person, owner):
    assert plan_erasure(person, by=owner).problems == []
    assert not InstallationKey.objects.exists()


# --- the panel --------------------------------------------------------------------------------------------------------


def test_what_was_paid_is_kept_without_the_person(panel, person, owner):
    work(panel.study, "bob")
    before_it = reconcile(panel)
    assert before_it.money.total.paid == Decimal("2.25")
    erase(person, owner)
    after = reconcile(panel)
    assert after.money.total == before_it.money.total
    assert [(line.name, line.there) for line in after.lines if line.name == "Places"] == [
        (line.name, line.there) for line in before_it.lines if line.name == "Places"
    ]
    assert not [each for each in after.mismatches if each.case is not None and each.case.person == ""]
    assert not PanelEvent.objects.exists()
    assert not KnownMismatch.objects.exists()
    assert found_in_database(WORDS, *names(person)) == set()
    [visit] = ErasedVisit.objects.all()
    assert (visit.pay, visit.bonuses, visit.status) == (Decimal("1.50"), Decimal("0.75"), "approved")


def test_the_panels_next_list_and_event_bring_nobody_back(panel, person, owner):
    erase(person, owner)
    seen = ReportedState(SESSION, PERSON, "approved", timezone.now() + timedelta(minutes=1))
    assert note_status(panel, seen) is None
    PanelEvent.objects.create(
        platform="prolific", event_id="e-2", kind="submission.status.change", occurred_at=timezone.now(),
        payload={
            "event_type": "submission.status.change", "resource_id": SESSION, "participant_id": PERSON,
            "status": "APPROVED", "study_id": panel.external_id,
        },
    )  # fmt: skip
    apply_events()
    assert not PanelRecord.objects.exists()
    assert not PanelEvent.objects.filter(event_id="e-2").exists()
    assert found_in_database(*names(person)) == set()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"status": "awaiting_review"}, "is awaiting review on Prolific"),
        ({"status": "active"}, "is active on Prolific"),
        ({"bonus": "intended"}, "The bonus of submission"),
        ({"bonus": "unknown"}, "outcome unknown"),
        ({"record": None}, "has not said yet what became of submission"),
    ],
)
def test_refused_while_a_submission_is_unsettled(panel, person, owner, change, said):
    there = PanelRecord.objects.get()
    if "status" in change:
        PanelRecord.objects.update(**change)
    elif "bonus" in change:
        there.acts.update(state=change["bonus"])
    else:
        there.acts.all().delete()
        there.delete()
        # It was read before they came.
        Panel.objects.update(synced_at=person.submissions.get().entered_at - timedelta(hours=1))
    with pytest.raises(Refused, match=said):
        erase(person, owner)
    assert plan_erasure(person, by=owner).problems
    assert Judgment.objects.filter(rater=person.rater).count() == 2


# --- figures and files ------------------------------------------------------------------------------------------------


def export_of(study, owner, kind="export", suffix="csv"):
    job = begin_job(
        kind=kind, slug=study.slug, study=study, by=owner, parameters={"format": suffix}, file=new_file_name(suffix),
    )  # fmt: skip
    job.file_name = f"{study.slug}.{suffix}"
    job.save()
    work_on_job(job.pk)
    return Job.objects.get(pk=job.pk)


def test_copies_that_left_are_named_with_their_dates(panel, person, owner, client, tmp_path, monkeypatch):
    study = panel.study
    # The test's day does not end meanwhile.
    noon = timezone.now().replace(hour=12)
    monkeypatch.setattr("evaluation.services.history.timezone", SimpleNamespace(now=lambda: noon))
    before = timezone.now() - timedelta(days=3)
    old = export_of(study, owner, suffix="jsonl")
    Job.objects.filter(pk=old.pk).update(finished_at=before)
    Participant.objects.filter(pk=person.pk).update(created_at=timezone.now() - timedelta(days=2))
    person.refresh_from_db()
    call_command("export", study.slug, "--out", str(tmp_path / "all.jsonl"))
    call_command("export_bundle", study.slug, tmp_path / "all.zip", stderr=StringIO())
    call_command("report", study.slug, "--out", str(tmp_path / "report.md"))
    token = make_token(owner, name="script")[1]
    for _ in range(2):
        page = client.get(
            f"/api/v1/studies/{study.slug}/judgments/", headers={"authorization": f"Bearer {token}"}
        )
        assert page.status_code == 200
    lines = LogEntry.objects.filter(change_message="Copied out: judgments, through the API.")
    assert lines.count() == 1
    yesterday = noon - timedelta(days=1)
    lines.update(action_time=yesterday)
    client.get(f"/api/v1/studies/{study.slug}/judgments/", headers={"authorization": f"Bearer {token}"})
    # Two that ask at the same moment leave two lines.
    log_action(study=study, by=owner, message="Copied out: judgments, through the API.")
    copied = LogEntry.objects.filter(change_message__startswith="Copied out")
    copied.exclude(action_time=yesterday).update(action_time=noon)
    said = plan_erasure(person, by=owner).out_of_reach
    for what, who in (
        ("an export as jsonl, by a command", "command-line"),
        ("a bundle, by a command", "command-line"),
        ("the report as md, by a command", "command-line"),
    ):
        assert f"{what}: copied out by {who} on {noon:%Y-%m-%d}" in said
    assert (
        f"judgments, through the API: copied out by {owner} on {yesterday:%Y-%m-%d}, {noon:%Y-%m-%d}" in said
    )
    # What was written before they came does not hold them.
    assert not any("written on" in each for each in said)
    assert any(
        f"backups of the database and its logs that were taken since they came on {person.created_at:%Y-%m-%d}" in each
        for each in said
    )  # fmt: skip


def shares(study):
    """The number of judgments that figures are of, and the report's strip by rater."""
    report = compute_report(study)
    return {each.pseudonym: each.judgments.count() for each in study.raters.order_by("pk")}, report


def test_figures_files_and_the_public_page_are_computed_anew(panel, person, owner):
    study = panel.study
    for name in ("bob", "cem", "dan"):
        hands_in(study, name, f"Plain words of {name}")
    counts, report = shares(study)
    publish_leaderboard(
        study, content=leaderboard_record(report), computed_at=timezone.now(), description="", by=owner
    )
    exported = export_of(study, owner, suffix="jsonl")
    assert exported.path.exists()
    assert found_in_files(WORDS, person.rater.pseudonym)
    assert CachedReport.objects.filter(study=study).exists()
    assert any("paid.jsonl, written on" in said for said in plan_erasure(person, by=owner).out_of_reach)
    pseudonym = person.rater.pseudonym
    n = counting_judgments(study).count()
    erase(person, owner)
    study.refresh_from_db()
    assert counting_judgments(study).count() == n - 2
    assert found_in_files(WORDS, pseudonym) == set()
    exported.refresh_from_db()
    assert exported.file == ""
    assert not CachedReport.objects.filter(study=study).exists()
    # The public page has the figures of those who are left once a worker has computed them.
    old = PublishedLeaderboard.objects.get(study=study).content
    [job] = Job.objects.filter(kind="figures", state="queued")
    work_on_job(job.pk)
    new = PublishedLeaderboard.objects.get(study=study).content
    assert (old["study"], new != old) == (new["study"], True)
    left, _ = shares(study)
    assert left == {name: number for name, number in counts.items() if name != pseudonym}
    assert found_in_database(WORDS, *names(person)) == set()


def test_the_figures_are_those_that_an_exclusion_gives(panel, person, owner):
    study = panel.study
    for name in ("bob", "cem", "dan"):
        hands_in(study, name, f"Plain words of {name}")
    everybody = compute_report(study)
    excluded = exclude(study=study, rater=person.rater, reason="To compare.", by=owner)
    without = compute_report(study)
    restore(excluded, by=owner)
    erase(person, owner)
    after = compute_report(study)
    assert set(after) == set(without)
    differ = {name for name in after if after[name] != without[name]}
    # Every figure is the same; what is told of those that were left out is not.
    assert differ == {"counts", "methods_paragraph"}
    assert {name for name in after if after[name] != everybody[name]} > differ


def test_a_job_that_was_at_work_is_waited_for(panel, person, owner):
    study = panel.study
    at_work = begin_job(kind="export", slug=study.slug, study=study, by=owner, file=new_file_name("csv"))
    Job.objects.filter(pk=at_work.pk).update(
        state="running", lease="12345678-1234-5678-1234-567812345678", sent_at=timezone.now()
    )
    erase(person, owner)
    [kept] = study.erasures.all()
    assert not kept.is_cleared
    # It had read them before they were erased.
    at_work.path.write_text(WORDS)
    Job.objects.filter(pk=at_work.pk).update(state="done", lease=None, finished_at=timezone.now())
    sweep_erasures()
    assert found_in_files(WORDS) == set()
    kept.refresh_from_db()
    assert kept.is_cleared


def test_jobs_on_views_that_name_them(panel, person, owner):
    study, view = panel.study, {"view": {"rater": [person.rater.pseudonym]}}
    done = begin_job(kind="report", slug=study.slug, study=study, by=owner, subject="a", parameters=view)
    Job.objects.filter(pk=done.pk).update(state="done", finished_at=timezone.now())
    begin_job(kind="figures", slug=study.slug, study=study, by=owner, subject="b", parameters=view)
    erase(person, owner)
    assert Job.objects.get().parameters == {"view": {"rater": ["erased"]}}
    assert found_in_database(*names(person)) == set()


def test_refused_while_a_study_is_made_of_it(panel, person, owner):
    other = make_like(panel.study, owner)
    for study, parameters in ((panel.study, {"other": other.pk}), (other, {"other": panel.study.pk})):
        job = begin_job(kind="pooling", slug="both", study=study, by=owner, parameters=parameters)
        mark_sent(job.pk)
        with pytest.raises(Refused, match="A study is being made of this one"):
            erase(person, owner)
        job.delete()
    erase(person, owner)


def test_what_a_derivation_has_read_of_them_is_not_written(panel, person, owner, monkeypatch):
    finish = dump_import.finish_import

    def erase_before(study, **named):
        erase(person, owner)
        finish(study, **named)

    monkeypatch.setattr(dump_import, "finish_import", erase_before)
    with pytest.raises(Refused, match="Somebody was erased from the study at this moment"):
        derive_study(panel.study, "justifications", by=owner, slug="coding")
    assert not Study.objects.filter(slug="coding").exists()
    assert found_in_database(WORDS, *names(person)) == set()


def test_views_and_answers_of_the_api_that_name_them(panel, person, owner):
    study, pseudonym = panel.study, person.rater.pseudonym
    other = hands_in(study, "bob", "Plain words").rater.pseudonym
    for name, filters in (
        ("theirs", {"rater": [pseudonym]}),
        ("both", {"rater": sorted([pseudonym, other])}),
        ("others", {"without_rater": [pseudonym], "arm": ["a"]}),
    ):
        SavedView.objects.create(study=study, name=name, filters=filters)
    ApiRequest.objects.create(user=owner, key="k", path="/api/", body_hash="x", answer={"rater": pseudonym})
    erase(person, owner)
    views = dict(SavedView.objects.values_list("name", "filters"))
    assert views == {"both": {"rater": [other]}, "others": {"arm": ["a"]}}
    assert all(Filters.of(each) for each in views.values())
    assert not ApiRequest.objects.exists()


# --- copies -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def served():
    with serve() as server:
        yield server


def test_items_made_of_their_reasons_with_judges_and_coders(panel, person, owner, served):
    study = panel.study
    hands_in(study, "bob", "Bob says something of his own")
    coding = derive_study(study, "justifications", by=owner, slug="coding")
    launch_study(coding)
    coding.refresh_from_db()
    draft = derive_study(study, "justifications", by=owner, slug="second-coding")
    coder = come(coding, "coder-of-reasons").token
    for _ in range(3):
        if (at_hand := before(coder)) is None:
            break
        Assignment.objects.filter(pk=at_hand.pk).update(
            draft={"comments": at_hand.item.stimulus["responses"][0]["text"]}
        )

        submit(coder, at_hand.pk, {"criteria": ["other"], "tags": ["other"]})
    judge = make_judge(coding, served, "longer")
    run, _ = judged(coding, judge)
    theirs = coding.items.filter(origin__rater=person.rater.pseudonym)
    calls = Call.objects.filter(run=run, item__in=theirs)
    assert calls.count() == 2
    calls.update(raw=f"It says: {WORDS}", rationale=WORDS, reply={"content": WORDS})
    keys = list(calls.values_list("cache_key", flat=True))
    assert list(verify_study(coding)) == []
    study_hash = coding.study_hash
    plan = plan_erasure(person, by=owner)
    assert plan.copies == [
        f"2 items of {coding.title} quote this person. They are withdrawn, and the text is erased.",
        f"2 items of {draft.title} quote this person. They are deleted from the draft.",
    ]
    assert len(found_in_database(WORDS)) > 5
    erase(person, owner)
    assert found_in_database(WORDS, *names(person)) == set()
    coding.refresh_from_db()
    assert coding.study_hash == study_hash
    assert list(verify_study(coding)) == []
    assert list(verify_study(study)) == []
    [said] = erased_facts(coding)
    assert "0 raters with 0 judgments and the texts of 2 items" in said
    erased = coding.items.exclude(erased_hash="")
    assert {each.stimulus["responses"][0]["text"] for each in erased} == {"[erased]"}
    assert not erased.filter(withdrawn_at=None).exists()
    assert not Call.objects.filter(cache_key__in=[key for key in keys if key]).exists()
    assert draft.items.filter(role="main").count() == 2
    # The draft is launched with what is left.
    launch_study(draft)
    draft.refresh_from_db()
    assert list(verify_study(draft)) == []
    # What was paid for stays so.
    run.refresh_from_db()
    assert run.state == "complete"


def test_a_changed_marker_is_found(panel, person, owner):
    coding = derive_study(panel.study, "justifications", by=owner, slug="coding")
    launch_study(coding)
    erase(person, owner)
    item = coding.items.exclude(erased_hash="").first()
    item.stimulus["responses"][0]["text"] = "Something else"
    item.save(update_fields=["stimulus"])
    assert list(verify_study(coding)) == [f"Item {item.key}: the stimulus was changed after it was frozen."]


def test_a_pooled_study_loses_their_judgments_too(panel, person, owner):
    first = panel.study
    bob = hands_in(first, "bob", "Bob says something of his own").rater.pseudonym
    pooled = pool_rounds(first, make_like(first, owner), by=owner, slug="both")
    copy = Rater.objects.get(study=pooled, pseudonym=f"{person.rater.pseudonym}-1")
    n = Judgment.objects.filter(study=pooled).count()
    assert Judgment.objects.filter(rater=copy).count() == 2
    plan = plan_erasure(person, by=owner)
    assert plan.copies == [f"{pooled.title} has a copy of their judgments. It is erased, too."]
    erase(person, owner)
    assert found_in_database(WORDS, *names(person)) == set()
    assert Judgment.objects.filter(study=pooled).count() == n - 2
    assert Rater.objects.filter(study=pooled, pseudonym=f"{bob}-1").exists()
    pooled.refresh_from_db()
    assert list(verify_study(pooled)) == []


def make_like(study, owner):
    panel = make_panel_study("like", owner=owner, queries=4)
    work(panel.study, "eve")
    return panel.study


def test_studies_of_others_are_not_named(panel, person, owner, colleague):
    coding = derive_study(panel.study, "justifications", by=owner, slug="coding")
    coding.members.all().delete()
    [said] = plan_erasure(person, by=owner).copies
    assert (
        said
        == "2 items of a study that you are no member of quote this person. They are deleted from the draft."
    )
    assert plan_erasure(person).copies[0].startswith(f"2 items of {coding.title}")


def test_sets_that_a_resolver_settles(owner):
    own = entry(
        "When the marmalade xylophones quarrel", "1894 it was", reason=f"{WORDS}, and so it is.", cites=[1]
    )
    study = calibration_study({"q1": [[OLD, NEW]]}, items_per_participant=1)
    tokens = [come(study, name).token for name in (PERSON, "bob-who-calibrates")]

    for token, sets in zip(tokens, ([own, kept(OLD, "r1.e1")], [kept(NEW, "r1.e1"), FERRY]), strict=True):
        at_hand = before(token)

        submit(token, at_hand.pk, read_fields(form(*sets)))
    person = get_participant(tokens[0])
    assert person.study == study
    derived = derive_resolver(study, slug="resolver").study
    launch_study(derived)
    derived.refresh_from_db()
    resolver = come(derived, "zoe-who-resolves").token
    at_hand = before(resolver)
    mine = next(
        each["part"]
        for each in at_hand.item.stimulus["responses"]
        if each["system"] == person.rater.pseudonym
    )
    submit(
        resolver,
        at_hand.pk,
        read_fields(form(kept(own, f"{mine}.e1", condition="Reworded marmalade"), FERRY)),
    )
    assert AnswerText.objects.filter(judgment__study=derived, text__contains=WORDS).exists()
    assert list(verify_study(derived)) == []
    erase(person, owner=None)
    assert found_in_database(WORDS, "marmalade", *names(person)) == set()
    assert AnswerText.objects.filter(judgment__study=derived, text__contains="ferry").exists()
    derived.refresh_from_db()
    assert list(verify_study(derived)) == []
    assert list(verify_study(study)) == []
    assert Participant.objects.filter(study=study).count() == 1
    assert Study.objects.filter(pk=derived.pk, corrections__gt=0).exists()


def test_a_model_s_revisions_go_and_one_under_way_is_waited_for(owner, monkeypatch):
    study = calibration_study({"q1": [[OLD, NEW]]}, items_per_participant=1)
    token = come(study, PERSON).token
    reviser = Reviser(lambda item: "a-model", lambda item, entries, instruction: [*entries, FERRY])
    extend(monkeypatch, alone=False, reviser=lambda: reviser)
    given = read_fields(form(kept(OLD, "r1.e1", condition=f"{WORDS} on the bridge")))
    asked = request_round(token, before(token).pk, f"Say that {WORDS}.", given)
    person = get_participant(token)
    mark_sent(asked.job_id)
    with pytest.raises(Refused, match="A model is revising a draft of theirs"):
        erase(person, owner=None)
    work_on_job(asked.job_id)
    judge = Judge.objects.create(study=study, name="reviser", backend="longer")
    run = Run.objects.create(study=study, work=WorkKind.REVISION)
    JudgeRun.objects.create(
        run=run,
        judge=judge,
        revision=study.revisions.get(),
        purpose="revision",
        rater=Rater.objects.create(study=study, kind="judge", label="reviser", in_figures=False),
    )
    seal_new(study, [run.judging.rater])
    Call.objects.create(
        run=run, item=study.items.get(), raw=f"{WORDS}!", state="final", outcome="ok", step="revision"
    )
    assert len(found_in_database(WORDS)) > 2
    erase(person, owner=None)
    assert found_in_database(WORDS, *names(person)) == set()
    assert not DraftRound.objects.exists()
    assert not Job.objects.filter(kind="draft_round").exists()
    assert Call.objects.get().outcome == "ok"


def test_what_is_left_of_a_study_is_exported_and_read_back(panel, person, owner, tmp_path):
    hands_in(panel.study, "bob", "Bob says something of his own")
    coding = derive_study(panel.study, "justifications", by=owner, slug="coding")
    launch_study(coding)
    erase(person, owner)
    coding.refresh_from_db()
    written = tmp_path / "coding.jsonl"
    export_to(coding, format="jsonl", path=str(written))
    again = import_dump(FileSource(written), slug="again")
    assert sorted(again.items.values_list("responses__text", flat=True)) == sorted(
        coding.items.values_list("responses__text", flat=True)
    )
    assert list(verify_study(again)) == []


def test_everything_at_once(panel, person, owner, served):
    """A study on Prolific with a bonus, a public leaderboard, an export, a derived study with a judge, and a pool."""
    study = panel.study
    for name in ("bob", "cem", "dan"):
        hands_in(study, name, f"Plain words of {name}")
    before_it, report = shares(study)
    content = leaderboard_record(report)
    publish_leaderboard(study, content=content, computed_at=timezone.now(), description="", by=owner)
    export_of(study, owner, suffix="jsonl")
    coding = derive_study(study, "justifications", by=owner, slug="coding")
    launch_study(coding)
    judged(coding, make_judge(coding, served, "longer"))
    theirs = Call.objects.filter(item__origin__rater=person.rater.pseudonym)
    assert theirs.update(raw=f"It says: {WORDS}", rationale=WORDS) == 2
    pooled = pool_rounds(study, make_like(study, owner), by=owner, slug="both")
    compute_report(pooled)
    # What members and the application wrote of them elsewhere, and rows that an import left out.
    other = study.raters.exclude(pk=person.rater_id).first()
    exclude(study=study, rater=other, reason=f"Told by {PERSON}.", by=owner)
    Note.objects.create(study=study, item=study.items.first(), text=f"{PERSON} wrote to us.", by=owner)
    job = export_of(study, owner, suffix="csv")
    Job.objects.filter(pk=job.pk).update(
        problems=[f"row 3: {PERSON} is unknown."], file="", parameters={"left_out": job.file}
    )
    paid, ids = reconcile(panel).money.total, names(person)
    found = found_in_database(WORDS, *ids)
    assert len({table for table, _, _ in found}) >= 12
    assert found_in_files(WORDS)
    plan = plan_erasure(person, by=owner)
    assert [said.split(" of ")[0].split(" has ")[0] for said in plan.copies] == ["2 items", pooled.title]
    erase(person, owner)
    assert found_in_database(WORDS, *ids) == set()
    assert found_in_files(WORDS, *ids) == set()
    assert reconcile(panel).money.total == paid
    after, _ = shares(study)
    assert after == {name: n for name, n in before_it.items() if name != person.rater.pseudonym}
    for each in (study, coding, pooled):
        each.refresh_from_db()
        assert list(verify_study(each)) == [], each


def test_an_id_that_is_any_word_changes_no_line_of_others(panel, owner):
    participant = hands_in(panel.study, "a", WORDS, n=1)
    record(panel, "a", "approved", submission=participant.submissions.get())
    log_action(study=panel.study, by=owner, message="Opened a slot.", reason="It is a test.")
    erase(participant, owner)
    assert LogEntry.objects.filter(change_message="Opened a slot. Reason: It is a test.").exists()
