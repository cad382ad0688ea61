"""A new study from the library of forms: its cards, an entry with its first item, and the draft made of it."""

from collections.abc import Iterator
from typing import Any

from csp.constants import SELF
from csp.decorators import csp_replace
from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.csrf import csrf_exempt

from evaluation.acts import slug_problem
from evaluation.admin.pages import overview_url, page
from evaluation.admin.queueing import show_refusal
from evaluation.admin.rights import FORM
from evaluation.admin.unsaved_item import unsaved_item_page
from evaluation.counting import counted
from evaluation.library.entries import COLLECTIONS, LibraryEntry, begin_from_entry, library
from evaluation.models import Study
from evaluation.permissions import may_begin_studies, studies_for
from evaluation.refusals import Refused
from evaluation.services.studies.duplication import MAX_SLUG, MAX_TITLE, free_slug

# So many of somebody's own studies are offered, the latest first.
OWN_STUDIES = 8


class EntryForm(forms.Form):
    """The names of the draft, and whether it gets the items to try."""

    title = forms.CharField(max_length=MAX_TITLE, help_text="Shown to participants at the top of every page.")
    slug = forms.SlugField(
        max_length=MAX_SLUG, help_text="Part of every address of the study. It can't be changed later."
    )
    items = forms.BooleanField(required=False, initial=True)

    def __init__(self, entry: LibraryEntry, data: Any = None) -> None:
        super().__init__(data, initial={"title": entry.title, "slug": free_slug(entry.key)})
        self.fields["items"].label = f"With its {counted(len(entry.items), 'item')} to try"
        self.fields["items"].help_text = "Invented for this library. Uploading your own items replaces them."

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"]
        if taken := slug_problem(slug):
            raise forms.ValidationError(taken)
        return slug


def ways_to_begin(user: Any) -> dict[str, Any]:
    """The variables of the page *New study*, beside those of its blank form."""
    own = studies_for(user, "write").filter(rehearsal_of=None).order_by("-created_at", "-pk")
    return {
        "collections": list(_collections()),
        "own": [(study, _form_alone(study)) for study in own[:OWN_STUDIES]],
        "more_own": max(own.count() - OWN_STUDIES, 0),
    }


def _collections() -> Iterator[tuple[str, list[LibraryEntry]]]:
    for folder, label in COLLECTIONS.items():
        yield label, [each for each in library().values() if each.collection == folder]


def _form_alone(study: Study) -> str:
    return f"{reverse('admin:evaluation_study_duplicate', args=[study.slug])}?extent=settings"


def _entry(request: HttpRequest, key: str) -> LibraryEntry:
    if not may_begin_studies(request.user):
        raise PermissionDenied
    found = library().get(key)
    if found is None:
        raise Http404
    return found


@csp_replace({"frame-src": [SELF]})  # type: ignore[arg-type]  # it knows views without arguments alone
def library_entry(request: HttpRequest, entry: str) -> HttpResponse:
    """An entry with its first item; a POST makes the draft, which its maker owns."""
    if request.method not in FORM:
        return HttpResponseNotAllowed(FORM)
    found = _entry(request, entry)
    form = EntryForm(found, request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        try:
            study = begin_from_entry(found, owner=request.user, **form.cleaned_data)
        except Refused as refused:
            show_refusal(form, refused)
        else:
            messages.success(request, _begun(study, found))
            return HttpResponseRedirect(overview_url(study))
    context = {
        "title": found.name,
        "entry": found,
        "spec": found.spec,
        "protocol": found.protocol,
        "form": form,
        "back": reverse("admin:evaluation_study_add"),
    }
    status = 422 if form.is_bound else 200
    return page(request, "admin/evaluation/study/library_entry.html", context, status=status)


def _begun(study: Study, entry: LibraryEntry) -> str:
    n = study.items.count()
    then = f"It has {counted(n, 'item')} to try." if n else "Upload its items next."
    return f"{study.title} is a draft, begun from {entry.name}. {then}"


@csrf_exempt  # the participant's own form carries no token, and nothing is stored
@xframe_options_sameorigin
@csp_replace({"frame-ancestors": [SELF]})  # type: ignore[arg-type]
def library_item(request: HttpRequest, entry: str) -> HttpResponse:
    """The entry's first item as participants will see it."""
    if request.method not in FORM:
        return HttpResponseNotAllowed(FORM)
    found = _entry(request, entry)
    return unsaved_item_page(request, found.spec, found.first_stimulus(), slug=found.key)
