"""Facts that the outcomes of several commands share."""

import hashlib
from pathlib import Path
from typing import Any

from evaluation.models import Study


def study_facts(study: Study) -> dict[str, Any]:
    return {
        "study": study.slug,
        "title": study.title,
        "status": study.status,
        "archived": study.archived_at is not None,
    }


def file_facts(path: Path) -> dict[str, Any]:
    """Where a file was written, how long it is and its digest."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"path": str(path), "bytes": path.stat().st_size, "sha256": digest}
