"""Names that others hold on to: links and integrations, scripts, deployments, databases, queues and published files.

`python -m tests.config.interface` writes them to interface.txt, one per line.
"""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LIST = Path(__file__).with_name("interface.txt")
APPS = ("evaluation", "annotator", "judging")
PACKAGES = ("config", "analytics", *APPS)
READERS = {"str", "int", "float", "bool", "list", "url", "db_url", "email_url", "path"}


def lines() -> list[str]:
    found = [
        *_addresses(), *_commands(), *_settings(), *_check_ids(), *_apps(), *_columns(), *_tasks(), *_dump_keys(),
        *_report_keys(),
    ]  # fmt: skip
    return sorted(set(found))


def _addresses() -> Iterator[str]:
    """Of participants, webhooks, reports and the API; nobody outside holds on to pages of the admin."""
    from django.urls import get_resolver

    def routes(patterns: Any, before: str = "") -> Iterator[str]:
        for each in patterns:
            route = before + str(each.pattern)
            if hasattr(each, "url_patterns"):
                yield from routes(each.url_patterns, route)
            elif not route.startswith("admin/"):
                yield f"address /{route}"

    yield from routes(get_resolver().url_patterns)


def _commands() -> Iterator[str]:
    from django.core.management import get_commands, load_command_class

    for name, app in get_commands().items():
        if app in PACKAGES:
            parser = load_command_class(app, name).create_parser("manage.py", name)
            yield f"command {name}"
            for action in parser._actions:
                # The options that every command of Django has are not ours.
                if action.container.title != "options" or action.dest not in _of_django():
                    yield f"command {name} {'|'.join(action.option_strings) or action.dest}"


def _of_django() -> set[str]:
    from django.core.management import BaseCommand

    return {action.dest for action in BaseCommand().create_parser("manage.py", "")._actions}


def _settings() -> Iterator[str]:
    """Environment variables that the settings file reads."""
    tree = ast.parse((ROOT / "config/settings.py").read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            name = node.args[0].value
            if isinstance(name, str) and re.fullmatch(r"[A-Z][A-Z0-9_]+", name):
                yield f"setting {name}"


def _check_ids() -> Iterator[str]:
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            yield from (f"check {each}" for each in re.findall(r"assay\.[EW]\d{3}", path.read_text()))


def _apps() -> Iterator[str]:
    from django.apps import apps

    for app in APPS:
        yield f"app {apps.get_app_config(app).label}"
        for path in (ROOT / app / "migrations").glob("0*.py"):
            yield f"migration {app}.{path.stem}"


def _columns() -> Iterator[str]:
    from django.apps import apps

    for app in APPS:
        for model in apps.get_app_config(app).get_models(include_auto_created=True):
            for field in model._meta.local_concrete_fields:
                yield f"column {model._meta.db_table}.{field.column}"


def _tasks() -> Iterator[str]:
    from config.celery import app

    app.loader.import_default_modules()
    yield from (f"task {name}" for name in app.tasks if name.partition(".")[0] in PACKAGES)


def _dump_keys() -> Iterator[str]:
    """Keys of exported lines and columns of exported tables."""
    for path in sorted((ROOT / "evaluation/dumps/schema").glob("*.json")):
        for key in _properties(json.loads(path.read_text())):
            yield f"dump {path.stem} {key}"
    doc = (ROOT / "docs/formats.md").read_text().partition("one row per answer\n")[2].partition("\n## ")[0]
    for column in re.findall(r"^\| `(\w+)` \|", doc, re.MULTILINE):
        yield f"dump column {column}"


def _properties(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        properties = schema.get("properties", {})
        yield from properties if isinstance(properties, dict) else ()
        for each in schema.values():
            yield from _properties(each)
    elif isinstance(schema, list):
        for each in schema:
            yield from _properties(each)


def _report_keys() -> Iterator[str]:
    """Figures have a line of their own in docs/report.md, with their keys."""
    from analytics.reports.schema import report_schema

    yield from (f"report {key}" for key in report_schema()["properties"])


if __name__ == "__main__":
    import os

    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ.setdefault("DEBUG", "1")
    django.setup()
    LIST.write_text("\n".join(lines()) + "\n")
