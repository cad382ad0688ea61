"""Files in parts: what comes of them equals the whole, whatever broke off; others see nothing of it."""

import hashlib
import json
import os
from datetime import timedelta
from functools import partial
from pathlib import Path
from threading import Thread, current_thread

import pytest
from django.conf import settings as configured
from django.contrib.auth import get_user_model
from django.db import connection

from config.bodies import largest_body
from evaluation.dumps.tables.staged_table import StagedTable
from evaluation.models import Job, Study, Upload
from evaluation.services import uploads
from evaluation.services.tokens import make_token
from evaluation.tasks import remove_old_job_files, work_on_job
from tests.crowd import at_once
from tests.evaluation.api.conftest import Caller, address
from tests.evaluation.api.test_making import MAP, fields, table


@pytest.fixture
def committed(django_capture_on_commit_callbacks):
    """Within it, what is done once a change is certain is done."""
    return partial(django_capture_on_commit_callbacks, execute=True)


def announced(raw, name="soups.csv", **other):
    return {"name": name, "size": len(raw), "sha256": hashlib.sha256(raw).hexdigest(), **other}


def put(caller, upload, part, start, total, *, media="application/octet-stream", last=None):
    last = start + len(part) - 1 if last is None else last
    headers = caller._headers() | {"Content-Range": f"bytes {start}-{last}/{total}"}
    return caller.client.generic("PUT", address(f"uploads/{upload}/"), part, media, headers=headers)


def sent(caller, raw, *, size=100, name="soups.csv"):
    """The id of an upload that is complete."""
    upload = caller.post("uploads/", announced(raw, name)).json()["id"]
    for start in range(0, len(raw), size):
        answer = put(caller, upload, raw[start : start + size], start, len(raw))
        assert answer.status_code == 200, answer.content
    assert answer.json()["received"] == len(raw)
    return upload


def post_form(caller, path, *, key="", **form):
    headers = caller._headers() | ({"Idempotency-Key": key} if key else {})
    return caller.client.post(address(path), form, headers=headers)


def kept():
    folder = Path(configured.ASSAY_JOB_FILES)
    return sorted(each.name for each in folder.iterdir()) if folder.exists() else []


def test_a_table_in_parts_becomes_the_same_study(as_owner, committed):

    raw = table()
    whole = as_owner.upload("imports/", raw, "soups.csv", map=json.dumps(MAP), slug="whole")
    work_on_job(whole.json()["job"]["id"])
    upload = sent(as_owner, raw)
    guess = post_form(as_owner, "imports/", upload=upload)
    assert (guess.status_code, guess.json()["job"]) == (200, None)
    # A guess leaves the upload where it is; the import takes it, once for its key.
    form = {"upload": upload, "map": json.dumps(MAP), "slug": "parts", "title": "Soups"}
    with committed():
        begun = [post_form(as_owner, "imports/", key="once", **form) for _ in range(2)]
    assert begun[0].status_code == 202, begun[0].content
    assert begun[0].json() == begun[1].json()
    assert not Upload.objects.exists()
    work_on_job(begun[0].json()["job"]["id"])
    first, second = (as_owner.all(f"studies/{slug}/items/") for slug in ("whole", "parts"))
    assert first == second
    assert len({job.path.read_bytes() for job in Job.objects.all()}) == 1
    again = post_form(as_owner, "imports/", **form)
    assert (again.status_code, fields(again)) == (409, ["upload"])


def test_a_draft_s_items_come_in_parts(as_owner):
    made = as_owner.post("studies/", {"title": "Own", "protocol": "pairwise"}).json()["slug"]

    begun = post_form(
        as_owner, f"studies/{made}/imports/", upload=sent(as_owner, table()), map=json.dumps(MAP)
    )
    assert begun.status_code == 202, begun.content
    work_on_job(begun.json()["job"]["id"])
    assert Study.objects.get(slug=made).items.count() == 3


