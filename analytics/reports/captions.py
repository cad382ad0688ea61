"""The context of a caption: whose figures a table shows, and of what, once it stands by itself in a paper.

In the report the heading above says it. A caption that several have, or that stands under the name of a group, gets
the heading's words in front, so that no two tables, and no two plots, of a report have the same.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from analytics.display.blocks import Block, Plot, Section
from analytics.display.tables import Table, in_context
from analytics.figures.report_view import ReportView


@dataclass(frozen=True)
class _Place:
    """A table or a plot under its headings. `number` tells it from others of the same caption under the same ones."""

    shown: Table | Plot
    section: Section
    block: Block
    number: int

    @property
    def caption(self) -> str:
        return self.shown.caption


def with_contexts(sections: Iterable[Section], view: ReportView) -> tuple[Section, ...]:
    """The sections with the context of each table and each plot."""
    found = tuple(sections)
    tables = _contexts([(s, b, table) for s in found for b in s.blocks for table in b.tables], view)
    plots = _contexts([(s, b, b.plot) for s in found for b in s.blocks if b.plot], view)
    return tuple(
        replace(section, blocks=tuple(_told(block, tables, plots) for block in section.blocks))
        for section in found
    )


def _told(block: Block, tables: Iterator[str], plots: Iterator[str]) -> Block:
    return replace(
        block,
        tables=tuple(replace(table, context=next(tables)) for table in block.tables),
        plot=replace(block.plot, context=next(plots)) if block.plot else None,
    )


def _contexts(shown: Sequence[tuple[Section, Block, Table | Plot]], view: ReportView) -> Iterator[str]:
    """Of each in turn, the shortest of its contexts that tells its caption from all others."""
    taken: Counter[tuple[str, str, str]] = Counter()
    places = []
    for section, block, each in shown:
        named = (section.title, block.heading, each.caption)
        taken[named] += 1
        places.append(_Place(each, section, block, taken[named]))
    of_groups = _captions_of_groups(places, view)
    choices = [iter(_choices(place, of_groups[place.section.key], len(places), view)) for place in places]
    chosen = [next(found) for found in choices]
    while same := _repeated([in_context(c, place.caption) for c, place in zip(chosen, places, strict=True)]):
        for at in same:
            chosen[at] = next(choices[at])
    return iter(chosen)


def _repeated(captions: list[str]) -> list[int]:
    counts = Counter(captions)
    return [at for at, caption in enumerate(captions) if counts[caption] > 1]


def _captions_of_groups(places: Sequence[_Place], view: ReportView) -> defaultdict[str, list[str]]:
    """By section, the captions of what stands under a heading that names a group."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for place in places:
        if _names_group(place.block.heading, view):
            found[place.section.key].append(place.caption.casefold())
    return found


def _choices(place: _Place, of_groups: Sequence[str], n: int, view: ReportView) -> Iterator[str]:
    """Contexts, each longer than the one before it; `of_groups` are its section's captions under names of groups,
    `n` the number of all captions."""
    heading = place.block.heading
    leading = _leading(place, of_groups, view)
    named = _sentences(leading, "" if _begins(place.caption, heading) else heading)
    if not (leading or _names_group(heading, view)):
        yield ""
    yield named
    yield _sentences(place.section.title, named)
    for number in range(place.number, n + place.number):
        yield _sentences(place.section.title, named, f"No. {number}")


def _leading(place: _Place, of_groups: Sequence[str], view: ReportView) -> str:
    """The leading group's name, where the table is of this group alone and others have the same table; headings
    leave it out."""
    if not isinstance(place.shown, Table) or _names_group(place.block.heading, view):
        return ""
    # Behind a question's prompt, too, where all questions of a group stand under one heading.
    caption = place.caption.casefold()
    if not any(other.endswith(caption) for other in of_groups) or _shows_groups(place.shown, view):
        return ""
    asked = (pair for pair in view.pairs if pair.prompt and place.block.heading.startswith(pair.prompt))
    label: str = next(asked, view).leading.label
    return label


def _names_group(heading: str, view: ReportView) -> bool:
    """True of a heading as `title_for` makes it, behind a question's prompt, too."""
    return any(f" {group.label}: " in f" {heading}" for group in view.everybody)


def _shows_groups(table: Table, view: ReportView) -> bool:
    labels = {group.label for group in view.everybody}
    return any(cell.text in labels for row in table.rows for cell in row)


def _begins(caption: str, heading: str) -> bool:
    return caption.casefold().startswith(heading.casefold())


def _sentences(*texts: str) -> str:
    return " ".join(text if text.endswith((".", "?", "!")) else f"{text}." for text in texts if text)
