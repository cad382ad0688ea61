"""The panel's page of a study: how it stands there, the money, every visit on both sides, and what does not match."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.utils.http import urlencode

from annotator.models import Panel, PanelAct, PanelStatus
from annotator.panels.admin.pages import PAGES, Remedy, panel_url, remedies_of
from annotator.panels.platforms import get_platform, statuses
from annotator.panels.reconciliation.cases import Case
from annotator.panels.reconciliation.kinds import MISMATCH_KINDS, Mismatch
from annotator.panels.reconciliation.overview import Reconciliation, reconcile
from annotator.panels.services.linked_studies import linked_sentence
from annotator.panels.services.panel_settings import panel_of
from annotator.panels.services.reading_jobs import latest_reading
from annotator.panels.services.recruitment_filters import eligibility_of, filter_sentences
from annotator.panels.states import GONE, PAID, STANDING, Kind
from evaluation.admin.pages import Tab, page, tabs
from evaluation.admin.rights import has_right, reads_ids, study_page
from evaluation.models import Study
from evaluation.services.studies.retention import retention_text

tabs["panel"] = Tab("Panel", "admin:evaluation_study_panel", 34, "People and judges", "panels")

PER_PAGE = 50
# Mismatches of one kind that are listed; the others are found by the filter.
LISTED = 25
# What beside a visit is said of a remedy, where nothing speaks against it.
ROW_LABELS = {
    "visit": "Reconcile",
    "approve": "Approve",
    "reject": "Reject",
    "ask": "Ask to return",
    "bonus": "Bonus",
}
SHOWN: dict[str, tuple[str, Callable[[Reconciliation, Case], bool]]] = {
    "all": ("All", lambda found, case: True),
    "odd": ("With a mismatch", lambda found, case: bool(found.of_case(case))),
    "ready": ("To approve", lambda found, case: found.is_ready(case)),
    "review": ("Awaiting review", lambda found, case: case.status == PanelStatus.AWAITING_REVIEW),
    "work": ("At work", lambda found, case: case.status in (PanelStatus.RESERVED, PanelStatus.ACTIVE)),
    "paid": ("Approved", lambda found, case: case.status in PAID),
    "gone": ("Returned or timed out", lambda found, case: case.status in GONE),
    "rejected": ("Rejected", lambda found, case: case.status == PanelStatus.REJECTED),
    "here": ("Here only", lambda found, case: case.record is None),
}


@dataclass(frozen=True)
class VisitRow:
    """A visit as the list shows it."""

    case: Case
    mismatches: list[Mismatch]
    acts: list[PanelAct]
    links: list[tuple[str, str]]


@dataclass(frozen=True)
class MismatchGroup:
    """Mismatches of one kind, the first of them with what can be done."""

    title: str
    n: int
    more: str
    lines: list[tuple[Mismatch, list[tuple[str, str]]]]


@study_page()
def reconciliation(request: HttpRequest, study: Study) -> HttpResponse:
    panel = panel_of(study)
    if panel is None:
        context: dict[str, Any] = {"title": "Panel", "panel": None, "platform_url": _platform_url(study)}
        return page(request, "admin/annotator/reconciliation.html", context, study=study, tab="panel")
    panel.study = study
    found = reconcile(panel)
    writes = has_right(request, "write", study.pk)
    shown = _shown(request, found)
    pages = Paginator(shown, PER_PAGE)
    current = pages.get_page(request.GET.get("page"))
    context = {
        "title": "Panel",
        "panel": panel,
        "platform": get_platform(panel.platform),
        "status": _status(panel),
        "acts": _acts(panel, found) if writes else [],
        "platform_url": _platform_url(study),
        "takes": _takes(panel),
        "linked": [linked_sentence(each) for each in panel.linked_studies.all()],
        "retention": retention_text(study),
        "reading": latest_reading(study),
        "found": found,
        "sums": (found.money.wages, found.money.bonuses, found.money.total),
        "groups": list(_groups(found, writes)),
        "filters": _filters(request, found),
        "q": request.GET.get("q", ""),
        "show": request.GET.get("show", "all"),
        "kind": request.GET.get("kind", ""),
        "kinds": [(each.key, each.title) for each in MISMATCH_KINDS.values() if each.is_of_visits],
        "rows": [_row(found, case, writes) for case in current],
        "pages": current,
        "around": _query(request, page=None),
        "approve_url": panel_url(study, "approve"),
        "bonuses_url": panel_url(study, "bonus"),
        "send_url": panel_url(study, "send"),
    }
    return page(request, "admin/annotator/reconciliation.html", context, study=study, tab="panel")


@study_page()
def reading(request: HttpRequest, study: Study) -> HttpResponse:
    """The progress of the latest reading; the page asks for this by itself, and is reloaded when it has ended."""
    latest = latest_reading(study)
    if latest is None:
        raise Http404
    response = render(request, "admin/annotator/_reading.html", {"reading": latest, "study": study})
    if not latest.is_active:
        response["HX-Refresh"] = "true"
    add_never_cache_headers(response)
    return response


def _takes(panel: Panel) -> str:
    """The recruitment filters, in a sentence."""
    if eligibility_of(get_platform(panel.platform)) is None:
        return ""
    said = filter_sentences(panel)
    return f"Eligibility: {'; '.join(said)}." if said else "Open to everyone."


def _platform_url(study: Study) -> str:
    return reverse("admin:evaluation_study_platform", args=[study.slug])


# --- how it stands ----------------------------------------------------------------------------------------------------


def _status(panel: Panel) -> str:
    """A sentence on the study at the panel."""
    platform = get_platform(panel.platform)
    if platform.api is None:
        return f"{platform.label} can't be reached from here, so its submissions and payments are not shown."
    if not panel.external_id:
        return f"Not drafted on {platform.label} yet."
    said = f"{platform.label}: {statuses.STUDY.get(panel.status, panel.status.lower() or 'unknown')}"
    asked = (
        f", last refreshed {panel.synced_at:%Y-%m-%d %H:%M} UTC"
        if panel.synced_at
        else ", not refreshed since"
    )
    return f"{said}{asked}."


def _acts(panel: Panel, found: Reconciliation) -> list[tuple[str, str]]:
    """The acts that fit the study's state there, the next one first."""
    platform = get_platform(panel.platform)
    if platform.api is None:
        return []
    eligibility = platform.api.eligibility
    filters = [("Eligibility", "filters")] if eligibility is not None else []
    if not panel.external_id:
        names = [
            (f"Create draft on {platform.label}", "draft"),
            *filters,
            *([("Use a preset", "preset")] if eligibility is not None and eligibility.presets else []),
        ]
    else:
        names = [
            *([("Publish", "publish"), *filters] if panel.status == statuses.DRAFT else []),
            *([("Resume recruiting", "start")] if panel.status == statuses.PAUSED else []),
            ("Refresh from the panel", "sync"),
            *([("Pause", "pause")] if panel.status == statuses.ACTIVE else []),
            *([("Add places", "places")] if panel.status != statuses.DRAFT else []),
            *([("Link the study of a further visit", "link_study")] if panel.study.visits > 1 else []),
            *([("Unlink a study", "unlink_study")] if panel.linked_studies.all() else []),
            *([(f"Send pending requests ({len(found.waiting)})", "send")] if found.waiting else []),
        ]
    return [(label, panel_url(panel.study, name)) for label, name in names]


