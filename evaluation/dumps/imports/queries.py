"""Queries alone, from a table or as a dump has them: what pipelines start from. They come into a draft that may have no
items yet."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from django.db import transaction

from evaluation.counting import counted
from evaluation.dumps.imports.items import query_row
from evaluation.dumps.lines import SourceLine, parse_line
from evaluation.dumps.problems import Problems
from evaluation.dumps.schemas import schema_problems
from evaluation.dumps.tables.column_names import ColumnRole
from evaluation.dumps.tables.readers.box import is_own_format
from evaluation.dumps.tables.reading import read_table
from evaluation.dumps.tables.records.maker import KnownContent, RecordMaker
from evaluation.dumps.tables.row_notes import query_notes
from evaluation.dumps.tables.source import PLAIN, TableSource
from evaluation.dumps.tables.table_map import TableMap
from evaluation.dumps.tables.tools import guess_reading, read_by
from evaluation.extension import Watch
from evaluation.models import Query, Status, Study
from evaluation.protocols import get_protocol
from evaluation.refusals import Refused
from evaluation.services.history import log_action, server_account
from evaluation.services.studies.rehearsals import refuse_in_rehearsal

Record = dict[str, Any]
# What columns mean does not depend on the protocol, as long as it has responses and no form of its own.
READ_AS = "pairwise"


def read_queries(
    path: Path,
    *,
    name: str = "",
    sheet: str = "",
    table_map: TableMap | None = None,
    watch: Watch = lambda phase, done, total: None,
) -> tuple[list[Record], list[str]]:
    """A table's queries, each once, as a dump has them, and lines that say how its columns were read; Refused names
    what is wrong with its rows."""
    if path.exists() and is_own_format(path):
        raise Refused("This is a study in Assay's own format; import it as a study.")
    # A list of prompts is a table of queries.
    header = table_map.header if table_map else None
    table = read_table(path, name=name, sheet=sheet, header=header, least_columns=1)
    protocol = get_protocol(READ_AS)
    if table_map:
        table, used = read_by(table, table_map), table_map
    else:
        table, used = guess_reading(table, protocol)
    used = used.without_judgments()
    if not used.named(ColumnRole.PROMPT):
        raise Refused(f"{table.place}: no column is the prompt; the columns are {', '.join(table.columns)}.")
    problems = Problems()
    found: dict[str, Record] = {}
    for done, row in enumerate(RecordMaker(table, used, protocol, [PLAIN], KnownContent()).rows()):
        watch("reading", done, len(table.rows))
        # Rows without responses are what is expected here.
        queries = [record["query"] for record in row.records]
        wrong = [sentence for query in queries for sentence in _problems(query)]
        problems.add(f"{table.unit} {row.number}", wrong if queries else row.problems)
        for query in queries:
            found.setdefault(query["key"], query)
    problems.raise_if_any()
    if not found:
        raise Refused(f"{table.place}: there are no queries.")
    notes = query_notes(TableSource(table, used, protocol, arms=[PLAIN]))
    return list(found.values()), [*table.notices, *used.described(), *notes]


def check_queries(given: Sequence[Any]) -> list[Record]:
    """Queries as a dump has them, each once, where somebody wrote them as such; Refused names what is wrong."""
    problems = Problems()
    found: dict[str, Record] = {}
    for number, each in enumerate(given, 1):
        line = _line(number, each)
        wrong = list(line.problems) or _problems(line.value)
        if not wrong and found.setdefault(line.value["key"], line.value) != line.value:
            wrong = [f"the key {line.value['key']!r} stands for another query before"]
        problems.add(f"query {number}", wrong)
    problems.raise_if_any()
    return list(found.values())


def _line(number: int, record: Any) -> SourceLine:
    try:
        return parse_line(orjson.dumps(record), number, number)
    except (TypeError, ValueError) as wrong:
        raise Refused(f"query {number} can't be written as JSON: {wrong}.") from None


def _problems(query: Record) -> list[str]:
    line = {"assay": 1, "spec": {"protocol": READ_AS, "arms": [PLAIN]}, "queries": [query]}
    return schema_problems("study", line)


@dataclass(frozen=True)
class AddedQueries:
    """Queries of a draft that are new, and those of them that it had before."""

    new: int
    present: int

    def __str__(self) -> str:
        before = f"; {counted(self.present, 'was', 'were')} there before" if self.present else ""
        return f"{counted(self.new, 'query', 'queries')} added{before}."


def add_queries(
    study: Study, records: Sequence[Record], *, by: Any = None, file_name: str = ""
) -> AddedQueries:
    """Add queries to a draft. Refused, and nothing is added, where a key stands for another text there.

    `by` is the member who asks, None whoever runs the server; `file_name` is where they come from, if from a file.
    """
    refuse_in_rehearsal(study, "it takes no queries.")
    with transaction.atomic():
        locked = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        if locked.status != Status.DRAFT:
            raise Refused("Queries are added to drafts; to a running study items are added.")
        texts = dict(study.queries.values_list("key", "text"))
        rows = [query_row(record) for record in records]
        other = [row.key for row in rows if texts.get(row.key, row.text) != row.text]
        if other:
            more = f" and {len(other) - 5:,} more" if len(other) > 5 else ""
            raise Refused(f"The study has other queries with these keys: {', '.join(other[:5])}{more}.")
        new = [row for row in rows if row.key not in texts]
        for row in new:
            row.study = study
        Query.objects.bulk_create(new, batch_size=500)
        added = AddedQueries(len(new), len(records) - len(new))
        said = f"{file_name}: {added}" if file_name else str(added)
        log_action(study=study, by=by or server_account(), message=said)
        return added
