"""Jobs that are sent to a worker again, additions of a file, flags and keys: as on their pages."""

import json

import pytest
from cryptography.fernet import Fernet
from django.contrib.auth.models import Permission

from evaluation.models import ItemFlag, Job
from evaluation.services.jobs import begin_job
from evaluation.tasks import work_on_job
from judging.services.endpoints.access import create_endpoint
from tests.evaluation.api.test_making import MAP, fields, history, table
from tests.evaluation.api.test_uploads import post_form, sent

ADDED = [
    ("Which soup can I make today?", "Leek.", "Pea.", "food"),
    ("Which bread keeps?", "Rye.", "Wheat.", "food"),
]


@pytest.fixture
def running(as_owner):
    """A live study that was made of a table."""
    begun = as_owner.upload("imports/", table(), "soups.csv", map=json.dumps(MAP), slug="soups").json()["job"]
    work_on_job(begun["id"])
    live = as_owner.post("studies/soups/launch/", {"confirm": True}).json()
    assert live["study"]["status"] == "live", live
    return "studies/soups/"


def test_items_of_a_table_are_counted_then_added(running, as_owner, as_outsider):
    before = as_owner.get(running).json()["counts"]["items"]
    first, again = (
        as_owner.upload(
            f"{running}additions/file/", table(ADDED), "more.csv", map=json.dumps(MAP), key="more"
        )
        for _ in range(2)
    )
    assert (first.status_code, first.json()) == (202, again.json())
    job = first.json()["id"]
    early = as_owner.post(f"jobs/{job}/confirm/")
    assert early.status_code == 409
    work_on_job(job)
    staged = as_owner.get(f"jobs/{job}/").json()
    assert (staged["state"], staged["preview"]["query"]) == ("staged", ADDED[0][0]), staged
    assert "2 items" in staged["preview"]["sentences"][0]
    assert as_owner.get(running).json()["counts"]["items"] == before
    assert as_outsider.post(f"jobs/{job}/confirm/").status_code == 404
    assert as_owner.post(f"jobs/{job}/confirm/").status_code == 202
    assert as_owner.post(f"jobs/{job}/confirm/").status_code == 409
    work_on_job(job)
    done = as_owner.get(f"jobs/{job}/").json()
    assert (done["state"], done["preview"]) == ("done", None), done
    assert as_owner.get(running).json()["counts"]["items"] == before + 2


def test_an_addition_comes_in_parts_too(running, as_owner):
    begun = post_form(
        as_owner, f"{running}additions/file/", upload=sent(as_owner, table(ADDED)), map=json.dumps(MAP)
    )
    assert begun.status_code == 202, begun.content
    assert Job.objects.get(pk=begun.json()["id"]).path.read_bytes() == table(ADDED)


def test_a_draft_takes_no_addition(as_owner):
    as_owner.post("studies/", {"title": "Own", "protocol": "pairwise"})
    refused = as_owner.upload("studies/own/additions/file/", table(ADDED), "more.csv")
    assert (refused.status_code, refused.json()["code"]) == (409, "wrong_state")
    assert not Job.objects.exists()


def test_a_lost_job_is_begun_again_by_who_may_begin_it(study, owner, as_owner, as_viewer, as_outsider):
    job = begin_job(kind="launch", slug=study.slug, study=study, by=owner)
    Job.objects.filter(pk=job.pk).update(state="failed", message="The worker was killed.")
    path = f"jobs/{job.pk}/restart/"
    assert (as_outsider.post(path).status_code, as_viewer.post(path).status_code) == (404, 403)
    begun = as_owner.post(path)
    assert (begun.status_code, begun.json()["state"], begun.json()["message"]) == (202, "queued", "")
    assert history(study)[-1] == "Started the launch again."
    Job.objects.filter(pk=job.pk).update(state="done")
    done = as_owner.post(path)
    assert (done.status_code, done.json()["code"]) == (409, "refused")
    assert "failed or was lost" in done.json()["detail"]


def test_a_flag_is_resolved_with_what_was_found(study, as_owner, as_viewer):
    item = study.items.first()
    flag = ItemFlag.objects.create(item=item, reason="reported", note="The second text is cut off.")
    [listed] = as_viewer.all(f"studies/{study.slug}/flags/")
    assert (listed["id"], listed["item"], listed["note"]) == (flag.pk, item.key, flag.note)
    path = f"studies/{study.slug}/flags/{flag.pk}/resolve/"
    assert as_viewer.post(path, {"reason": "No."}).status_code == 403
    assert fields(as_owner.post(path, {})) == ["reason"]
    assert as_owner.post(path, {"reason": "It ends there."}).status_code == 200
    assert not ItemFlag.objects.exists()
    assert history(study)[-1] == f"Resolved the flag “reported” of item {item}. Reason: It ends there."
    assert as_owner.post(path, {"reason": "Again."}).status_code == 404


def test_a_key_is_entered_by_who_may_and_told_to_nobody(study, owner, as_owner, settings):
    settings.ASSAY_ENDPOINT_SECRETS = [Fernet.generate_key().decode()]
    endpoint = create_endpoint(user=None, name="here", base_url="http://127.0.0.1:9/v1")
    endpoint.studies.add(study)
    path = "endpoints/here/key/"
    assert as_owner.put(path, {"key": "sk-1234567890"}).status_code == 403
    owner.user_permissions.add(Permission.objects.get(codename="enter_key"))
    assert fields(as_owner.put(path, {"key": "short"})) == ["key"]
    entered = as_owner.put(path, {"key": "sk-1234567890"})
    assert entered.status_code == 200, entered.content
    assert entered.json()["entered_at"]
    endpoint.refresh_from_db()
    assert endpoint.stored_key
    for answer in (entered, as_owner.get("endpoints/here/")):
        assert b"1234567890" not in answer.content
    assert as_owner.delete(path).json() == {"entered_at": None}
    endpoint.refresh_from_db()
    assert not endpoint.stored_key
