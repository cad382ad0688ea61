"""docker-compose.yml, Dockerfile and .env.example fit the code that they run."""

import fnmatch
import importlib
import json
import os
import re
import socket
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from django.conf import settings
from packaging.specifiers import SpecifierSet

from config.celery import app
from config.health import VIEWS
from tests.config.reading import (
    COMPOSE_ONLY,
    ROOT,
    compose,
    environment_of,
    example,
    interpolated,
    variables,
)

OURS = ("migrate", "web", "worker", "beat")
NO_FILTERS = {*OURS, "postgres", "redis"}
DOCKERFILE = (ROOT / "Dockerfile").read_text()
SECRET = "a-secret-made-for-this-test-of-more-than-fifty-characters-0123456789"


@pytest.fixture(scope="module")
def services():
    return compose()["services"]


@pytest.fixture(scope="module")
def filled():
    """The example with what it leaves empty filled in."""
    given = example()
    empty = {name for name, value in given.items() if not value}
    assert empty == {"SECRET_KEY", "ASSAY_SEAL_SECRETS", "POSTGRES_PASSWORD"}
    return {
        **given, "SECRET_KEY": SECRET, "ASSAY_SEAL_SECRETS": SECRET[::-1], "POSTGRES_PASSWORD": "5f2b8c1d9e"
    }  # fmt: skip


def command(service):
    return [interpolated(word, example() | {"POSTGRES_PASSWORD": "x"}) for word in service["command"]]


def test_the_services(services):
    assert set(services) == NO_FILTERS
    for name, service in services.items():
        assert service["restart"] == ("on-failure" if name == "migrate" else "unless-stopped"), name
        assert name == "migrate" or service["healthcheck"]["test"][0] in ("CMD", "CMD-SHELL"), name


def test_images_are_named_by_exact_versions_that_are_new_enough(services):
    """A name such as postgres:17 is another image after the next pull."""
    postgres = re.fullmatch(r"postgres:(\d+)\.\d+", services["postgres"]["image"])
    assert postgres
    assert int(postgres[1]) >= 15
    assert re.fullmatch(r"redis:7\.\d+\.\d+-alpine", services["redis"]["image"])
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    [python] = re.findall(r"^FROM python:(\d+\.\d+\.\d+)-slim-\w+$", DOCKERFILE, re.MULTILINE)
    assert SpecifierSet(wanted).contains(python)


def test_only_the_worker_is_given_the_endpoints_keys(services):
    """From a file of its own, without which everything starts all the same."""
    files = {
        name: [each if isinstance(each, str) else each["path"] for each in services[name]["env_file"]]
        for name in OURS
    }
    assert files == {name: [".env"] for name in OURS} | {"worker": [".env", ".env.worker"]}
    assert services["worker"]["env_file"][1]["required"] is False
    assert not any(
        "ASSAY_KEY" in name for service in services.values() for name in service.get("environment", ())
    )
    assert not re.search(r"^#? ?ASSAY_KEY_\w+=", (ROOT / ".env.example").read_text(), re.MULTILINE)
    assert "/.env.worker" in (ROOT / ".gitignore").read_text().splitlines()


def test_nobody_takes_all_of_the_machine_s_memory(services):
    limits = {name: interpolated(service["mem_limit"], {}) for name, service in services.items()}
    assert set(limits) == NO_FILTERS
    assert all(re.fullmatch(r"\d+[mg]", each) for each in limits.values())
    # A broker that is full refuses a message; one that is ended loses those of the last second.
    words = services["redis"]["command"]
    assert (
        int(words[words.index("--maxmemory") + 1].removesuffix("mb"))
        < int(limits["redis"].removesuffix("m")) / 2
    )


def test_everybody_waits_for_the_migrations(services):
    for name in ("web", "worker", "beat"):
        assert services[name]["depends_on"]["migrate"] == {"condition": "service_completed_successfully"}
    for name in OURS:
        for needed in ("postgres", "redis"):
            assert services[name]["depends_on"][needed] == {"condition": "service_healthy"}


def test_only_web_is_reachable_and_only_from_this_machine(services):
    published = {name: service["ports"] for name, service in services.items() if "ports" in service}
    assert set(published) == {"web"}
    assert [interpolated(port, {}) for port in published["web"]] == ["127.0.0.1:8000:8000"]
    assert example()["WEB_PORT"] == "8000"
    assert not any("network_mode" in service or service.get("privileged") for service in services.values())


