"""A study's runs with their progress: a panel of the study page, and a page of its own without scripts."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.views.decorators.http import require_safe

from evaluation.models import Study
from evaluation.permissions import NoRight, get_study_for
from judging.acts import possible_acts
from judging.models import ACTIVE, WorkKind
from judging.selectors import runs_of
from judging.services.groups.run_groups import groups_of
from judging.services.runs.progress import runs_progress

# The newest ones; the admin lists all.
SHOWN = 20
LABELS = {"pause": "Pause", "resume": "Resume", "cancel": "Cancel"}


@login_required
@require_safe
def run_list(request: HttpRequest, slug: str) -> HttpResponse:
    study = get_study_for(request.user, slug)
    template = "judging/_run_list.html" if request.headers.get("HX-Request") else "judging/run_list.html"
    response = render(request, template, run_list_context(request, study))
    add_never_cache_headers(response)
    return response


def run_list_context(request: HttpRequest, study: Study) -> dict[str, Any]:
    runs = list(runs_of(study)[:SHOWN])
    progress = runs_progress(runs)
    together = {run.group_id for run in runs if run.group_id is not None}
    groups = {group.pk: group for group in groups_of(study).filter(pk__in=together)} if together else {}
    return {
        "study": study,
        "rows": [
            {
                "run": run,
                "progress": progress[run.pk],
                "acts": [
                    (LABELS[act], reverse(f"judging:run-{act}", args=[study.slug, run.pk]))
                    for act in possible_acts(run)
                ],
                # Above the first of those that were started together, which follow each other.
                "group": groups.pop(run.group_id, None) if run.group_id else None,
            }
            for run in runs
        ],
        "active": any(run.state in ACTIVE and run.work != WorkKind.REVISION for run in runs),
        "may_steer": _may_steer(request.user, study),
    }


def _may_steer(user: Any, study: Study) -> bool:
    try:
        get_study_for(user, study.slug, right="write")
    except NoRight:
        return False
    return True
