"""How one study's texts are rendered: by which version, and what it allows."""

from dataclasses import dataclass

# Part of every stimulus and so of its hash: a change of what comes out is a new version. Earlier ones stay, so that
# what they rendered can be read back: the newest is last.
EARLIER = "commonmark-2"
RENDERER = "commonmark-3"
RENDERERS = (EARLIER, RENDERER)


@dataclass(frozen=True)
class RenderRules:
    """The renderer's version; whether a single dollar opens mathematics; whether images that stand in the text are
    shown."""

    renderer: str = RENDERER
    single_dollars: bool = False
    images: bool = False


DEFAULT_RULES = RenderRules()
