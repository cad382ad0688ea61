"""Commands that change a draft, start jobs again, write notes and revoke tokens: as their pages do, and no more."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command

from evaluation.models import ApiToken, Item, Job, Note, Study, StudyMember
from evaluation.services.history import SERVER, history_of
from evaluation.services.jobs import begin_job, store_upload
from evaluation.services.tokens import make_token
from tests import factories
from tests.evaluation.dumps.tables.files import ROWS, delimited, write

pytestmark = pytest.mark.django_db


def command(*args: Any, **options: Any) -> str:
    out = StringIO()
    call_command(*map(str, args), stdout=out, stderr=StringIO(), **options)
    return out.getvalue()


def facts(*args: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(command(*args, json=True))
    return found


def history(study: Study) -> list[tuple[str, str]]:
    return [(line.user.get_username(), line.get_change_message()) for line in history_of(study)]


@pytest.fixture
def draft() -> Study:
    return factories.make_study("draft")


@pytest.fixture
def editor(draft: Study) -> Any:
    user = get_user_model().objects.create_user("editor")
    StudyMember.objects.create(study=draft, user=user, role="editor")
    return user


@pytest.fixture
def viewer(draft: Study) -> Any:
    user = get_user_model().objects.create_user("viewer")
    StudyMember.objects.create(study=draft, user=user, role="viewer")
    return user


# --- the design -------------------------------------------------------------------------------------------------------


def test_a_design_is_shown_as_a_file_has_it(draft: Study) -> None:
    shown = json.loads(command("design", "draft"))
    assert shown["spec"]["title"] == draft.title
    assert shown["rules"]["redundancy"] == draft.redundancy


def test_settings_are_changed_one_by_one(draft: Study) -> None:
    changed = facts(
        "design", "draft", "--set", "rules.redundancy=7", "--set", "rules.contact=lab@example.org",
        "--set", "spec.texts.thanks=Many thanks = many.",
    )  # fmt: skip
    draft.refresh_from_db()
    assert (draft.redundancy, draft.contact) == (7, "lab@example.org")
    assert changed["spec"]["texts"]["thanks"] == "Many thanks = many."
    assert set(changed["changed"]) == {"contact", "redundancy", "texts"}
    assert (SERVER, "Changed the design: texts, contact, redundancy.") in history(draft)


def test_a_file_changes_questions_and_the_line_comes_after_it(draft: Study, tmp_path: Path) -> None:
    questions = json.loads(command("design", "draft"))["spec"]["questions"][:1]
    questions[0]["prompt"] = "Which soup?"
    file = tmp_path / "design.json"
    file.write_text(json.dumps({"spec": {"title": "From a file", "questions": questions}}))
    command("design", "draft", file, "--set", "spec.title=Soups", "--by", "")
    draft.refresh_from_db()
    assert draft.title == "Soups"
    assert [each.prompt for each in draft.questions.all()] == ["Which soup?"]


@pytest.mark.parametrize(
    ("setting", "fault"),
    [
        ("redundancy=3", "is no setting"),
        ("rules.redundancy", "is no setting"),
        ("rules.redundance=3", r"rules\.redundance: There is no such rule"),
        ("rules.redundancy=many", r"rules\.redundancy: "),
        ("spec.questions.preference=x", r"Of spec\.questions no part can be set"),
    ],
)
def test_what_can_t_be_set_is_named_and_nothing_changes(draft: Study, setting: str, fault: str) -> None:
    with pytest.raises(CommandError, match=fault):
        command("design", "draft", "--set", "spec.title=Soups", "--set", setting)
    before = draft.title
    draft.refresh_from_db()
    assert draft.title == before


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{", "not JSON"),
        ("[]", "must be an object"),
        ('{"title": {}}', "not 'title'"),
        ('{"spec": 1}', "must be"),
    ],
)
def test_a_file_that_is_no_design_is_refused(draft: Study, tmp_path: Path, text: str, fault: str) -> None:
    file = tmp_path / "design.json"
    file.write_text(text)
    with pytest.raises(CommandError, match=fault):
        command("design", "draft", file)


def test_a_design_is_changed_with_the_rights_of_whom_by_names(draft: Study, editor: Any, viewer: Any) -> None:
    with pytest.raises(CommandError, match="may read this study"):
        command("design", "draft", "--set", "spec.title=Soups", "--by", "viewer")
    command("design", "draft", "--set", "spec.title=Soups", "--by", "editor")
    assert ("editor", "Changed the design: title.") in history(draft)


# --- its items --------------------------------------------------------------------------------------------------------


def test_a_file_s_items_replace_a_draft_s(draft: Study, editor: Any, tmp_path: Path) -> None:
    table = write(
        tmp_path / "soups.csv", delimited(ROWS[:3], ("prompt", "response_a", "response_b", "topic"))
    )
    said = facts("import_items", "draft", table, "--by", "editor")
    assert said["items"] == 3
    assert list(draft.items.order_by("pk").values_list("query__text", flat=True)) == [
        row[0] for row in ROWS[:3]
    ]
    assert ("editor", "Uploaded soups.csv: 3 items.") in history(draft)
    draft.refresh_from_db()
    assert draft.table_map["columns"]


def test_items_that_can_t_be_read_change_nothing(draft: Study, tmp_path: Path) -> None:
    before = set(draft.items.values_list("key", flat=True))
    table = write(
        tmp_path / "soups.csv", delimited([("Soup?", "", "Leek.")], ("prompt", "response_a", "response_b"))
    )
    with pytest.raises(CommandError, match="Nothing was imported"):
        command("import_items", "draft", table)
    assert set(draft.items.values_list("key", flat=True)) == before
    factories.launch(draft)
    with pytest.raises(CommandError, match="its items are frozen"):
        command("import_items", "draft", table)


# --- jobs -------------------------------------------------------------------------------------------------------------


def test_a_failed_job_is_started_again(draft: Study, viewer: Any, monkeypatch: Any) -> None:
    sent: list[int] = []
    monkeypatch.setattr("evaluation.acts.enqueue_job", lambda job: sent.append(job.pk))
    job = begin_job(kind="export", slug="draft", study=draft, by=None, parameters={"format": "csv"})
    Job.objects.update(state=Job.State.DONE)
    with pytest.raises(CommandError, match="Only a job that failed"):
        command("jobs", "draft", "--restart", job.pk)
    Job.objects.update(state=Job.State.FAILED, message="The disk is full.")
    assert "export  failed" in command("jobs", "draft")
    # Viewers may have exports written.
    assert facts("jobs", "draft", "--restart", job.pk, "--by", "viewer")["jobs"][0]["state"] == "queued"
    assert sent == [job.pk]
    assert ("viewer", "Started the export again.") in history(draft)
    Job.objects.update(kind="import", state=Job.State.FAILED)
    with pytest.raises(CommandError, match="viewer may not begin"):
        command("jobs", "draft", "--restart", job.pk, "--by", "viewer")
    with pytest.raises(CommandError, match="There is no job 0"):
        command("jobs", "draft", "--restart", 0)


def test_a_job_of_no_study_is_started_again_by_who_began_it(
    draft: Study, editor: Any, viewer: Any, settings: Any, tmp_path: Path
) -> None:
    settings.ASSAY_JOB_FILES = str(tmp_path)
    kept = store_upload([b"prompt"])
    job = begin_job(kind="import", slug="new", by=editor, file=kept, file_name="soups.csv")
    Job.objects.update(state=Job.State.FAILED)
    assert f"{job.pk}  import  failed  soups.csv" in command("jobs")
    assert "There are no jobs." in command("jobs", "draft")
    with pytest.raises(CommandError, match="no job"):
        command("jobs", "--restart", job.pk, "--by", "viewer")
    command("jobs", "--restart", job.pk, "--by", "editor")
    assert Job.objects.get().state == Job.State.QUEUED


# --- notes ------------------------------------------------------------------------------------------------------------


def test_notes_are_written_listed_and_deleted(draft: Study, editor: Any, viewer: Any) -> None:
    item = Item.objects.filter(study=draft).order_by("pk")[0]
    with pytest.raises(CommandError, match="say with --by whose"):
        command("notes", "draft", "--item", item.key, "--write", "Look.")
    with pytest.raises(CommandError, match="may read this study"):
        command("notes", "draft", "--item", item.key, "--write", "Look.", "--by", "viewer")
    with pytest.raises(CommandError, match="no item 'nowhere'"):
        command("notes", "draft", "--item", "nowhere", "--write", "Look.", "--by", "editor")
    [note] = facts("notes", "draft", "--item", item.key, "--write", "Look.", "--by", "editor")["notes"]
    assert (note["item"], note["text"], note["by"]) == (item.key, "Look.", "editor")
    assert ("editor", f"Wrote a note on item {item.key}.") in history(draft)
    another = get_user_model().objects.create_user("another")
    StudyMember.objects.create(study=draft, user=another, role="editor")
    with pytest.raises(CommandError, match="Only an owner"):
        command("notes", "draft", "--delete", note["id"], "--by", "another")
    # A script's variable that is not set.
    with pytest.raises(CommandError, match="no note 0"):
        command("notes", "draft", "--delete", "0", "--by", "editor")
    with pytest.raises(CommandError, match="note"):
        command("notes", "draft", "--item", item.key, "--write", "", "--by", "editor")
    with pytest.raises(CommandError, match="--judgment says what --write is on"):
        command("notes", "draft", "--judgment", "1")
    command("notes", "draft", "--delete", note["id"], "--by", "editor")
    assert not Note.objects.exists()


# --- tokens -----------------------------------------------------------------------------------------------------------


def test_tokens_are_listed_and_revoked() -> None:
    owner, other = (get_user_model().objects.create_user(name) for name in ("owner", "other"))
    token, text = make_token(owner, name="nightly")
    listed = command("token", "owner", "--list")
    assert f"{token.token_key}  until" in listed
    assert "nightly" in listed
    assert text not in listed
    with pytest.raises(CommandError, match="other has no token"):
        command("token", "other", "--revoke", token.token_key)
    with pytest.raises(CommandError, match="owner has no token ''"):
        command("token", "owner", "--revoke", "")
    assert facts("token", "owner", "--revoke", token.token_key)["tokens"] == []
    assert not ApiToken.objects.exists()
    assert other.is_active
