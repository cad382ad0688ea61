"""Rules by which one study's texts are rendered: the version, and all that it allows."""

from dataclasses import dataclass

# Part of every stimulus and so of its hash: a change of what comes out is a new version. The earlier ones stay, so that
# what they rendered can be read back.
EARLIER = "commonmark-2"
RENDERER = "commonmark-4"
# These ran the lines of a paragraph together, as Markdown does.
WITHOUT_BREAKS = (EARLIER, "commonmark-3")


@dataclass(frozen=True)
class RenderRules:
    """The renderer's version; whether a single dollar opens mathematics, and whether other formulas stay as they were
    written; whether images that stand in the text are
    shown; whether a single line break is one on the screen."""

    renderer: str = RENDERER
    single_dollars: bool = False
    written_formulas: bool = False
    images: bool = False
    breaks: bool = False


DEFAULT_RULES = RenderRules()
