"""The names of a plot."""

from dataclasses import dataclass, field

from analytics.display.tables import in_context


@dataclass(frozen=True)
class Captioned:
    """`what` begins what is said to readers who can't see the plot; `caption` stands below it."""

    what: str
    caption: str
    # Name of its files, and what its caption needs in front where no heading says it; the report gives both.
    key: str = field(default="", kw_only=True)
    context: str = field(default="", kw_only=True)

    @property
    def full_caption(self) -> str:
        """The caption by itself, without any heading above."""
        return in_context(self.context, self.caption)
