"""The work on jobs that are begun on the pages of pipelines."""

from collections.abc import Iterator
from itertools import count
from typing import Any

from django.db import transaction

from evaluation.counting import counted
from evaluation.dumps.imports.queries import add_queries, read_queries
from evaluation.dumps.lines import MAX_LINE
from evaluation.models import Job, Study
from evaluation.refusals import Refused
from evaluation.services.history import log_action
from evaluation.services.jobs import JobProgress, finish_job
from judging.models import Run
from judging.services.generation.corpus_uploads import add_corpus
from judging.services.generation.made_studies import made_of_products, make_study
from judging.services.generation.product_files import read_products


def import_queries_of(job: Job) -> None:
    """Add the queries of an uploaded file to those of the draft."""
    assert job.study is not None  # only an import has none
    records, _ = read_queries(job.path, name=job.file_name, watch=JobProgress(job))
    with transaction.atomic():
        added = add_queries(job.study, records, by=job.by, file_name=job.file_name)
        finish_job(job, message=str(added))


def import_products_of(job: Job) -> None:
    """Read a file of products; the run is there once the job is done, or not at all."""
    assert job.study is not None
    products = read_products(job.study, _lines(job), user=job.by)
    with transaction.atomic():
        run = products.save(job.file_name)
        n = counted(len(products.products), "product is", "products are")
        finish_job(job, message=f"{n} in run {run.pk}.")


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
    finish_job(job, message=f"{name} is a corpus of {counted(documents, 'document')}.")
    job.path.unlink(missing_ok=True)
    log_action(
        study=job.study, by=job.by, message=f"Uploaded the corpus {name}: {counted(documents, 'document')}."
    )


def make_study_of(job: Job) -> None:
    """Make the study, whose job it is from then on."""
    source = job.study
    assert source is not None
    chosen: dict[str, Any] = job.parameters
    run = Run.objects.select_related("generating", "study").filter(study=source, pk=chosen["run"]).first()
    if run is None:
        raise Refused("The run is gone.")

    def done(made: Study) -> None:
        finish_job(job, message=f"{made_of_products(made)} Check it, then launch it.", study=made)

    make_study(
        run,
        chosen["options"],
        by=job.by,
        slug=job.slug,
        title=chosen["title"],
        uneven=chosen.get("uneven", ""),
        replace_broken=True,
        watch=JobProgress(job),
        and_then=done,
    )
