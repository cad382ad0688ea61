"""The releases of published data by key: one more is one more module here, which makes a `Release` named RELEASE."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluation.dumps.release import BESIDE, PublishedSource, Release
from evaluation.refusals import Refused
from evaluation.registry import Registry, entries_in

RELEASES: Registry[Release] = Registry(
    "release",
    {"key": "its name in the command", "read": "the function that makes records of it"},
    lambda: entries_in(sys.modules[__name__], "RELEASE"),
)


def read_release(release: str, path: Path, options: Mapping[str, Any] | None = None) -> PublishedSource:
    """The release as records of the dump format; Refused if it is no such release or has no such options."""
    if release not in RELEASES:
        raise Refused(f"no release {release!r}; there are: {', '.join(sorted(RELEASES))}")
    given = {name: value for name, value in (options or {}).items() if value is not None}
    known = RELEASES[release].options
    if BESIDE in given and BESIDE not in known:
        raise Refused(f"The release {release} is one file or folder.")
    if unknown := sorted(given.keys() - known):
        named = ", ".join(sorted(known - {BESIDE}))
        there_are = f"it has: {named}" if named else "it has none"
        raise Refused(f"the release {release} has no option {', '.join(unknown)}; {there_are}.")
    return PublishedSource(path.name, release, RELEASES[release].read(path, given))
