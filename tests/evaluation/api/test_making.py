"""Studies are made by the API: blank, from the library, a dump or a table; changed, checked, launched, set aside."""

import json

import pytest
from django.contrib.admin.models import LogEntry
from django.utils import timezone

from evaluation.dumps.exports.study_export import export_study
from evaluation.models import Job, Study
from evaluation.services.studies.creation import begin_study
from evaluation.services.studies.launch import close_study
from evaluation.tasks import work_on_job
from tests.evaluation.dumps.tables.files import ROWS, delimited

MAP = {
    "map": 1,
    "protocol": "pairwise",
    "columns": [
        {"column": "prompt", "as": "prompt"},
        {"column": "model_a_response", "as": "response", "system": "aspen"},
        {"column": "model_b_response", "as": "response", "system": "birch"},
    ],
}


def table(rows=ROWS[:3]):
    return delimited(rows, ("prompt", "model_a_response", "model_b_response", "topic"))


def history(study):
    lines = LogEntry.objects.filter(content_type__model="study", object_id=str(study.pk)).order_by("pk")
    return [each.change_message for each in lines]


def fields(answer):
    return [each["field"] for each in answer.json()["errors"]]


# --- blank and from the library ---------------------------------------------------------------------------------------


def test_a_blank_study_is_one_s_own_draft(owner, as_owner):
    answer = as_owner.post("studies/", {"title": "Two soups", "protocol": "pairwise", "arms": "contrast"})
    assert answer.status_code == 201
    assert answer.json() | {"study_hash": ""} == {
        "slug": "two-soups", "title": "Two soups", "protocol": "pairwise", "status": "draft", "role": "owner",
        "simulated": False, "study_hash": "", "judgments": 0,
    }  # fmt: skip
    study = Study.objects.get(slug="two-soups")
    assert study.arms.count() == 3
    assert history(study) == ["Created as a draft."]
    again = as_owner.post("studies/", {"title": "Two soups", "protocol": "pairwise"})
    assert again.json()["slug"] == "two-soups-2"


def test_the_same_key_makes_one_study(as_owner):
    body = {"title": "Soups", "protocol": "pairwise"}
    first, second = (as_owner.post("studies/", body, key="once") for _ in range(2))
    assert first.json() == second.json()
    assert Study.objects.filter(title="Soups").count() == 1
    other = as_owner.post("studies/", {**body, "title": "Stews"}, key="once")
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_key_used")


@pytest.mark.parametrize(
    ("body", "status", "wrong"),
    [
        ({}, 400, ["title", "protocol"]),
        ({"title": "A", "protocol": "no"}, 400, ["protocol"]),
        ({"title": "A", "protocol": "pairwise", "slug": "a b"}, 400, ["slug"]),
        ({"title": "A", "protocol": "pairwise", "slug": "contrast"}, 409, ["slug"]),
        ({"title": "A", "protocol": "pairwise", "items": True}, 400, ["items"]),
        ({"library": "no-such"}, 409, []),
        ({"library": "no-such", "protocol": "pairwise"}, 400, ["protocol"]),
    ],
)
def test_what_can_t_be_made_is_named(study, as_owner, body, status, wrong):
    before = Study.objects.count()
    answer = as_owner.post("studies/", body)
    assert (answer.status_code, fields(answer)) == (status, wrong)
    assert Study.objects.count() == before


def test_a_study_is_made_from_the_library(as_owner):
    entry = as_owner.get("library/").json()[0]
    made = as_owner.post("studies/", {"library": entry["key"]})
    assert made.status_code == 201, made.content
    assert (made.json()["title"], made.json()["protocol"]) == (entry["title"], entry["protocol"])
    assert Study.objects.get(slug=made.json()["slug"]).items.count() >= entry["items"] > 0
    bare = as_owner.post("studies/", {"library": entry["key"], "items": False, "slug": "bare"})
    assert Study.objects.get(slug=bare.json()["slug"]).items.count() == 0


