"""A rater's page: who it is, and all that it judged, the latest first."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from evaluation.admin.base import parse_id
from evaluation.admin.explorer.judgment_cards import judgment_cards, name_as_seen
from evaluation.admin.explorer.seen_screen import SYSTEMS
from evaluation.admin.pages import page
from evaluation.admin.rights import has_right, study_page
from evaluation.extension import extensions
from evaluation.models import Judgment, Rater, Study
from evaluation.selectors import standing_exclusions, system_labels

PER_PAGE = 25
# Of an address: the id of the judgment after which a page goes on.
BEFORE = "before"


@study_page()
def rater_page(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """A judge, or whoever was imported; who took part has a page of the app that let them in."""
    rater = Rater.objects.filter(study=study, pk=pk).first()
    if rater is None:
        raise Http404
    for each in extensions():
        if address := each.rater_url(rater):
            asked = request.META.get("QUERY_STRING", "")
            return HttpResponseRedirect(f"{address}?{asked}" if asked else address)
    context = {"title": str(rater), "facts": rater_facts(rater), **rater_context(request, study, rater)}
    return page(request, "evaluation/explorer/rater_page.html", context, study=study, tab="raters")


def rater_facts(rater: Rater) -> list[tuple[str, str]]:
    """Name and value of each, as far as the core knows the rater."""
    facts = [
        ("Kind", f"{rater.get_kind_display()}, {rater.get_source_display()}"),
        ("Pseudonym", rater.pseudonym if rater.label else ""),
        ("Group", rater.group),
        ("Model", str(rater.about.get("model", ""))),
        ("Report", "" if rater.in_figures else "not in it"),
    ]
    return [(name, value) for name, value in facts if value]


def rater_context(request: HttpRequest, study: Study, rater: Rater) -> dict[str, Any]:
    """The variables of a rater's judgments in place, with the acts on them."""
    named = request.GET.get(SYSTEMS) == "1"
    rows = Judgment.objects.filter(study=study, rater=rater).select_related("item", "rater", "revision")
    before = parse_id(request.GET.get(BEFORE, ""))
    later = rows if before is None else rows.filter(pk__lt=before)
    judgments = list(later.order_by("-pk")[: PER_PAGE + 1])
    shown = judgments[:PER_PAGE]
    kept = {BEFORE: str(before or ""), SYSTEMS: "1" if named else ""}
    return {
        "rater": rater,
        "n_judgments": rows.count(),
        "cards": judgment_cards(study, shown, name_as_seen(system_labels(study) if named else None)),
        "exclusion": standing_exclusions(study).filter(rater=rater).select_related("by").first(),
        "here": _asked(request, kept),
        "newest": _asked(request, {**kept, BEFORE: ""}) if before else "",
        "older": _asked(request, {**kept, BEFORE: str(shown[-1].pk)}) if len(judgments) > PER_PAGE else "",
        "systems_named": named,
        "switch_systems": _asked(request, {**kept, SYSTEMS: "" if named else "1"}),
        "exclude_url": reverse("admin:evaluation_rater_exclude"),
        "restore_url": reverse("admin:evaluation_rater_restore"),
        "may_write": has_right(request, "write", study.pk),
    }


def _asked(request: HttpRequest, asked: dict[str, str]) -> str:
    given = "&".join(f"{name}={value}" for name, value in asked.items() if value)
    return f"{request.path}?{given}" if given else request.path
