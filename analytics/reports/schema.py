"""The JSON schema of reports: what every report has (schema.json), and beside each figure that of its record."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import analytics
from analytics.figures.registry import FIGURES

Schema = dict[str, Any]
ENVELOPE = Path(__file__).parent / "schema.json"


@cache
def report_schema() -> Schema:
    """One schema with the records of all figures. A figure without one of its own may have any record."""
    schema: Schema = json.loads(ENVELOPE.read_text("utf-8"))
    definitions, common = schema["$defs"], schema["$defs"]["record"]
    rules = []
    for key in sorted(FIGURES):
        path = _path(key)
        if not path.exists():
            continue
        own = json.loads(path.read_text("utf-8").replace("#/$defs/", f"#/$defs/{_name(key)}."))
        text = json.dumps(own)
        # What every report has a definition of is that one.
        for name in definitions:
            text = text.replace(f'"#/$defs/{_name(key)}.{name}"', f'"#/$defs/{name}"')
        own = json.loads(text)
        for name, definition in own.pop("$defs", {}).items():
            definitions.setdefault(f"{_name(key)}.{name}", definition)
        own["properties"] = {**common["properties"], **own["properties"]}
        own["additionalProperties"] = False
        definitions[_name(key)] = own
        rules.append(
            {
                "if": {"properties": {"figure": {"const": key}}},
                "then": {"$ref": f"#/$defs/{_name(key)}"},
            }
        )
    definitions["record"] = {**common, "allOf": rules}
    return schema


def _path(key: str) -> Path:
    (folder,) = analytics.__path__
    return Path(folder) / "figures" / f"{key}.json"


def _name(key: str) -> str:
    return f"record.{key.replace('/', '.')}"
