"""Import of a dump: first all of it is checked without the database, then it is written in short transactions."""

from collections.abc import Callable, Iterator
from typing import Any

from django.conf import settings
from django.contrib.admin.models import ADDITION
from django.core.exceptions import ValidationError
from django.db import DatabaseError

from evaluation.counting import counted
from evaluation.dumps.imports.checker import CheckResult, DumpChecker
from evaluation.dumps.imports.items import ItemPreparer, expand_items
from evaluation.dumps.lines import Source
from evaluation.dumps.problems import LineInvalid
from evaluation.extension import Watch
from evaluation.models import Study
from evaluation.refusals import Refused
from evaluation.rendering.box import RenderBox
from evaluation.services.history import log_action
from evaluation.services.imports import (
    ImportedItem,
    ImportWriter,
    JudgmentSpool,
    begin_import,
    discard_import,
    finish_import,
    give_up_import,
    unfinished_import,
)

# A batch also ends here, so that long lines and many judgments make neither long transactions nor full memory.
MAX_BATCH_BYTES = 4_000_000
MAX_BATCH_JUDGMENTS = 2_000


def import_dump(
    source: Source,
    *,
    slug: str,
    protocol: str = "",
    title: str = "",
    owner: Any = None,
    by: Any = None,
    said: str = "",
    replace_broken: bool = False,
    aside: bool = False,
    watch: Watch = lambda phase, done, total: None,
    first: Callable[[], None] = lambda: None,
    and_then: Callable[[Study], None] = lambda study: None,
) -> Study:
    """Create the study of that slug from the source; Refused, with nothing written, if anything is wrong.

    Whatever interrupts the writing, what was written is deleted again. Only a process that is killed outright
    leaves an unfinished, invisible study behind; `replace_broken` deletes it first. One that had no room even to
    delete leaves one that the next import deletes without being told.

    Where somebody asked for it (`by`), its history begins with `said`, by default the file that it was created from.
    One that is read `aside` stays invisible. `and_then` gets the study within the transaction that completes it, which
    begins with `first`: that may lock what was read, and refuse.
    """

    def finished(study: Study) -> None:
        line = said or f"Created from {source.name}: {counted(study.items.count(), 'item')}."
        log_action(study=study, by=by, message=line, flag=ADDITION)
        and_then(study)

    _make_room(slug, replace_broken)
    with RenderBox(settings.ASSAY_RENDER_SECONDS) as box:
        checker = DumpChecker(source, slug=slug, protocol=protocol, title=title, render=box.render)
        checked = checker.run(watch)
        study = _begin(source, checked, owner)
        fingerprint = source.fingerprint()
        try:
            with JudgmentSpool() as spool:
                writer = _write(source, checked, study, box, watch, spool)
            if source.fingerprint() != fingerprint:
                raise _changed(source)
            notes = {**source.notes(), "written": writer.counts}
            finish_import(study, notes=notes, aside=aside, first=first, and_then=finished)
        except BaseException as interrupted:
            _discard(study, interrupted)
            raise
    return study


def _make_room(slug: str, replace_broken: bool) -> None:
    unfinished = unfinished_import(slug)
    if unfinished is not None:
        dump = unfinished.created_by_import
        assert dump is not None
        if dump.finished_at is None and not replace_broken:
            raise Refused(
                f"An import of {slug!r} that was started at {dump.started_at:%Y-%m-%d %H:%M} UTC has not finished. "
                "If it isn't running any more, import again with --replace-broken."
            )
        discard_import(unfinished)
    if Study.objects.filter(slug=slug).exists():
        raise Refused(f"There is a study {slug!r} already.")


def _begin(source: Source, checked: CheckResult, owner: Any) -> Study:
    try:
        return begin_import(
            checked.header.study,
            file_name=source.name,
            format=source.format,
            frozen=checked.frozen,
            owner=owner,
        )
    except ValidationError as invalid:
        raise Refused(*invalid.messages) from None


def _write(
    source: Source, checked: CheckResult, study: Study, box: RenderBox, watch: Watch, spool: JudgmentSpool
) -> ImportWriter:
    specs = list(checked.header.study.specs)
    markdown = box.render if checked.frozen else None
    preparer = ItemPreparer(specs, markdown, checked.header.measures)
    study.simulated = checked.header.simulated
    writer = ImportWriter(study, checked.header.raters, spool if checked.header.in_order else None)
    for batch, done in _batches(source, preparer, checked.frozen):
        writer.write(batch)
        watch("writing", done, source.total)
    writer.write_spooled()
    return writer


def _batches(
    source: Source, preparer: ItemPreparer, frozen: bool
) -> Iterator[tuple[list[ImportedItem], int]]:
    """Items ready to be written, prepared outside of any transaction, with how far the source is read."""
    batch: list[ImportedItem] = []
    size = judgments = done = 0
    lines = source.lines()
    next(lines, None)  # the study's
    for line in lines:
        if line.problems:
            raise _changed(source)
        try:
            items = [preparer.prepare(each, keep_stimulus=frozen) for each in expand_items(line.value)]
        except (LineInvalid, LookupError, TypeError):  # it was good a moment ago
            raise _changed(source) from None
        for prepared in items:
            batch.append(prepared)
            size, judgments, done = size + line.size, judgments + len(prepared.judgments), line.done
            if (
                len(batch) >= settings.ASSAY_BATCH_SIZE
                or size >= MAX_BATCH_BYTES
                or judgments >= MAX_BATCH_JUDGMENTS
            ):
                yield batch, done
                batch, size, judgments = [], 0, 0
    if batch:
        yield batch, done


def _changed(source: Source) -> Refused:
    return Refused(f"{source.name} was changed while it was being read.")


def _discard(study: Study, interrupted: BaseException) -> None:
    try:
        discard_import(study)
    except DatabaseError:
        try:
            # So little that it fits where the rest did not.
            give_up_import(study)
        except DatabaseError:
            interrupted.add_note("What was written could not be deleted; import again with --replace-broken.")