def test_what_broke_off_goes_on_where_it_is(as_owner):
    raw = table()
    upload = as_owner.post("uploads/", announced(raw)).json()
    assert (upload["received"], upload["largest_part"]) == (0, 32 * 1024 * 1024)
    put(as_owner, upload["id"], raw[:100], 0, len(raw))
    # Half of a part came in: nothing of it is there.
    broken = put(as_owner, upload["id"], raw[100:150], 100, len(raw), last=199)
    assert broken.status_code == 409
    assert "has 50 bytes" in broken.json()["detail"]
    for start in (0, 50, 200):
        wrong = put(as_owner, upload["id"], raw[start : start + 10], start, len(raw))
        assert (wrong.status_code, wrong.json()["code"]) == (409, "wrong_state")
        assert wrong.json()["detail"] == f"This upload goes on at byte 100, not at {start}."
    # Announced again, by a process that knows nothing of it, it is the same.
    again = as_owner.post("uploads/", announced(raw))
    assert (again.status_code, again.json()["id"], again.json()["received"]) == (200, upload["id"], 100)
    incomplete = post_form(as_owner, "imports/", upload=upload["id"])
    assert incomplete.json()["detail"] == (
        f"This upload is not complete: 100 of its {len(raw)} bytes are there."
    )
    done = put(as_owner, upload["id"], raw[100:], 100, len(raw))
    assert done.json()["received"] == len(raw)
    assert Upload.objects.get().path.read_bytes() == raw


def test_another_file_than_the_announced_one_is_deleted(as_owner, committed):
    raw = table()
    upload = as_owner.post("uploads/", announced(raw, sha256="0" * 64)).json()["id"]
    with committed():
        answer = put(as_owner, upload, raw, 0, len(raw))
    assert answer.status_code == 409
    assert answer.json()["detail"].startswith(
        f"The file's SHA-256 is {hashlib.sha256(raw).hexdigest()}, not 000"
    )
    assert as_owner.get(f"uploads/{upload}/").status_code == 404
    assert kept() == []


def test_the_last_part_sent_twice_at_once_is_appended_once(as_owner, monkeypatch):
    """The second comes in whole while the first is hashed."""
    raw = table()
    upload = as_owner.post("uploads/", announced(raw)).json()["id"]
    hashed, second = uploads._digest, []

    def slowly(*args):
        if not second:
            second.append(None)
            second[0] = put(as_owner, upload, raw, 0, len(raw))
        return hashed(*args)

    monkeypatch.setattr(uploads, "_digest", slowly)
    first = put(as_owner, upload, raw, 0, len(raw))
    assert second[0].json()["received"] == len(raw)
    assert (first.status_code, first.json()["code"]) == (409, "wrong_state")
    assert Upload.objects.get().path.read_bytes() == raw
    assert kept() == [Upload.objects.get().file]


def test_another_s_upload_is_not_there(as_owner, as_outsider, as_viewer):
    raw = table()
    upload = sent(as_owner, raw)
    for caller in (as_outsider, as_viewer):
        assert caller.get(f"uploads/{upload}/").status_code == 404
        assert put(caller, upload, raw, 0, len(raw)).status_code == 404
        assert caller.delete(f"uploads/{upload}/").status_code == 404
    assert fields(post_form(as_outsider, "imports/", upload=upload)) == ["upload"]
    assert as_outsider.post("uploads/", announced(raw)).json()["id"] != upload


def test_what_is_too_large_or_too_many_is_refused(as_owner, settings, committed):
    settings.ASSAY_UPLOAD_MB = 1
    raw = table()
    large = as_owner.post("uploads/", announced(raw, size=1_000_001))
    assert (large.status_code, fields(large)) == (409, ["size"])
    assert "larger than 1 MB" in large.json()["detail"]
    for number in range(2):
        as_owner.post("uploads/", announced(raw, f"{number}.csv", size=900_000))
    assert (
        "may have 2 MB together" in as_owner.post("uploads/", announced(raw, size=900_000)).json()["detail"]
    )
    for number in range(3):
        assert as_owner.post("uploads/", announced(raw, f"small-{number}.csv")).status_code == 201
    many = as_owner.post("uploads/", announced(raw))
    assert many.json()["detail"] == "You have 5 uploads already. Import or delete one first."
    with committed():
        assert as_owner.delete(f"uploads/{Upload.objects.first().pk}/").status_code == 200
    assert len(kept()) == 4
    assert as_owner.post("uploads/", announced(raw)).status_code == 201


