"""A study's pipelines: its queries, what can be generated for them, and the runs."""

from typing import Any

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.utils.cache import add_never_cache_headers

from evaluation.admin.pages import page
from evaluation.admin.rights import has_right, study_page
from evaluation.models import Job, Status, Study
from evaluation.services.jobs import ACTIVE
from judging.generation.pipelines import PIPELINES
from judging.job_kinds import GENERATION
from judging.models import Product, Run
from judging.services.runs.progress import runs_progress

# The newest ones.
SHOWN = 50


@study_page()
def overview(request: HttpRequest, study: Study) -> HttpResponse:
    runs = list(pipeline_runs(study)[:SHOWN])
    progress = runs_progress(runs)
    kept = Product.objects.filter(unit__run__in=runs, dropped_at=None).order_by().values("unit__run")
    products = dict(kept.annotate(n=Count("pk")).values_list("unit__run", "n"))
    context: dict[str, Any] = {
        "title": "Generation",
        "queries": study.queries.count(),
        "takes_queries": study.status == Status.DRAFT and has_right(request, "write", study.pk),
        "jobs": Job.objects.filter(study=study, kind__in=[kind.key for kind in GENERATION], state__in=ACTIVE),
        "pipelines": list(PIPELINES.values()),
        "rows": [
            {
                "run": run,
                "label": pipeline_label(run),
                "progress": progress[run.pk],
                "products": products.get(run.pk, 0),
            }
            for run in runs
        ],
    }
    response = page(request, "admin/judging/generation/overview.html", context, study=study, tab="generation")
    add_never_cache_headers(response)
    return response


def pipeline_runs(study: Study) -> Any:
    """A study's runs of pipelines, newest first."""
    return (
        Run.objects.filter(study=study, generating__isnull=False)
        .select_related("generating", "study")
        .order_by("-pk")
    )


def pipeline_label(run: Run) -> str:
    key = run.generating.pipeline
    return PIPELINES[key].label if key in PIPELINES else key
