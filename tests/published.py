"""Published data that some tests run on; it is not part of the project."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def published_data(relpath: str) -> Path:
    """The file below ASSAY_PUBLISHED_DATA; without it the test skips, or fails under ASSAY_REQUIRE_ALL=1."""
    folder = os.environ.get("ASSAY_PUBLISHED_DATA", "")
    path = Path(folder) / relpath
    if folder and path.exists():
        return path
    reason = f"{relpath} is not below ASSAY_PUBLISHED_DATA ({folder or 'unset'})"
    if os.environ.get("ASSAY_REQUIRE_ALL") == "1":
        pytest.fail(reason)
    pytest.skip(reason)
