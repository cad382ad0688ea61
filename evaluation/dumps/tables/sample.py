"""The first rows of a table by a map: what would be refused, and the first items as they would be frozen."""

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from evaluation.dumps.imports.header import read_header
from evaluation.dumps.imports.items import ItemPreparer, expand_items
from evaluation.dumps.lines import Source
from evaluation.dumps.problems import LineInvalid
from evaluation.dumps.schemas import schema_problems
from evaluation.dumps.tables.bad_rows import check, leave_out_bad_rows, names_of, whole_source
from evaluation.dumps.tables.source import TableSource
from evaluation.models import Study
from evaluation.protocols.base import Spec
from evaluation.refusals import Refused
from evaluation.rendering.box import PAGE_SECONDS, RenderBox
from evaluation.services.studies.compilation import Markdown

# How many rows are read where somebody waits for the page.
ROWS = 500
SHOWN = 3


@dataclass(frozen=True)
class SampleItem:
    """An item as it would be frozen, and the row that it comes from."""

    key: str
    number: int
    stimulus: dict[str, Any]


@dataclass
class MapSample:
    """Items made of the first rows."""

    problems: list[str] = field(default_factory=list)
    # How many there are, where not all are listed.
    total: int = 0
    # How many rows would be left out so that the others can be imported; none where that can't be.
    bad_rows: int = 0
    spec: Spec | None = None
    items: list[SampleItem] = field(default_factory=list)
    # Sentences on the judgments that the rows hold.
    judgments: list[str] = field(default_factory=list)


def sample(source: TableSource, study: Study | None) -> MapSample:
    """Check the source as its import would, and prepare the first items that stand; nothing is written."""
    found = first_items(source, study)
    try:
        problems = check(source, study)
    except Refused as refused:
        found.problems, found.total = refused.problems, refused.total
        return found
    found.problems, found.total = problems.sentences, problems.total
    found.judgments = source.judgment_notes()
    if found.total:
        with suppress(Refused):
            found.bad_rows = len(leave_out_bad_rows(source, study))
    return found


def first_items(source: TableSource, study: Study | None) -> MapSample:
    """The first items that stand, unchecked beside others."""
    found = MapSample()
    # What is wrong with all of it stands among the problems of a sample.
    with suppress(Refused, LineInvalid), RenderBox(total=PAGE_SECONDS) as box:
        _prepare(whole_source(source, study), names_of(source, study), found, box.render)
    return found


def _prepare(source: Source, names: dict[str, str], found: MapSample, render: Markdown) -> None:
    lines = source.lines()
    header = read_header(next(lines).value, **names)
    found.spec = spec = header.study.spec
    preparer = ItemPreparer([spec], render)
    for line in lines:
        if line.problems or schema_problems("item", line.value):
            continue
        for record in expand_items(line.value):
            examined = preparer.examine(record)
            if examined.stands and examined.item.stimulus is not None:
                found.items.append(SampleItem(record["key"], line.number, examined.item.stimulus))
            if len(found.items) == SHOWN:
                return
