"""Deleting a study: nothing of it is left, everything else is as it was, and it happens whole or not at all."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from django.apps import apps
from django.contrib.admin.models import DELETION, LogEntry
from django.core.management import CommandError, call_command
from django.db import connection, models
from django.urls import reverse
from django.utils import timezone

from annotator.models import (
    ClaimCursor,
    DraftRound,
    EntryRule,
    ErasedVisit,
    LinkedStudy,
    PanelAct,
    PanelEvent,
    PanelRecord,
    UnreadArrivals,
)
from evaluation.demo.simulation import simulate
from evaluation.demo.studies import STUDIES
from evaluation.dumps.derive import derive_study
from evaluation.extension import extensions
from evaluation.job_kinds import DELETION as DELETION_JOB
from evaluation.models import (
    ApiRequest,
    Attribute,
    CachedReport,
    Erasure,
    ItemTally,
    Job,
    Progress,
    PublishedLeaderboard,
    Rater,
    SavedView,
    StaleItem,
    Study,
    StudyWebhook,
)
from evaluation.refusals import Refused
from evaluation.services.history import log_action
from evaluation.services.jobs import begin_job
from evaluation.services.studies import deletion
from evaluation.services.studies.deletion import delete_study, deletion_problems
from evaluation.services.studies.duplication import duplicate_study
from evaluation.services.studies.launch import archive_study, close_study, launch_study
from evaluation.services.studies.rows import study_tables
from evaluation.services.studies.verification import verify_study
from evaluation.tasks import work_on_job
from judging.models import (
    AnchorSchedule,
    BudgetHold,
    CallBatch,
    JudgeValidation,
    Jury,
    LedgerEntry,
    Run,
    StudyBudget,
)
from tests import factories
from tests.config.addresses import world_of
from tests.crowd import hand_in
from tests.evaluation.admin.conftest import signed_in

SLUG = "zyzzyva"
TITLE = "Zyzzyva"
pytestmark = pytest.mark.django_db
# What no study owns: forms of answers, shared by all; a user's files on their way and saved maps; who may log in; what
# Django keeps for itself.
SHARED = (
    "evaluation.AnswerLayout",
    "evaluation.Upload",
    "evaluation.SavedTableMap",
    "auth.",
    "contenttypes.",
    "sessions.",
    "axes.",
)


def contents() -> dict[str, set[str]]:
    """The primary key of every row of every table."""
    return {
        model._meta.label: set(map(str, model._base_manager.values_list("pk", flat=True)))
        for model in apps.get_models(include_auto_created=True)
        if model._meta.managed and not model._meta.label.startswith(SHARED)
    }


def mentions(word: str) -> Iterator[tuple[str, Any]]:
    """Every row of every table that has the word in a text of its own."""
    for model in apps.get_models(include_auto_created=True):
        if not model._meta.managed:
            continue
        fields = [
            each.attname
            for each in model._meta.concrete_fields
            if isinstance(each, models.CharField | models.TextField | models.JSONField)
        ]
        for pk, *values in model._base_manager.values_list("pk", *fields):
            if any(word in str(value).lower() for value in values):
                yield model._meta.label, pk


def settle(study: Study) -> None:
    """Whatever is at work has ended, and all money is final."""
    Run.objects.filter(study=study).update(state="complete")
    PanelAct.objects.filter(panel__study=study).update(state="done")
    PanelRecord.objects.filter(panel__study=study).update(status="approved")
    if study.status in ("live", "paused"):
        close_study(study)


def fill(world: SimpleNamespace) -> None:
    """A row of everything that the world has none of."""
    study, owner, now = world.study, world.owner, timezone.now()
    run, judge, panel = world.run, world.judge, world.panelrecord.panel
    log_action(study=study, by=owner, message=f"Paused {SLUG}.", about=[run, judge])
    Jury.objects.create(study=study, name=SLUG)
    AnchorSchedule.objects.create(judge=judge)
    CallBatch.objects.create(run=run, lease=uuid4())
    BudgetHold.objects.create(study=study, amount=1, until=now)
    StudyBudget.objects.create(study=study, amount=10)
    JudgeValidation.objects.create(study=study, judge=judge)
    LedgerEntry.objects.create(study=study, run=run, purpose="judging", calls=1, cost="0.5")
    world.endpoint.studies.add(study)
    CachedReport.objects.create(study=study, fingerprint="f", payload={})
    PublishedLeaderboard.objects.create(study=study, content={})
    SavedView.objects.create(study=study, name=SLUG, filters={"x": 1})
    Progress.objects.get_or_create(study=study)
    StudyWebhook.objects.create(study=study, url="https://hooks.example.org/")
    StaleItem.objects.create(study=study, item=world.item)
    ItemTally.objects.get_or_create(study=study, item=world.item)
    Attribute.objects.create(study=study, key="age", question="How old?")
    PanelEvent.objects.create(
        platform="prolific", event_id=SLUG, kind="x", occurred_at=now, payload={"x": SLUG}, panel=panel
    )
    LinkedStudy.objects.create(
        panel=panel, platform="prolific", external_id=SLUG, visit_number=2, places=1, status_at=now
    )
    UnreadArrivals.objects.create(study=study, day=now.date(), names="x")
    DraftRound.objects.create(assignment=world.assignment, number=1, instruction=SLUG, job=world.rows["job"])
    ClaimCursor.objects.get_or_create(arm=study.arms.all()[0])
    ApiRequest.objects.create(
        user=owner, key="k", path=f"/api/v1/studies/{SLUG}/runs/", body_hash="h", answer={"slug": SLUG}
    )
    Job.objects.create(kind="import", slug=SLUG, by=owner, state="failed")
    Erasure.objects.create(study=study, by=owner, reason="Asked for it.")
    ErasedVisit.objects.create(study=study, pay=1, day=now.date())


@pytest.fixture
def world(owner: Any) -> SimpleNamespace:
    made = world_of(SLUG, owner)
    fill(made)
    hand_in(made.token)
    settle(made.study)
    return made


def test_nothing_of_it_is_left_and_everything_else_is(owner: Any) -> None:
    neighbour = world_of("neighbour", owner)
    before = contents()
    world = world_of(SLUG, owner)
    fill(world)
    EntryRule.objects.create(study=world.study, other=neighbour.study, kind="not")
    settle(world.study)
    missing = [
        model._meta.label
        for level in study_tables().levels
        for model, paths in level.items()
        if not any(model._default_manager.filter(**{path: world.study.pk}).exists() for path in paths)
    ]
    assert missing == []
    delete_study(world.study, by=owner, title=TITLE, reason="It was a pilot.")
    connection.check_constraints()
    after = contents()
    # The endpoint is the installation's.
    spent = LedgerEntry.objects.get()
    assert (spent.study, spent.run, str(spent.cost)) == (None, None, "0.50000000")
    line = LogEntry.objects.get(action_flag=DELETION)
    assert (line.user, line.object_repr) == (owner, TITLE)
    assert line.change_message == (
        f"{TITLE} ({SLUG}) was deleted with everything in it. Reason: It was a pilot."
    )
    stays = {
        "judging.Endpoint": {str(world.endpoint.pk)},
        "judging.LedgerEntry": {str(spent.pk)},
        "admin.LogEntry": {str(line.pk)},
        "evaluation.ApiToken": {str(pk) for pk in owner.auth_token_set.values_list("pk", flat=True)}
        - before["evaluation.ApiToken"],
    }
    for label, pks in after.items():
        assert pks == before[label] | stays.get(label, set()), label
    said = {label for label, _ in mentions(SLUG)}
    assert said <= {
        "admin.LogEntry",
        "judging.Endpoint",
        "evaluation.ApiToken",
        "evaluation.Upload",
        "evaluation.SavedTableMap",
        "auth.Group",
    }
    assert list(verify_study(neighbour.study)) == list(verify_study(Study.objects.get(slug="neighbour")))


@pytest.mark.parametrize("demo", STUDIES, ids=lambda demo: demo.slug)
def test_a_demo_of_every_protocol_leaves_nothing(demo: Any, owner: Any) -> None:
    before = contents()
    call_command("import_study", str(demo.items), slug=SLUG, owner=owner.get_username(), title=TITLE)
    study = Study.objects.get(slug=SLUG)
    launch_study(study, by=owner)
    simulate(study, demo.simulation)
    for each in extensions():
        each.fill_demo(study)
    settle(study)
    with pytest.raises(Refused, match="type its title"):
        delete_study(study, by=owner)
    delete_study(study, by=owner, title=study.title)
    connection.check_constraints()
    after = contents()
    kept = {label: pks - before[label] for label, pks in after.items() if pks != before[label]}
    # What its judges asked stays in the sums of money.
    assert kept.keys() <= {"admin.LogEntry", "judging.LedgerEntry"}
    assert len(kept["admin.LogEntry"]) == 1
    assert {label for label, _ in mentions(SLUG)} == {"admin.LogEntry"}


def test_studies_made_from_it_say_so_and_stay_as_they_are(world: SimpleNamespace, owner: Any) -> None:
    study = world.study
    copy = duplicate_study(study, slug="a-copy", by=owner)
    derived = derive_study(study, "justifications", by=owner, slug="derived")
    faults = list(verify_study(derived))
    delete_study(study, by=owner, title=TITLE)
    for each in (copy, derived):
        each.refresh_from_db()
        assert each.origin["deleted"] == timezone.now().date().isoformat()
    assert list(verify_study(derived)) == faults == []
    # Another study may come to have its slug, and is no origin of theirs.
    factories.make_study(SLUG, owner=owner)
    page = signed_in(owner).get("/studies/derived/").content.decode()
    assert "That study was deleted on" in page
    assert f'href="/studies/{SLUG}/"' not in page.partition("Derived from")[2].partition("</p>")[0]


def n_tables() -> int:
    return sum(map(len, study_tables().levels))


def refusal(study: Study) -> str:
    return " ".join(deletion_problems(study))


def test_it_is_refused_while_anything_is_open(owner: Any, world: SimpleNamespace) -> None:
    study = world.study
    assert deletion_problems(study) == []
    for change, undo, said in (
        (lambda: status("live"), lambda: status("closed"), "collects judgments: close it first"),
        (lambda: status("paused"), lambda: status("closed"), "collects judgments"),
        (
            lambda: Run.objects.filter(pk=world.run.pk).update(state="running"),
            lambda: Run.objects.filter(pk=world.run.pk).update(state="cancelled"),
            f"Run {world.run.pk} is at work",
        ),
        (
            lambda: PanelRecord.objects.filter(panel__study=study).update(status="awaiting_review"),
            lambda: PanelRecord.objects.filter(panel__study=study).update(status="approved"),
            "1 submission is not settled",
        ),
        (
            lambda: PanelAct.objects.filter(panel__study=study).update(state="unknown"),
            lambda: PanelAct.objects.filter(panel__study=study).update(state="cancelled"),
            "1 submission is not settled",
        ),
        (
            lambda: world.rows["job"].__class__.objects.filter(pk=world.rows["job"].pk).update(
                state="queued", heartbeat_at=timezone.now()
            ),
            lambda: Job.objects.filter(pk=world.rows["job"].pk).update(
                state="done", heartbeat_at=timezone.now() - timedelta(days=1)
            ),
            "A job is at work (Writing an export)",
        ),
    ):  # fmt: skip
        change()
        study.refresh_from_db()
        assert said in refusal(study)
        with pytest.raises(Refused):
            delete_study(study, by=owner, title=TITLE)
        undo()
        study.refresh_from_db()
        assert deletion_problems(study) == []
    assert Study.objects.filter(pk=study.pk).exists()


def test_jobs_that_make_another_study_of_it_or_fill_its_rehearsal_come_first(
    world: SimpleNamespace, owner: Any
) -> None:
    begin_job(kind="pooling", slug="both-rounds", study=world.study, by=owner, parameters={"other": 1})
    assert "A job is at work (Pooling two rounds)" in refusal(world.study)
    draft = factories.make_study("soups", owner=owner)
    begin_job(kind="rehearsal", slug=draft.slug, study=draft, by=owner)
    assert "A job is at work (Rehearsing)" in refusal(draft)


def test_one_that_is_archived_is_deleted_from_its_page(world: SimpleNamespace, owner: Any) -> None:
    archive_study(world.study, by=owner)
    address = reverse("admin:evaluation_study_delete", args=[SLUG])
    assert address in signed_in(owner).get(f"/studies/{SLUG}/").content.decode()
    delete_study(world.study, by=owner, title=TITLE)
    assert not Study.objects.filter(slug=SLUG).exists()


def test_the_page_calls_raters_others_only_beside_people(owner: Any) -> None:
    study = factories.make_study("soups", owner=owner)
    page, address = signed_in(owner), reverse("admin:evaluation_study_delete", args=[study.slug])
    Rater.objects.create(study=study, kind=Rater.Kind.JUDGE)
    assert "1 rater" in page.get(address).content.decode()
    Rater.objects.create(study=study, kind=Rater.Kind.PERSON)
    said = page.get(address).content.decode()
    assert "1 person" in said
    assert "1 other rater" in said


def status(value: str) -> None:
    Study.objects.filter(slug=SLUG).update(status=value)


def test_a_study_that_another_one_asks_about_stays(world: SimpleNamespace, owner: Any) -> None:
    other = factories.make_study("other", owner=owner)
    EntryRule.objects.create(study=other, other=world.study, kind="not")
    assert "1 entry rule of another study names this one" in refusal(world.study)
    Study.objects.filter(pk=other.pk).update(status="closed")
    delete_study(world.study, by=owner, title=TITLE)
    assert not EntryRule.objects.exists()
    assert "the entry rules that name it" in LogEntry.objects.filter(object_repr="Other").get().change_message


def test_what_breaks_off_leaves_everything(
    world: SimpleNamespace, owner: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = contents()

    class Killed:
        def __init__(self, at: int) -> None:
            self.at = at

        def __call__(self, phase: str, done: int, total: int) -> None:
            if done == self.at:
                raise KeyboardInterrupt

    for at in range(1, n_tables() + 1, 7):
        with pytest.raises(KeyboardInterrupt):
            delete_study(world.study, by=owner, title=TITLE, watch=Killed(at))
        assert contents() == before
    monkeypatch.setattr(deletion, "log_action", lambda **line: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        delete_study(world.study, by=owner, title=TITLE)
    assert contents() == before


def test_its_files_go(world: SimpleNamespace, owner: Any, settings: Any, tmp_path: Any,
                      django_capture_on_commit_callbacks: Any) -> None:  # fmt: skip
    settings.ASSAY_JOB_FILES = str(tmp_path)
    for name in ("a.zip", "left.csv", "others.zip"):
        (tmp_path / name).write_text(SLUG)
    Job.objects.filter(pk=world.rows["job"].pk).update(file="a.zip", parameters={"left_out": "left.csv"})
    with django_capture_on_commit_callbacks(execute=True):
        delete_study(world.study, by=owner, title=TITLE)
    assert [each.name for each in tmp_path.iterdir()] == ["others.zip"]


def test_a_large_one_is_deleted_by_a_job(world: SimpleNamespace, owner: Any, settings: Any) -> None:
    settings.ASSAY_LAUNCH_INLINE_ITEMS = 1
    client, address = signed_in(owner), reverse("admin:evaluation_study_delete", args=[SLUG])
    assert client.post(address, {"title": "Zyzzyvas"}).status_code == 422
    assert not Job.objects.filter(kind=DELETION_JOB.key).exists()
    answer = client.post(address, {"title": TITLE, "reason": "A pilot."})
    job = Job.objects.get(kind=DELETION_JOB.key)
    assert answer["Location"] == reverse("admin:evaluation_job_watch", args=[job.pk])
    with pytest.raises(Refused, match="A job is at work"):
        delete_study(world.study, by=owner, title=TITLE)
    work_on_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.study) == ("done", None)
    assert job.message == f"{TITLE} ({SLUG}) was deleted with everything in it."
    assert not Study.objects.filter(slug=SLUG).exists()
    assert job.message in client.get(answer["Location"]).content.decode()


def test_a_refused_job_says_why(world: SimpleNamespace, owner: Any) -> None:
    job = begin_job(kind=DELETION_JOB.key, slug=SLUG, study=world.study, by=owner,
                    parameters={"title": "wrong", "reason": ""})  # fmt: skip
    work_on_job(job.pk)
    job.refresh_from_db()
    assert job.state == "failed"
    assert "type its title, Zyzzyva" in str(job.problems)
    assert job.study == world.study


def test_the_page_asks_for_the_title_and_offers_a_bundle(world: SimpleNamespace, owner: Any) -> None:
    client, address = signed_in(owner), reverse("admin:evaluation_study_delete", args=[SLUG])
    assert address in client.get(f"/studies/{SLUG}/").content.decode()
    page = client.get(address).content.decode()
    assert "None was made yet." in page
    assert reverse("analytics:study-bundle", args=[SLUG]) in page
    Job.objects.create(kind="bundle", slug=SLUG, study=world.study, state="done",
                       finished_at=datetime(2026, 3, 3, tzinfo=UTC))  # fmt: skip
    assert "The last one was made on 3 March 2026." in client.get(address).content.decode()
    answer = client.post(address, {"title": "Something else"})
    assert answer.status_code == 422
    assert "type its title" in answer.content.decode()
    answer = client.post(address, {"title": f" {TITLE} "}, follow=True)
    assert answer.redirect_chain == [(reverse("evaluation:study-list"), 302)]
    assert "was deleted with everything in it" in answer.content.decode()
    assert not Study.objects.filter(slug=SLUG).exists()


def test_a_launched_study_that_nobody_judged_is_deleted_after_a_confirmation(owner: Any) -> None:
    study = factories.launched("soups", owner=owner)
    client, address = signed_in(owner), reverse("admin:evaluation_study_delete", args=[study.slug])
    assert "close it first" in client.get(address).content.decode()
    close_study(study)
    page = client.get(address).content.decode()
    assert "Title of the study" not in page
    assert "18 items" in page
    assert client.post(address).status_code == 302
    assert not Study.objects.exists()


def test_by_command(world: SimpleNamespace, colleague: Any, owner: Any, capsys: Any) -> None:
    with pytest.raises(CommandError, match="There is no study"):
        call_command("delete_study", SLUG, by=colleague.get_username())
    world.study.members.create(user=colleague, role="editor")
    with pytest.raises(CommandError, match="does not own this study"):
        call_command("delete_study", SLUG, by=colleague.get_username(), title=TITLE)
    with pytest.raises(CommandError, match="type its title"):
        call_command("delete_study", SLUG)
    call_command("delete_study", SLUG, title=TITLE)
    assert capsys.readouterr().out == f"{TITLE} ({SLUG}) was deleted with everything in it.\n"
    assert LogEntry.objects.get(action_flag=DELETION).user.username == "command-line"
