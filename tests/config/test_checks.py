"""Each system check finds what it is for, says what to do, and is quiet otherwise."""

import os
import re
import subprocess
import sys

import pytest

from evaluation.operations import checks
from judging import checks as judging_checks
from tests.config.reading import PACKAGES, ROOT

GOOD_KEY = "a-secret-made-for-this-test-of-more-than-fifty-characters-0123456789"
# check's name, settings that break it, id
BY_SETTINGS = [
    ("check_secret_key", {"SECRET_KEY": None}, "assay.E001"),
    ("check_seal_secrets", {"ASSAY_SEAL_SECRETS": []}, "assay.E017"),
    ("check_allowed_hosts", {"ALLOWED_HOSTS": ["127.0.0.1", "localhost"]}, "assay.E002"),
    ("check_allowed_hosts", {"ALLOWED_HOSTS": []}, "assay.E002"),
    ("check_allowed_hosts", {"ALLOWED_HOSTS": ["*"]}, "assay.W001"),
    ("check_debug", {"DEBUG": True}, "assay.E003"),
    ("check_database_url", {"DATABASES": {"default": {"ENGINE": ""}}}, "assay.E004"),
    ("check_database_url", {"DATABASES": {"default": {"ENGINE": "foo"}}}, "assay.E004"),
    ("check_database_url", {"DATABASES": {"default": {"ENGINE": "x.postgresql", "NAME": ""}}}, "assay.E004"),
    ("check_redis_url", {"REDIS_URL": "127.0.0.1:6379"}, "assay.E005"),
    ("check_redis_url", {"REDIS_URL": "redis://"}, "assay.E005"),
    ("check_redis_url", {"REDIS_URL": "redis://host:port/0"}, "assay.E005"),
    ("check_redis_url", {"REDIS_URL": "http://host/"}, "assay.E005"),
    ("check_log_format", {"ASSAY_LOG_FORMAT": "xml"}, "assay.E008"),
    ("check_logins", {"ASSAY_LOGIN_FAILURES": 0}, "assay.E013"),
    ("check_logins", {"ASSAY_LOGIN_FAILURES_PER_ADDRESS": 4}, "assay.E013"),
    ("check_logins", {"ASSAY_LOGIN_DELAY_SECONDS": 86_401}, "assay.E013"),
    ("check_logins", {"ASSAY_TRUSTED_PROXIES": -1}, "assay.E013"),
    ("check_mail", {"EMAIL_HOST": "mail.example.org", "DEFAULT_FROM_EMAIL": ""}, "assay.E015"),
    (
        "check_mail",
        {
            "EMAIL_HOST": "mail.example.org",
            "DEFAULT_FROM_EMAIL": "assay@example.org",
            "EMAIL_USE_SSL": True,
            "EMAIL_USE_TLS": True,
        },
        "assay.E015",
    ),
    ("check_trusted_proxies", {"ASSAY_TLS": True, "ASSAY_TRUSTED_PROXIES": 0}, "assay.W009"),
    ("check_tls", {"ASSAY_TLS": False}, "assay.W002"),
    ("check_sqlite", {"DATABASES": {"default": {"ENGINE": "django.db.backends.sqlite3"}}}, "assay.W003"),
    ("check_broker", {"DATABASES": {"default": {"ENGINE": "x.postgresql"}}, "REDIS_URL": ""}, "assay.W004"),
    ("check_static", {"ASSAY_HASHED_STATIC": False}, "assay.W005"),
]
FINE = {
    "check_secret_key": {"SECRET_KEY": GOOD_KEY},
    "check_seal_secrets": {"ASSAY_SEAL_SECRETS": [GOOD_KEY]},
    "check_allowed_hosts": {"ALLOWED_HOSTS": ["assay.example.org"]},
    "check_debug": {"DEBUG": False},
    "check_database_url": {
        "DATABASES": {"default": {"ENGINE": "django.db.backends.postgresql", "NAME": "assay"}}
    },
    "check_redis_url": {"REDIS_URL": "rediss://:word@redis.example.org:6380/1"},
    "check_log_format": {"ASSAY_LOG_FORMAT": "json"},
    "check_logins": {"ASSAY_LOGIN_FAILURES": 3, "ASSAY_LOGIN_FAILURES_PER_ADDRESS": 3},
    "check_trusted_proxies": {"ASSAY_TLS": True, "ASSAY_TRUSTED_PROXIES": 1},
    "check_tls": {"ASSAY_TLS": True},
    "check_sqlite": {"DATABASES": {"default": {"ENGINE": "django.db.backends.postgresql"}}},
    "check_broker": {"DATABASES": {"default": {"ENGINE": "x.postgresql"}}, "REDIS_URL": "redis://redis/0"},
    "check_static": {"ASSAY_HASHED_STATIC": True},
}


