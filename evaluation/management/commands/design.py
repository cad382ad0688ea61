"""Shows a study's design as JSON, or changes parts of it: of a draft all, of a running study rules."""

from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
from django.core.management.base import CommandError

from evaluation.counting import counted
from evaluation.dumps.imports.design_changes import change_design, design_as_dumped
from evaluation.json_bodies import BadJSON, read_json
from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.outcomes import study_facts
from evaluation.management.studies import add_by_argument, member_named, study_to_write
from evaluation.refusals import FieldsRefused, Refused
from evaluation.services.history import server_account
from evaluation.storable import storable_json

PARTS = ("spec", "rules")
# The one setting whose own parts can be named: it is merged by its keys.
TEXTS = "texts"
Changes = dict[str, dict[str, Any]]


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="by its slug")
        parser.add_argument(
            "file",
            type=Path,
            nargs="?",
            help="JSON with the parts of spec and rules that change (docs/formats.md)",
        )
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="one setting, such as rules.redundancy=3 or spec.texts.thanks=Thanks; VALUE is JSON, or else a text",
        )
        add_by_argument(parser)

    def perform(self, options: dict[str, Any]) -> Outcome:
        by = member_named(options["by"])
        study = study_to_write(options["study"], by)
        changes = _changes(options["file"], options["set"])
        changed: list[str] = []
        if options["file"] or options["set"]:
            try:
                changed = change_design(study, **changes, by=by or server_account())
            except FieldsRefused as refused:
                faults = [f"{path}: {each}" for path, all_ in refused.by_field.items() for each in all_]
                raise CommandError("\n".join([*faults, "Nothing was changed."])) from None
            except Refused as refused:
                raise CommandError(str(refused)) from None
            what = counted(len(changed), "setting")
            self.stdout.write(
                f"Changed {what}: {', '.join(changed)}." if changed else "Nothing differs from before."
            )
        elif not options["json"]:
            design = orjson.dumps(design_as_dumped(study), option=orjson.OPT_INDENT_2)
            self.stdout.write(design.decode())
        return study_facts(study) | design_as_dumped(study) | {"changed": changed}


def _changes(file: Path | None, settings: Sequence[str]) -> Changes:
    """The changes of the file, then those of the line."""
    found = _in_file(file) if file else {part: {} for part in PARTS}
    for each in settings:
        path, sign, text = each.partition("=")
        part, _, name = path.partition(".")
        if not sign or part not in PARTS or not name:
            raise CommandError(f"{each!r} is no setting: write rules.NAME=VALUE or spec.NAME=VALUE.")
        _set(found[part], part, name, _value(text))
    storable: Changes = storable_json(found)
    return storable


def _set(settings: dict[str, Any], part: str, name: str, value: Any) -> None:
    outer, dot, inner = name.partition(".")
    if not dot:
        settings[name] = value
    elif (part, outer) == ("spec", TEXTS):
        texts = settings.setdefault(TEXTS, {})
        if not isinstance(texts, dict):
            raise CommandError("spec.texts is no object of texts.")
        texts[inner] = value
    else:
        raise CommandError(f"Of {part}.{outer} no part can be set: give all of it.")


def _value(text: str) -> Any:
    try:
        return read_json(text.encode())
    except BadJSON:
        return text


def _in_file(path: Path) -> Changes:
    try:
        given = read_json(path.read_bytes())
    except OSError as error:
        raise CommandError(f"{path} can't be read: {error.strerror}.") from None
    except BadJSON as wrong:
        raise CommandError(f"{path}: {wrong}") from None
    if not isinstance(given, Mapping) or not all(isinstance(each, dict) for each in given.values()):
        raise CommandError(f"{path}: it must be an object with the objects spec and rules, or one of them.")
    if unknown := [name for name in given if name not in PARTS]:
        raise CommandError(f"{path}: it may have spec and rules, and not {unknown[0]!r}.")
    return {part: dict(given.get(part, {})) for part in PARTS}
