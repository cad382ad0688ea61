"""All figures, found by walking the folders of this package."""

from collections.abc import Iterable
from importlib import import_module
from pkgutil import iter_modules

from analytics import figures
from analytics.figures.figure import Figure
from analytics.figures.headings import HEADINGS
from evaluation.registry import Registry, entries_in


def _found() -> Iterable[Figure]:
    for info in iter_modules(figures.__path__):
        if info.ispkg:
            yield from entries_in(import_module(f"{figures.__name__}.{info.name}"), "FIGURE")


def _problems(figure: Figure) -> Iterable[str]:
    if figure.heading not in HEADINGS:
        yield f"a heading that there is ({figure.heading!r} is none; analytics/figures/headings.py has them)"
    if type(figure).blocks is Figure.blocks:
        yield "blocks (its tables and plots on the page)"


FIGURES: Registry[Figure] = Registry(
    "figure",
    {"heading": "under which heading it stands", "definition": "its line in docs/report.md"},
    _found(),
    check=_problems,
)