def found(name):
    return getattr(checks, name)(None)


@pytest.mark.parametrize(("name", "broken", "number"), BY_SETTINGS)
def test_what_is_wrong_is_found(monkeypatch, settings, name, broken, number):
    for setting, value in broken.items():
        monkeypatch.setattr(
            checks.settings, setting, settings.INSECURE_SECRET_KEY if value is None else value, raising=False
        )
    [message] = found(name)
    assert message.id == number
    assert message.hint
    assert number.startswith("assay.E" if message.level >= 40 else "assay.W")


@pytest.mark.parametrize("name", sorted(FINE))
def test_what_is_right_is_not(monkeypatch, name):
    for setting, value in FINE[name].items():
        monkeypatch.setattr(checks.settings, setting, value, raising=False)
    assert found(name) == []


@pytest.mark.parametrize(
    "origin",
    [
        "app.prolific.com", "http://app.prolific.com", "https://app.prolific.com/path", "https://a.org; script-src *",
        "https://a.org https://b.org", "*", "https://*", "'self'", "https://user@a.org", "https://a.org?x", "https://[",
        "https://a.org:port", "javascript:alert(1)", "",
    ],
)  # fmt: skip
def test_what_is_no_origin_is_found(settings, origin):
    settings.ASSAY_FRAME_ANCESTORS = ["https://app.prolific.com", origin]
    [message] = checks.check_frame_ancestors(None)
    assert message.id == "assay.E007"
    assert repr(origin) in message.msg


@pytest.mark.parametrize(
    "origin",
    [
        "https://app.prolific.com",
        "https://*.example.org",
        "https://a.org:8443",
        "http://localhost:3000",
        "http://127.0.0.1",
    ],
)
def test_an_origin_is_fine(settings, origin):
    settings.ASSAY_FRAME_ANCESTORS = [origin]
    assert checks.check_frame_ancestors(None) == []


@pytest.mark.parametrize(
    "entry",
    [
        "api.example.org", "ftp://api.example.org", "https://", "https://a.org/v1=OPENAI_KEY", "https://a.org/v1=",
        "https://me:word@a.org/v1", "https://a.org/v1?x=1", "https://a.org:port/v1", "https://a.org /v1",
    ],
)  # fmt: skip
def test_an_endpoint_that_cannot_be_read_is_found(settings, entry):
    settings.ASSAY_ENDPOINTS_ALLOWED = ["https://a.org/v1=ASSAY_KEY_A", entry]
    [message] = judging_checks.check_endpoints_allowed(None)
    assert message.id == "assay.E009"


def test_endpoints_with_and_without_a_key_are_fine(settings):
    settings.ASSAY_ENDPOINTS_ALLOWED = [
        "https://a.org/v1=ASSAY_KEY_A",
        "http://127.0.0.1:8080/v1",
        " https://b.org ",
    ]
    assert judging_checks.check_endpoints_allowed(None) == []


@pytest.mark.parametrize(
    ("engine", "version", "found"),
    [
        ("django.db.backends.sqlite3", (3, 31, 1), ["assay.E012"]),
        ("django.db.backends.sqlite3", (3, 33, 0), []),
        ("config.postgresql", (3, 31, 1), []),
    ],
)
def test_a_sqlite_that_judge_runs_cannot_write_with_is_found(monkeypatch, engine, version, found):
    monkeypatch.setattr(judging_checks.settings, "DATABASES", {"default": {"ENGINE": engine}}, raising=False)
    monkeypatch.setattr(judging_checks.sqlite3, "sqlite_version_info", version)
    messages = judging_checks.check_sqlite_version(None)
    assert [each.id for each in messages] == found
    assert all("3.33" in each.msg and each.hint for each in messages)


def test_a_folder_that_cannot_be_written(settings, tmp_path):
    (tmp_path / "file").touch()
    settings.VAR_DIR = tmp_path / "file" / "var"
    [message] = checks.check_var_dir(None)
    assert message.id == "assay.E006"
    assert str(settings.VAR_DIR) in message.msg
    settings.VAR_DIR = tmp_path / "new"
    assert checks.check_var_dir(None) == []


