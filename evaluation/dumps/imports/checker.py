"""The first reading of a dump: everything is checked, nothing is written, and memory holds small hashes only."""

import hashlib
import re
from array import array
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import orjson

from evaluation.canonical import canonical_hash, study_hash
from evaluation.dumps.imports.header import Header, read_header
from evaluation.dumps.imports.items import ItemPreparer, Record, expand_items, hash_problem, stimulus_problems
from evaluation.dumps.lines import Source, SourceLine
from evaluation.dumps.problems import LineInvalid, Problems
from evaluation.dumps.schemas import schema_problems
from evaluation.extension import Watch
from evaluation.models import Query, Response, Status
from evaluation.refusals import Refused
from evaluation.services.imports import ImportedItem, ImportedJudgment
from evaluation.services.studies.compilation import Markdown


class RecurringKeys:
    """Keys on several lines, which must mean the same: 24 bytes per occurrence, compared at the end."""

    def __init__(self, what: str, unit: str) -> None:
        self.what = what
        self.unit = unit
        self._keys = array("Q")
        self._contents = array("Q")
        self._lines = array("Q")

    def add(self, key: Any, content: Any, line: int) -> None:
        self._keys.append(_hash64(key))
        self._contents.append(_hash64(content))
        self._lines.append(line)

    def conflicts(self) -> list[tuple[int, str]]:
        """(line, sentence) for each occurrence that differs from the first one of its key."""
        if not self._keys:
            return []
        keys, contents, lines = (np.array(each) for each in (self._keys, self._contents, self._lines))
        order = np.lexsort((lines, keys))
        keys, contents, lines = keys[order], contents[order], lines[order]
        starts = np.r_[True, keys[1:] != keys[:-1]]
        first = np.flatnonzero(starts)[np.cumsum(starts) - 1]
        wrong = np.flatnonzero(contents != contents[first])
        return [
            (
                int(lines[at]),
                f"{self.what} with the same key stands at {self.unit} {lines[first[at]]} and differs",
            )
            for at in wrong.tolist()
        ]


def _hash64(value: Any) -> int:
    digest = hashlib.blake2b(orjson.dumps(value, option=orjson.OPT_SORT_KEYS), digest_size=8).digest()
    return int.from_bytes(digest, "big")


class CheckResult:
    """The result of the first reading."""

    def __init__(self, header: Header) -> None:
        self.header = header
        self.items = 0
        self.judgments = 0

    @property
    def has_judgments(self) -> bool:
        return self.judgments > 0

    @property
    def frozen(self) -> bool:
        return self.has_judgments or self.header.status == Status.CLOSED


