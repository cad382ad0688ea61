"""Every line says which request, task or run it is of, and none holds a token, a key or a password."""

import json
import logging
import os
import re
import subprocess
import sys
import threading
import time

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AnonymousUser
from django.http import HttpResponse
from django.test import RequestFactory

from config import logs, middleware
from evaluation.operations import logcontext
from tests.config.reading import ROOT

PATIENCE = 60
FORM_IN_UTF_16 = "application/x-www-form-urlencoded; charset=utf-16"
KEY = "key+of/an=endpoint'with\"marks&more"
DATABASE_PASSWORD = "the-database-s-word"
REDIS_PASSWORD = "p%40ss-of-redis"
SECRETS = (
    KEY,
    DATABASE_PASSWORD,
    REDIS_PASSWORD,
    "p@ss-of-redis",
    "another-key-of-nobody",
    "sk-proj-abcdefghijklmnop",
    "a-participant-s-token-1",
    "made-for-this-test",
)


@pytest.fixture(autouse=True)
def nothing_bound():
    """Who calls the middleware by itself closes no answer, which is what forgets the fields."""
    logcontext.end()
    yield
    logcontext.end()


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """An installation whose every address and key is a secret that can be looked for."""
    return {
        **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
        "ASSAY_VAR_DIR": str(tmp_path_factory.mktemp("var")),
        "ASSAY_LOG_FORMAT": "json",
        "SECRET_KEY": "made-for-this-test",
        "ASSAY_KEY_TEST": KEY,
        "DATABASE_URL": f"postgres://assay:{DATABASE_PASSWORD}@127.0.0.1:1/assay",
        "REDIS_URL": f"redis://:{REDIS_PASSWORD}@127.0.0.1:1/0",
        "PYTHONUNBUFFERED": "1",
    }