@pytest.mark.parametrize(
    "name",
    [
        "OPENAI_API_KEY",
        "ASSAY_KEYS_OPENAI",
        "ASSAY_API_KEY",
        "ASSAY_OPENAI_KEY",
        "assay_key_openai",
        "ASSAY_KEY_a",
        "ASSAY_KEY",
    ],
)
def test_a_key_by_another_name_is_found_and_not_shown(monkeypatch, name):
    _only(monkeypatch, name, "the-value")
    [message] = judging_checks.check_key_names(None)
    assert message.id == "assay.W006"
    assert name in message.msg
    assert "the-value" not in f"{message.msg}{message.hint}"


@pytest.mark.parametrize("value", ["", "key\n", " key"])
def test_a_key_with_blanks_is_found_and_not_shown(monkeypatch, value):
    _only(monkeypatch, "ASSAY_KEY_OPENAI", value)
    [message] = judging_checks.check_key_names(None)
    assert message.id == "assay.W007"
    assert message.msg == "ASSAY_KEY_OPENAI is empty, or has blanks around it."


@pytest.mark.parametrize(
    "name", ["ASSAY_KEY_OPENAI", "ASSAY_KEY_VLLM_2", "HOME", "MONKEY", "KEYBOARD", "SSH_AUTH_SOCK"]
)
def test_other_names_are_left_alone(monkeypatch, name):
    _only(monkeypatch, name, "the-value")
    assert judging_checks.check_key_names(None) == []


def _only(monkeypatch, name, value):
    for each in list(os.environ):
        if judging_checks.KEY_NAME.fullmatch(each) or judging_checks.KEY_LOOK_ALIKE.fullmatch(each):
            monkeypatch.delenv(each)
    monkeypatch.setenv(name, value)


@pytest.mark.parametrize(
    ("environment", "number"),
    [
        ({"DATABASE_URL": "postgres://u:a-word-of-its-own@host:port/d"}, "assay.E004"),
        ({"DATABASE_URL": "nonsense"}, "assay.E004"),
        ({"REDIS_URL": "nonsense"}, "assay.E005"),
        ({"ASSAY_VAR_DIR": "/dev/null/var"}, "assay.E006"),
        ({"ASSAY_FRAME_ANCESTORS": "https://a.org; script-src *"}, "assay.E007"),
        ({"ASSAY_LOG_FORMAT": "xml"}, "assay.E008"),
    ],
)
def test_every_command_stops_at_what_no_installation_works_with(tmp_path, environment, number):
    """The settings load all the same, so that what is wrong is said in a sentence and not by a traceback."""
    kept = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    done = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=ROOT,
        env={**kept, "ASSAY_VAR_DIR": str(tmp_path), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert number in done.stderr
    assert "Traceback" not in done.stderr
    assert "a-word-of-its-own" not in done.stderr


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"ASSAY_RUN_SECONDS": "soon"}, "ASSAY_RUN_SECONDS must be a whole number; it is 'soon'."),
        ({"ASSAY_BATCH_SIZE": "2.5"}, "ASSAY_BATCH_SIZE must be a whole number; it is '2.5'."),
        ({"ASSAY_RENDER_SECONDS": ""}, "ASSAY_RENDER_SECONDS must be a number; it is ''."),
    ],
)
def test_a_setting_that_is_no_number_is_named(tmp_path, environment, said):
    done = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=ROOT,
        env={**os.environ, "ASSAY_VAR_DIR": str(tmp_path), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr.strip()) == (1, said)


def test_every_id_is_explained_and_is_one_of_a_kind():
    """In docs/settings.md, and nothing is explained that no check says."""
    said = {}
    for path in (path for name in PACKAGES for path in (ROOT / name).rglob("*.py")):
        for number in re.findall(r'id="(assay\.[EW]\d{3})"', path.read_text()):
            said.setdefault(number, set()).add(path)
    assert len(said) >= 15
    assert all(len(paths) == 1 for paths in said.values()), "two files use one id"
    explained = re.findall(
        r"^\| `(assay\.[EW]\d{3})` \|", (ROOT / "docs/settings.md").read_text(), re.MULTILINE
    )
    assert sorted(explained) == sorted(said)
