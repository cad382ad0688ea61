"""The JSON schema of reports: what every report has, and the records of figures, of their dataclasses."""

from functools import cache
from typing import Any, get_args

from analytics.figures.document import DEFINITIONS, FigureRecord, ReportRecord
from analytics.figures.record_schema import Schema, record_schema
from analytics.figures.registry import FIGURES

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def document_schema(document: type, key: str, title: str) -> Schema:
    """The schema of a whole document, with the definitions that all have."""
    return {
        "$schema": DIALECT,
        "$id": key,
        "title": title,
        **record_schema(document),
        "$defs": _definitions(),
    }


@cache
def report_schema() -> Schema:
    """One schema with the records of all figures. A figure whose record is no dataclass may have any."""
    schema = document_schema(ReportRecord, "assay:report/2", "A study's report")
    definitions, common = schema["$defs"], record_schema(FigureRecord)
    rules = []
    for key in sorted(FIGURES):
        kind, name = FIGURES[key].record_type, f"record.{key.replace('/', '.')}"
        if kind is None:
            continue
        kinds = [record_schema(each) for each in get_args(kind) or (kind,)]
        for own in kinds:
            own["properties"] = {**common["properties"], **own["properties"]}
        definitions[name] = kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
        rules.append({"if": {"properties": {"figure": {"const": key}}}, "then": {"$ref": f"#/$defs/{name}"}})
    definitions["record"] = {**_any_record(), "allOf": rules}
    return schema


def described(document: type) -> Schema:
    """The schema of a document as the API's description has it: without references, of the record of a figure only what
    all of them have, and open, since keys may be added to a version."""
    definitions = {**_definitions(), "record": _any_record()}

    def whole(part: Any) -> Any:
        if isinstance(part, list):
            return [whole(each) for each in part]
        if not isinstance(part, dict):
            return part
        if "$ref" in part:
            # What stands beside a reference says more than what it refers to.
            beside = {name: each for name, each in part.items() if name != "$ref"}
            return whole({**definitions[part["$ref"].rpartition("/")[2]], **beside})
        return {
            name: whole(each)
            for name, each in part.items()
            if not (name == "additionalProperties" and each is False)
        }

    found: Schema = whole(record_schema(document))
    return found


def _definitions() -> dict[str, Schema]:
    return {name: record_schema(kind) for name, kind in DEFINITIONS.items()}


def _any_record() -> Schema:
    """The rest of a record is its figure's own."""
    return {**record_schema(FigureRecord), "additionalProperties": True}
