"""A table of a report as LaTeX: booktabs, with a column of siunitx for every column of figures.

A long table is a longtable, which breaks between pages; any other is a float that is never wider than the line.
"""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from analytics.display.numbers import plain_number
from analytics.display.tables import DASH, Table, TableCell
from analytics.reports.paper.latex_text import escape, is_latin

PACKAGES = ("booktabs", "siunitx", "adjustbox", "longtable", "array")
MOST_ROWS = 36
# Letters that fit beside each other, by size of type; a table of more is set in the last.
SIZES = ((80, "small"), (92, "footnotesize"), (114, "scriptsize"))
SMALLEST = "tiny"
# A table of more letters beside each other would be too small to read, and is set in parts.
WIDEST = 220
LONGEST_TEXT = 30
HEAD_LETTERS = 12
INTERVALS = r"In brackets: 95\,\% intervals."


@dataclass(frozen=True)
class _LatexColumn:
    """A column's specification, its head over `columns` columns of LaTeX, and how wide it is, in letters."""

    spec: str
    head: str
    columns: int
    letters: int
    is_number: bool


def latex_table(table: Table) -> str:
    """The table, to be read in by \\input; its first lines say what it needs."""
    bodies = (line for part in _parts(table) for line in _body(part))
    return "\n".join([*_needs(table), *bodies]) + "\n"


def _needs(table: Table) -> Iterator[str]:
    yield f"% \\usepackage{{{','.join(PACKAGES)}}}"
    if not is_latin(" ".join(_texts(table))):
        yield "% It has letters that pdfLaTeX has not: use LuaLaTeX or XeLaTeX with a font that has them."


def _texts(table: Table) -> Iterator[str]:
    yield from (table.full_caption, table.foot, *table.notes, *(column.label for column in table.columns))
    for row in table.rows:
        for cell in row:
            yield from (cell.text, cell.detail, cell.tag)


def _parts(table: Table) -> Iterator[Table]:
    """The table, or one that is too wide as several, each with the columns that name its rows."""
    made = [_column(table, at) for at in range(len(table.columns))]
    names = max(1, len(list(takewhile(lambda column: not column.numeric, table.columns))))
    groups: list[list[int]] = [[]]
    for at in range(names, len(made)):
        if groups[-1] and _letters([*made[:names], *(made[each] for each in [*groups[-1], at])]) > WIDEST:
            groups.append([])
        groups[-1].append(at)
    if len(groups) == 1:
        yield table
        return
    for number, group in enumerate(groups, 1):
        chosen = [*range(names), *group]
        yield replace(
            table,
            caption=f"{table.caption} Part {number} of {len(groups)}.",
            columns=tuple(table.columns[at] for at in chosen),
            rows=tuple(tuple(row[at] for at in chosen) for row in table.rows),
            key=table.key if number == 1 else f"{table.key}-part-{number}",
        )


def _letters(made: Sequence[_LatexColumn]) -> int:
    return sum(column.letters + 2 for column in made)


def _body(table: Table) -> Iterator[str]:
    made = [_column(table, at) for at in range(len(table.columns))]
    letters = _letters(made)
    size = next((size for most, size in SIZES if letters <= most), SMALLEST)
    specs = "".join(column.spec for column in made)
    heads = " & ".join(_head(column) for column in made) + r" \\"
    rows = list(_rows(table, made))
    title = rf"\caption{{{escape(table.full_caption)}}}\label{{tab:{table.key}}}"
    foot = list(_foot(table, made))
    lay = _long if len(table.rows) > MOST_ROWS else _float
    yield from lay(size, specs, title, heads, rows, foot)


def _float(size: str, specs: str, title: str, heads: str, rows: list[str], foot: list[str]) -> Iterator[str]:
    yield from (
        r"\begin{table}",
        r"\centering",
        title,
        rf"\{size}",
        r"\begin{adjustbox}{max width=\linewidth}",
    )
    yield from (rf"\begin{{tabular}}{{@{{}}{specs}@{{}}}}", r"\toprule", heads, r"\midrule", *rows)
    yield from (r"\bottomrule", r"\end{tabular}", r"\end{adjustbox}")
    if foot:
        yield from (r"\par\smallskip", r"\begin{minipage}{\linewidth}\footnotesize\raggedright")
        yield "\\par\n".join(foot)
        yield r"\end{minipage}"
    yield r"\end{table}"