class DumpChecker:
    """The line-by-line check of a source; `problems` collects, `checked` is set once the first line was good."""

    def __init__(
        self,
        source: Source,
        *,
        slug: str,
        protocol: str,
        title: str,
        render: Markdown,
        problems: Problems | None = None,
    ) -> None:
        self.source = source
        self.options = {"slug": slug, "protocol": protocol, "title": title}
        self.render = render
        self.problems = Problems() if problems is None else problems
        # Of a table, by which its rows are named.
        self.row_keys: dict[int, str] = {}
        self.columns: Mapping[str, str] = {}
        self.checked: CheckResult | None = None
        self.hashes: list[tuple[str, str]] = []
        self.raters: dict[str, tuple[str, str, str]] = {}
        self.excluded: dict[str, str] = {}
        self.places = RecurringKeys("a judgment", source.unit)
        unit = source.unit
        self.items = RecurringKeys("an item", unit)
        self.queries = RecurringKeys("a query", unit)
        self.contexts = RecurringKeys("a context", unit)
        self.responses = RecurringKeys("a response", unit)
        self.first = ""

    def run(self, watch: Watch) -> CheckResult:
        for line in self.source.lines():
            self._line(line)
            watch("checking", line.done, self.source.total)
        if self.checked is None:
            raise Refused(f"{self.source.name} is empty.")
        self._at_the_end(self.checked)
        self.problems.raise_if_any()
        return self.checked

    def _line(self, line: SourceLine) -> None:
        where = f"{self.source.unit} {line.number}"
        problems = list(line.problems)
        try:
            if self.checked is None:
                self.first = where
            if line.value is not None:
                found = self._first(line) if self.checked is None else self._item(line, self.checked)
                problems += [_in_columns(each, line.columns) for each in found]
        except RecursionError:
            problems.append("nested too deeply")
        if line.key:
            self.row_keys[line.number] = line.key
        self.columns = line.columns
        self.problems.add(where, problems, line.key)
        if self.checked is None:
            self.problems.raise_if_any()  # without the study's line nothing can be said of the items

    def _first(self, line: SourceLine) -> Sequence[str]:
        try:
            header = read_header(line.value, **self.options)
        except LineInvalid as invalid:
            return invalid.problems
        self.checked = CheckResult(header)
        specs = list(header.study.specs)
        self.plain = ItemPreparer(specs, None, header.measures)
        self.rendering = ItemPreparer(specs, self.render, header.measures)
        for query in header.study.queries:
            self.queries.add(query.key, _query_content(query), line.number)
        return ()

    def _item(self, line: SourceLine, checked: CheckResult) -> list[str]:
        """All problems of the line; a line that does not fit the schema is not checked further."""
        if problems := schema_problems("item", line.value):
            return problems
        try:
            records = expand_items(line.value)
        except LineInvalid as invalid:
            return list(invalid.problems)
        found = [problem for record in records for problem in self._one_item(record, line.number, checked)]
        # What is wrong with the line is wrong with each of its items.
        return list(dict.fromkeys(found))

    def _one_item(self, record: Record, line: int, checked: CheckResult) -> list[str]:
        wants_hash = bool(checked.header.study_hash or "stimulus_hash" in record)
        examined = (self.rendering if wants_hash else self.plain).examine(record)
        item, problems = examined.item, examined.problems
        checked.items += 1
        checked.judgments += len(record.get("judgments", ()))
        for number, judgment in enumerate(item.judgments):
            problems += self._rater_problems(judgment)
            problems += self._place_problems(judgment, number, line, in_order=checked.header.in_order)
        if examined.stands:
            problems += stimulus_problems(record, item)
            if checked.header.study_hash:
                self.hashes.append((record["key"], canonical_hash(item.stimulus)))
        self._remember(line, item, stands=examined.stands)
        return problems

    def _place_problems(
        self, judgment: ImportedJudgment, number: int, line: int, *, in_order: bool
    ) -> list[str]:
        where = f"judgments[{number}]"
        if not in_order:
            unasked = f"{where}: has a place, though the study's line does not say in_order"
            return [] if judgment.place is None else [unasked]
        if judgment.place is None:
            return [f"{where}: has no place, though the study's line says in_order"]
        # Nothing that two judgments could have in common is its content, so that any second one differs.
        self.places.add(judgment.place, [line, number], line)
        return []

    def _rater_problems(self, judgment: ImportedJudgment) -> list[str]:
        rater, reason = judgment.rater, judgment.rater_excluded
        facts = (rater.kind, rater.label, rater.source)
        before = self.raters.setdefault(rater.pseudonym, facts)
        names = ("kind", "label", "source")
        problems = [
            f"rater {rater.pseudonym!r}: {name} {new!r} here, {old!r} before"
            for name, old, new in zip(names, before, facts, strict=True)
            if old != new
        ]
        if reason and self.excluded.setdefault(rater.pseudonym, reason) != reason:
            problems.append(f"rater {rater.pseudonym!r}: excluded for another reason before")
        return problems

    def _remember(self, line: int, prepared: ImportedItem, *, stands: bool) -> None:
        # The line is the content of an item's key, so that any second one differs.
        self.items.add(prepared.item.key, line, line)
        query = prepared.query
        self.queries.add(query.key, _query_content(query), line)
        # Responses that have a fault would differ for a reason that is named already.
        responses = prepared.responses if stands else ()
        contexts = {id(each): each for each in (prepared.context, *(r.context for r in responses)) if each}
        for context in contexts.values():
            content = [context.follow_ups, context.source]
            self.contexts.add([query.key, context.key], content, line)
        for response in responses:
            self.responses.add([query.key, response.key], _content(response), line)

    def _at_the_end(self, checked: CheckResult) -> None:
        recurring = {
            "key": self.items,
            "query": self.queries,
            "context": self.contexts,
            "responses": self.responses,
            "place": self.places,
        }
        for field, keys in recurring.items():
            for line, problem in keys.conflicts():
                said = _in_columns(problem, self.columns, field)
                self.problems.add(f"{self.source.unit} {line}", [said], self.row_keys.get(line, ""))
        header = checked.header
        if header.status == Status.DRAFT and checked.has_judgments:
            self.problems.add(self.first, ["status is draft, but there are judgments"])
        # They would be in no export, and so be lost on the way back. Bad lines may hold their judgments.
        if not self.problems.total:
            unseen = [name for name in header.raters if name not in self.raters]
            self.problems.add(self.first, [f"raters: {name!r} has no judgment" for name in unseen])
        # One wrong item makes the whole hash wrong; then that item is what must be mended.
        if header.study_hash and not self.problems.total:
            specs = [canonical_hash(spec) for spec in header.study.specs]
            computed = study_hash(specs, sorted(self.hashes))
            if computed != header.study_hash:
                self.problems.add(self.first, [hash_problem("study_hash", header.study_hash, computed)])


def _in_columns(problem: str, columns: Mapping[str, str], field: str = "") -> str:
    """The sentence with the columns of the record's field that it is about, by default that which it begins with."""
    named = columns.get(field or re.split(r"[.:\[]| '", problem, maxsplit=1)[0])
    return f"{problem} ({named})" if named else problem


def _query_content(query: Query) -> list[Any]:
    return [
        query.text, query.category, query.source, query.split, query.information_need, query.references,
        query.documents, query.document, query.turns,
    ]  # fmt: skip


def _content(response: Response) -> list[Any]:
    context = response.context
    parts = response.turns, response.claims
    return [response.system.key, response.text, *parts, context.key if context else None]
