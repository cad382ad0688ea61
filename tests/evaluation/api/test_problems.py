"""Whatever comes in: what goes out is an answer or a problem in the documented shape, never the server's fault."""

import json

import pytest
from django.test import Client
from redis.exceptions import ConnectionError as RedisGone

from evaluation.api import throttling
from evaluation.models import Judgment
from tests.analytics.reports.judging import judge, judged_study

JUDGMENTS = "studies/contrast/judgments/"
RUNS = "studies/contrast/runs/"


def problem(answer, status, code=None):
    """The answer is this problem, and says so everywhere alike."""
    assert answer.status_code == status
    assert answer["Content-Type"] == "application/problem+json"
    body = json.loads(answer.content)
    assert set(body) == {"type", "title", "status", "code", "detail", "errors"}
    assert body["status"] == status
    assert body["detail"]
    assert code is None or body["code"] == code
    return body


def fields(answer):
    return [error["field"] for error in problem(answer, 400, "invalid")["errors"]]


# --- addresses ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "",
        "nothing/",
        "studies/two%0Alines/",
        "studies",
        "studies/contrast",
        "studies/con%00trast/",
        "studies/contrast/items/%00/",
        "studies/contrast/items/%FF/",
        "studies/contrast/items/../../admin/",
        f"studies/{'a' * 5000}/",
        f"studies/contrast/items/{'a' * 5000}/",
        f"studies/contrast/runs/{'9' * 19}/",
        f"studies/contrast/runs/{'9' * 40}/",
        f"studies/contrast/runs/{'9' * 5000}/",
        f"studies/contrast/judges/{2**63}/",
        "studies/contrast/runs/-1/",
        "studies/contrast/runs/1.5/",
        "studies/contrast/runs/\N{ARABIC-INDIC DIGIT ONE}/",
    ],
)
def test_what_is_not_there_is_not_found(study, as_owner, path):
    problem(as_owner.get(path), 404, "not_found")


@pytest.mark.parametrize("path", ["studies/contrast/judgments", RUNS.rstrip("/")])
def test_a_missing_slash_is_said_and_not_redirected(study, as_owner, path):
    for answer in (as_owner.get(path), as_owner.post(path, {"judge": 1})):
        assert "ends with a slash" in problem(answer, 404)["detail"]


# --- parameters -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "field"),
    [
        ({"raters": "person-1"}, "raters"),
        ({"format": "json"}, "format"),
        ({"rater": ""}, "rater"),
        ({"rater": "a\x00b"}, "rater"),
        ({"rater": "a" * 61}, "rater"),
        ({"item": ["a", "b"]}, "item"),
        ({"kind": "robot"}, "kind"),
        ({"outcome": "OK"}, "outcome"),
        ({"since": "-1"}, "since"),
        ({"since": "1.0"}, "since"),
        ({"since": "1_000"}, "since"),
        ({"since": "\N{ARABIC-INDIC DIGIT ONE}"}, "since"),
        ({"since": "9" * 19}, "since"),
        ({"since": "9" * 10_000}, "since"),
        ({"page_size": "0"}, "page_size"),
        ({"page_size": "501"}, "page_size"),
        ({"page_size": ""}, "page_size"),
        ({"cursor": ""}, "cursor"),
        ({"cursor": "nonsense"}, "cursor"),
        ({"cursor": "\N{LATIN SMALL LETTER U WITH DIAERESIS}"}, "cursor"),
        ({"cursor": "c-1"}, "cursor"),
        ({"cursor": "c1\n"}, "cursor"),
        ({"cursor": f"c{2**63}"}, "cursor"),
        ({"cursor": f"c{10**30}"}, "cursor"),
    ],
)
def test_a_parameter_that_does_not_fit_is_named(study, as_owner, parameters, field):
    assert fields(as_owner.get(JUDGMENTS, **parameters)) == [field]


def test_everything_wrong_is_said_at_once(study, as_owner):
    answer = as_owner.get(JUDGMENTS, since="x", kind="robot")
    assert sorted(fields(answer)) == ["kind", "since"]
    assert "robot" in answer.json()["detail"]


def test_a_reading_of_one_thing_has_no_parameters(study, as_owner):
    for path in ("studies/contrast/", "studies/contrast/report/"):
        assert fields(as_owner.get(path, verbose="1")) == ["verbose"]


@pytest.mark.parametrize("charset", ["hex", "base64", "utf-16", "utf-7", "nonsense", "undefined"])
def test_no_charset_changes_how_parameters_and_bodies_are_read(study, as_owner, charset):
    headers = {"Authorization": f"Bearer {as_owner.token}"}
    kind = f"application/json; charset={charset}"
    read = as_owner.client.generic("GET", f"/api/v1/{JUDGMENTS}?kind=judge", "", kind, headers=headers)
    assert read.status_code == 200
    written = as_owner.client.generic("POST", f"/api/v1/{RUNS}", '{"judge": 0}', kind, headers=headers)
    assert fields(written) == ["judge"]


# --- bodies ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"\xff\xfe",
        b'{"judge": NaN}',
        b'{"judge": Infinity}',
        b'{"judge": ' + b"9" * 10_000 + b"}",
        b"[" * 60_000,
        b'{"a":' * 10_000,
        b'\xef\xbb\xbf{"judge": 1}',
        b'{"\\ud800": 1, "judge": 1}',
        b'{"judge": "\\ud800"}',
    ],
)
def test_what_is_not_json_is_a_bad_request(study, as_owner, body):
    problem(send(as_owner, body), 400, "parse_error")


