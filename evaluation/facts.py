"""Facts: the figures in the strip at the top of a page."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Fact:
    """One figure of the strip at the top."""

    name: str
    value: str
    detail: str
    undefined: bool = False
    tag: str = ""
