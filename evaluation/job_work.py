"""The work of the core's jobs (`evaluation.job_kinds`)."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.template.defaultfilters import filesizeformat

from evaluation.counting import counted
from evaluation.dumps.exports.study_export import export_to
from evaluation.dumps.imports.added_items import add_items, preview_items
from evaluation.dumps.imports.draft_items import import_items
from evaluation.dumps.imports.dump_import import import_dump
from evaluation.dumps.imports.new_system import NewSystemSource
from evaluation.dumps.imports.scores import import_scores
from evaluation.dumps.lines import FileSource, Source
from evaluation.dumps.pooling import pool_rounds, pooled_in_words
from evaluation.dumps.tables.addition import open_addition
from evaluation.dumps.tables.bad_rows import leave_out_bad_rows, write_left_out
from evaluation.dumps.tables.row_notes import row_notes
from evaluation.dumps.tables.source import Opened, TableSource, arms_of, open_source
from evaluation.dumps.tables.study_design import design_of
from evaluation.dumps.tables.table_map import map_of_json, read_map
from evaluation.dumps.tables.unused import unused_texts
from evaluation.extension import extensions
from evaluation.models import Job, Rater, Status, Study
from evaluation.refusals import Refused
from evaluation.services.history import log_action, server_account
from evaluation.services.jobs import JobProgress, ask_to_confirm, finish_job, new_file_name, note_in_job
from evaluation.services.scores import scores_summary
from evaluation.services.studies.deletion import delete_study
from evaluation.services.studies.launch import launch_study
from evaluation.services.studies.rehearsing import rehearse
from evaluation.services.table_maps import keep_table_map


def import_file(job: Job) -> None:
    if kind := job.parameters.get("opens"):
        files = {key: file for each in extensions() for key, file in each.study_files().items()}
        files[kind].open_study(job)
        return
    progress = JobProgress(job)
    source, table_map = _source(job)
    left_out = _left_out(job, source, progress)
    if job.study is not None:
        n = import_items(
            source,
            job.study,
            by=job.by,
            table_map=table_map,
            replace_broken=True,
            watch=progress,
            still_mine=lambda: progress("moving", 0, 1),
        )
        finish_job(job, message=f"{counted(n, 'item is', 'items are')} in the draft.{left_out}")
        return

    def created(study: Study) -> None:
        keep_table_map(study, table_map)
        n = counted(study.items.count(), "item")
        judgments = study.judgments.count()
        n += f" and {counted(judgments, 'judgment')}" if judgments else ""
        finish_job(job, message=f"{study.title} was created with {n}.{left_out}", study=study)

    import_dump(
        source,
        slug=job.slug,
        protocol=job.parameters.get("protocol", ""),
        title=job.parameters.get("title", ""),
        owner=job.by,
        by=job.by,
        replace_broken=True,
        watch=progress,
        and_then=created,
    )


def _source(job: Job) -> tuple[Source, dict[str, Any]]:
    """The job's file as a source, and the map of a table."""
    table_map: dict[str, Any] = job.parameters.get("map", {})
    opened = open_source(
        job.path,
        name=job.file_name,
        protocol=job.study.protocol if job.study else job.parameters.get("protocol", ""),
        table_map=read_map(table_map) if table_map else None,
        arms=arms_of(job.study),
        design=design_of(job.study),
    )
    return opened.source, opened.map.as_json() if opened.map else {}


def _left_out(job: Job, source: Source, watch: JobProgress) -> str:
    """Leave out the rows with errors, where that was asked for, and keep them as a file; a sentence about them."""
    if not (job.parameters.get("skip_bad_rows") and isinstance(source, TableSource)):
        return ""
    bad = leave_out_bad_rows(source, job.study, watch)
    if not bad:
        return ""
    name = new_file_name("csv")
    with (Path(settings.ASSAY_JOB_FILES) / name).open("xb") as file:
        write_left_out(file, source.sheet, bad)
    note_in_job(job, {"left_out": name})
    return f" {counted(len(bad), 'row was', 'rows were')} left out."


