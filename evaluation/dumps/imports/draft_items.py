"""Items for a draft that exists: a file read as if it were the draft's own, then moved into it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from django.db import transaction

from evaluation.counting import counted
from evaluation.dumps.exports.jsonl import study_record
from evaluation.dumps.imports.dump_import import import_dump
from evaluation.dumps.lines import Source, SourceLine
from evaluation.extension import Watch
from evaluation.models import Status, Study
from evaluation.refusals import Refused, WrongState
from evaluation.services.history import log_action
from evaluation.services.imports import discard_import
from evaluation.services.studies.compilation import compile_spec
from evaluation.services.studies.drafts import replace_items
from evaluation.services.table_maps import keep_table_map


class DraftItemsSource:
    """A source whose study's line is the draft's; that of the file, where it has one, adds arms, systems and
    attributes."""

    def __init__(self, source: Source, study: Study) -> None:
        self.source = source
        self.study = study
        self.name, self.format, self.unit = source.name, source.format, source.unit

    @property
    def total(self) -> int:
        return self.source.total

    def fingerprint(self) -> str:
        return self.source.fingerprint()

    def notes(self) -> dict[str, Any]:
        return self.source.notes()

    def lines(self) -> Iterator[SourceLine]:
        lines = self.source.lines()
        first = next(lines, None)
        if first is None:
            return
        given = first.value if isinstance(first.value, dict) and "assay" in first.value else None
        if given is not None and first.problems:
            yield first
            return
        header = self.header(given or {})
        if given is not None:
            yield replace(first, value=header)
        else:
            yield SourceLine(0, 0, 0, header)
            yield first
        yield from lines

    def header(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The draft's own line, with the arms, systems and attributes that only the file's line has."""
        spec = compile_spec(self.study)
        record = study_record(self.study, [spec])
        theirs = given.get("spec", {})
        theirs = theirs if isinstance(theirs, dict) else {}
        record["spec"] = {**spec, "arms": joined(spec["arms"], theirs.get("arms", []))}
        if attributes := joined(spec.get("attributes", []), theirs.get("attributes", [])):
            record["spec"]["attributes"] = attributes
        record["systems"] = joined(record["systems"], given.get("systems", []))
        record["status"] = Status.DRAFT
        return record


def joined(own: list[Any], theirs: Any) -> list[Any]:
    """The draft's own, then those whose key it lacks; what is no list of objects is left for the schema to refuse."""
    if not isinstance(theirs, list):
        return own
    keys = {each["key"] for each in own}
    return own + [each for each in theirs if not isinstance(each, dict) or each.get("key") not in keys]


def import_items(
    source: Source,
    study: Study,
    *,
    by: Any = None,
    table_map: Mapping[str, Any] | None = None,
    replace_broken: bool = False,
    watch: Watch = lambda phase, done, total: None,
    still_mine: Callable[[], None] = lambda: None,
) -> int:
    """Replace the draft's items by the file's; return their number. Refused changes nothing.

    They are read into a study of their own, which nobody sees, and change places at once. `table_map` is the one by
    which a table was read: the study keeps it for its next one.
    """
    incoming = import_dump(
        DraftItemsSource(source, study),
        slug=f"{study.slug[:60]}-incoming-{study.pk}",
        protocol=study.protocol,
        title=study.title,
        replace_broken=replace_broken,
        aside=True,
        watch=watch,
    )
    try:
        if incoming.status != Status.DRAFT:
            raise Refused("Items for a draft can't have judgments; make a new study from this file instead.")
        still_mine()
        with transaction.atomic():
            n = replace_items(study, incoming)
            keep_table_map(study, dict(table_map or {}))
            log_action(study=study, by=by, message=f"Uploaded {source.name}: {counted(n, 'item')}.")
        return n
    except WrongState as too_late:
        raise Refused(str(too_late)) from None
    finally:
        discard_import(incoming)
