"""Facts: the figures in the strip at the top of a page."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Fact:
    """One figure of the strip at the top."""

    name: str
    value: str
    detail: str
    undefined: bool = False
    tag: str = ""
    # Filters of the list of the items that it is of, and the address of that; neither is content.
    pairs: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    href: str = field(default="", compare=False)