def import_scores_file(job: Job) -> None:
    study = job.study
    assert study is not None  # only an import has none
    progress = JobProgress(job)
    progress("reading", 0, 1)

    def recorded(rater: Rater) -> None:
        finish_job(job, message=scores_summary(rater)[:500])

    import_scores(study, job.path, by=job.by, file_name=job.file_name, and_then=recorded, **job.parameters)


def write_export(job: Job) -> None:
    assert job.study is not None  # only an import has none
    export_to(job.study, format=job.parameters["format"], path=str(job.path), watch=JobProgress(job))
    finish_job(job, message=f"{filesizeformat(job.path.stat().st_size)}, ready to download.")
    log_action(study=job.study, by=job.by, message=f"Exported as {job.parameters['format']}.")


def launch(job: Job) -> None:
    study = job.study
    assert study is not None  # only an import has none
    total, progress = study.items.count(), JobProgress(job)
    progress("freezing", 0, total)
    # A worker that was killed may have launched it, and not said so.
    if study.status != Status.LIVE:
        launch_study(
            study, by=job.by or server_account(), on_batch=lambda done: progress("freezing", done, total)
        )
    finish_job(job, message=f"Live, with {counted(total, 'item')}.")


def delete(job: Job) -> None:
    study = job.study
    # A worker that was killed after it had deleted it has said so in the same transaction.
    assert study is not None
    delete_study(
        study,
        by=job.by or server_account(),
        title=job.parameters["title"],
        reason=job.parameters["reason"],
        job=job,
        watch=JobProgress(job),
        and_then=lambda said: finish_job(job, message=said),
    )


def rehearse_draft(job: Job) -> None:
    draft, asked = job.study, job.parameters
    assert draft is not None  # only an import has none
    _, said = rehearse(draft, asked, by=job.by, watch=JobProgress(job))
    finish_job(job, message=said)


def pool(job: Job) -> None:
    """Make the study of both rounds, whose job it is from then on."""
    first, chosen = job.study, job.parameters
    assert first is not None  # only an import has none
    other = Study.objects.visible().filter(pk=chosen["other"]).first()
    if other is None:
        raise Refused("The other round is gone.")

    def done(made: Study) -> None:
        finish_job(job, message=f"{made.title} is closed. {pooled_in_words(made)}", study=made)

    pool_rounds(
        first,
        other,
        by=job.by,
        slug=job.slug,
        title=chosen["title"],
        replace_broken=True,
        watch=JobProgress(job),
        and_then=done,
    )


def add_file(job: Job) -> None:
    """Count what the file would add, and once that was confirmed, add it."""
    study = job.study
    assert study is not None  # only an import has none
    opened, progress = _opened(job, study), JobProgress(job)
    if not job.parameters.get("confirmed"):
        preview = preview_items(opened.source, study, watch=progress).preview()
        ask_to_confirm(job, {**preview, **_of_table(opened)})
        return

    add_items(
        opened.source, study, by=job.by, watch=progress, and_then=lambda said: finish_job(job, message=said)
    )


def _of_table(opened: Opened) -> dict[str, list[str]]:
    """Sentences on a table: its columns, and what to know of them and of its rows."""
    if opened.map is None or opened.sheet is None or not isinstance(opened.source, TableSource):
        return {}
    unused = map(str, unused_texts(opened.sheet, opened.map, guessed=opened.guessed))
    return {"columns": opened.map.described(), "notes": [*unused, *row_notes(opened.source)]}


def _opened(job: Job, study: Study) -> Opened:
    if names := job.parameters.get("new_system"):
        return Opened(NewSystemSource(FileSource(job.path), study, **names))
    return open_addition(
        job.path, study, name=job.file_name, table_map=map_of_json(job.parameters.get("map"))
    )
