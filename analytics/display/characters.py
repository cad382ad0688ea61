"""Text from researchers' files, made fit for formats that do not take every character."""

import re
import unicodedata

# Those at which a line may break.
SPACES = re.compile("[^\\S\N{NO-BREAK SPACE}\N{THIN SPACE}\N{NARROW NO-BREAK SPACE}]+")

# The width of a letter of an East Asian script in others.
WIDE = 1.8


def one_line(text: str) -> str:
    """The text on one line, without what no font draws and no XML may hold: controls, marks of direction."""
    return SPACES.sub(" ", "".join(map(_drawn, text))).strip()


def cut_end(text: str, letters: int) -> str:
    """The text without its end, if it is longer than so many letters."""
    return text if len(text) <= letters else f"{text[: letters - 1].rstrip()}…"


def drawn_letters(text: str) -> float:
    """The width of a text in letters: those of East Asian scripts take nearly two, marks on others none."""
    return sum(_letters(each) for each in text)


def cut_wide(text: str, letters: float) -> str:
    """The text without its end, if it is wider than so many letters."""
    if drawn_letters(text) <= letters:
        return text
    room, end = letters - 1, 0
    for each in text:
        room -= _letters(each)
        if room < 0:
            break
        end += 1
    return f"{text[:end].rstrip()}…"


def _letters(character: str) -> float:
    if unicodedata.combining(character):
        return 0.0
    return WIDE if unicodedata.east_asian_width(character) in "WF" else 1.0


def cut_middle(name: str, letters: int) -> str:
    """The same without its middle: names of one family begin alike, and often end alike, too."""
    if len(name) <= letters:
        return name
    after = (letters - 1) // 2
    return f"{name[: letters - 1 - after].rstrip()}…{name[len(name) - after :].lstrip()}"


def _drawn(character: str) -> str:
    category = unicodedata.category(character)
    if category in ("Cc", "Cs", "Zl", "Zp"):
        return " "
    return "" if category == "Cf" or ord(character) & 0xFFFE == 0xFFFE else character
