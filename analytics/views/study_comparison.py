"""Two studies, or two views of one, compared: the page, which also asks with what, and its files."""

from collections.abc import Mapping
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.views.decorators.http import require_safe

from analytics.awaited import current_comparison
from analytics.reports.common import NothingToReport
from analytics.reports.comparison import document as compared
from analytics.reports.comparison.files import BY_SUFFIX, CONTENT_TYPES
from analytics.reports.comparison.page import comparison_page
from analytics.reports.comparison.sides import ComparisonSide, Sides
from analytics.views.study_report import REFRESH
from analytics.views.view_fields import view_fields, view_names
from analytics.views.wanted import refusal, wants_page
from evaluation.dumps.pooling import other_rounds
from evaluation.filters import NAMES, SAVED, Filters
from evaluation.models import Study
from evaluation.permissions import get_study_for, studies_for
from evaluation.refusals import FieldsRefused


@login_required
@require_safe
def study_comparison(request: HttpRequest, slug: str) -> HttpResponse:
    """The figures side by side; without another study, or another view, what there is to choose."""
    study = get_study_for(request.user, slug)
    context: dict[str, object] = {"study": study, "others": _others(request, study)}
    if not request.GET.get("other"):
        return _page(request, context)
    a, b, wrong = _wanted(request, study)
    if wrong:
        return _refused(request, a, b, wrong)
    context |= _chosen(a, b)
    context["pools"] = other_rounds(request.user, a.study).filter(pk=b.study.pk).exists()
    try:
        sides = Sides.of(a, b)
        found, awaited = current_comparison(sides, by=request.user)
    except NothingToReport as nothing:
        return _page(request, {**context, "reason": str(nothing)})
    if found is None:
        response = _page(request, {**context, "awaited": awaited})
        response["Refresh"] = REFRESH
        return response
    return _page(request, {**context, "page": comparison_page(found)})


@login_required
@require_safe
def study_comparison_file(request: HttpRequest, slug: str, suffix: str) -> HttpResponse:
    """The same as a file; the page says what is missing while there is none."""
    study = get_study_for(request.user, slug)
    if suffix not in BY_SUFFIX or not request.GET.get("other"):
        raise Http404
    a, b, wrong = _wanted(request, study)
    if wrong:
        return _refused(request, a, b, wrong)
    try:
        found, _ = current_comparison(Sides.of(a, b), by=request.user)
    except NothingToReport:
        found = None
    if found is None:
        return redirect(reverse("analytics:study-comparison", args=[slug]) + _query(a, b))
    response = HttpResponse(BY_SUFFIX[suffix](found), content_type=CONTENT_TYPES[suffix])
    name = f"{slug}-and-{b.study.slug}.{suffix}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    add_never_cache_headers(response)
    return response


def _others(request: HttpRequest, study: Study) -> list[tuple[str, str]]:
    """Slug and title of every launched study that the user may read, this one first: it may be in another view."""
    launched = studies_for(request.user).filter(revisions__isnull=False).exclude(pk=study.pk).distinct()
    named = list(launched.order_by("title", "slug").values_list("slug", "title"))
    return [(study.slug, f"{study.title} (another view)"), *named]


def _wanted(request: HttpRequest, study: Study) -> tuple[ComparisonSide, ComparisonSide, str]:
    """Both sides of the address, and what is wrong with it; a side whose view is wrong is the whole study.

    Http404 for a study that the user may not read.
    """
    other = get_study_for(request.user, request.GET["other"])
    sides, wrong = [], []
    for name, each in zip(compared.NAMES, (study, other), strict=True):
        filters = Filters()
        try:
            given = {key: request.GET.getlist(f"{name}_{key}") for key in (*NAMES, SAVED)}
            filters = Filters.parse(each, given)
        except FieldsRefused as refused:
            wrong.append(f"{name.upper()}: {refused}")
        sides.append(ComparisonSide(each, filters))
    a, b = sides
    return a, b, " ".join(wrong)


def _refused(request: HttpRequest, a: ComparisonSide, b: ComparisonSide, reason: str) -> HttpResponse:
    """The fault of the address, above the form in which both sides can be chosen anew."""
    if not wants_page(request):
        return refusal(request, a.study, reason)
    context = {"study": a.study, "others": _others(request, a.study), **_chosen(a, b), "reason": reason}
    return _page(request, context, status=400)


def _chosen(a: ComparisonSide, b: ComparisonSide) -> Mapping[str, object]:
    """The variables of the page that say which sides are compared."""
    return {
        "other": b.study,
        "views": [
            {
                "name": name.upper(),
                "study": side.study,
                **view_fields(side.study, side.filters, view_names(side.study), f"{name}_"),
            }
            for name, side in zip(compared.NAMES, (a, b), strict=True)
        ],
        "query": _query(a, b),
        "is_view": bool(a.filters or b.filters),
    }


def _query(a: ComparisonSide, b: ComparisonSide) -> str:
    pairs = [("other", b.study.slug)]
    for name, side in zip(compared.NAMES, (a, b), strict=True):
        pairs += [(f"{name}_{key}", value) for key, value in side.filters.pairs]
    return f"?{urlencode(pairs)}"


def _page(request: HttpRequest, context: Mapping[str, object], status: int = 200) -> HttpResponse:
    response = render(request, "analytics/study_comparison.html", context, status=status)
    add_never_cache_headers(response)
    return response
