"""Values of a workbook's cells as its sheet shows them: numbers, dates and times by Excel's formats."""

import datetime
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from typing import Any

from evaluation.dumps.spreadsheets import unescape
from evaluation.dumps.tables.sheet import ShownNumber

# A spreadsheet keeps so many digits of a number; it stores zeros for the others.
DIGITS = 15
# Longer ones are written with an exponent.
MOST_DIGITS = 21
GENERAL = "General"
# Formats that each reader's own system decides: a date is then written so that everybody reads the same.
BY_SYSTEM = {"mm-dd-yy": "yyyy-mm-dd", "m/d/yy h:mm": "yyyy-mm-dd hh:mm"}
PIECE = re.compile(
    r"""(?P<quoted>"[^"]*"?)|\\(?P<escaped>.)|(?P<blank>_.|\*.)|\[\$(?P<currency>[^\]-]*)[^\]]*\]"""
    r"""|\[(?P<elapsed>h+|m+|s+)\]|(?P<bracket>\[[^\]]*\])|(?P<half>AM/PM|A/P)|(?P<general>General)"""
    r"""|(?P<moment>y+|m+|d+|h+|s+(?:\.0+)?)|(?P<exponent>E[+-])|(?P<other>.)""",
    re.IGNORECASE | re.DOTALL,
)
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
          "November", "December")  # fmt: skip
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
Moment = datetime.datetime | datetime.date | datetime.time | datetime.timedelta


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a format: `kind` is a group of `PIECE`, of which all that is shown as it stands is `literal`."""

    kind: str
    text: str


def shown_value(value: Any, number_format: str | None) -> Any:
    """The cell's value as the sheet shows it. A number remembers its text; a format that is not understood shows all
    digits."""
    if isinstance(value, str):
        return unescape(value)
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        return ShownNumber(value, _number(value, number_format or GENERAL), has_lost_digits=_lost(value))
    if isinstance(value, Moment):
        return _moment(value, number_format or GENERAL)
    return value


def _lost(value: float) -> bool:
    """True for a whole number of more than 15 digits, unless whatever wrote the file wrote them all."""
    if abs(value) < 10**DIGITS or value % 1:
        return False
    return not (isinstance(value, int) and str(abs(value))[DIGITS:].strip("0"))


def general(value: float) -> str:
    """The number with all its digits, of which a spreadsheet keeps fifteen."""
    if isinstance(value, int):
        return str(value)
    kept = Decimal(f"{value:.{DIGITS}g}")
    if kept == kept.to_integral_value() and abs(kept) < 10**MOST_DIGITS:
        return str(int(kept))
    return format(kept, "f") if abs(kept) >= Decimal("1e-9") and abs(kept) < 10**MOST_DIGITS else f"{kept:E}"


# --- formats ---------------------------------------------------------------------------------------------------------


@cache
def _sections(number_format: str) -> Sequence[tuple[Piece, ...]]:
    """The pieces of a format by its sections: of positive numbers, negative ones, zero and texts."""
    sections: list[list[Piece]] = [[]]
    for piece in _pieces(number_format):
        if piece == Piece("other", ";"):
            sections.append([])
        else:
            sections[-1].append(piece)
    return [tuple(each) for each in sections]


def _pieces(number_format: str) -> Iterator[Piece]:
    for found in PIECE.finditer(number_format):
        kind, text = str(found.lastgroup), found[str(found.lastgroup)]
        if kind == "quoted":
            yield Piece("literal", text.strip('"'))
        elif kind in ("escaped", "currency"):
            yield Piece("literal", text)
        elif kind == "bracket" and re.match(r"\[[<>=]", text):
            yield Piece("condition", text)
        elif kind not in ("blank", "bracket"):
            yield Piece(kind, text)


def _number(value: float, number_format: str) -> str:
    sections = _sections(number_format)
    at = 0
    if len(sections) > 2 and not value:
        at = 2
    elif len(sections) > 1 and value < 0:
        at = 1
    pieces = sections[at]
    if any(each.kind == "condition" for section in sections for each in section):
        return general(value)
    shown = _by_pieces(abs(value), pieces)
    if shown is None:
        return general(value)
    is_negative = value < 0 and at == 0 and any(each in "123456789" for each in shown)
    return f"-{shown}".strip() if is_negative else shown.strip()


def _by_pieces(value: float, pieces: Sequence[Piece]) -> str | None:
    """The number, not negative, in the places of the section; None where the section is of another kind."""
    if any(each.kind == "general" or each == Piece("other", "@") for each in pieces):
        return "".join(
            each.text if each.kind == "literal" else general(value)
            for each in pieces
            if each.kind in ("literal", "general") or each.text == "@"
        )
    if any(each.kind in ("moment", "elapsed", "half") for each in pieces) or Piece("other", "/") in pieces:
        return None
    places = [at for at, each in enumerate(pieces) if each.kind == "other" and each.text in "0#?"]
    if not places:
        return "".join(each.text for each in pieces)
    before, core, after = pieces[: places[0]], pieces[places[0] : places[-1] + 1], pieces[places[-1] + 1 :]
    number = Decimal(f"{value:.{DIGITS}g}") if isinstance(value, float) else Decimal(value)
    number = number.scaleb(2 * sum(each == Piece("other", "%") for each in pieces))
    while after and after[0] == Piece("other", ","):
        number, after = number.scaleb(-3), after[1:]
    if before and before[-1] == Piece("other", "."):
        before, core = before[:-1], (before[-1], *core)
    filled = (
        _with_exponent(number, core)
        if any(each.kind == "exponent" for each in core)
        else _filled(number, core)
    )
    return "".join((*(each.text for each in before), filled, *(each.text for each in after)))


def _filled(number: Decimal, core: Sequence[Piece]) -> str:
    point = next((at for at, each in enumerate(core) if each == Piece("other", ".")), len(core))
    whole, part = core[:point], core[point + 1 :]
    grouped = Piece("other", ",") in whole
    whole = [each for each in whole if each != Piece("other", ",")]
    places = [each.text for each in part if each.text in ("0", "#", "?")]
    rounded = number.quantize(Decimal(1).scaleb(-len(places)), ROUND_HALF_UP)
    digits, _, decimals = f"{rounded:f}".partition(".")
    needed = len("".join(each.text for each in whole if each.text in ("0", "#", "?")).lstrip("#?"))
    digits = digits.lstrip("0").rjust(needed, "0")
    if grouped:
        digits = _grouped(digits)
        shown = "".join(each.text for each in whole if each.kind == "literal") + digits
    else:
        shown = _dealt(digits, whole)
    kept = decimals
    for place in reversed(places):
        if place == "0" or not kept.endswith("0"):
            break
        kept = kept[:-1]
    rest = "".join(each.text for each in part if each.text not in ("0", "#", "?"))
    return shown + (f".{kept}" if point < len(core) else "") + rest


def _grouped(digits: str) -> str:
    first = len(digits) % 3
    groups = [digits[:first], *(digits[at : at + 3] for at in range(first, len(digits), 3))]
    return ",".join(filter(None, groups))


def _dealt(digits: str, whole: Sequence[Piece]) -> str:
    """The digits in their places from the right, with what stands between them, as in 000-0000."""
    shown = ""
    places = sum(each.text in ("0", "#", "?") for each in whole)
    for piece in reversed(whole):
        if piece.kind == "literal" or piece.text not in ("0", "#", "?"):
            shown = piece.text + shown
            continue
        places -= 1
        digits, taken = ("", digits) if not places else (digits[:-1], digits[-1:])
        shown = taken + shown
    return shown


def _with_exponent(number: Decimal, core: Sequence[Piece]) -> str:
    at = next(at for at, each in enumerate(core) if each.kind == "exponent")
    places = sum(each.text in ("0", "#", "?") for each in core[:at]) - 1
    mantissa, _, power = f"{number:.{max(0, places)}E}".partition("E")
    least = sum(each.text in ("0", "#", "?") for each in core[at + 1 :])
    sign = "-" if power.startswith("-") else "+" if core[at].text.endswith("+") else ""
    return f"{mantissa}E{sign}{power.lstrip('+-').rjust(least, '0')}"


# --- dates and times -------------------------------------------------------------------------------------------------


def _moment(value: Moment, number_format: str) -> str:
    pieces = _sections(BY_SYSTEM.get(number_format, number_format))[0]
    if "[$-F800]" in number_format or "[$-f800]" in number_format:
        pieces = _sections("yyyy-mm-dd")[0]
    known = {each.text[0].lower() for each in pieces if each.kind in ("moment", "elapsed")}
    has_day, has_time = isinstance(value, datetime.date), not isinstance(value, datetime.date)
    if isinstance(value, datetime.datetime):
        has_time = True
    if not known or (known & {"y", "d"} and not has_day) or (known & {"h", "s"} and not has_time):
        return _plain(value)
    return "".join(_moment_piece(value, pieces, at) for at in range(len(pieces))).strip()


def _plain(value: Moment) -> str:
    if isinstance(value, datetime.datetime):
        return value.date().isoformat() if value.time() == datetime.time() else value.isoformat(" ")
    return str(value) if isinstance(value, datetime.timedelta) else value.isoformat()


def _moment_piece(value: Any, pieces: Sequence[Piece], at: int) -> str:
    piece = pieces[at]
    if piece.kind == "elapsed":
        seconds = (
            int(value.total_seconds()) if isinstance(value, datetime.timedelta) else _second_of_day(value)
        )
        return str(seconds // {"h": 3600, "m": 60, "s": 1}[piece.text[0].lower()]).rjust(len(piece.text), "0")
    if piece.kind == "half":
        half = ("AM", "PM") if len(piece.text) > 3 else ("A", "P")
        return half[_second_of_day(value) >= 43_200]
    if piece.kind != "moment":
        return piece.text
    letter, size = piece.text[0].lower(), len(piece.text.partition(".")[0])
    if letter in "hs" or (letter == "m" and _is_minute(pieces, at)):
        return _clock_piece(
            value, piece.text.lower(), size, has_half=any(each.kind == "half" for each in pieces)
        )
    if letter == "y":
        return f"{value.year:04}" if size > 2 else f"{value.year % 100:02}"
    number, names = (value.month, MONTHS) if letter == "m" else (value.day, DAYS)
    if size <= 2:
        return str(number).rjust(size, "0")
    name = names[number - 1 if letter == "m" else value.weekday()]
    return name[:1] if size == 5 else name if size == 4 else name[:3]


def _clock_piece(value: Any, text: str, size: int, *, has_half: bool) -> str:
    seconds = _second_of_day(value)
    hour, minute, second = seconds // 3600, seconds // 60 % 60, seconds % 60
    number = {"h": (hour - 1) % 12 + 1 if has_half else hour, "m": minute, "s": second}[text[0]]
    fraction = text.partition(".")[2]
    micro = value.microseconds if isinstance(value, datetime.timedelta) else getattr(value, "microsecond", 0)
    return str(number).rjust(min(size, 2), "0") + (f".{micro:06}"[: len(fraction) + 1] if fraction else "")


def _second_of_day(value: Any) -> int:
    if isinstance(value, datetime.timedelta):
        return int(value.total_seconds()) % 86_400
    return int(value.hour * 3600 + value.minute * 60 + value.second)


def _is_minute(pieces: Sequence[Piece], at: int) -> bool:
    """True for an m that stands after hours or before seconds."""
    clocks = [(place, each) for place, each in enumerate(pieces) if each.kind in ("moment", "elapsed")]
    [here] = [number for number, (place, _) in enumerate(clocks) if place == at]
    before = clocks[here - 1][1].text[0].lower() if here else ""
    after = clocks[here + 1][1].text[0].lower() if here + 1 < len(clocks) else ""
    return before == "h" or after == "s"
