"""`{% study_bar study "report" %}`: a study's name and tabs on the pages that are not the admin's."""

from typing import Any

from django import template
from django.template.context import Context

from evaluation.admin.pages import study_tabs
from evaluation.models import Study

register = template.Library()


@register.inclusion_tag("evaluation/_study_bar.html", takes_context=True)
def study_bar(context: Context, study: Study, here: str = "") -> dict[str, Any]:
    """The bar as the admin has it; `here` is the key of the page among `evaluation.admin.pages.tabs`."""
    return {"study": study, **study_tabs(study, here)}