def test_who_is_no_staff_makes_nothing(as_outsider, outsider):
    outsider.is_staff = False
    outsider.save()
    for answer in (
        as_outsider.post("studies/", {"title": "A", "protocol": "pairwise"}),
        as_outsider.upload("imports/", table(), "soups.csv"),
    ):
        assert (answer.status_code, answer.json()["code"]) == (403, "not_staff")
    assert not Study.objects.filter(title="A").exists()


# --- from files -------------------------------------------------------------------------------------------------------


def test_a_table_is_guessed_first_and_imported_by_its_map(as_owner, as_outsider):
    guess = as_owner.upload("imports/", table(), "soups.csv")
    assert guess.status_code == 200, guess.content
    told = guess.json()
    assert told["job"] is None
    assert {each["column"] for each in told["columns"]} >= {"prompt", "model_a_response"}
    assert not Job.objects.exists()
    begun = as_owner.upload("imports/", table(), "soups.csv", map=json.dumps(told["map"]), title="Soups")
    assert begun.status_code == 202, begun.content
    job = begun.json()["job"]
    assert (job["state"], job["study"]) == ("queued", None)
    assert as_outsider.get(f"jobs/{job['id']}/").status_code == 404
    work_on_job(job["id"])
    done = as_owner.get(f"jobs/{job['id']}/").json()
    assert (done["state"], done["study"]) == ("done", "soups"), done
    assert as_owner.get("studies/soups/").json()["counts"]["items"] == 3


def test_one_s_own_map_is_taken_and_the_key_begins_one_import(as_owner):
    sent = {"map": json.dumps(MAP), "slug": "own", "key": "first"}
    first, second = (as_owner.upload("imports/", table(), "soups.csv", **sent) for _ in range(2))
    assert first.json() == second.json()
    assert Job.objects.count() == 1
    work_on_job(first.json()["job"]["id"])
    assert set(Study.objects.get(slug="own").systems.values_list("key", flat=True)) == {"aspen", "birch"}
    other = as_owner.upload("imports/", table(ROWS[:2]), "soups.csv", **sent)
    assert other.json()["code"] == "idempotency_key_used"


def test_bad_rows_are_named_by_row_and_can_be_left_out(as_owner):
    rows = [*ROWS[:3], ("Which?", "Leek.", "", "food")]
    refused = as_owner.upload("imports/", table(rows), "soups.csv", map=json.dumps(MAP))
    assert refused.status_code == 409
    [error] = refused.json()["errors"]
    assert error["field"].startswith("line 8"), error  # cells before it have line breaks
    assert "response" in error["message"]
    assert not Job.objects.exists()
    begun = as_owner.upload(
        "imports/", table(rows), "soups.csv", map=json.dumps(MAP), skip_bad_rows="true"
    ).json()["job"]
    work_on_job(begun["id"])
    done = as_owner.get(f"jobs/{begun['id']}/").json()
    assert (done["state"], done["left_out"]) == ("done", True)
    left = as_owner.get(f"jobs/{begun['id']}/left-out/")
    assert b"Which?" in b"".join(left.streaming_content)


@pytest.mark.parametrize(
    ("given", "status", "field"),
    [
        ({"map": "{"}, 400, "map"),
        ({"map": '{"map": 1}'}, 400, "map"),
        ({"map": json.dumps({**MAP, "columns": [{"column": "none", "as": "prompt"}]})}, 409, ""),
        ({"map": json.dumps({**MAP, "protocol": "pairwize"})}, 400, "map"),
        ({"map": json.dumps(MAP), "slug": "contrast"}, 409, ""),
        ({"nothing": "1"}, 400, "nothing"),
    ],
)
def test_what_can_t_be_imported_is_refused_and_nothing_kept(study, as_owner, tmp_path, given, status, field):
    answer = as_owner.upload("imports/", table(), "soups.csv", **given)
    assert answer.status_code == status, answer.content
    assert not field or field in fields(answer)
    assert not Job.objects.exists()
    assert list(tmp_path.glob("jobs/*")) == []


