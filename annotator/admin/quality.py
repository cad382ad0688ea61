"""Each participant's care."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from annotator.admin.participants import without_participants
from annotator.services.quality.cached_quality import cached_quality, read_reports
from evaluation.admin.pages import Tab, page, tabs
from evaluation.admin.rights import has_right, study_page
from evaluation.models import Study

PER_PAGE = 100

tabs["quality"] = Tab("Quality", "admin:evaluation_study_quality", 32, "People and judges", "admin#4-watch")


@study_page()
def quality(request: HttpRequest, study: Study) -> HttpResponse:
    """Each participant's care, those with most signs of the contrary first."""
    kept = cached_quality(study)
    pages = Paginator(kept, PER_PAGE)
    current = pages.get_page(request.GET.get("page"))
    context = {
        "title": "Quality",
        "empty": None if kept else without_participants(request, study),
        "reports": read_reports(study, list(current)),
        "pages": current,
        "n": len(kept),
        "signed": sum(bool(figures["signs"]) for _, figures in kept),
        "exclude_url": reverse("admin:evaluation_rater_exclude"),
        "may_exclude": has_right(request, "write", study.pk),
    }
    return page(request, "admin/annotator/quality.html", context, study=study, tab="quality")
