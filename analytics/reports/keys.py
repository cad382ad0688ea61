"""Names of a report's tables and plots: those of their files, and by which a paper refers to them."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from django.utils.text import slugify

from analytics.display.blocks import Block, Section

LONGEST = 60


def with_keys(sections: Iterable[Section]) -> tuple[Section, ...]:
    """The sections with a name for each table and each plot, of the section's and the block's heading; where several
    would have the same, those after the first are numbered."""
    tables: Counter[str] = Counter()
    plots: Counter[str] = Counter()
    return tuple(
        replace(section, blocks=tuple(_keyed(block, section.key, tables, plots) for block in section.blocks))
        for section in sections
    )


def _keyed(block: Block, section: str, tables: Counter[str], plots: Counter[str]) -> Block:
    heading = slugify(block.heading)
    name = "-".join(filter(None, [section, heading]))[:LONGEST].rstrip("-")
    return replace(
        block,
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
