"""Notes in their place: on the page of an item, of it and of its judgments."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse

from evaluation.admin.base import parse_id
from evaluation.admin.pages import way_back
from evaluation.admin.rights import study_page
from evaluation.models import Item, Judgment, Note, Study
from evaluation.refusals import Refused
from evaluation.services.notes import add_note, delete_note


@study_page("write", methods=("POST",))
def write_note(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """Write a note on the item or, where the form names one, on a judgment of it."""
    item = get_object_or_404(Item, study=study, pk=pk)
    named, judgment = request.POST.get("judgment", ""), None
    if named:
        judgment = Judgment.objects.filter(item=item, pk=parse_id(named) or 0).first()
        if judgment is None:
            raise Http404
    try:
        add_note(item, text=request.POST.get("text", ""), by=request.user, judgment=judgment)
    except Refused as refused:
        messages.error(request, str(refused))
    return _back(request, item)


@study_page("write", methods=("POST",))
def delete(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """Delete a note."""
    note = get_object_or_404(
        Note.objects.select_related("study", "item", "judgment__rater"), study=study, pk=pk
    )
    item = note.item
    try:
        delete_note(note, by=request.user)
    except Refused as refused:
        messages.error(request, str(refused))
    return _back(request, item)


def _back(request: HttpRequest, item: Item) -> HttpResponse:
    page = reverse("admin:evaluation_item_page", args=[item.study.slug, item.pk])
    return HttpResponseRedirect(way_back(request, page))