@pytest.mark.parametrize("body", [b"[]", b"1", b"null", b'"text"', b"{}", b"", b'{"judge": "\\u0000"}'])
def test_json_that_is_no_such_request_is_a_bad_request(study, as_owner, body):
    problem(send(as_owner, body), 400, "invalid")


def test_a_large_body_is_not_read(study, as_owner):
    problem(send(as_owner, b'{"judge": "' + b"a" * 70_000 + b'"}'), 413, "too_large")


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ";"]
)
def test_only_json_is_taken(study, as_owner, kind):
    problem(send(as_owner, b'{"judge": 1}', kind), 415, "unsupported_media_type")


@pytest.mark.parametrize("accept", ["text/html", "application/xml", "image/*"])
def test_only_json_is_given(study, as_owner, accept):
    headers = {"Authorization": f"Bearer {as_owner.token}", "Accept": accept}
    problem(as_owner.client.get("/api/v1/studies/", headers=headers), 406, "not_acceptable")


@pytest.mark.parametrize(
    "accept", ["*/*", "application/json; indent=9999999999", ";;;", "application/json;q=x, */*"]
)
def test_strange_wishes_are_borne(study, as_owner, accept):
    headers = {"Authorization": f"Bearer {as_owner.token}", "Accept": accept}
    assert as_owner.client.get("/api/v1/studies/", headers=headers).status_code in (200, 406)


def send(caller, body, kind="application/json"):
    headers = {"Authorization": f"Bearer {caller.token}"}
    return caller.client.generic("POST", f"/api/v1/{RUNS}", body, kind, headers=headers)


# --- pages ----------------------------------------------------------------------------------------------------------


def test_pages_are_stable_while_rows_come_in(study, as_owner):
    before = list(study.judgments.order_by("pk").values_list("pk", flat=True))
    first = as_owner.get(JUDGMENTS, page_size=40).json()
    judge(study, raters=1, kind="judge")
    Judgment.objects.filter(pk=before[10]).update(outcome="failed")
    second = as_owner.client.get(first["next"], headers={"Authorization": f"Bearer {as_owner.token}"}).json()
    assert [row["id"] for row in second["results"]] == before[40:80]
    assert len(as_owner.all(JUDGMENTS, page_size=40)) == len(before) + 36


def test_newest_first_is_stable_too(colleague, call):
    caller = call(colleague)
    for number in range(4):
        judged_study(f"study-{number}", owner=colleague, queries=1)
    first = caller.get("studies/", page_size=2).json()
    judged_study("study-4", owner=colleague, queries=1)
    second = caller.client.get(first["next"], headers={"Authorization": f"Bearer {caller.token}"}).json()
    assert [row["slug"] for row in first["results"] + second["results"]] == [
        "study-3", "study-2", "study-1", "study-0",
    ]  # fmt: skip
    assert second["next"] is None


def test_a_page_that_is_just_full_is_the_last(study, as_owner):
    assert as_owner.get(JUDGMENTS, page_size=108).json()["next"] is None
    assert as_owner.get(JUDGMENTS, page_size=107).json()["next"] is not None


def test_the_next_page_keeps_the_filters(study, as_owner):
    assert len(as_owner.all(JUDGMENTS, rater="person-1", page_size=5)) == 36


# --- throttling -----------------------------------------------------------------------------------------------------


@pytest.fixture
def clock(monkeypatch):
    """Half a minute after some minute began."""
    now = [1_800_000_030.0]
    monkeypatch.setattr("evaluation.api.throttling.time.time", lambda: now[0])
    return now


def test_too_many_requests_wait_for_the_next_minute(study, as_owner, as_viewer, settings, clock):
    settings.ASSAY_API_READS_PER_MINUTE = 3
    assert [as_owner.get("studies/").status_code for _ in range(4)] == [200, 200, 200, 429]
    refused = as_owner.get(JUDGMENTS)
    problem(refused, 429, "throttled")
    assert refused.json()["detail"] == "Too many requests in this minute: try again in 30 seconds."
    assert refused["Retry-After"] == "30"
    assert as_viewer.get("studies/").status_code == 200, "each user for themselves"
    clock[0] += 30
    assert as_owner.get("studies/").status_code == 200


def test_writing_is_counted_apart(study, as_owner, settings, clock):
    settings.ASSAY_API_WRITES_PER_MINUTE = 1
    assert as_owner.post(RUNS, {}).status_code == 400
    assert as_owner.post(RUNS, {}).status_code == 429
    assert as_owner.get(RUNS).status_code == 200


def test_another_token_is_the_same_user(study, call, owner, settings, clock):
    settings.ASSAY_API_READS_PER_MINUTE = 1
    assert call(owner).get("studies/").status_code == 200
    assert call(owner).get("studies/").status_code == 429


def test_strangers_are_counted_by_address_and_no_address_is_kept(db, settings, clock, monkeypatch):
    kept, count = [], throttling._count
    monkeypatch.setattr(throttling, "_count", lambda key: (kept.append(key), count(key))[1])
    settings.ASSAY_API_READS_PER_MINUTE = 1
    asked = [Client(REMOTE_ADDR=address).get("/api/v1/schema/").status_code for address in ("192.0.2.1",) * 2]
    assert asked == [200, 429]
    assert Client(REMOTE_ADDR="192.0.2.2").get("/api/v1/schema/").status_code == 200
    assert kept
    assert not [key for key in kept if "192.0.2" in key]


def test_a_counter_that_is_gone_refuses_nobody(study, as_owner, monkeypatch, caplog):
    def gone(*_, **__):
        raise RedisGone("Connection refused")

    monkeypatch.setattr("evaluation.api.throttling.cache.add", gone)
    assert as_owner.get("studies/").status_code == 200
    assert "can't be counted" in caplog.text