def _long(size: str, specs: str, title: str, heads: str, rows: list[str], foot: list[str]) -> Iterator[str]:
    yield from (
        r"\begingroup",
        rf"\{size}",
        r"\setlength{\LTcapwidth}{\linewidth}\setlength{\tabcolsep}{3pt}",
    )
    yield from (rf"\begin{{longtable}}{{@{{}}{specs}@{{}}}}", rf"{title}\\")
    for end in ("endfirsthead", "endhead"):
        yield from (r"\toprule", heads, r"\midrule", rf"\{end}")
    yield from (r"\bottomrule", r"\endfoot", *rows, r"\end{longtable}", r"\endgroup")
    if foot:
        yield r"{\footnotesize\raggedright\noindent"
        yield "\\par\\noindent\n".join(foot) + r"\par}"


def _foot(table: Table, made: list[_LatexColumn]) -> Iterator[str]:
    for number, note in enumerate(table.notes, 1):
        yield rf"\textsuperscript{{{number}}} {escape(note)}"
    if any(cell.limits for row in table.rows for cell in row):
        yield INTERVALS
    if table.foot:
        yield escape(table.foot)


def _column(table: Table, at: int) -> _LatexColumn:
    column, cells = table.columns[at], [row[at] for row in table.rows]
    details = max((len(_detail(cell)) for cell in cells), default=0)
    numbers = [number for cell in cells if cell.numeric and (number := _number(cell))]
    widest = max([len(cell.text) + len(cell.tag) for cell in cells] or [0])
    beside = "" if not details else "@{~}l"
    head = max(map(len, _head_lines(column.label)), default=0)
    if column.numeric and numbers:
        letters = max(widest + details, head)
        return _LatexColumn(
            _s_column(numbers, cells) + beside, column.label, 2 if details else 1, letters, True
        )
    side = "r" if column.numeric else "l"
    if not column.numeric and widest > LONGEST_TEXT:
        side, widest = rf">{{\raggedright\arraybackslash}}p{{{LONGEST_TEXT * 0.46:.1f}em}}", LONGEST_TEXT
    return _LatexColumn(side + beside, column.label, 2 if details else 1, max(widest + details, head), False)


def _s_column(numbers: list[str], cells: list[TableCell]) -> str:
    """S[table-format=-2.1], with room for the marks of footnotes behind the figure."""
    sign = "-" if any(number.startswith("-") for number in numbers) else ""
    parts = [number.removeprefix("-").partition(".") for number in numbers]
    whole, decimals = max(len(part[0]) for part in parts), max(len(part[2]) for part in parts)
    marks = max((_marks(cell) for cell in cells), key=len)
    post = f",table-space-text-post={{{marks}}}" if marks else ""
    return f"S[table-format={sign}{whole}.{decimals}{post}]"


def _number(cell: TableCell) -> str:
    """The figure as siunitx reads it; empty for what is none, as a p-value that is only known to be small."""
    number = plain_number(cell.text)
    return "" if number.startswith("<") else number


def _head(column: _LatexColumn) -> str:
    lines = r"\\".join(escape(line) for line in _head_lines(column.head))
    text = rf"{{\shortstack{{{lines}}}}}" if r"\\" in lines else f"{{{lines}}}"
    if column.columns == 1:
        return text
    return rf"\multicolumn{{{column.columns}}}{{c}}{text}"


def _head_lines(label: str) -> list[str]:
    return textwrap.wrap(label, HEAD_LETTERS, break_long_words=False, break_on_hyphens=False) or [""]


def _rows(table: Table, made: list[_LatexColumn]) -> Iterator[str]:
    for at, row in enumerate(table.rows):
        if at and row[0].span > 1:
            yield r"\addlinespace"
        cells = (each for cell, column in zip(row, made, strict=True) for each in _cells(cell, column))
        yield " & ".join(cells) + r" \\"


def _cells(cell: TableCell, column: _LatexColumn) -> Iterator[str]:
    if not cell.span:
        yield from [""] * column.columns
        return
    number = _number(cell) if column.is_number else ""
    shown = escape(cell.text) if cell.text != DASH else r"\textendash"
    behind = _marks(cell) + (f" {escape(cell.tag)}" if cell.tag else "")
    if number:
        yield f"{number}{{{behind}}}" if behind else number
    else:
        yield f"{{{shown}{behind}}}" if column.is_number else f"{shown}{behind}"
    if column.columns == 2:
        yield _escaped_detail(cell)


def _escaped_detail(cell: TableCell) -> str:
    """The text behind the figure: its interval in brackets, and the rest as it is."""
    if cell.limits is None:
        return escape(cell.remark)
    low, high = (escape(each) for each in cell.limits)
    rest = f" {escape(cell.remark)}" if cell.remark else ""
    return f"{{[}}{low}, {high}]{rest}"


def _detail(cell: TableCell) -> str:
    return f"[{', '.join(cell.limits)}]{cell.remark}" if cell.limits else cell.remark


def _marks(cell: TableCell) -> str:
    return rf"\textsuperscript{{{','.join(map(str, cell.marks))}}}" if cell.marks else ""
