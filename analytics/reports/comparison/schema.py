"""The JSON schema of comparisons; estimates, tests and studies are those of reports."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from analytics.reports.schema import ENVELOPE

# Of the definitions that reports have.
SHARED = ("estimate", "left_out", "test", "study", "named", "chosen", "view", "point")


@cache
def comparison_schema() -> dict[str, Any]:
    schema: dict[str, Any] = json.loads((Path(__file__).parent / "schema.json").read_text("utf-8"))
    of_reports = json.loads(ENVELOPE.read_text("utf-8"))["$defs"]
    schema["$defs"] |= {name: of_reports[name] for name in SHARED}
    return schema
