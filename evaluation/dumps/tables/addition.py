"""A file of items for a running study: a table goes on counting where the study's items end, and knows its queries."""

from pathlib import Path
from typing import Any

from evaluation.canonical import canonical_hash
from evaluation.dumps.exports.jsonl import query_record
from evaluation.dumps.item_parts import context_content
from evaluation.dumps.tables.records.maker import KnownContent
from evaluation.dumps.tables.source import Opened, TableSource, arms_of, open_source
from evaluation.dumps.tables.study_design import design_of
from evaluation.dumps.tables.table_map import TableMap, absent_columns, map_of_json
from evaluation.models import Context, Study
from evaluation.refusals import Refused
from evaluation.services.studies.compilation import query_content

# Longer ones are nobody's count.
MAX_DIGITS = 9


def open_addition(path: Path, study: Study, *, name: str = "", table_map: TableMap | None = None) -> Opened:
    """Assay's own JSONL as it is; a table by the map given, else by the one kept with the study where it fits, else by
    a guess."""
    given: dict[str, Any] = {
        "name": name, "protocol": study.protocol, "arms": arms_of(study), "design": design_of(study)
    }  # fmt: skip
    opened = open_source(path, table_map=table_map, **given)
    if table_map is None and opened.sheet is not None:
        opened = _by_kept(path, study, given) or opened
    if isinstance(opened.source, TableSource):
        opened.source.known = known_content(study)
    return opened


def _by_kept(path: Path, study: Study, given: dict[str, Any]) -> Opened | None:
    """The table by the map of the study's last one; None where there is none that fits."""
    kept = map_of_json(study.table_map)
    if kept is None:
        return None
    try:
        opened = open_source(path, table_map=kept, **given)
    except Refused:
        return None  # it is no file of the tool whose files the map reads
    return opened if opened.sheet and not absent_columns(kept, opened.sheet) else None


def known_content(study: Study) -> KnownContent:
    """The study's queries and contexts by their content, its clarifying questions, and the highest number among its
    keys."""
    keys = {*study.items.values_list("key", flat=True), *study.queries.values_list("key", flat=True)}
    numbers = [int(key) for key in keys if key.isascii() and key.isdecimal() and len(key) <= MAX_DIGITS]
    queries: dict[str, str] = {}
    for query in study.queries.order_by("-pk").iterator():
        record = query_record(query_content(query))
        content = {name: value for name, value in record.items() if value and name != "key"}
        queries[canonical_hash(content)] = query.key
    contexts: dict[str, dict[str, str]] = {}
    for context in Context.objects.filter(query__study=study).select_related("query"):
        known = contexts.setdefault(context.query.key, {})
        written = [{name: value for name, value in each.items() if value} for each in context.follow_ups]
        known[canonical_hash(context_content(context, written))] = context.key
    questions: dict[str, dict[tuple[str, str], int]] = {}
    asked = study.items.exclude(clarifying_question="").order_by("position", "pk")
    for query_key, *question in asked.values_list("query__key", "clarifying_question", "clarifying_source"):
        of_query = questions.setdefault(query_key, {})
        of_query.setdefault((question[0], question[1]), len(of_query) + 1)
    return KnownContent(max(numbers, default=0), queries, contexts, questions)
