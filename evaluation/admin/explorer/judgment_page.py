"""A judgment's page: the participant's screen with its answers marked, and the facts beside it."""

import json
from typing import Any

from csp.constants import SELF
from csp.decorators import csp_replace
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse

from evaluation.admin.explorer.judgment_cards import judgment_cards, name_as_seen
from evaluation.admin.explorer.seen_screen import SYSTEMS
from evaluation.admin.pages import page
from evaluation.admin.rights import has_right, study_page
from evaluation.models import Judgment, Study
from evaluation.selectors import system_labels


@csp_replace({"frame-src": [SELF]})
@study_page()
def judgment_page(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """The judgment as its rater handed it in."""
    rows = Judgment.objects.filter(study=study).select_related("item", "rater", "revision")
    judgment = rows.filter(pk=pk).first()
    if judgment is None:
        raise Http404
    named = request.GET.get(SYSTEMS) == "1"
    (card,) = judgment_cards(study, [judgment], name_as_seen(system_labels(study) if named else None))
    here = reverse("admin:evaluation_judgment_page", args=[study.slug, pk])
    context: dict[str, Any] = {
        "title": f"{judgment.rater} on {judgment.item}",
        "card": card,
        "frame": reverse("admin:evaluation_judgment_screen", args=[study.slug, pk]),
        "systems_named": named,
        "switch_systems": here if named else f"{here}?{SYSTEMS}=1",
        "here": f"{here}?{SYSTEMS}=1" if named else here,
        "trace": json.dumps(judgment.trace, indent=2, ensure_ascii=False) if judgment.trace else "",
        "may_write": has_right(request, "write", study.pk),
    }
    return page(request, "evaluation/explorer/judgment_page.html", context, study=study, tab="judgments")
