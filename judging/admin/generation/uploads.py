"""Files for pipelines: queries for a draft, and products of other runs. A worker reads them."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from evaluation.admin.pages import page
from evaluation.admin.queueing import queue_upload
from evaluation.admin.rights import FORM, study_page
from evaluation.admin.study.forms import UploadForm
from evaluation.models import Study
from judging.job_kinds import PRODUCTS, QUERIES


@study_page("write", methods=FORM)
def upload_queries(request: HttpRequest, study: Study) -> HttpResponse:
    """A table's queries for a draft, beside those that it has."""
    return _upload(request, study, QUERIES.key, "Upload queries", "queries_alone")


@study_page("write", methods=FORM)
def upload_products(request: HttpRequest, study: Study) -> HttpResponse:
    """A file of products, which become a complete run."""
    return _upload(request, study, PRODUCTS.key, "Import products", "products")


def _upload(request: HttpRequest, study: Study, kind: str, title: str, template_part: str) -> HttpResponse:
    form = UploadForm(request.POST or None, request.FILES or None, limit_mb=settings.ASSAY_UPLOAD_MB)
    if request.method == "POST" and form.is_valid():
        response = queue_upload(request, form, kind=kind, slug=study.slug, study=study)
        if response is not None:
            return response
    context = {
        "title": title,
        "form": form,
        "button": "Upload and check",
        template_part: True,
        "cancel": reverse("admin:evaluation_study_generation", args=[study.slug]),
    }
    status = 422 if form.is_bound else 200
    return page(request, "admin/upload.html", context, study=study, tab="generation", status=status)
