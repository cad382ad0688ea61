"""The work on jobs that are begun on the pages of pipelines."""

from collections.abc import Iterator
from itertools import count
from typing import Any

from django.contrib.admin.models import ADDITION
from django.db import transaction

from evaluation.dumps.lines import MAX_LINE
from evaluation.models import Job, Study
from evaluation.refusals import Refused
from evaluation.services.history import log_action
from evaluation.services.jobs import JobProgress, finish_job
from judging.models import Run
from judging.services.generation.corpus_uploads import add_corpus
from judging.services.generation.made_studies import make_study
from judging.services.generation.product_files import read_products


def import_products_of(job: Job) -> None:
    """Read a file of products; the run is there once the job is done, or not at all."""
    assert job.study is not None
    products = read_products(job.study, _lines(job), user=job.by)
    with transaction.atomic():
        run = products.save()
        message = f"{len(products.products):,} products are in run {run.pk}."
        finish_job(job, message=message)
        log_action(study=job.study, by=job.by, message=f"Uploaded {job.file_name}: {message}")


def _lines(job: Job) -> Iterator[bytes]:
    progress, size, done = JobProgress(job), job.path.stat().st_size, 0
    with job.path.open("rb") as file:
        for number in count(1):
            line = file.readline(MAX_LINE + 1)
            if not line:
                return
            if len(line) > MAX_LINE:
                raise Refused(f"line {number}: it is longer than {MAX_LINE // 1_000_000} MB.")
            progress("reading", done, size)
            done += len(line)
            yield line


def add_corpus_of(job: Job) -> None:
    """Put an uploaded file among the corpora; what was uploaded need not be kept twice."""
    assert job.study is not None
    name = job.parameters["name"]
    documents = add_corpus(job.path, name, watch=JobProgress(job))
    finish_job(job, message=f"{name} is a corpus of {documents:,} documents.")
    job.path.unlink(missing_ok=True)
    log_action(study=job.study, by=job.by, message=f"Uploaded the corpus {name}: {documents:,} documents.")


def make_study_of(job: Job) -> None:
    """Make the study, whose job it is from then on."""
    source = job.study
    assert source is not None
    chosen: dict[str, Any] = job.parameters
    run = Run.objects.select_related("generating", "study").filter(study=source, pk=chosen["run"]).first()
    if run is None:
        raise Refused("The run is gone.")

    def done(made: Study) -> None:
        items = made.items.count()
        finish_job(
            job, message=f"{made.title} is a draft of {items:,} items. Check it, then launch it.", study=made
        )
        log_action(study=made, by=job.by, message=f"Made of {run} of {source.title}.", flag=ADDITION)
        log_action(study=source, by=job.by, message=f"Made {made.title} of {run}.")

    make_study(
        run,
        chosen["options"],
        by=job.by,
        slug=job.slug,
        title=chosen["title"],
        replace_broken=True,
        watch=JobProgress(job),
        and_then=done,
    )
