"""Reproduced tables as Markdown for the terminal, and as JSON."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from analytics.reproduce.published_tables import PublishedFigure, PublishedTable, ReproducedRelease

NOT_PRINTED = "\N{EN DASH}"
SAME = "0"
LEGEND = (
    f"Published: as the paper prints it, {NOT_PRINTED} where no text of it that is at hand does. Assay: the imported "
    "study's own figure. Difference: at the decimal places that are printed."
)


def as_markdown(found: ReproducedRelease) -> str:
    lines = [f"# {found.paper}", "", LEGEND, ""]
    for each in found.tables:
        lines += [*_table(each), ""]
    if found.missing:
        lines += ["## Not in the files", "", *(f"- {each}" for each in found.missing), ""]
    return "\n".join(lines)


def as_json(found: ReproducedRelease) -> str:
    return json.dumps(
        {
            "release": found.release,
            "paper": found.paper,
            "tables": [
                {"title": each.title, "note": each.note, "figures": [_record(row) for row in each.figures]}
                for each in found.tables
            ],
            "missing": list(found.missing),
        },
        indent=2,
        ensure_ascii=False,
    )


AS_PUBLISHED = re.compile(r"\bas published\b", re.IGNORECASE)
HOW_TO_SEE = "(What is said of figures as published is of a column that `--as-published` adds.)"
FORMATS: Mapping[str, Callable[[ReproducedRelease], str]] = {"md": as_markdown, "json": as_json}


def _record(figure: PublishedFigure) -> Mapping[str, object]:
    return {
        "name": figure.name,
        "published": figure.published,
        "ours": figure.ours,
        "difference": figure.difference,
        "as_published": figure.as_published,
        "difference_as_published": figure.difference_as_published,
        "note": figure.note,
    }


def _table(shown: PublishedTable) -> Iterator[str]:
    both = any(each.as_published is not None for each in shown.figures)
    heads = ["Figure", "Published", "Assay", "Difference"]
    heads += ["As published", "Difference"] if both else []
    yield f"## {shown.title}"
    yield ""
    told = [shown.note, *(each.note for each in shown.figures)]
    hint = HOW_TO_SEE if not both and any(map(AS_PUBLISHED.search, told)) else ""
    if shown.note or hint:
        yield from (" ".join(filter(None, [shown.note, hint])), "")
    yield _row([*heads, "Note"])
    yield _row(["---", *["---:"] * (len(heads) - 1), "---"])
    for each in shown.figures:
        cells = [
            each.name,
            each.published or NOT_PRINTED,
            _number(each, each.ours),
            _gap(each, each.difference),
        ]
        if both:
            cells += [_number(each, each.as_published), _gap(each, each.difference_as_published)]
        yield _row([*cells, each.note])


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(each.replace('|', chr(92) + '|') for each in cells)} |"


def _number(figure: PublishedFigure, value: float | None) -> str:
    """A place more than is printed, so that what rounds alike can be told from what is the same; counts have none."""
    if value is None:
        return NOT_PRINTED
    places = figure.places + 1 if figure.printed is not None and figure.places else figure.places
    return f"{value:.{places}f}"


def _gap(figure: PublishedFigure, value: float | None) -> str:
    if value is None:
        return NOT_PRINTED
    return SAME if not value else f"{value:+.{figure.places}f}"
