"""The project's source files."""

import ast
import gc
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("config", "evaluation", "analytics", "annotator", "judging")


def sources(*folders: str) -> Iterator[Path]:
    """Of the packages, or of these folders; without migrations."""
    for folder in folders or PACKAGES:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if "migrations" not in path.parts:
                yield path


@cache
def trees() -> dict[Path, ast.Module]:
    """Of all sources of the packages: parsing them takes seconds, so it is done once for all tests of a process."""
    parsed = {path: ast.parse(path.read_text()) for path in sources()}
    # Close to a million nodes, which the collector need not walk for the tests that come after.
    gc.freeze()
    return parsed


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