def test_a_dump_becomes_a_study(study, as_owner, tmp_path):
    dump = tmp_path / "dump.jsonl"
    with dump.open("wb") as out:
        export_study(study, format="jsonl", out=out)
    begun = as_owner.upload("imports/", dump.read_bytes(), "copy.jsonl", slug="copy")
    assert begun.status_code == 202, begun.content
    work_on_job(begun.json()["job"]["id"])
    job = as_owner.get(f"jobs/{begun.json()['job']['id']}/").json()
    assert job["state"] == "done", job
    assert as_owner.get("studies/copy/").json()["judgments"] == study.judgments.count()


def test_a_draft_gets_its_items_and_a_launched_study_none(study, owner, as_owner):
    begin_study(slug="pairs", title="Pairs", protocol="pairwise", by=owner)
    begun = as_owner.upload("studies/pairs/imports/", table(), "soups.csv", map=json.dumps(MAP))
    assert begun.status_code == 202, begun.content
    work_on_job(begun.json()["job"]["id"])
    assert as_owner.get("studies/pairs/").json()["counts"]["items"] == 3
    listed = as_owner.all("studies/pairs/jobs/", kind="import")
    assert [each["state"] for each in listed] == ["done"]
    refused = as_owner.upload(f"studies/{study.slug}/imports/", table(), "soups.csv", map=json.dumps(MAP))
    assert (refused.status_code, refused.json()["code"]) == (409, "wrong_state")


# --- the design -------------------------------------------------------------------------------------------------------


@pytest.fixture
def draft(owner):
    return begin_study(slug="draft", title="Draft", protocol="pairwise", by=owner)


def test_a_draft_s_design_is_read_and_changed(draft, as_owner):
    design = as_owner.get("studies/draft/design/").json()
    questions = [{**each, "prompt": "Which one?"} for each in design["spec"]["questions"]]
    changes = {
        "spec": {"title": "New", "questions": questions, "texts": {"thanks": "Bye."}},
        "rules": {"redundancy": 5, "pay": "2.50", "contact": "lab@example.org", "visits": 3},
    }
    answer = as_owner.patch("studies/draft/design/", changes)
    assert answer.status_code == 200, answer.content
    after = as_owner.get("studies/draft/design/").json()
    assert after == answer.json()
    assert {each["prompt"] for each in after["spec"]["questions"]} == {"Which one?"}
    assert after["spec"]["texts"] == {**design["spec"]["texts"], "thanks": "Bye."}
    assert (after["rules"]["redundancy"], after["rules"]["pay"], after["spec"]["title"]) == (5, "2.50", "New")
    assert after["rules"]["visits"] == 3
    assert (
        history(draft)[-1] == "Changed the design: questions, texts, title, contact, pay, redundancy, visits."
    )
    assert as_owner.patch("studies/draft/design/", after | {}).status_code == 400  # `frozen` is told alone
    same = {name: after[name] for name in ("spec", "rules")}
    assert as_owner.patch("studies/draft/design/", same).json() == after
    assert len(history(draft)) == 2


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"spec": {"questions": [{"key": "a", "kind": "none", "prompt": "A"}]}}, "spec.questions[0].kind"),
        ({"spec": {"questions": [{"key": "a", "kind": "scale", "prompt": "A"}]}}, "spec.questions.a"),
        ({"spec": {"nothing": 1}}, "spec"),
        ({"spec": {"protocol": "ranking"}}, ""),
        ({"spec": {"arms": []}}, "spec.arms"),
        ({"spec": {"baseline": "nobody"}}, "spec.baseline"),
        ({"spec": {"texts": "none"}}, "spec.texts"),
        ({"rules": {"redundancy": 0}}, "rules.redundancy"),
        ({"rules": {"visits": 0}}, "rules.visits"),
        ({"rules": {"completion_codes": {}}}, "rules.completion_codes"),
        ({"rules": {"paid_minutes": 90, "lease_minutes": 10}}, "rules"),
    ],
)
def test_a_bad_design_is_named_by_its_path_and_changes_nothing(draft, as_owner, changes, field):
    before = as_owner.get("studies/draft/design/").json()
    answer = as_owner.patch("studies/draft/design/", changes)
    assert answer.status_code == 409, answer.content
    assert field in fields(answer) or (not field and answer.json()["detail"])
    assert as_owner.get("studies/draft/design/").json() == before