def run_failing(environment):
    done = subprocess.run(
        [sys.executable, "-m", "tests.config.failing"],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


@pytest.fixture(scope="module")
def failed(environment):
    """What such a process shows, and its log."""
    return run_failing(environment)


def assert_no_secret(text):
    for secret in SECRETS:
        assert secret not in text, text[max(0, text.index(secret) - 300) : text.index(secret) + 100]


def test_a_failing_request_in_json(failed):
    _, log = failed
    assert_no_secret(log)
    lines = [json.loads(line) for line in log.splitlines()]
    found = [line for line in lines if line.get("request") == "given-by-the-proxy"]
    assert [line["logger"] for line in found] == ["evaluation.something", "django.request", "assay.access"]
    working, error, access = found
    assert working["message"].startswith("working on /p/***/ with {'key': '***")
    for part in ("ConnectionError", "ValueError", "EndpointSaidNo", "direct cause", "During handling"):
        assert part in error["exc_info"]
    assert error["level"] == "ERROR"
    assert {name: access[name] for name in ("method", "path", "status")} == {
        "method": "GET",
        "path": "/p/***/",
        "status": 500,
    }
    assert access["ms"] >= 0
    assert "user" not in access
    assert "somebody" not in log  # a panel's id, in the query string


def test_a_request_without_a_sane_id_gets_one(failed):
    _, log = failed
    lines = [json.loads(line) for line in log.splitlines()]
    [said] = [line for line in lines if line["message"] == "nothing to see"]
    [access] = [line for line in lines if line.get("path") == "/fine/"]
    assert re.fullmatch("[0-9a-f]{16}", said["request"])
    assert access["request"] == said["request"]


def test_a_failing_request_in_lines(environment):
    _, log = run_failing({**environment, "ASSAY_LOG_FORMAT": "line"})
    assert_no_secret(log)
    assert re.search(r" WARNING evaluation.something request=given-by-the-proxy working on /p/\*\*\*/", log)
    assert re.search(
        r" ERROR django.request request=given-by-the-proxy Internal Server Error: /p/\*\*\*/\nTraceback", log
    )
    assert re.search(
        r" INFO assay.access request=given-by-the-proxy GET /p/\*\*\*/ 500 [\d.]+ ms$", log, re.MULTILINE
    )
    assert "EndpointSaidNo: 401 for *** at /p/***/" in log


def test_the_access_line_can_be_left_out(environment):
    _, log = run_failing({**environment, "ASSAY_ACCESS_LOG": "0"})
    assert "assay.access" not in log
    assert "django.request" in log


def test_error_pages_and_mails_hold_no_secret(failed):
    shown, _ = failed
    # The page of DEBUG with variables, settings and environment, and the text of a mail, both are there.
    assert "<title>EndpointSaidNo" in shown
    assert "Request information" in shown
    assert "ASSAY_KEY_TEST" in shown
    assert "DATABASE_URL" in shown
    assert_no_secret(shown)


def test_a_failing_task(environment, tmp_path):
    """A real worker with a real child process: its lines carry the task and the run, and no secret."""
    files = {name: value for name, value in environment.items() if name != "REDIS_URL"}
    # The task itself names an address of Redis; no such server is asked.
    log = tmp_path / "worker.log"
    env = {**files, "DJANGO_SETTINGS_MODULE": "config.settings", "TASK_SAYS": environment["REDIS_URL"]}
    send = (
        "import django; django.setup(); from tests.config.failing import fails; "
        f"print(fails.apply_async(args=[{KEY!r}]).id)"
    )
    sent = subprocess.run(
        [sys.executable, "-c", send], cwd=ROOT, env=env, capture_output=True, text=True, check=True
    )
    task_id = sent.stdout.strip()
    with log.open("w") as written:
        worker = subprocess.Popen(
            [sys.executable, "-m", "celery", "-A", "tests.config.failing", "worker", "--concurrency", "1",
             "--loglevel", "INFO", "--without-gossip", "--without-mingle"],
            cwd=ROOT, env=env, stdout=written, stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:
        deadline = time.monotonic() + PATIENCE
        while (
            "raised unexpected: EndpointSaidNo" not in log.read_text()
            and time.monotonic() < deadline
            and worker.poll() is None
        ):
            time.sleep(0.1)
    finally:
        worker.terminate()
        worker.wait(30)
    text = log.read_text()
    assert_no_secret(text)
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    [asking] = [line for line in lines if line["message"].startswith("asking with")]
    assert asking["message"] == "asking with ***"
    assert (asking["task"], asking["task_name"], asking["run"]) == (task_id, "tests.fails", 4711)
    [failed] = [line for line in lines if "raised unexpected" in line["message"] and line["task"] == task_id]
    assert failed["level"] == "ERROR"
    assert "EndpointSaidNo" in failed["exc_info"]
    # Every line of Celery's own loggers went the same way; only its banner is no log.
    assert any(line["logger"].startswith("celery.") for line in lines)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("GET /p/abcdefgh12345678/a/1/submit/", "GET /p/***/a/1/submit/"),
        ("GET /invitations/abcdefgh-1234_5678/", "GET /invitations/***/"),
        (
            "/admin/login/?next=%2Finvitations%2Fabcdefgh12345678%2F",
            "/admin/login/?next=%2Finvitations%2F***%2F",
        ),
        ("redis://:word@host:6379/0", "redis://:***@host:6379/0"),
        ("to postgres://me:w%40rd@host/db now", "to postgres://me:***@host/db now"),
        ("https://host/path:8000 and a@b", "https://host/path:8000 and a@b"),
        ("http://host:8000/a", "http://host:8000/a"),
        ("Authorization: Bearer abc.def-ghi", "Authorization: ***"),
        ("{'authorization': 'Bearer abcdefgh', 'a': 1}", "{'authorization': ***, 'a': 1}"),
        ("(b'Authorization', b'Token abcdefgh')", "(b'Authorization', b***)"),
        ('{"api_key": "abc", "n": 1}', '{"api_key": ***, "n": 1}'),
        ("HTTP_COOKIE=sessionid=abc; csrftoken=def", "HTTP_COOKIE=***"),
        ("<td>&#x27;X-Api-Key&#x27;: &#x27;abc&#x27;</td>", "<td>&#x27;X-Api-Key&#x27;: ***</td>"),
        ("sent Bearer abcdefghijk", "sent Bearer ***"),
        ("key sk-abcdef123456 refused", "key sk-*** refused"),
        ("token assay_0123456789abcdef01 used", "token assay_*** used"),
        ("Forbidden (CSRF cookie not set.): /x/", "Forbidden (CSRF cookie not set.): /x/"),
        ("task-123 and risk-free", "task-123 and risk-free"),
        ("evaluation.judgments: 3 in 2 s", "evaluation.judgments: 3 in 2 s"),
    ],
)
def test_what_is_masked_and_what_is_not(text, masked):
    assert logs.mask(text) == masked


def test_secrets_of_the_environment_are_found_by_value():
    found = logs.secret_values(
        {
            "ASSAY_KEY_ONE": "first-key-of-all\n",
            "ASSAY_KEY_LOCAL": "none",
            "SECRET_KEY": "the-secret-of-sessions",
            "ASSAY_SEAL_SECRETS": "first-of-two-seals, second-of-two",
            "DATABASE_URL": "postgres://u:w%2Frd-word@h/d",
            "REDIS_URL": "not:an:[address",
            "HOME": "/home/somebody",
        }
    )
    assert set(found) == {"first-key-of-all", "the-secret-of-sessions", "w%2Frd-word", "w/rd-word"} | {
        "first-of-two-seals",
        "second-of-two",
    }
    assert found[0] == max(found, key=len)


def test_every_handler_masks():
    """Whoever adds a handler to the configuration uses a formatter that masks."""
    for form in logs.FORMATS:
        described = logs.configuration(form, "INFO")
        for handler in described["handlers"].values():
            assert described["formatters"][handler["formatter"]]["()"] in (
                "config.logs.LogLine",
                "config.logs.Json",
            )


def access_lines(caplog):
    return [record.access for record in caplog.records if record.name == "assay.access"]


