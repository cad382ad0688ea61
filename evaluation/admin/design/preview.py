"""The preview beside a draft's form: redrawn from what is typed, which is stored nowhere."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers

from evaluation.admin.design.drawing import Chosen, Drawing, draw, preview_choices
from evaluation.admin.design.sections import DesignPage
from evaluation.admin.design.unsaved import UnsavedDraft, read_draft, stored_draft
from evaluation.admin.pages import page
from evaluation.admin.rights import FORM, study_page
from evaluation.models import Role, Study


@study_page("write", methods=FORM)
def draft_preview(request: HttpRequest, study: Study) -> HttpResponse:
    """The preview alone: as a fragment beside the form, or as the participant's page in a tab of its own."""
    if study.is_frozen:
        raise PermissionDenied("The study was launched: preview its items instead.")
    draft = read_draft(request, study) if request.method == "POST" else stored_draft(study)
    drawing = draw(draft, Chosen.of(request.POST)) if not draft.problems else Drawing()
    if request.headers.get("HX-Request"):
        context = {"drawing": drawing, "problems": draft.problems, "redrawn": True}
        response = render(request, "admin/evaluation/design/_redrawn.html", context)
    elif drawing.html:
        response = HttpResponse(drawing.html)
    else:
        response = _refusal(request, Study.objects.get(pk=study.pk), draft, drawing)
    add_never_cache_headers(response)
    return response


def _refusal(request: HttpRequest, study: Study, draft: UnsavedDraft, drawing: Drawing) -> HttpResponse:
    sentences = [sentence for _, sentence in draft.problems] or [drawing.problem]
    context = {"title": "Nothing to preview", "sentences": sentences}
    template = "admin/evaluation/design/no_preview.html"
    return page(request, template, context, study=study, tab="design", status=422)


def preview_context(study: Study, page: DesignPage) -> dict[str, Any]:
    """The variables of the pane beside a page of the form, for the draft as it is stored."""
    draft = stored_draft(study)
    drawing = draw(draft, Chosen(page=page.preview)) if not draft.problems else Drawing()
    return {
        "preview_page": page.preview,
        "drawing": drawing,
        "problems": draft.problems,
        "choices": preview_choices(draft),
        "n_items": study.items.filter(role=Role.MAIN).count(),
        "preview_url": f"{reverse('admin:evaluation_study_draft_preview', args=[study.slug])}?page={page.key}",
    }