# --- mismatches -------------------------------------------------------------------------------------------------------


def _groups(found: Reconciliation, writes: bool) -> Iterable[MismatchGroup]:
    for kind in MISMATCH_KINDS.values():
        mine = [each for each in found.mismatches if each.kind is kind]
        if mine:
            more = f"?{urlencode({'kind': kind.key})}#visits" if len(mine) > LISTED else ""
            lines = [(each, remedies_of(found.panel.study, each) if writes else []) for each in mine[:LISTED]]
            yield MismatchGroup(kind.title, len(mine), more, lines)


# --- visits -----------------------------------------------------------------------------------------------------------


def _shown(request: HttpRequest, found: Reconciliation) -> list[Case]:
    """The visits that the address asks for; an unknown filter shows all."""
    rule = SHOWN.get(request.GET.get("show", "all"), SHOWN["all"])[1]
    wanted, kind = request.GET.get("q", "").strip().lower(), request.GET.get("kind", "")
    cases = [case for case in found.cases if rule(found, case)]
    if kind in MISMATCH_KINDS:
        odd = {id(each.case) for each in found.mismatches if each.kind.key == kind}
        cases = [case for case in cases if id(case) in odd]
    with_ids = reads_ids(request, found.panel.study)
    return [case for case in cases if not wanted or wanted in _searched(case, with_ids)]


def _searched(case: Case, with_ids: bool) -> str:
    rater = str(case.participant.rater) if case.participant is not None else ""
    return f"{case.id} {case.person} {rater}".lower() if with_ids else rater.lower()


def _filters(request: HttpRequest, found: Reconciliation) -> list[tuple[str, str, int, bool]]:
    """Label, address, how many, and whether it is the chosen one; what has nobody is left out."""
    chosen = request.GET.get("show", "all")
    counted = [
        (
            label,
            _query(request, show=key, page=None, kind=None),
            sum(rule(found, c) for c in found.cases),
            key,
        )
        for key, (label, rule) in SHOWN.items()
    ]
    return [(label, url, n, key == chosen) for label, url, n, key in counted if n or key in ("all", chosen)]


def _query(request: HttpRequest, **changes: Any) -> str:
    """The address's own query with changes."""
    query = {**request.GET.dict(), **changes}
    return f"?{urlencode({key: value for key, value in query.items() if value})}"


def _row(found: Reconciliation, case: Case, writes: bool) -> VisitRow:
    acts = [act for act in case.acts if act.state in STANDING]
    return VisitRow(case, found.of_case(case), acts, _row_links(found.panel.study, case) if writes else [])


def _row_links(study: Study, case: Case) -> list[tuple[str, str]]:
    if case.record is None:
        return []
    names = ["visit"]
    if case.status == PanelStatus.AWAITING_REVIEW and not case.is_decided:
        names += ["approve", "reject", "ask"]
    elif case.status == PanelStatus.AWAITING_REVIEW and not case.standing(Kind.APPROVE, Kind.REJECT):
        names += ["approve", "reject"]
    if not case.may_reject:
        names = [name for name in names if name != "reject"]
    if case.status not in (PanelStatus.RESERVED, PanelStatus.ACTIVE):
        names.append("bonus")
    links = ((label, PAGES[name]) for name, label in ROW_LABELS.items() if name in names)
    return [(label, each.url(study, case)) for label, each in links if isinstance(each, Remedy)]
