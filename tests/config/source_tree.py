"""The project's source files."""

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("config", "evaluation", "analytics", "annotator", "judging")


def sources(*folders: str) -> Iterator[Path]:
    """Of the packages, or of these folders; without migrations."""
    for folder in folders or PACKAGES:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if "migrations" not in path.parts:
                yield path


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
