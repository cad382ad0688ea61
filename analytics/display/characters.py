"""Text from researchers' files, made fit for formats that do not take every character."""

import re
import unicodedata

# Those at which a line may break.
SPACES = re.compile("[^\\S\N{NO-BREAK SPACE}\N{THIN SPACE}\N{NARROW NO-BREAK SPACE}]+")


def one_line(text: str) -> str:
    """The text on one line, without what no font draws and no XML may hold: controls, marks of direction."""
    return SPACES.sub(" ", "".join(map(_drawn, text))).strip()


def _drawn(character: str) -> str:
    category = unicodedata.category(character)
    if category in ("Cc", "Cs", "Zl", "Zp"):
        return " "
    return "" if category == "Cf" or ord(character) & 0xFFFE == 0xFFFE else character
