"""Each participant's care."""

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from annotator.services.quality import quality_of
from evaluation.admin.pages import Tab, page, tabs
from evaluation.admin.rights import may, study_page
from evaluation.models import Study

tabs.register("quality", Tab("Quality", "annotator_participant_quality", 45, per_study=True))


@study_page()
def quality(request: HttpRequest, study: Study) -> HttpResponse:
    """Each participant's care, those with most signs of the contrary first."""
    reports = quality_of(study)
    context = {
        "title": "Quality",
        "reports": reports,
        "signed": sum(bool(report.signs) for report in reports),
        "exclude_url": reverse("admin:evaluation_rater_exclude"),
        "may_exclude": may(request, "write", study.pk),
    }
    return page(request, "admin/annotator/quality.html", context, study=study, tab="quality")
