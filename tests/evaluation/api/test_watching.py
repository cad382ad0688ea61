"""A running study is watched: what is excluded, withdrawn, settled and noted, by whom and undone."""

import pytest
from django.contrib.admin.models import LogEntry

from evaluation.models import Note, Rater
from evaluation.services.notes import add_note
from evaluation.services.settling import settle_item
from tests.analytics.reports.judging import main_items

ROOT = "studies/contrast/"


@pytest.fixture
def rater(study):
    return study.raters.filter(kind=Rater.Kind.PERSON).first()


def last_line(study):
    lines = LogEntry.objects.filter(content_type__model="study", object_id=str(study.pk))
    return lines.order_by("-pk")[0].change_message


def fields(answer):
    return [each["field"] for each in answer.json()["errors"]]


def counting(caller):
    return caller.get(ROOT).json()["counts"]["counting"]


def test_a_rater_is_excluded_and_counted_again(study, rater, as_owner, as_viewer):
    before = counting(as_owner)
    made = as_owner.post(f"{ROOT}exclusions/", {"rater": rater.pseudonym, "reason": "Guessed."})
    assert made.status_code == 201, made.content
    told = made.json()
    assert (told["rater"], told["judgment"], told["by"], told["undone_at"]) == (
        rater.pseudonym, None, "owner", None,
    )  # fmt: skip
    assert counting(as_owner) == before - rater.judgments.count()
    assert last_line(study) == f"Excluded {rater}. Reason: Guessed."
    again = as_owner.post(f"{ROOT}exclusions/", {"rater": rater.pseudonym, "reason": "Guessed."})
    assert (again.status_code, again.json()["code"]) == (409, "refused")
    assert as_viewer.all(f"{ROOT}exclusions/", standing="true") == [told]
    undone = as_owner.post(f"{ROOT}exclusions/{told['id']}/undo/", {"reason": "Did not."})
    assert (undone.status_code, undone.json()["undone_reason"]) == (200, "Did not.")
    assert counting(as_owner) == before
    assert as_viewer.all(f"{ROOT}exclusions/", standing="true") == []
    assert as_viewer.all(f"{ROOT}exclusions/") == [undone.json()]


def test_a_judgment_is_excluded(study, rater, as_owner):
    judgment = rater.judgments.first()
    made = as_owner.post(f"{ROOT}exclusions/", {"judgment": judgment.pk, "reason": "Odd."})
    assert (made.status_code, made.json()["judgment"], made.json()["rater"]) == (
        201, judgment.pk, rater.pseudonym,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"reason": "A"}, ""),
        ({"rater": "nobody", "reason": "A"}, "rater"),
        ({"judgment": 99_999, "reason": "A"}, "judgment"),
        ({"rater": "a", "judgment": 1, "reason": "A"}, ""),
        ({"rater": "nobody"}, "reason"),
    ],
)
def test_what_can_t_be_excluded_is_named(study, as_owner, body, field):
    answer = as_owner.post(f"{ROOT}exclusions/", body)
    assert (answer.status_code, fields(answer)) == (400, [field])
    assert not study.exclusions.exists()


def test_an_item_is_withdrawn_and_brought_back(study, as_owner):
    item = main_items(study)[0]
    body = {"item": item.key, "reason": "A misprint."}
    gone = as_owner.post(f"{ROOT}withdrawals/", body)
    assert (gone.status_code, gone.json()["withdrawn"], gone.json()["key"]) == (200, True, item.key)
    assert last_line(study) == f"Withdrew item {item.key}. Reason: A misprint."
    assert as_owner.post(f"{ROOT}withdrawals/", body).json()["code"] == "wrong_state"
    assert as_owner.post(f"{ROOT}withdrawals/undo/", body).json()["withdrawn"] is False
    assert fields(as_owner.post(f"{ROOT}withdrawals/", {**body, "item": "none"})) == ["item"]


def test_an_item_is_settled_and_the_label_taken_back(study, as_owner, owner):
    item = main_items(study)[0]
    wrong = as_owner.post(f"{ROOT}settled/", {"item": item.key, "answers": {}, "reason": "Read it."})
    assert wrong.status_code == 409
    assert all(field.startswith("answers") for field in fields(wrong))
    answers = {"preference": "r1", "justification": "It names the leek, and says how long it takes."}
    body = {"item": item.key, "answers": answers, "reason": "Read it."}
    made = as_owner.post(f"{ROOT}settled/", body)
    assert made.status_code == 201, made.content
    told = made.json()
    assert (told["by"], told["reason"], told["judgment"]["rater_kind"]) == ("owner", "Read it.", "settled")
    assert {"preference"} <= {each["question"] for each in told["judgment"]["answers"]}
    assert as_owner.all(f"{ROOT}settled/") == [told]
    back = as_owner.post(f"{ROOT}settled/{told['judgment']['id']}/take-back/", {})
    assert back.status_code == 200, back.content
    assert as_owner.all(f"{ROOT}settled/") == []


def test_an_editor_takes_back_no_one_else_s_label(study, owner, colleague, call):
    study.members.create(user=colleague, role="editor")
    answers = {"preference": "r1", "justification": "It names the leek, and says how long it takes."}
    label = settle_item(main_items(study)[0], answers, reason="Read it.", by=owner)
    for path, body in (
        (f"settled/{label.pk}/take-back/", {}),
        ("exclusions/", {"judgment": label.pk, "reason": "No."}),
    ):
        refused = call(colleague).post(f"{ROOT}{path}", body)
        assert (refused.status_code, refused.json()["code"]) == (409, "refused")


def test_notes_are_written_read_and_deleted(study, rater, owner, as_owner, as_viewer):
    judgment = rater.judgments.select_related("item").first()
    body = {"item": judgment.item.key, "judgment": judgment.pk, "text": "Look at this."}
    first, second = (as_owner.post(f"{ROOT}notes/", body, key="once") for _ in range(2))
    assert (first.status_code, first.json()) == (201, second.json())
    assert as_viewer.all(f"{ROOT}notes/") == [first.json()]
    other = main_items(study)[-1]
    assert other.pk != judgment.item_id
    assert fields(as_owner.post(f"{ROOT}notes/", {**body, "item": other.key})) == ["judgment"]
    assert as_owner.delete(f"{ROOT}notes/{first.json()['id']}/").json() == first.json()
    assert not Note.objects.exists()


def test_an_editor_deletes_no_one_else_s_note(study, owner, colleague, call):
    study.members.create(user=colleague, role="editor")
    note = add_note(main_items(study)[0], text="Mine.", by=owner)
    refused = call(colleague).delete(f"{ROOT}notes/{note.pk}/")
    assert (refused.status_code, refused.json()["code"]) == (409, "refused")
    assert Note.objects.filter(pk=note.pk).exists()


def test_progress_is_what_the_overview_has(study, as_viewer):
    told = as_viewer.get(f"{ROOT}progress/").json()
    assert told["counted"]
    assert told["people"] == study.judgments.count()
    assert told["filled"] <= told["wanted"]
    assert [each["step"] for each in told["participants"]][:2] == ["at the door", "at work"]
