"""Acts that leave work to a worker: an import, an export, a launch. Whichever way one comes in, its state, history and
queue are here; the right is checked where the study is fetched.

`by` is the member who asks, None whoever runs the server. Refused says why nothing was done.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

from evaluation.counting import counted
from evaluation.dumps.exports.study_export import formats_of
from evaluation.dumps.formats import FORMATS
from evaluation.dumps.tables.readers.box import is_own_format
from evaluation.dumps.tables.staged_table import StagedTable
from evaluation.dumps.tables.table_map import TableMap, complete_map
from evaluation.extension import StudyFile, extensions
from evaluation.job_kinds import ADDITION, DELETION, EXPORT, IMPORT, LAUNCH, SCORES, kind_of
from evaluation.models import Job, Status, Study
from evaluation.refusals import Refused, WrongState
from evaluation.services.history import log_action
from evaluation.services.jobs import begin_job, confirm_job, new_file_name, restart_job
from evaluation.services.studies.deletion import delete_study, deletion_problems, title_problems
from evaluation.services.studies.drafts import lock_draft
from evaluation.services.studies.duplication import slug_of_file
from evaluation.services.studies.items import require_running
from evaluation.services.studies.launch import launch_cautions, launch_problems, launch_study
from evaluation.services.studies.rehearsals import NEVER_EXPORTED, refuse_in_rehearsal
from evaluation.tasks import enqueue_job


def start_job(*, by: Any, **job: Any) -> Job:
    """Begin a job, say so in its study's history, and send it to a worker; Refused while another of its kind is at
    work."""
    with transaction.atomic():
        begun = begin_job(by=by, **job)
        if begun.study is not None:
            what = begun.parameters.get("format") or begun.file_name
            noun = kind_of(begun).noun
            article = "an" if noun[0] in "aeiou" else "a"
            log_action(study=begun.study, by=by, message=f"Started {article} {noun}: {what or begun.slug}.")
        enqueue_job(begun)
    return begun


def begin_export(study: Study, *, format: str, by: Any) -> Job:
    """Have a worker write the study in one of the formats that fit it."""
    offered = [each.key for each in formats_of(study)]
    if format not in offered:
        raise Refused(f"Choose one of the formats. This study has: {', '.join(offered)}.")
    refuse_in_rehearsal(study, NEVER_EXPORTED)
    return start_job(
        by=by,
        kind=EXPORT.key,
        slug=study.slug,
        study=study,
        parameters={"format": format},
        file=new_file_name(format),
        file_name=f"{study.slug}.{FORMATS[format].suffix}",
    )


def begin_launch(study: Study, *, by: Any, confirmed: bool) -> Job | None:
    """Launch a draft: a small one now, a large one by a worker, whose job this returns.

    Refused where something is missing, and, unless that was `confirmed`, where participants would lack something.
    """
    if study.status == Status.DRAFT and not confirmed and (cautions := launch_cautions(study)):
        raise Refused(*cautions)
    n = study.items.count()
    if n <= settings.ASSAY_LAUNCH_INLINE_ITEMS:
        launch_study(study, by=by)
        return None
    if problems := launch_problems(study):
        raise Refused(*problems)
    if study.status != Status.DRAFT:
        raise WrongState(f"Only a draft can be launched; this study is {study.status}.")
    with transaction.atomic():
        job = begin_job(kind=LAUNCH.key, slug=study.slug, study=study, by=by)
        log_action(study=study, by=by, message=f"Started to launch {counted(n, 'item')}.")
        enqueue_job(job)
    return job


def begin_deletion(study: Study, *, by: Any, title: str = "", reason: str = "") -> Job | None:
    """Delete a study: a small one now, a large one by a worker, whose job this returns.

    `title` is typed, to be sure, of a study that has judgments.
    """
    if study.items.count() + study.judgments.count() <= settings.ASSAY_LAUNCH_INLINE_ITEMS:
        delete_study(study, by=by, title=title, reason=reason)
        return None
    if problems := [*title_problems(study, title), *deletion_problems(study)]:
        raise Refused(*problems)
    asked = {"title": title, "reason": reason}
    with transaction.atomic():
        job = begin_job(kind=DELETION.key, slug=study.slug, study=study, by=by, parameters=asked)
        enqueue_job(job)
    return job


def begin_again(job: Job, *, by: Any) -> None:
    """Send a job that failed or lost its worker to one again; Refused for any other."""
    with transaction.atomic():
        restart_job(job)
        if job.study is not None:
            log_action(study=job.study, by=by, message=f"Started the {kind_of(job).noun} again.")
        enqueue_job(job)


def begin_addition(
    study: Study,
    *,
    kept: str,
    name: str,
    by: Any,
    map: TableMap | None = None,
    new_system: Mapping[str, str] | None = None,
) -> Job:
    """Have a worker count what a file would add to a running study, which adds it once that is confirmed.

    `kept` is the file (`evaluation.services.jobs.kept_upload`). With `new_system` it has the responses of one:
    `system`, `label`, `family`, `against`.
    """
    require_running(study)
    parameters: dict[str, Any] = {"map": map.as_json()} if map else {}
    if new_system:
        parameters["new_system"] = dict(new_system)
    return start_job(
        by=by,
        kind=ADDITION.key,
        slug=study.slug,
        study=study,
        parameters=parameters,
        file=kept,
        file_name=name,
    )


def begin_scores(study: Study, *, kept: str, name: str, about: Mapping[str, Any], by: Any) -> Job:
    """Have a worker import a file of scores as the measures of a judge; `about` has its name, and what the file does
    not say of them: `name`, `direction`, `low` and `high`."""
    if not study.is_frozen:
        raise WrongState("A draft's items can still change; scores are taken once the study is launched.")
    return start_job(
        by=by,
        kind=SCORES.key,
        slug=study.slug,
        study=study,
        parameters=dict(about),
        file=kept,
        file_name=name,
    )


def confirm(job: Job) -> None:
    """Have a worker do what a job's preview shows; Refused if that was confirmed before."""
    with transaction.atomic():
        confirm_job(job)
        enqueue_job(job)


