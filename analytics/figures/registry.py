"""All figures, found by walking the folders of this package."""

from collections.abc import Iterable
from difflib import get_close_matches
from importlib import import_module
from pkgutil import iter_modules

from analytics import figures
from analytics.figures.figure import Figure
from analytics.figures.headings import HEADINGS
from evaluation.refusals import Refused
from evaluation.registry import Registry, entries_in


def _found() -> Iterable[Figure]:
    for info in iter_modules(figures.__path__):
        if info.ispkg:
            yield from entries_in(import_module(f"{figures.__name__}.{info.name}"), "FIGURE")


MOST_LETTERS = 40
# Parts of a figure that the report's words need at once.
NEVER_DEFERRED = ("findings", "facts")


def _problems(figure: Figure) -> Iterable[str]:
    if figure.heading not in HEADINGS:
        yield f"a heading that there is ({figure.heading!r} is none; analytics/figures/headings.py has them)"
    if type(figure).blocks is Figure.blocks:
        yield "blocks (its tables and plots on the page)"
    if len(figure.deferred_as) > MOST_LETTERS:
        yield f"a deferred_as of at most {MOST_LETTERS} letters, as a job's phase has"
    for name in NEVER_DEFERRED if figure.deferred_as else ():
        if getattr(type(figure), name) is not getattr(Figure, name):
            yield f"no {name}, or no deferred_as: what it says belongs to the whole report"


FIGURES: Registry[Figure] = Registry(
    "figure",
    {"heading": "under which heading it stands", "definition": "its line in docs/report.md"},
    _found,
    check=_problems,
)


def with_beside(keys: Iterable[str]) -> frozenset[str]:
    """The keys with those of the figures beside them, and beside these; Refused names one that there is not."""
    found: set[str] = set()
    left = list(keys)
    while left:
        key = left.pop()
        if key not in FIGURES:
            raise Refused(f"There is no figure {key!r}{_near(key)}.")
        if key not in found:
            found.add(key)
            left += FIGURES[key].beside
    return frozenset(found)


def _near(key: str) -> str:
    """Its name may be known without the folder, or be misspelt."""
    by_name: dict[str, list[str]] = {}
    for each in FIGURES:
        by_name.setdefault(each.rpartition("/")[2], []).append(each)
    names = get_close_matches(key.rpartition("/")[2], by_name, n=3)
    near = dict.fromkeys(
        [*(each for name in names for each in by_name[name]), *get_close_matches(key, FIGURES)]
    )
    return f"; near it: {', '.join(near)}" if near else "; docs/report.md has them all"