def mounts(service, given):
    """{volume or folder of the machine: where the container finds it}"""
    volumes = (interpolated(each, given).removesuffix(":ro") for each in service["volumes"])
    return dict(each.split(":") for each in volumes)


def test_volumes_are_declared_and_shared_where_they_must(services):
    mounted = {name: mounts(service, {}) for name, service in services.items()}
    declared = set(compose()["volumes"])
    assert {volume for each in mounted.values() for volume in each} == declared
    var = services["web"]["environment"]["ASSAY_VAR_DIR"]
    for name in OURS:
        assert mounted[name]["var"] == var, f"{name} has no share in uploads and exports"
    schedule = command(services["beat"])[command(services["beat"]).index("--schedule") + 1]
    assert schedule.startswith(mounted["beat"]["beat"] + "/")
    # The account of the image may write there: a new volume takes the folder's owner.
    made = re.search(r"^RUN install -d -o assay .*$", DOCKERFILE, re.MULTILINE)
    assert made
    assert {var, mounted["beat"]["beat"]} <= set(made[0].split())


def test_folders_that_a_setting_names_are_in_the_containers(services):
    page = (ROOT / "docs/settings.md").read_text()
    names = re.findall(r"^\| `(\w+)` \|.*\| The folder that holds ", page, re.MULTILINE)
    assert set(names) >= {"ASSAY_CORPORA", "ASSAY_STATIC_MODELS"}
    given = {name: f"/srv/{name.lower()}" for name in names}
    for name in ("web", "worker"):
        found = mounts(services[name], given)
        assert [found.get(folder) for folder in given.values()] == list(given.values()), name
    # Workers write uploads there, if the operator gives the folder to the image's account.
    assert not any(interpolated(each, given).endswith("corpora:ro") for each in services["worker"]["volumes"])
    account = re.search(r"useradd --uid (\d+)", DOCKERFILE)[1]
    assert f"install -d -o {account} " in (ROOT / "docs/operating.md").read_text()


def test_every_setting_reaches_every_process(filled):
    """But for those that follow from what the containers are."""
    follow = {"DATABASE_URL", "REDIS_URL", "ASSAY_VAR_DIR", "ASSAY_HASHED_STATIC"}
    given = dict.fromkeys(set(variables()) - follow, "given")
    for name in OURS:
        found = environment_of(name, filled | given)
        assert [each for each in given if found.get(each) != "given"] == [], name


def test_compose_s_version_is_named_where_it_is_needed():
    named = [
        re.search(r"Docker Compose\s(\d+\.\d+) or newer", (ROOT / file).read_text())
        for file in ("docker-compose.yml", "docs/operating.md")
    ]
    # The first with `required` in env_file, which the worker's has.
    assert [each[1] for each in named] == ["2.24", "2.24"]


