"""Published judgments, by the name of their release. One more release is one module here and its line below."""

from pathlib import Path

from evaluation.dumps.problems import ImportRefused
from evaluation.dumps.published import alpaca_eval, pandalm
from evaluation.dumps.published.base import Convert, PublishedSource, load_json_list

RELEASES: dict[str, Convert] = {
    "alpaca_eval": alpaca_eval.convert,
    "pandalm": pandalm.convert,
}


def read_release(release: str, path: Path) -> PublishedSource:
    """The release's file as records of the dump format; ImportRefused if it is not such a file."""
    if release not in RELEASES:
        raise ImportRefused([f"no release {release!r}; there are: {', '.join(sorted(RELEASES))}"])
    converted = RELEASES[release](load_json_list(path))
    return PublishedSource(path.name, release, converted)
