"""The conditions on whom the study's platform shows it to."""

from dataclasses import asdict
from typing import Any

from django import forms
from django.db.models import Q
from django.http import Http404, HttpRequest

from annotator.models import Panel
from annotator.panels.admin.pages import panel_url, remedy, with_refusals
from annotator.panels.platforms import get_platform
from annotator.panels.platforms.eligibility import Criteria, Eligibility
from annotator.panels.services.recruitment_filters import (
    eligibility_of,
    filters_of,
    filters_set,
    set_filters,
)
from evaluation.admin.pages import ConfirmedAction, OptionalReasonForm
from evaluation.admin.rights import my_studies
from evaluation.models import Study


def _filters_form(eligibility: Eligibility, others: list[tuple[str, str]]) -> type[OptionalReasonForm]:
    """A field for each condition, with the studies that the user may name; without any, nobody can be kept out. What is
    left empty asks for nothing."""
    fields = eligibility.form_fields()
    if not others:
        fields.pop("not_from", None)
        fields.pop("by", None)
    elif isinstance(field := fields.get("not_from"), forms.MultipleChoiceField):
        field.choices = others
    order = {"field_order": (*eligibility.labels, "reason")}
    return type("FiltersForm", (OptionalReasonForm,), {**fields, **order})


@remedy("filters", "Set the filters there again", "recruitment-filters/")
def recruitment_filters(request: HttpRequest, panel: Panel) -> ConfirmedAction:
    """The recruitment filters, by field; a draft that nobody sees yet is changed there as well."""
    platform = get_platform(panel.platform)
    eligibility, now = eligibility_of(platform), filters_of(panel)
    if eligibility is None or now is None:
        raise Http404
    form = _filters_form(eligibility, _others(request, panel.study, now, platform.key))

    def do(data: dict[str, Any]) -> str:
        given = {name: data[name] for name in eligibility.labels if name in data}
        notes = with_refusals(lambda: set_filters(panel.study, given, by=request.user, reason=data["reason"]))
        panel.refresh_from_db()
        return " ".join([filters_set(panel), *notes])

    return ConfirmedAction(
        title="Eligibility",
        text=f"{platform.label} shows the study only to people who match. Names are checked against its list "
        "when you save, and again when the study is drafted; an unknown name stops that and "
        "never recruits other people instead."
        + (" The draft there is updated, too." if panel.drafted_at is not None else ""),
        button="Save",
        form=form,
        initial={name: _as_entered(form, name, value) for name, value in asdict(now).items()},
        do=do,
        back=panel_url(panel.study),
        logs_itself=True,
    )


def _as_entered(form: type[OptionalReasonForm], name: str, value: Any) -> Any:
    """Names in one line where the field is a line of text."""
    is_line = isinstance(form.base_fields.get(name), forms.CharField)
    return ", ".join(value) if is_line and isinstance(value, tuple) else value


def _others(request: HttpRequest, study: Study, now: Criteria, platform: str) -> list[tuple[str, str]]:
    """The user's studies with people from the platform, and those that are kept out already."""
    from_there = Q(panel__platform=platform) | Q(participants__platform=platform)
    mine = my_studies(request).filter(from_there).exclude(pk=study.pk).distinct().order_by("-created_at")
    found = dict(mine.values_list("slug", "title"))
    return [*found.items(), *((slug, slug) for slug in now.not_from if slug not in found)]
