"""The page of one row that nobody edits: its fields with their values, and links to the rows that it is about."""

from typing import Any

from django.contrib.admin.utils import display_for_field, display_for_value, label_for_field, lookup_field
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.html import format_html
from django.utils.text import capfirst

from evaluation.admin.base import StudyScopedAdmin
from evaluation.admin.pages import page
from evaluation.admin.rights import View, study_page
from evaluation.models import Study

EMPTY = "\N{EN DASH}"


def record_page(of: StudyScopedAdmin) -> View:
    """The view of a row of that admin, below its study."""

    @study_page()
    def show(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
        row = of.get_queryset(request).filter(**{of.study_path: study}).filter(pk=pk).first()
        if row is None:
            raise Http404
        context = {
            "title": str(capfirst(str(row))),
            "facts": [_fact(of, row, str(name)) for name in of.get_fields(request, row)],
        }
        return page(request, "admin/evaluation/record_page.html", context, study=study, tab=of.tab)

    return show


def _fact(of: StudyScopedAdmin, row: Model, name: str) -> tuple[str, Any]:
    """The label of a field, and its value as the lists have it."""
    label = str(capfirst(str(label_for_field(name, of.model, model_admin=of))))
    field, _, value = lookup_field(name, row, of)
    if isinstance(value, Model):
        return label, _linked(of, value)
    if field is None:
        return label, display_for_value(value, EMPTY)
    return label, display_for_field(value, field, EMPTY)


def _linked(of: StudyScopedAdmin, row: Model) -> str:
    """The row's name, which leads to its page where it has one."""
    registered = of.admin_site.is_registered(type(row))
    other = of.admin_site.get_model_admin(type(row)) if registered else None
    if isinstance(other, StudyScopedAdmin) and other.pages_of_row():
        return format_html('<a href="{}">{}</a>', other.row_url(row), row)
    return str(row)