def test_of_a_running_study_rules_alone_change(study, as_owner):
    path = f"studies/{study.slug}/design/"
    assert as_owner.patch(path, {"rules": {"contact": "lab@example.org"}}).status_code == 200
    assert as_owner.get(path).json()["rules"]["contact"] == "lab@example.org"
    for changes in ({"spec": {"title": "Other"}}, {"rules": {"redundancy": 9}}):
        refused = as_owner.patch(path, changes)
        assert (refused.status_code, refused.json()["code"]) == (409, "wrong_state")


def test_what_people_are_promised_and_the_texts_language_are_set(draft, study, as_owner):
    promised = {"erases_withdrawn": True, "retention_days": 90}
    changes = {"spec": {"texts_language": "pt-BR"}, "rules": promised}
    answer = as_owner.patch("studies/draft/design/", changes)
    assert answer.status_code == 200, answer.content
    assert answer.json()["rules"] | promised == answer.json()["rules"]
    draft.refresh_from_db()
    assert (draft.texts_language, draft.erases_withdrawn, draft.retention_days) == ("pt-BR", True, 90)
    bad = as_owner.patch(
        "studies/draft/design/", {"spec": {"texts_language": "Português"}, "rules": {"retention_days": 0}}
    )
    assert set(fields(bad)) == {"spec.texts_language", "rules.retention_days"}
    # Of a running study too; null keeps ids again, and times that are gone are not exported.
    path = f"studies/{study.slug}/design/"
    assert as_owner.patch(path, {"rules": promised}).status_code == 200
    assert as_owner.patch(path, {"rules": {"retention_days": None}}).json()["rules"]["retention_days"] is None
    Study.objects.filter(pk=study.pk).update(ids_deleted_at=timezone.now())
    gone = as_owner.patch(path, {"rules": {"exact_times": True}})
    assert (gone.status_code, fields(gone)) == (409, ["rules.exact_times"])


def test_the_time_and_money_of_people_have_limits(draft, as_owner):
    path = "studies/draft/design/"
    rules = {"people_budget": "250.00", "lease_minutes": 525_600}
    assert (
        as_owner.patch(path, {"rules": rules}).json()["rules"] | rules == as_owner.get(path).json()["rules"]
    )
    bad = as_owner.patch(path, {"rules": {"people_budget": "0", "lease_minutes": 2_147_483_648}})
    assert set(fields(bad)) == {"rules.people_budget", "rules.lease_minutes"}
    assert as_owner.patch(path, {"rules": {"people_budget": None}}).json()["rules"]["people_budget"] is None


# --- launched, moved, deleted -----------------------------------------------------------------------------------------


def test_a_study_is_checked_and_launched(draft, as_owner):
    bare = as_owner.get("studies/draft/check/").json()
    assert not bare["ready"]
    assert "The study has no items." in [each["text"] for each in bare["missing"]]
    refused = as_owner.post("studies/draft/launch/", {"confirm": True})
    assert (refused.status_code, refused.json()["code"]) == (409, "refused")
    begun = as_owner.upload("studies/draft/imports/", table(), "soups.csv", map=json.dumps(MAP)).json()["job"]
    work_on_job(begun["id"])
    check = as_owner.get("studies/draft/check/").json()
    assert (check["ready"], check["needs_confirmation"]) == (True, True)
    assert as_owner.post("studies/draft/launch/", {}).status_code == 409
    live = as_owner.post("studies/draft/launch/", {"confirm": True})
    assert (live.status_code, live.json()["study"]["status"], live.json()["job"]) == (200, "live", None)
    assert as_owner.post("studies/draft/launch/", {"confirm": True}).json()["code"] == "wrong_state"
    assert as_owner.get("studies/draft/check/").json() == {
        "ready": False, "needs_confirmation": False, "missing": [],
    }  # fmt: skip


