"""Rules by which one study's texts are rendered: the version, and all that it allows."""

from dataclasses import dataclass

# Part of every stimulus and so of its hash: a change of what comes out is a new version. The earlier one stays, so that
# what it rendered can be read back.
EARLIER = "commonmark-2"
RENDERER = "commonmark-3"


@dataclass(frozen=True)
class RenderRules:
    """The renderer's version; whether a single dollar opens mathematics; whether images that stand in the text are
    shown."""

    renderer: str = RENDERER
    single_dollars: bool = False
    images: bool = False


DEFAULT_RULES = RenderRules()
