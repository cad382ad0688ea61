"""A leaderboard as tables of a page, as JSON and as CSV."""

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

from analytics.display.numbers import decimal, percent
from analytics.display.tables import DASH, Builder, Table, TableCell, columns, count, head
from analytics.leaderboard.boards import SHARE, BoardRecord, LeaderboardRecord, RankedFigure, RatersBoards
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.reading import read
from evaluation.dumps.spreadsheets import spreadsheet_cell

RANKED = (
    "A system's rank is one more than the number of systems whose whole interval is better than its own, so systems "
    "whose intervals overlap share a rank."
)
COLUMNS = (
    "raters", "question", "setting", "among", "category", "measure", "best", "system", "label", "rank", "place",
    "value", "low", "high", "n", "unit",
)  # fmt: skip


def board_table(board: BoardRecord) -> Table:
    """The board as its page shows it: an interval below each figure, categories with their ranks in brackets."""
    form = percent if board["form"] == SHARE else decimal
    caption = ", ".join(
        [board["measure"], *(["in percent"] if board["form"] == SHARE else []), f"{board['best']} first"]
    )
    labels = ["System", "Rank", "Figure", *(each or "none" for each in board["categories"]), "n"]
    build = Builder(f"{caption}.", columns(labels))
    for row in board["rows"]:
        cells = [_category(build, each, form) for each in row["by_category"]]
        rank = count(row["rank"]) if row["rank"] else TableCell(DASH)
        build.add(head(row["label"]), rank, build.figure(read(Estimate, row), form), *cells, count(row["n"]))
    return build.build()


def _category(build: Builder, figure: RankedFigure | None, form: Any) -> TableCell:
    if figure is None or figure["value"] is None:
        return TableCell(DASH)
    cell = build.figure(read(Estimate, figure), form)
    rank = f" ({figure['rank']})" if figure["rank"] else ""
    return TableCell(cell.text + rank, cell.detail, cell.marks)


def heading(board: BoardRecord) -> str:
    """The setting and the question, where there are several, what systems are ranked by, and which, if not all."""
    among = f"{board['measure']}, among {board['among']}" if board["among"] else board["measure"]
    return ": ".join(filter(None, [board["setting"], board["prompt"], among]))


def leaderboard_json(record: LeaderboardRecord, **more: Any) -> str:
    """The record as JSON, with what its page says besides."""
    return json.dumps({**record, **more}, indent=2, ensure_ascii=False) + "\n"


def leaderboard_csv(record: LeaderboardRecord) -> str:
    """One row for each system on each board, and in each of its categories. What is undefined is empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for raters in record["raters"]:
        for board in raters["boards"]:
            writer.writerows(_lines(raters, board))
    return out.getvalue()


def _lines(raters: RatersBoards, board: BoardRecord) -> Iterator[list[Any]]:
    for row in board["rows"]:
        found = zip(board["categories"], row["by_category"], strict=True)
        of_all: tuple[str, RankedFigure | None] = ("", row)
        for category, figure in [of_all, *found]:
            if figure is None:
                continue
            given = {
                "raters": raters["label"],
                "question": board["prompt"],
                "setting": board["setting"],
                "among": board["among"],
                "category": category,
                "measure": board["measure"],
                "best": board["best"],
                "system": row["system"],
                "label": row["label"],
                **{name: figure.get(name) for name in ("rank", "place", "value", "low", "high", "n", "unit")},
            }
            yield [_cell(given[name]) for name in COLUMNS]


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    return spreadsheet_cell(value) if isinstance(value, str) else value
