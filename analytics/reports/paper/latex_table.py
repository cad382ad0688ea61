"""A table of a report as LaTeX: booktabs, with a column of siunitx for every column of figures.

A long table is a longtable, which breaks between pages; any other is a float that is never wider than the line.
"""

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from analytics.display.numbers import MINUS, plain_number
from analytics.display.tables import DASH, Table, TableCell
from analytics.reports.paper.latex_text import escape, is_latin
from analytics.reports.paper.latex_width import SIZES, SUPERSCRIPT, text_width

PACKAGES = ("booktabs", "siunitx", "adjustbox", "longtable", "array")
MOST_ROWS = 36
# The width of the report's lines in points, less what an estimate may be wrong by.
LINE = 466.0
# Between two columns, in points: LaTeX's own, and what a table gets that does not fit with it.
GAP, TIGHT_GAP = 12.0, 6.0
# The most ems of a column of text before it is set in several lines, the most readable first.
TEXT_WIDTHS = (14.0, 10.0, 7.0, 5.0)
HEAD_LETTERS = 12
# In ems: the space before a detail, and what rounding a width to tenths may take from it.
SPACE, ROUNDING = 0.333, 0.05
# A longtable sets its caption in the table's type, unless the word at its beginning changes that.
CAPTION_SIZE = (
    r"\let\reporttablename\tablename",
    r"\renewcommand{\tablename}{\normalsize\reporttablename}",
)
INTERVALS = r"In brackets: 95\,\% intervals."


@dataclass(frozen=True)
class _LatexColumn:
    """A column's head over what it holds, and the widths of those in ems: text first or figure, then the detail."""

    spec: str
    head: str
    is_number: bool
    width: float
    head_width: float
    # Of what is never broken between lines: the widest word or, of details, interval.
    word: float = 0.0
    detail: float = 0.0
    detail_word: float = 0.0

    @property
    def columns(self) -> int:
        """Columns of LaTeX."""
        return 2 if self.detail else 1


@dataclass(frozen=True)
class _Layout:
    """The size of a table's type, the space between its columns in points, and the most ems of its text."""

    size: str
    gap: float
    text: float


_ROOMY = (("small", GAP), ("small", TIGHT_GAP), ("footnotesize", TIGHT_GAP))
# The first in which a table fits is taken: text is set in lines before type gets smaller than that of footnotes.
LAYOUTS = (
    *(_Layout(size, gap, text) for text in TEXT_WIDTHS[:2] for size, gap in _ROOMY),
    *(_Layout("scriptsize", TIGHT_GAP, text) for text in TEXT_WIDTHS),
)
# For a table that would have to be set in parts otherwise.
LAST_LAYOUTS = tuple(_Layout("tiny", TIGHT_GAP, text) for text in TEXT_WIDTHS)


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
    """The table, or one that fits in no size as several, each with the columns that name its rows."""
    made = [_column(table, at) for at in range(len(table.columns))]
    names = max(1, len(list(takewhile(lambda column: not column.numeric, table.columns))))
    if names == len(made) or _fitting(made, (*LAYOUTS, *LAST_LAYOUTS)):
        yield table
        return
    groups: list[list[int]] = [[]]
    for at in range(names, len(made)):
        if groups[-1] and not _fitting([*made[:names], *(made[each] for each in [*groups[-1], at])], LAYOUTS):
            groups.append([])
        groups[-1].append(at)
    for number, group in enumerate(groups, 1):
        chosen = [*range(names), *group]
        yield replace(
            table,
            caption=f"{table.caption} Part {number} of {len(groups)}." if len(groups) > 1 else table.caption,
            columns=tuple(table.columns[at] for at in chosen),
            rows=tuple(tuple(row[at] for at in chosen) for row in table.rows),
            key=table.key if number == 1 else f"{table.key}-part-{number}",
        )


def _fitting(made: Sequence[_LatexColumn], layouts: Sequence[_Layout]) -> _Layout | None:
    """The first layout in which the columns are no wider than a line; None where there is none."""
    return next((layout for layout in layouts if _points(made, layout) <= LINE), None)


def _points(made: Sequence[_LatexColumn], layout: _Layout) -> float:
    ems = sum(max(sum(_widths(column, layout.text)), column.head_width) for column in made)
    return ems * SIZES[layout.size] + (len(made) - 1) * layout.gap


