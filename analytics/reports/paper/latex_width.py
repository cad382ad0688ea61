"""The width of text in Latin Modern, LaTeX's own face, so that a table gets the largest type in which it fits.

Widths are in ems of the type, so that they hold at every size. Source: the metrics of lmr10 (lmr10.afm of the Latin
Modern fonts); smaller sizes are cut wider, which `SIZES` has in their ems (the quads of lmr10, lmr9, lmr8 and lmr6).
"""

import unicodedata

# An em in points, by size, in a document of 11 pt, the largest first.
SIZES = {"small": 10.0, "footnotesize": 9.25, "scriptsize": 8.5, "tiny": 7.34}
# Thousandths of an em.
_LETTERS = {
    278: "!',.:;[]il|",
    306: "fj",
    333: " -\N{NO-BREAK SPACE}",
    361: "I",
    374: '"',
    389: "()t",
    392: "r",
    394: "s",
    444: "cez",
    472: "?",
    500: "$*/0123456789\\`ago{}\N{EN DASH}",
    514: "J",
    528: "kqvxy",
    556: "S^bdhnpu~",
    611: "Z",
    625: "L",
    653: "F",
    681: "EP",
    708: "B",
    722: "CTw",
    736: "R",
    750: "AHNUVXY_",
    764: "D",
    778: "&+<=>@KOQ\N{MULTIPLICATION SIGN}\N{MINUS SIGN}",
    785: "G",
    833: "#%m",
    917: "M",
    1000: "\N{EM DASH}",
    1028: "W",
}
_WIDTHS = {letter: width for width, letters in _LETTERS.items() for letter in letters}
_UNKNOWN, _FULL = 650, 1000
# A superscript beside the type that it stands in: smaller, but cut wider.
SUPERSCRIPT = 0.9


def text_width(text: str) -> float:
    """In ems; an accent takes no room, and letters that the face has not are taken as wide ones."""
    return sum(map(_width, text)) / 1000


def _width(letter: str) -> int:
    if letter in _WIDTHS:
        return _WIDTHS[letter]
    if unicodedata.east_asian_width(letter) in "FW":
        return _FULL
    return _WIDTHS.get(unicodedata.normalize("NFD", letter)[0], _UNKNOWN)
