"""Two studies: one that the cast works on, in every state of work, and one of somebody else's."""

from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

# Every app's pages, whichever tests are run: parameters are made of them while tests are collected.
import config.urls  # noqa: F401
from annotator.models import Panel, PanelRecord, Slot, Submission
from evaluation.models import Import, ItemFlag, Job, Rater, Revision, Study, StudyMember
from evaluation.services.exclusions import exclude
from evaluation.services.studies.creation import PAPER_ARMS
from judging.models import Call, Endpoint, Judge
from tests import factories
from tests.crowd import come, hand_in, make_crowd_study
from tests.judging.build import make_judge_run


@pytest.fixture(autouse=True)
def private_folder(settings: Any, tmp_path: Any) -> None:
    settings.ASSAY_JOB_FILES = str(tmp_path / "jobs")


def make_user(name: str, **fields: Any) -> Any:
    return get_user_model().objects.create_user(
        name, email=f"{name}@example.org", password=f"{name}-password", is_staff=True, **fields
    )


@pytest.fixture
def viewer(db: Any) -> Any:
    return make_user("viewer")


@pytest.fixture
def chief(db: Any) -> Any:
    return make_user("chief", is_superuser=True)


def signed_in(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


def work_on(slug: str, owner: Any, study: Study | None = None) -> SimpleNamespace:
    """A live study, a small one unless it is given, with one row of everything that the admin knows."""
    study = study or make_crowd_study(slug, owner=owner, queries=3, arms=PAPER_ARMS[1:2])
    participant = come(study, f"{slug}-a")
    judgment = hand_in(participant.token).judgment
    exclusion = exclude(study=study, judgment=judgment, reason="A slip.", by=owner)
    endpoint = Endpoint.objects.create(
        name=f"{slug}-endpoint", base_url="http://127.0.0.1:9/v1", created_by=owner
    )
    judge = Judge.objects.create(study=study, name="longer", backend="longer")
    item = study.items.filter(role="main")[0]
    rater = Rater.objects.create(study=study, kind="judge", label=f"{slug} judge")
    run = make_judge_run(judge, study.revisions.get(), rater)
    dump = Import.objects.create(file_name=f"{slug}.jsonl", format="assay-jsonl-1", state="complete")
    study.created_by_import = dump
    study.save()
    panel = Panel.objects.create(study=study, platform="prolific")
    record = PanelRecord.objects.create(
        panel=panel, external_id=f"{slug}-visit", participant_id=slug, status_at=participant.created_at
    )
    rows = {
        "study": study,
        "item": item,
        "query": item.query,
        "context": item.context or item.query.contexts.first(),
        "response": item.responses.first(),
        "rater": judgment.rater,
        "judgment": judgment,
        "itemflag": ItemFlag.objects.create(item=item, reason="reported", note=f"Broken in {slug}."),
        "revision": Revision.objects.get(study=study),
        "exclusion": exclusion,
        "import": dump,
        "job": Job.objects.create(
            kind="export", slug=slug, study=study, state="done", parameters={"format": "csv"}, by=owner
        ),
        "participant": participant,
        "submission": Submission.objects.filter(participant=participant).first()
        or Submission.objects.create(participant=participant, external_id=slug),
        "assignment": participant.assignments.first(),
        "slot": Slot.objects.filter(study=study).first(),
        "panelrecord": record,
        "endpoint": endpoint,
        "judge": judge,
        "run": run,
        "call": Call.objects.create(run=run, item=item, order="r1,r2"),
    }
    return SimpleNamespace(**rows, rows=rows, owner=owner)


def shared_study(owner: Any, editor: Any, viewer: Any) -> SimpleNamespace:
    world = work_on("mine", owner)
    StudyMember.objects.create(study=world.study, user=editor, role="editor")
    StudyMember.objects.create(study=world.study, user=viewer, role="viewer")
    return world


@pytest.fixture
def mine(owner: Any, colleague: Any, viewer: Any) -> SimpleNamespace:
    """Owned by owner, edited by colleague, seen by viewer."""
    return shared_study(owner, colleague, viewer)


@pytest.fixture
def theirs(db: Any) -> SimpleNamespace:
    """Of somebody whom the cast does not know."""
    return work_on("theirs", make_user("stranger"))


@pytest.fixture
def editors_draft(colleague: Any, owner: Any, viewer: Any) -> Any:
    """A draft that colleague edits, viewer sees and owner owns."""
    study = factories.make_study("a-draft", owner=owner)
    StudyMember.objects.create(study=study, user=colleague, role="editor")
    StudyMember.objects.create(study=study, user=viewer, role="viewer")
    return study
