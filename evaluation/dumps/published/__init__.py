"""Published data, by the name of its release. One more release is one module here and its line below."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluation.dumps.problems import ImportRefused
from evaluation.dumps.published import alpaca_eval, clariq, condambigqa, contexteval, lfqa, pandalm
from evaluation.dumps.published.base import PublishedSource, Release, of_json_list

RELEASES: dict[str, Release] = {
    "alpaca_eval": of_json_list(alpaca_eval.convert),
    "clariq": Release(clariq.read, frozenset({"protocol", "questions", "seed"})),
    "condambigqa": Release(condambigqa.read),
    "contexteval": Release(contexteval.read),
    "lfqa": Release(lfqa.read),
    "pandalm": of_json_list(pandalm.convert),
}


def read_release(release: str, path: Path, options: Mapping[str, Any] | None = None) -> PublishedSource:
    """The release as records of the dump format; ImportRefused if it is no such release or has no such options."""
    if release not in RELEASES:
        raise ImportRefused([f"no release {release!r}; there are: {', '.join(sorted(RELEASES))}"])
    given = {name: value for name, value in (options or {}).items() if value is not None}
    known = RELEASES[release].options
    if unknown := sorted(given.keys() - known):
        there_are = f"it has: {', '.join(sorted(known))}" if known else "it has none"
        raise ImportRefused([f"the release {release} has no option {', '.join(unknown)}; {there_are}."])
    return PublishedSource(path.name, release, RELEASES[release].read(path, given))
