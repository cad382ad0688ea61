"""Texts in a workbook, whose XML can't hold every character: those are written as _x000D_."""

import re

# Halves of a character beyond U+FFFF stand for nothing by themselves.
ESCAPED = re.compile("_x(?![Dd][89A-Fa-f])([0-9A-Fa-f]{4})_")
# A carriage return would be read back as a line feed.
UNWRITABLE = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")


def escape(text: str) -> str:
    return UNWRITABLE.sub(lambda found: f"_x{ord(found[0]):04X}_", text)


def unescape(text: str) -> str:
    return ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text
