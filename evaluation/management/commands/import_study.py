"""manage.py import_study FILE --slug S: reads a study from Assay's JSONL, or from a table of any kind."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import orjson
from django.core.management.base import BaseCommand, CommandError

from evaluation.dumps.tables.source import Opened, open_source
from evaluation.dumps.tables.table_map import PER_RESPONSE, TableMap, read_map
from evaluation.management.import_command import add_import_arguments, refusal, run_import, summary
from evaluation.protocols import PROTOCOLS
from evaluation.refusals import Refused
from evaluation.services.table_maps import keep_table_map


class Command(BaseCommand):
    help = (
        "Reads a study from Assay's JSONL, or its items from CSV, TSV, XLSX, JSON, JSONL, Parquet or the folder of a "
        "data set, whose columns it guesses (docs/formats.md). Anything wrong, and nothing is imported."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--protocol", default="", choices=sorted(PROTOCOLS), help="By default what the file says."
        )
        parser.add_argument(
            "--map", type=Path, help="The map of a table's columns, as JSON; by default guessed."
        )
        parser.add_argument("--save-map", type=Path, help="Where to write the map that was used.")
        parser.add_argument(
            "--sheet", default="", help="The workbook's sheet, or the data set's split, to read."
        )
        add_import_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            opened = open_source(
                options["file"],
                protocol=options["protocol"],
                table_map=_read_map(options["map"]) if options["map"] else None,
                sheet=options["sheet"],
            )
        except Refused as refused:
            raise refusal(refused) from None
        self._describe(opened)
        if opened.map is not None and options["save_map"]:
            options["save_map"].write_text(
                json.dumps(opened.map.as_json(), ensure_ascii=False, indent=1) + "\n", "utf-8"
            )
        unit = "B" if opened.sheet is None else opened.source.unit
        study = run_import(opened.source, options, unit=unit, protocol=options["protocol"])
        if opened.map is not None:
            keep_table_map(study, opened.map.as_json())
        self.stdout.write(summary(study))

    def _describe(self, opened: Opened) -> None:
        """Say of a table how it is read."""
        if opened.sheet is None or opened.map is None:
            return
        for notice in opened.sheet.notices:
            self.stdout.write(notice)
        self.stdout.write(
            "Columns, by a guess from names and contents:" if opened.guessed else "Columns, by the map:"
        )
        for line in opened.map.described():
            self.stdout.write(f"  {line}")
        unused = [repr(each) for each in opened.sheet.columns if each not in _used(opened.map)]
        if unused:
            self.stdout.write(f"  not used: {', '.join(unused)}")
        per = "one response" if opened.map.per == PER_RESPONSE else "an item"
        self.stdout.write(f"  Each {opened.sheet.unit} is {per}; the protocol is {opened.map.protocol}.")
        if opened.guessed:
            self.stdout.write(
                "If that is wrong, write the map with --save-map, correct it, and give it with --map."
            )


def _used(table_map: TableMap) -> set[str]:
    return {each["column"] for each in table_map.as_json()["columns"]}


def _read_map(path: Path) -> TableMap:
    try:
        return read_map(orjson.loads(path.read_bytes()))
    except OSError as error:
        raise CommandError(f"{path} can't be read: {error.strerror}.") from None
    except orjson.JSONDecodeError as error:
        raise Refused(f"{path.name} is not JSON: {error.msg} (line {error.lineno}).") from None
