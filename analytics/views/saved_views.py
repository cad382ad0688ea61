"""Saving a view of a report under a name, and deleting it."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from analytics.views.wanted import WantedReport, of_wanted_report
from evaluation.permissions import get_study_for
from evaluation.refusals import Refused
from evaluation.services.saved_views import delete_view, save_view


@login_required
@require_POST
@of_wanted_report
def study_report_views(request: HttpRequest, wanted: WantedReport) -> HttpResponse:
    """Saves the view that the address has, or deletes the saved one that the form names; then back to the report."""
    study = get_study_for(request.user, wanted.study.slug, right="write")
    name = request.POST.get("name", "")
    try:
        if "delete" in request.POST:
            delete_view(study, name=name, by=request.user)
            messages.success(request, f"Deleted the saved view {name!r}.")
        else:
            saved = save_view(study, name=name, filters=wanted.filters.canonical(), by=request.user)
            messages.success(request, f"Saved this view as {saved.name!r}.")
    except Refused as refused:
        messages.error(request, str(refused))
    return redirect(wanted.address)