def test_a_large_study_is_launched_by_a_worker(draft, as_owner, settings):
    begun = as_owner.upload("studies/draft/imports/", table(), "soups.csv", map=json.dumps(MAP)).json()["job"]
    work_on_job(begun["id"])
    settings.ASSAY_LAUNCH_INLINE_ITEMS = 1
    answer = as_owner.post("studies/draft/launch/", {"confirm": True})
    assert (answer.status_code, answer.json()["study"]["status"]) == (202, "draft")
    work_on_job(answer.json()["job"]["id"])
    assert as_owner.get("studies/draft/").json()["status"] == "live"


def test_a_study_is_paused_closed_and_set_aside(study, as_owner):
    path = f"studies/{study.slug}/"
    moves = [
        ("pause", "paused"), ("resume", "live"), ("close", "closed"), ("archive", "closed"),
        ("unarchive", "closed"), ("reopen", "live"),
    ]  # fmt: skip
    for move, status in moves:
        answer = as_owner.post(f"{path}{move}/", {"reason": "Lunch."})
        assert (answer.status_code, answer.json().get("status")) == (200, status), answer.content
        assert history(study)[-1].endswith("Reason: Lunch.")
    refused = as_owner.post(f"{path}resume/", {})
    assert (refused.status_code, refused.json()["code"]) == (409, "wrong_state")
    assert fields(as_owner.post(f"{path}pause/", {})) == ["reason"]


def test_owners_delete_studies(draft, study, as_owner, colleague, call):
    draft.members.create(user=colleague, role="editor")
    refused = call(colleague).post("studies/draft/deletion/", {})
    assert (refused.status_code, refused.json()["code"]) == (403, "owners_only")
    path = f"studies/{study.slug}/deletion/"
    assert "close it first" in as_owner.post(path, {"title": study.title}).json()["detail"]
    assert as_owner.post("studies/draft/deletion/", {}).json() == {"slug": "draft", "job": None}
    close_study(study, by=None, reason="Over.")
    assert "type its title" in as_owner.post(path, {}).json()["detail"]
    assert as_owner.post(path, {"title": study.title, "reason": "A pilot."}).status_code == 200
    assert not Study.objects.filter(slug__in=["draft", study.slug]).exists()


# --- exports ----------------------------------------------------------------------------------------------------------


def test_an_export_is_written_followed_and_downloaded(study, as_owner, as_viewer):
    path = f"studies/{study.slug}/exports/"
    assert {"jsonl", "csv", "parquet"} <= {each["format"] for each in as_viewer.get(path).json()}
    begun = as_viewer.post(path, {"format": "csv"}, key="once")
    assert begun.status_code == 202
    job = f"jobs/{begun.json()['id']}/"
    assert as_viewer.get(f"{job}file/").status_code == 404
    work_on_job(begun.json()["id"])
    done = as_owner.get(job).json()
    assert (done["state"], done["downloads"]) == ("done", True)
    assert "KB, ready to download." in done["message"]
    file = as_owner.get(f"{job}file/")
    assert file["Content-Type"].startswith("text/csv")
    assert len(b"".join(file.streaming_content).splitlines()) > study.judgments.count()
    assert as_viewer.post(path, {"format": "csv"}, key="once").json()["id"] == begun.json()["id"]
    assert fields(as_owner.post(path, {"format": "../etc"})) == ["format"]