def _widths(column: _LatexColumn, most: float) -> tuple[float, float]:
    """In ems, of text or figure and of the detail behind it with the space before it."""
    detail = min(column.detail, max(column.detail_word, most)) + SPACE if column.detail else 0.0
    return column.width if column.is_number else min(column.width, max(column.word, most)), detail


def _body(table: Table) -> Iterator[str]:
    made = [_column(table, at) for at in range(len(table.columns))]
    layout = _fitting(made, (*LAYOUTS, *LAST_LAYOUTS)) or LAST_LAYOUTS[-1]
    specs = "".join(_spec(column, layout.text) for column in made)
    heads = " & ".join(_head(column) for column in made) + r" \\"
    rows = list(_rows(table, made))
    title = rf"\caption{{{escape(table.full_caption)}}}\label{{tab:{table.key}}}"
    foot = list(_foot(table, made))
    lay = _long if len(table.rows) > MOST_ROWS else _float
    yield from lay(_type(layout), specs, title, heads, rows, foot)


def _type(layout: _Layout) -> str:
    gap = "" if layout.gap == GAP else rf"\setlength{{\tabcolsep}}{{{layout.gap / 2:g}pt}}"
    return rf"\{layout.size}{gap}"


def _spec(column: _LatexColumn, most: float) -> str:
    width, detail = _widths(column, most)
    spec = column.spec if width == column.width else _lines(width)
    if not column.detail:
        return spec
    return f"{spec}@{{~}}{'l' if detail == column.detail + SPACE else _lines(detail - SPACE)}"


def _lines(ems: float) -> str:
    """A column of text in lines."""
    return rf">{{\raggedright\arraybackslash}}p{{{ems + ROUNDING:.1f}em}}"


def _float(size: str, specs: str, title: str, heads: str, rows: list[str], foot: list[str]) -> Iterator[str]:
    yield from (
        r"\begin{table}",
        r"\centering",
        title,
        size,
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
    yield from (r"\begingroup", *CAPTION_SIZE, size, r"\setlength{\LTcapwidth}{\linewidth}")
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
    details = [_detail(cell) for cell in cells]
    detail = max(map(text_width, details), default=0.0)
    head = max(map(text_width, _head_lines(column.label)), default=0.0)
    widest = max(map(_cell_width, cells), default=0.0)
    numbers = [number for cell in cells if cell.numeric and (number := _number(cell))]
    if column.numeric and numbers:
        figure = max(widest, _figure_width(numbers, cells))
        spec, word = _s_column(numbers, cells), _widest_detail(cells)
        return _LatexColumn(spec, column.label, True, figure, head, 0.0, detail, word)
    return _LatexColumn(
        "r" if column.numeric else "l",
        column.label,
        False,
        widest,
        head,
        _widest_word(f"{cell.text} {cell.tag}" for cell in cells),
        detail,
        _widest_detail(cells),
    )


def _cell_width(cell: TableCell) -> float:
    tag = f" {cell.tag}" if cell.tag else ""
    return text_width(cell.text + tag) + _marks_width(cell)


def _marks_width(cell: TableCell) -> float:
    return text_width(",".join(map(str, cell.marks))) * SUPERSCRIPT


def _figure_width(numbers: list[str], cells: list[TableCell]) -> float:
    """Of an S column, which has room for the longest parts before and behind the point, and for all marks."""
    sign, whole, decimals = _format(numbers)
    point = "." if decimals else ""
    widest = f"{MINUS if sign else ''}{int('8' * whole):,}{point}{'8' * decimals}"
    return text_width(widest) + max(map(_marks_width, cells))


def _widest_word(texts: Iterable[str]) -> float:
    return max((text_width(word) for text in texts for word in text.split()), default=0.0)


def _widest_detail(cells: list[TableCell]) -> float:
    """An interval is never broken between lines; words are."""
    intervals = (text_width(_detail(cell)) for cell in cells if cell.limits)
    return max([_widest_word(cell.remark for cell in cells if not cell.limits), *intervals])


def _format(numbers: list[str]) -> tuple[str, int, int]:
    """The sign, and how many digits stand before and behind the point."""
    sign = "-" if any(number.startswith("-") for number in numbers) else ""
    parts = [number.removeprefix("-").partition(".") for number in numbers]
    return sign, max(len(part[0]) for part in parts), max(len(part[2]) for part in parts)


def _s_column(numbers: list[str], cells: list[TableCell]) -> str:
    """S[table-format=-2.1], with room for the marks of footnotes behind the figure."""
    sign, whole, decimals = _format(numbers)
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
