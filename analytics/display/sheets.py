"""The sheet on which a plot's file is drawn: its width, letters and colours."""

from collections.abc import Iterable
from functools import cache

# In points: the width of a text column, and the sizes of its letters.
WIDTH = 410.0
SIZE, SMALL = 9.0, 8.0

INK, QUIET, LINE, ACCENT = "#1d1c1a", "#5f5b55", "#e2ded6", "#1f5f5b"


@cache
def _characters(path: str) -> frozenset[int]:
    """The characters of a font's file; none of one that can't be read."""
    from matplotlib.ft2font import FT2Font

    try:
        return frozenset(FT2Font(path).get_charmap())
    except (OSError, RuntimeError):
        return frozenset()


def font_families(texts: Iterable[str]) -> list[str]:
    """The families that draw these texts: the bundled one, those of the machine that have what it lacks, and at the end
    the one whose every character is a box."""
    from matplotlib.font_manager import findfont, fontManager

    missing = {ord(each) for text in texts for each in text} - _characters(findfont("DejaVu Sans"))
    missing -= {ord(each) for each in " \N{NO-BREAK SPACE}"}
    found = ["DejaVu Sans"]
    for font in sorted(fontManager.ttflist, key=lambda each: (each.name, str(each.fname))):
        if not missing:
            return found
        has = font.name not in (*found, "Last Resort High-Efficiency") and font.style == "normal"
        if has and missing & (held := _characters(str(font.fname))):
            missing -= held
            found.append(font.name)
    return [*found, "Last Resort High-Efficiency"] if missing else found
