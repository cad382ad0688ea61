"""Reads what operates Assay: the settings' code, docker-compose.yml and .env.example."""

import ast
import re
from functools import cache
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("config", "evaluation", "analytics", "annotator", "judging")
NO_LITERAL = object()
# Read by Celery itself, or only by the compose file.
COMPOSE_ONLY = {
    *("POSTGRES_PASSWORD", "WEB_PORT", "WORKER_CONCURRENCY", "EXTRAS"),
    *("WEB_MEMORY", "WORKER_MEMORY", "POSTGRES_MEMORY"),
}


def _literal(node):
    try:
        return ast.literal_eval(node)
    except ValueError:
        return NO_LITERAL


def _environment_call(call):
    """(name, default) of `env.str("NAME", default=...)` and `os.environ.get("NAME", ...)`; None for other calls."""
    function = ast.unparse(call.func)
    if not re.fullmatch(r"env\.\w+|os\.environ\.get|os\.getenv", function) or not call.args:
        return None
    name = _literal(call.args[0])
    if not isinstance(name, str) or not name.isupper():
        return None
    by_name = [keyword.value for keyword in call.keywords if keyword.arg == "default"]
    default = (by_name or call.args[1:2] or [ast.Constant(None)])[0]
    return name, _literal(default)


@cache
def variables():
    """{name: default} of every environment variable that Assay's code reads."""
    found = {}
    files = [path for name in PACKAGES for path in (ROOT / name).rglob("*.py")]
    for path in sorted(files):
        text = path.read_text()
        # Parsing takes longer than this look, which is passed by every call that is read below.
        if "env" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            read = _environment_call(node) if isinstance(node, ast.Call) else None
            if read:
                found.setdefault(read[0], read[1])
    return found


def compose():
    return yaml.safe_load((ROOT / "docker-compose.yml").read_text())


def example():
    """The lines of .env.example that set something."""
    lines = (ROOT / ".env.example").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def interpolated(value, environment):
    """As docker compose does it: ${NAME}, ${NAME:-default}, ${NAME:?message}, $$."""

    def put(match):
        if match[0] == "$$":
            return "$"
        name, operator, rest = match["name"], match["operator"], match["rest"]
        if environment.get(name):
            return environment[name]
        assert operator == ":-", f"{name} must be set: {rest}"
        return rest

    return re.sub(r"\$\$|\$\{(?P<name>\w+)(?:(?P<operator>:-|:\?)(?P<rest>[^}]*))?\}", put, str(value))


def environment_of(service, filled):
    """What a process of this service finds in its environment, the image's own settings included."""
    image = re.findall(r"(ASSAY_\w+|STATIC_ROOT)=(\S+)", _image_settings())
    described = compose()["services"][service]
    own = {name: interpolated(value, filled) for name, value in described["environment"].items()}
    return {**dict(image), **(filled if described.get("env_file") else {}), **own}


def _image_settings():
    text = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    return "\n".join(line for line in text.splitlines() if line.startswith("ENV "))
