"""A study's leaderboard for its members, with the owner's button that publishes or withdraws it."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import add_never_cache_headers
from django.views.decorators.http import require_POST, require_safe

from analytics.leaderboard import files
from analytics.leaderboard.boards import LeaderboardRecord, leaderboard_record
from analytics.reports.cache import LEADERBOARD_TIES, computed_at
from analytics.views.leaderboard import csv_file, shown_boards
from analytics.views.wanted import WantedReport
from evaluation.filters import EVERYTHING
from evaluation.models import PublishedLeaderboard, Study
from evaluation.models.leaderboard import LONGEST_DESCRIPTION
from evaluation.permissions import get_study_for, studies_for
from evaluation.refusals import Refused
from evaluation.services.leaderboards import publish_leaderboard, unpublish_leaderboard


class PublicationForm(forms.Form):
    """An owner's wish, which counts only with its confirmation."""

    description = forms.CharField(max_length=LONGEST_DESCRIPTION, required=False)
    confirm = forms.BooleanField(error_messages={"required": "Nothing was changed: tick the box to confirm."})


def of_ranked_study(
    right: str = "view",
) -> Callable[[Callable[..., HttpResponse]], Callable[..., HttpResponse]]:
    """Hands the view a study in which the user has the right, and its boards as the report is now; while there is no
    report, the report's page says so."""

    def decorate(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
        @wraps(view)
        def read(request: HttpRequest, slug: str) -> HttpResponse:
            study = get_study_for(request.user, slug, right=right)
            record = _record(study, request.user)
            if record is None:
                return redirect(_ranked(study, request.user).address)
            return view(request, study, record)

        return read

    return decorate


@login_required
@require_safe
@of_ranked_study()
def study_leaderboard(request: HttpRequest, study: Study, record: LeaderboardRecord) -> HttpResponse:
    return _page(request, study, record)


@login_required
@require_safe
@of_ranked_study()
def study_leaderboard_json(request: HttpRequest, study: Study, record: LeaderboardRecord) -> HttpResponse:
    response = HttpResponse(files.leaderboard_json(record), content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="{study.slug}-leaderboard.json"'
    return _unshared(response)


@login_required
@require_safe
@of_ranked_study()
def study_leaderboard_csv(request: HttpRequest, study: Study, record: LeaderboardRecord) -> HttpResponse:
    return _unshared(csv_file(study.slug, record))


@login_required
@require_POST
@of_ranked_study(right="own")
def study_leaderboard_publication(
    request: HttpRequest, study: Study, record: LeaderboardRecord
) -> HttpResponse:
    """Publish or withdraw, which only owners may, and only with the box ticked."""
    form = PublicationForm(request.POST)
    if not form.is_valid():
        errors = [str(message) for found in form.errors.values() for message in found]
        return _page(request, study, record, errors=errors, status=422)
    try:
        if "withdraw" in request.POST:
            done = unpublish_leaderboard(study, by=request.user)
        else:
            done = publish_leaderboard(
                study,
                content=record,
                computed_at=computed_at(study),
                description=form.cleaned_data["description"],
                by=request.user,
            )
    except Refused as refused:
        return _page(request, study, record, errors=refused.problems, status=422)
    messages.success(request, done)
    return redirect("analytics:study-leaderboard", slug=study.slug)


def _ranked(study: Study, by: Any) -> WantedReport:
    """The report by which systems are ranked: of the whole study."""
    return WantedReport(study, LEADERBOARD_TIES, EVERYTHING, by)


def _record(study: Study, by: Any) -> LeaderboardRecord | None:
    """The boards of the report as it is now; None while that is computed, or where there is nothing to report."""
    report = _ranked(study, by).current_or_none()
    return None if report is None else leaderboard_record(report)


def _page(
    request: HttpRequest,
    study: Study,
    record: LeaderboardRecord,
    *,
    errors: Sequence[str] = (),
    status: int = 200,
) -> HttpResponse:
    context = {
        **shown_boards(request, record),
        "study": study,
        "computed_at": computed_at(study),
        "published": PublishedLeaderboard.objects.select_related("published_by").filter(study=study).first(),
        "owns": studies_for(request.user, "own").filter(pk=study.pk).exists(),
        "errors": errors,
        "given": request.POST.get("description"),
    }
    return _unshared(render(request, "analytics/study_leaderboard.html", context, status=status))


def _unshared(response: HttpResponse) -> HttpResponse:
    """For members alone: no cache keeps it, no search engine lists it."""
    add_never_cache_headers(response)
    response["X-Robots-Tag"] = "noindex"
    return response