def test_every_variable_is_one_that_the_code_reads(services):
    known = set(variables())
    for name in OURS:
        unknown = set(services[name]["environment"]) - known
        assert not unknown, f"{name} sets what nothing reads: {unknown}"
    assert set(example()) <= known | COMPOSE_ONLY
    asked = set(re.findall(r"(?<!\$)\$\{(\w+)", (ROOT / "docker-compose.yml").read_text()))
    named = set(re.findall(r"^(?:# )?([A-Z_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))
    assert asked <= named, "the compose file asks for what .env.example does not name"
    assert asked >= COMPOSE_ONLY
    image = set(re.findall(r"(ASSAY_\w+|STATIC_ROOT)=", DOCKERFILE))
    assert image <= known


def test_production_s_variables_are_set(filled):
    for name in OURS:
        found = environment_of(name, filled)
        for required in (
            "SECRET_KEY",
            "ASSAY_SEAL_SECRETS",
            "ALLOWED_HOSTS",
            "DATABASE_URL",
            "REDIS_URL",
            "ASSAY_TLS",
            "ASSAY_HASHED_STATIC",
        ):
            assert found[required], f"{name} lacks {required}"
    with pytest.raises(AssertionError, match="SECRET_KEY must be set"):
        environment_of("web", {**filled, "SECRET_KEY": ""})


def test_postgres_and_the_address_of_it_agree(services, filled):
    own = {name: interpolated(value, filled) for name, value in services["postgres"]["environment"].items()}
    assert environment_of("web", filled)["DATABASE_URL"] == (
        f"postgres://{own['POSTGRES_USER']}:{own['POSTGRES_PASSWORD']}@postgres:5432/{own['POSTGRES_DB']}"
    )
    check = services["postgres"]["healthcheck"]["test"][1]
    assert f"--username {own['POSTGRES_USER']}" in check
    assert f"--dbname {own['POSTGRES_DB']}" in check


def test_commands_refer_to_what_exists(services):
    assert command(services["migrate"])[:2] == ["python", "manage.py"]
    web, worker, beat = (command(services[name]) for name in ("web", "worker", "beat"))
    assert web[:2] == ["python", "-m"]
    assert importlib.import_module(web[2]).read_address(web[3]) == ("0.0.0.0", 8000)  # noqa: S104 - within its container
    assert worker[:4] == ["celery", "-A", "config", "worker"]
    assert beat[:4] == ["celery", "-A", "config.beat", "beat"]
    assert app.main == "assay"
    assert DOCKERFILE.rstrip().endswith(json.dumps(web).replace("[", "CMD [", 1)), (
        "the image's own command is web's"
    )


@pytest.mark.parametrize("name", ["worker", "beat"])
def test_options_are_known_to_their_programs(services, name):
    words = command(services[name])
    program = words[:4]
    helped = subprocess.run(
        [str(Path(sys.executable).parent / program[0]), *program[1:], "--help"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    for option in (word.partition("=")[0] for word in words if word.startswith("--")):
        assert option in helped.stdout


def test_some_worker_consumes_every_queue(services):
    words = command(services["worker"])
    named = next(
        (words[i + 1].split(",") for i, word in enumerate(words) if word in ("-Q", "--queues")), None
    )
    consumed = set(named or [queue.name for queue in app.amqp.queues.values()])
    routes = app.conf.task_routes or {}
    routed = (
        {route["queue"] for route in routes.values() if "queue" in route}
        if isinstance(routes, dict)
        else set()
    )
    assert routed | {app.conf.task_default_queue} <= consumed


@pytest.fixture
def answering():
    """A port of this machine at which a server answers with the given status."""

    def serve(status):
        code = (
            "import http.server, sys\n"
            "class Handler(http.server.BaseHTTPRequestHandler):\n"
            "    def do_GET(self):\n"
            f"        self.send_response({status} if self.path == '/readyz' else 404); self.end_headers()\n"
            "    def log_message(self, *a): pass\n"
            "server = http.server.HTTPServer(('127.0.0.1', 0), Handler)\n"
            "print(server.server_port, flush=True); server.serve_forever()\n"
        )
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        started.append(process)
        return int(process.stdout.readline())

    started = []
    yield serve
    for process in started:
        process.kill()
        process.communicate()


def web_check(services, port):
    """The exit code of web's health check, asked of another port."""
    kind, python, flag, code = services["web"]["healthcheck"]["test"]
    assert (kind, python, flag) == ("CMD", "python", "-c")
    code = interpolated(code, {}).replace('"127.0.0.1", 8000', f'"127.0.0.1", {port}')
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, timeout=30)
    return done.returncode


def test_web_s_health_check_asks_an_address_that_exists(services):
    code = services["web"]["healthcheck"]["test"][3]
    assert set(re.findall(r'"(/\w+)"', code)) <= set(VIEWS)
    assert re.search(r'"127\.0\.0\.1", (\d+)', code)[1] in command(services["web"])[3]


@pytest.mark.parametrize(("status", "healthy"), [(200, True), (503, False), (301, False)])
def test_web_s_health_check_tells_ready_from_not(services, answering, status, healthy):
    assert (web_check(services, answering(status)) == 0) is healthy


def test_web_s_health_check_sees_that_nobody_answers(services):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        assert web_check(services, taken.getsockname()[1]) != 0


def test_beat_s_health_check_sees_a_schedule_that_is_written(services, tmp_path):
    code = services["beat"]["healthcheck"]["test"][3].replace("/var/lib/assay/beat", str(tmp_path))

    def check():
        return subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode

    assert check() != 0
    written = tmp_path / "schedule.db"
    written.touch()
    assert check() == 0
    os.utime(written, (1_000_000_000, 1_000_000_000))
    assert check() != 0


def test_the_worker_s_health_check_asks_itself(services):
    words = interpolated(services["worker"]["healthcheck"]["test"][1], {}).split()
    assert words[:5] == ["celery", "-A", "config", "inspect", "ping"]
    assert words[words.index("--destination") + 1] == "celery@$HOSTNAME"


def test_deploy_check_is_clean_with_exactly_this_environment(filled, tmp_path):
    done = _deploy_check(environment_of("web", filled), tmp_path)
    assert done.returncode == 0, done.stderr
    assert "no issues" in done.stdout


def test_deploy_check_misses_what_is_left_out(filled, tmp_path):
    found = environment_of("web", filled)
    without = {
        name: value
        for name, value in found.items()
        if name not in ("SECRET_KEY", "ALLOWED_HOSTS", "REDIS_URL")
    }
    done = _deploy_check(without, tmp_path)
    assert done.returncode != 0
    for each in ("assay.E001", "assay.E002", "assay.W004"):
        assert each in done.stderr


def _deploy_check(environment, tmp_path):
    return subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **environment, "ASSAY_VAR_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )


def ignored(path):
    """Whether .dockerignore keeps this path out; the last rule that matches decides."""
    rules = [
        line
        for line in (ROOT / ".dockerignore").read_text().splitlines()
        if line and not line.startswith("#")
    ]
    out = False
    for rule in rules:
        pattern = rule.removeprefix("!").removeprefix("**/")
        anywhere = rule.startswith("**/")
        parts = Path(path).parts
        names = parts if anywhere else ["/".join(parts[: i + 1]) for i in range(len(parts))]
        if any(fnmatch.fnmatch(name, pattern) for name in names):
            out = not rule.startswith("!")
    return out


@pytest.mark.parametrize(
    "path",
    [
        "manage.py", "requirements/base.txt", "requirements/embeddings.txt", "config/settings.py",
        "evaluation/models/__init__.py", "annotator/urls.py", "judging/apps.py", "templates/base.html",
        "static/css/base.css", "evaluation/demo/x.jsonl",
    ],
)  # fmt: skip
def test_the_image_has_what_runs(path):
    assert not ignored(path)


@pytest.mark.parametrize(
    "path",
    [
        ".env",
        ".env.worker",
        ".git/config",
        "var/assay.sqlite3",
        "tests/conftest.py",
        ".venv/bin/python",
        "config/x.pyc",
    ],
)
def test_the_image_has_nothing_else(path):
    assert ignored(path)


def test_the_image_holds_no_secret_and_does_not_run_as_root():
    assert not re.search(r"^(ENV|ARG).*(SECRET|PASSWORD|ASSAY_KEY)", DOCKERFILE, re.MULTILINE)
    assert re.findall(r"^USER (\S+)", DOCKERFILE, re.MULTILINE)[-1] == "assay"
    assert "--require-hashes -r requirements/base.txt" in DOCKERFILE
    assert "ca-certificates" in DOCKERFILE
    assert all((ROOT / folder).is_dir() for folder in re.search(r"compileall -q (.+)", DOCKERFILE)[1].split())


@pytest.mark.parametrize(
    ("extras", "fails", "installed", "code"),
    [("", 0, [], 0), ("embeddings", 0, ["embeddings"], 0), ("embeddings more", 1, ["embeddings"], 1)],
)
def test_the_image_has_the_extras_that_are_asked_for(services, tmp_path, extras, fails, installed, code):
    """The line of the Dockerfile, with a pip that writes down what it is asked for."""
    asked = {interpolated(services[name]["build"]["args"]["EXTRAS"], {"EXTRAS": extras}) for name in OURS}
    assert asked == {extras}
    [line] = re.findall(r'^ARG EXTRAS=""\nRUN (.+)$', DOCKERFILE, re.MULTILINE)
    (tmp_path / "pip").write_text(f'#!/bin/sh\necho "$@"\nexit {fails}\n')
    (tmp_path / "pip").chmod(0o700)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "EXTRAS": extras}
    done = subprocess.run(["sh", "-c", line], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert re.findall(r"--require-hashes -r requirements/(\w+)\.txt", done.stdout) == installed
    assert all((ROOT / f"requirements/{name}.txt").is_file() for name in installed)


def test_static_files_are_collected_without_any_secret(tmp_path):
    done = subprocess.run(
        [sys.executable, "manage.py", "collectstatic", "--noinput"],
        cwd=ROOT,
        env={
            "PATH": os.environ["PATH"],
            "ASSAY_HASHED_STATIC": "1",
            "STATIC_ROOT": str(tmp_path / "static"),
            "ASSAY_VAR_DIR": str(tmp_path / "var"),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "static/staticfiles.json").exists()


def test_django_s_own_apps_and_ours_are_in_the_image():
    for name in settings.INSTALLED_APPS:
        if (ROOT / name).is_dir():
            assert not ignored(f"{name}/__init__.py"), name
