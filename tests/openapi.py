"""The API's description as it is committed."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml

PATH = Path(__file__).resolve().parents[1] / "docs" / "openapi.yaml"


@cache
def committed() -> dict[str, Any]:
    """Read once for all tests of a process, and by libyaml: Python's own reader takes seconds."""
    return yaml.load(PATH.read_text(), yaml.CSafeLoader)
