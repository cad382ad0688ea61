"""Names of a report's tables and plots, which are those of their files and by which a paper refers to them; and of its
folded parts, by which an address does."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from django.utils.text import slugify

from analytics.display.blocks import Block, Section

LONGEST = 60


def with_keys(sections: Iterable[Section]) -> tuple[Section, ...]:
    """The sections with a name for each table, each plot and each folded block, of the section's and the block's
    heading; where several would have the same, those after the first are numbered."""
    found = tuple(sections)
    tables: Counter[str] = Counter()
    plots: Counter[str] = Counter()
    # On the page a section goes by its key, and some blocks by an anchor of their own.
    anchors = Counter({section.key: 1 for section in found})
    anchors.update(block.anchor for section in found for block in section.blocks if block.anchor)
    return tuple(
        replace(
            section,
            blocks=tuple(_keyed(block, section.key, tables, plots, anchors) for block in section.blocks),
        )
        for section in found
    )


def _keyed(
    block: Block, section: str, tables: Counter[str], plots: Counter[str], anchors: Counter[str]
) -> Block:
    heading = slugify(block.heading)
    name = "-".join(filter(None, [section, heading]))[:LONGEST].rstrip("-")
    return replace(
        block,
        anchor=block.anchor or (_numbered(name, anchors) if block.folded else ""),
        tables=tuple(replace(table, key=_numbered(name, tables)) for table in block.tables),
        plot=replace(block.plot, key=_numbered(name, plots)) if block.plot else None,
    )


def _numbered(name: str, taken: Counter[str]) -> str:
    """The name, or the next free one with a number."""
    while True:
        taken[name] += 1
        key = name if taken[name] == 1 else f"{name}-{taken[name]}"
        if key == name or not taken[key]:
            taken[key] = max(taken[key], 1)
            return key