# --- files that are imported ------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class UploadedFile:
    """A file of a study or of its items, with what was said of it; of a table also its map.

    `kept` is the file (`evaluation.services.jobs.kept_upload`). `study` is the draft whose items it brings, None where
    a study is made of it: then title, slug and protocol may be given, empty for what the file says.
    """

    kept: str
    name: str
    study: Study | None = None
    title: str = ""
    slug: str = ""
    protocol: str = ""
    map: TableMap | None = None
    skip_bad_rows: bool = False

    @property
    def wanted_slug(self) -> str:
        if self.study is not None:
            return self.study.slug
        return self.slug or slug_of_file(self.name)

    @property
    def parameters(self) -> dict[str, Any]:
        """Of the job; of a new study alone, since a draft has all of them."""
        names = ("title", "protocol", "slug") if self.study is None else ()
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class ReadUpload:
    """A file that was looked into, and the parameters of its import; of a table without a map no import can begin, and
    `table` is as it would be read, for somebody to correct its map."""

    file: UploadedFile
    parameters: Mapping[str, Any]
    table: StagedTable | None = None


def read_upload(file: UploadedFile) -> ReadUpload:
    """Look into a file before its import. It takes as long as the file's first rows, so no transaction is open.

    Refused with every reason for a file that can't be read, a map that does not fit it, and, among the first rows,
    whatever the import would refuse, unless such rows are to be left out.
    """
    if file.study is not None:
        with transaction.atomic():
            lock_draft(file.study)
    parameters: dict[str, Any] = file.parameters
    if opens := study_file(file.kept):
        return ReadUpload(file, opening_parameters(*opens, study=file.study, given=parameters))
    if is_own_format(Path(settings.ASSAY_JOB_FILES) / file.kept):
        return ReadUpload(file, parameters)
    table = _table(file)
    if file.map is None:
        return ReadUpload(file, parameters, table)
    found = table.sample()
    if found.problems and not (file.skip_bad_rows and found.bad_rows):
        raise Refused(*found.problems, total=found.total)
    return ReadUpload(file, {**parameters, "map": table.map.as_json(), "skip_bad_rows": file.skip_bad_rows})


def begin_import(read: ReadUpload, *, by: Any) -> Job:
    """Have a worker import a file that was looked into."""
    file = read.file
    if file.study is None and (taken := slug_problem(file.wanted_slug)):
        raise Refused(taken)
    return start_job(
        by=by,
        kind=IMPORT.key,
        slug=file.wanted_slug,
        study=file.study,
        parameters=dict(read.parameters),
        file=file.kept,
        file_name=file.name,
    )


def _table(file: UploadedFile) -> StagedTable:
    path = Path(settings.ASSAY_JOB_FILES) / file.kept
    table = StagedTable(path, name=file.name, study=file.study, kept=file.map, protocol=file.protocol)
    if file.map is not None:
        table.map = complete_map(table.given(file.map, protocol=file.protocol), table.sheet.columns)
    return table


def study_file(kept: str) -> tuple[str, StudyFile] | None:
    """The kind of study's file that was uploaded, under its key; None for items."""
    path = Path(settings.ASSAY_JOB_FILES) / kept
    files = (found for each in extensions() for found in each.study_files().items())
    return next(((key, file) for key, file in files if file.tells(path)), None)


def opening_parameters(
    key: str, file: StudyFile, *, study: Study | None, given: Mapping[str, Any]
) -> dict[str, Any]:
    """The parameters of the job that opens its study. Refused where it is to be items, or called otherwise."""
    if study is not None:
        raise Refused(
            f"This is {file.name}, which holds a whole study. Upload it under “New study from a file”."
        )
    if given["title"] or given["protocol"]:
        raise Refused(f"This is {file.name}, which has its own title and protocol. Leave both fields empty.")
    return {"opens": key}


def slug_problem(slug: str) -> str:
    """Why no study of that slug can be made; empty if one can."""
    taken = Study.objects.visible().filter(slug=slug).exists()
    return "A study with this slug already exists." if taken else ""
