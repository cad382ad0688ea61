"""The studies that a member may see."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from evaluation.permissions import studies_for
from evaluation.selectors import annotate_judgment_counts


@login_required
@require_safe
def study_list(request: HttpRequest) -> HttpResponse:
    # Rehearsals are found from their drafts.
    own = studies_for(request.user).filter(rehearsal_of=None)
    studies = [(study, f"{study.n_judgments:,}") for study in annotate_judgment_counts(own)]
    return render(request, "evaluation/study_list.html", {"studies": studies})