def test_the_answer_names_the_request(client, db, caplog):
    with caplog.at_level("INFO", "assay.access"):
        answer = client.get("/studies/", headers={"x-request-id": "from-the-proxy.1"})
    assert answer["X-Request-ID"] == "from-the-proxy.1"
    [line] = access_lines(caplog)
    assert (line["method"], line["path"], line["status"]) == ("GET", "/studies/", 302)


@pytest.mark.parametrize("bad", ["", "short", "x" * 65, "with blank", "new\nline", "<script>alert</script>"])
def test_an_id_that_is_not_sane_is_replaced(bad):
    request = RequestFactory().get("/", headers={"x-request-id": bad})
    answer = middleware.request_log(lambda request: HttpResponse())(request)
    assert re.fullmatch("[0-9a-f]{16}", answer["X-Request-ID"])


def test_the_user_is_named_where_somebody_asked(client, owner, caplog):
    client.force_login(owner)
    with caplog.at_level("INFO", "assay.access"):
        client.get("/studies/")
    assert [line["user"] for line in access_lines(caplog)] == [owner.pk]


def test_nobody_asks_for_the_user_because_of_the_log(caplog):
    class Session:
        def __getattr__(self, name):
            raise AssertionError("the session was touched")

    from django.contrib.auth.middleware import AuthenticationMiddleware

    def inner(request):
        request.session = Session()
        return AuthenticationMiddleware(lambda request: HttpResponse())(request)

    with caplog.at_level("INFO", "assay.access"):
        middleware.request_log(inner)(RequestFactory().get("/p/x/"))
    assert [line["user"] for line in access_lines(caplog)] == [None]


def test_an_anonymous_user_has_no_number(caplog):
    request = RequestFactory().get("/")
    request.user = AnonymousUser()
    with caplog.at_level("INFO", "assay.access"):
        middleware.request_log(lambda request: HttpResponse())(request)
    assert [line["user"] for line in access_lines(caplog)] == [None]


def test_a_path_cannot_forge_a_line(client, db, caplog):
    with caplog.at_level("INFO", "assay.access"):
        client.get("/studies/%0A2026-01-01 INFO forged/")
    [line] = access_lines(caplog)
    assert "\n" not in line["path"]
    assert "\\n" in line["path"]


def test_a_message_cannot_forge_a_line_or_steer_a_terminal():
    said = "no\n2026-01-01 INFO forged\x1b[2J\u202e\r\ud800"
    [first, *others] = logs.LogLine().format(logging.makeLogRecord({"msg": said})).split("\n")
    assert first.endswith("no")
    assert all(each.startswith("  ") and each.isprintable() for each in others)


@pytest.mark.parametrize(
    "sent",
    [
        {"HTTP_HOST": "x/" * 20_000},
        {"CONTENT_TYPE": FORM_IN_UTF_16},
        {"CONTENT_TYPE": "multipart/form-data; boundary=" + "e" * 300},
    ],
)
def test_a_refused_request_is_one_short_line(client, db, caplog, sent):
    """Or a stranger fills the disk: Django logs what it refuses with its traceback, and a host of any length."""
    assert client.post("/admin/login/", **sent).status_code == 400
    refused = next(each for each in caplog.records if each.name.startswith("django."))
    logs.Refusals().filter(refused)
    line = logs.LogLine().format(refused)
    assert "\n" not in line
    assert 20 < len(line) < 500


def test_who_may_not_is_one_line(client, db, caplog):
    """A viewer who tries an address is no fault of the server's."""
    client.force_login(get_user_model().objects.create_user("viewer", is_staff=True))
    assert client.get("/admin/auth/user/").status_code == 403
    refused = next(each for each in caplog.records if each.name == "django.request")
    logs.Refusals().filter(refused)
    assert "\n" not in logs.LogLine().format(refused)


def test_what_one_request_bound_is_gone_with_it(client, db):
    client.get("/studies/")
    assert logcontext.fields() == {}


def test_bound_fields_nest_and_belong_to_their_thread():
    seen = []
    with logcontext.bind(run=1):
        with logcontext.bind(call=2):
            assert logcontext.fields() == {"run": 1, "call": 2}
        other = threading.Thread(target=lambda: seen.append(dict(logcontext.fields())))
        other.start()
        other.join()
        assert logcontext.fields() == {"run": 1}
    assert logcontext.fields() == {}
    assert seen == [{}]


def test_an_eager_task_keeps_the_request_s_fields(settings):
    from config.celery import app

    @app.task(name="tests.eager")
    def eager():
        return dict(logcontext.fields())

    with logcontext.bind(request="a"):
        assert eager.apply().get() == {"request": "a"}
        assert logcontext.fields() == {"request": "a"}


def test_extras_of_libraries_stay_out_of_json():
    record = logging.LogRecord("x", logging.INFO, __file__, 1, "said %s", ("so",), None)
    record.request = "<WSGIRequest: GET '/p/abcdefgh12345678/'>"
    record.data = {"kwargs": "secret"}
    line = json.loads(logs.Json().format(record))
    assert line["message"] == "said so"
    assert set(line) == {"time", "level", "logger", "message", "process"}