def test_parts_are_bounded(as_owner, settings):
    settings.ASSAY_UPLOAD_PART_BYTES = 64
    raw = table()
    upload = as_owner.post("uploads/", announced(raw)).json()["id"]
    assert largest_body(f"/api/v1/uploads/{upload}/") == 64
    for answer in (
        put(as_owner, upload, raw[:65], 0, len(raw)),
        put(as_owner, upload, raw[:65], 0, len(raw), last=9),
    ):
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    for last, total in ((0, 0), (len(raw), len(raw))):
        answer = put(as_owner, upload, raw[:9], 1, total, last=last)
        assert (answer.status_code, fields(answer)) == (409, ["Content-Range"])
    nowhere = as_owner.client.generic(
        "PUT",
        address(f"uploads/{upload}/"),
        raw[:9],
        "application/octet-stream",
        headers=as_owner._headers(),
    )
    assert (nowhere.status_code, fields(nowhere)) == (400, ["Content-Range"])
    assert put(as_owner, upload, raw[:9], 0, len(raw), media="application/json").status_code == 415
    assert (
        put(as_owner, upload, raw[:9], 0, len(raw) + 1).json()["detail"].startswith("The file was announced")
    )
    # More than the part was to have.
    assert put(as_owner, upload, raw[:40], 0, len(raw), last=19).status_code == 409
    assert as_owner.get(f"uploads/{upload}/").json()["received"] == 0


def test_a_file_and_an_upload_are_not_both_taken(as_owner):
    both = as_owner.upload("imports/", table(), "soups.csv", upload=1)
    none = post_form(as_owner, "imports/", title="Soups")
    for answer in (both, none):
        assert (answer.status_code, fields(answer)) == (400, ["file"])
    assert not Job.objects.exists()


def test_what_nobody_imports_is_swept_after_a_day(as_owner, committed):
    old, new = (sent(as_owner, table(), name=name) for name in ("old.csv", "new.csv"))
    upload = Upload.objects.get(pk=old)
    Upload.objects.filter(pk=old).update(created_at=upload.created_at - timedelta(days=1, minutes=1))
    with committed():
        remove_old_job_files()
    assert list(Upload.objects.values_list("pk", flat=True)) == [new]
    assert kept() == [Upload.objects.get().file]


def test_a_file_that_is_gone_can_t_be_appended_to(as_owner):
    raw = table()
    upload = as_owner.post("uploads/", announced(raw)).json()["id"]
    Upload.objects.get().path.unlink()
    answer = put(as_owner, upload, raw, 0, len(raw))
    assert (answer.status_code, answer.json()["detail"][:30]) == (409, "The server can't store files a")


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_the_same_part_from_two_is_appended_once():
    if connection.vendor != "postgresql":
        if os.environ.get("ASSAY_REQUIRE_ALL") == "1":
            pytest.fail("DATABASE_URL names no PostgreSQL")
        pytest.skip("DATABASE_URL names no PostgreSQL")
    owner = get_user_model().objects.create_user("owner", is_staff=True)
    token = make_token(owner, name="script")[1]
    raw = os.urandom(400_000)
    begun = at_once(*[lambda: Caller(token).post("uploads/", announced(raw)) for _ in range(4)])
    assert sorted(each.status_code for each in begun) == [200, 200, 200, 201]
    [upload] = {each.json()["id"] for each in begun}
    for start in (0, 200_000):
        part = raw[start : start + 200_000]
        answers = at_once(*[lambda: put(Caller(token), upload, part, start, len(raw)) for _ in range(4)])  # noqa: B023
        assert sorted(each.status_code for each in answers) == [200, 409, 409, 409]
    assert Upload.objects.get().path.read_bytes() == raw


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_nobody_waits_while_the_file_of_a_keyed_import_is_read(monkeypatch):
    """The same request over a second connection, as the first one reads: it ends, and both have its answer."""
    if connection.vendor != "postgresql":
        if os.environ.get("ASSAY_REQUIRE_ALL") == "1":
            pytest.fail("DATABASE_URL names no PostgreSQL")
        pytest.skip("DATABASE_URL names no PostgreSQL")
    owner = get_user_model().objects.create_user("owner", is_staff=True)
    caller = Caller(make_token(owner, name="script")[1])
    read, answers = StagedTable.sample, []

    def send():
        return caller.upload("imports/", table(), "soups.csv", map=json.dumps(MAP), slug="soups", key="once")

    def meanwhile():
        answers.append(send())
        connection.close()

    def slowly(staged):
        if current_thread() is not other:
            other.start()
            other.join(timeout=60)
        return read(staged)

    other = Thread(target=meanwhile, daemon=True)
    monkeypatch.setattr(StagedTable, "sample", slowly)
    answers.append(send())
    assert not other.is_alive()
    assert [each.status_code for each in answers] == [202, 202]
    assert answers[0].json() == answers[1].json()
    assert kept() == [Job.objects.get().file]
