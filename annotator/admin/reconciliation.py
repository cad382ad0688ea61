"""The panel's page of a study: how it stands there, the money, every visit on both sides, and what does not match."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.utils.http import urlencode

from annotator.admin import deciding, mending, recruiting, settling
from annotator.admin.deciding import panel_url
from annotator.models import Panel, PanelAct, PanelReading, PanelRecord, PanelStatus
from annotator.platforms import get_platform
from annotator.platforms.prolific import statuses
from annotator.services.cases import GONE, PAID, STANDING, Case, Kind
from annotator.services.mismatch_kinds import KINDS, Mismatch
from annotator.services.panels import panel_of
from annotator.services.reconciling import Reconciliation, reconcile
from annotator.services.whom import whom_of
from evaluation.admin.base import Scoped, StudyFilter
from evaluation.admin.pages import Tab, page, tabs
from evaluation.admin.rights import may, study_page
from evaluation.models import Study

tabs.register("panel", Tab("Panel", "annotator_panelrecord_reconciliation", 47, per_study=True))

PER_PAGE = 50
# Mismatches of one kind that are listed; the others are found by the filter.
LISTED = 25
MENDS = {
    "settle": "Settle",
    "settle_paid": "Settle as paid",
    "pay_again": "Pay again",
    "take_down": "Take it down",
    "send": "Send again",
    "link": "Link",
    "approve": "Approve anyway",
    "reject": "Reject",
    "ask": "Ask to return",
    "bonus": "Pay a bonus",
    "exclude": "Exclude",
    "discard": "Leave out, judge anew",
    "places": "Add places",
    "whom": "Set it there anew",
    "pause": "Pause there",
    "sync": "Ask the panel",
    "know": "Let it stand",
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
class Row:
    """A visit as the list shows it."""

    case: Case
    mismatches: list[Mismatch]
    acts: list[PanelAct]
    links: list[tuple[str, str]]


@dataclass(frozen=True)
class Group:
    """Mismatches of one kind, the first of them with what can be done."""

    what: str
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
    writes = may(request, "write", study.pk)
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
        "reading": PanelReading.objects.filter(panel=panel).order_by("-pk").first(),
        "found": found,
        "sums": (found.money.wages, found.money.bonuses, found.money.total),
        "groups": list(_groups(found, writes)),
        "filters": _filters(request, found),
        "q": request.GET.get("q", ""),
        "show": request.GET.get("show", "all"),
        "kind": request.GET.get("kind", ""),
        "kinds": [(key, label) for key, label in KINDS.items() if key not in ("filters", "places", "event")],
        "rows": [_row(found, case, writes) for case in current],
        "pages": current,
        "around": _query(request, page=None),
        "approve_url": panel_url(study, "approve"),
        "bonuses_url": panel_url(study, "bonuses"),
        "send_url": panel_url(study, "send"),
    }
    return page(request, "admin/annotator/reconciliation.html", context, study=study, tab="panel")


@study_page()
def reading(request: HttpRequest, study: Study) -> HttpResponse:
    """How far the latest reading is; the page asks for this by itself, and is loaded anew when it has ended."""
    latest = PanelReading.objects.filter(panel__study=study).order_by("-pk").first()
    if latest is None:
        raise Http404
    response = render(request, "admin/annotator/_reading.html", {"reading": latest, "study": study})
    if not latest.is_active:
        response["HX-Refresh"] = "true"
    add_never_cache_headers(response)
    return response


def _takes(panel: Panel) -> str:
    """Whom the panel lets in, in a sentence."""
    if not get_platform(panel.platform).has_api:
        return ""
    said = whom_of(panel).sentences()
    return f"Takes: {'; '.join(said)}." if said else "Takes everybody."


def _platform_url(study: Study) -> str:
    return reverse("admin:annotator_participant_platform", args=[study.pk])


# --- how it stands ----------------------------------------------------------------------------------------------------


def _status(panel: Panel) -> str:
    """A sentence on the study at the panel."""
    platform = get_platform(panel.platform)
    if not platform.has_api:
        return f"{platform.label} can't be asked from here: what it knows of submissions and payments is not shown."
    if not panel.external_id:
        return f"Not drafted on {platform.label} yet."
    said = f"{platform.label}: {statuses.STUDY.get(panel.status, panel.status.lower() or 'unknown')}"
    asked = f", asked {panel.synced_at:%Y-%m-%d %H:%M} UTC" if panel.synced_at else ", never asked since"
    return f"{said}{asked}."


def _acts(panel: Panel, found: Reconciliation) -> list[tuple[str, str]]:
    """What can be asked of the study there as it stands, the next thing first."""
    if not get_platform(panel.platform).has_api:
        return []
    if not panel.external_id:
        names = [("Draft it there", "draft"), ("Whom to take", "whom"), ("Use a preset", "preset")]
    else:
        names = [
            *([("Publish", "publish"), ("Whom to take", "whom")] if panel.status == statuses.DRAFT else []),
            *([("Go on recruiting", "start")] if panel.status == statuses.PAUSED else []),
            ("Ask the panel again", "sync"),
            *([("Pause", "pause")] if panel.status == statuses.ACTIVE else []),
            *([("Add places", "places")] if panel.status != statuses.DRAFT else []),
            *([(f"Send what waits ({len(found.waiting)})", "send")] if found.waiting else []),
        ]
    return [(label, panel_url(panel.study, name)) for label, name in names]


# --- mismatches -------------------------------------------------------------------------------------------------------


def _groups(found: Reconciliation, writes: bool) -> Iterable[Group]:
    for kind, what in KINDS.items():
        mine = [each for each in found.mismatches if each.kind == kind]
        if mine:
            more = f"?{urlencode({'kind': kind})}#visits" if len(mine) > LISTED else ""
            lines = [(each, _mends(found.panel, each) if writes else []) for each in mine[:LISTED]]
            yield Group(what, len(mine), more, lines)


def _mends(panel: Panel, mismatch: Mismatch) -> list[tuple[str, str]]:
    """Label and address of each act that mends it."""
    urls = ((MENDS[name], _mend_url(panel.study, name, mismatch)) for name in mismatch.mends)
    return [(label, url) for label, url in urls if url]


def _mend_url(study: Study, name: str, mismatch: Mismatch) -> str:
    """Empty where the visit lacks what the act is about."""
    case = mismatch.case
    if name == "places":
        return f"{panel_url(study, name)}?{urlencode({'more': mismatch.more})}"
    if name in ("sync", "pause", "send", "whom"):
        return panel_url(study, name)
    if name == "know":
        return f"{panel_url(study, 'know')}?{urlencode({'key': mismatch.key})}"
    if name in ("settle", "settle_paid", "pay_again"):
        return panel_url(study, name, mismatch.act.pk) if mismatch.act is not None else ""
    return _case_url(study, name, case) if case is not None else ""


def _case_url(study: Study, name: str, case: Case) -> str:
    record, visit, person = case.record, case.submission, case.participant
    if name == "link":
        if record is not None and record.submission_id is None:
            return f"{panel_url(study, 'link')}?record={record.pk}"
        return f"{panel_url(study, 'link')}?visit={visit.pk}" if record is None and visit is not None else ""
    if name in ("exclude", "discard"):
        if person is None or case.work.excluded:
            return ""
        if name == "exclude":
            return f"{reverse('admin:evaluation_rater_exclude')}?ids={person.rater_id}"
        return panel_url(study, "discard", person.pk)
    if record is None:
        return ""
    if name in ("approve", "bonus"):
        return f"{panel_url(study, 'approve' if name == 'approve' else 'bonuses')}?record={record.pk}"
    return panel_url(study, name, record.pk)


# --- visits -----------------------------------------------------------------------------------------------------------


def _shown(request: HttpRequest, found: Reconciliation) -> list[Case]:
    """The visits that the address asks for; an unknown filter shows all."""
    rule = SHOWN.get(request.GET.get("show", "all"), SHOWN["all"])[1]
    wanted, kind = request.GET.get("q", "").strip().lower(), request.GET.get("kind", "")
    cases = [case for case in found.cases if rule(found, case)]
    if kind in KINDS:
        odd = {id(each.case) for each in found.mismatches if each.kind == kind}
        cases = [case for case in cases if id(case) in odd]
    return [case for case in cases if not wanted or wanted in _searched(case)]


def _searched(case: Case) -> str:
    rater = str(case.participant.rater) if case.participant is not None else ""
    return f"{case.id} {case.person} {rater}".lower()


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


def _row(found: Reconciliation, case: Case, writes: bool) -> Row:
    acts = [act for act in case.acts if act.state in STANDING]
    return Row(case, found.of_case(case), acts, _row_links(found.panel.study, case) if writes else [])


def _row_links(study: Study, case: Case) -> list[tuple[str, str]]:
    if case.record is None:
        return []
    names = []
    if case.status == PanelStatus.AWAITING_REVIEW and not case.is_decided:
        names = ["approve", "reject", "ask"]
    elif case.status == PanelStatus.AWAITING_REVIEW and not case.standing(Kind.APPROVE, Kind.REJECT):
        names = ["approve", "reject"]
    if not case.may_reject:
        names = [name for name in names if name != "reject"]
    labels = {"approve": "Approve", "reject": "Reject", "ask": "Ask to return", "bonus": "Bonus"}
    at_work = case.status in (PanelStatus.RESERVED, PanelStatus.ACTIVE)
    return [
        (labels[name], _case_url(study, name, case)) for name in (*names, *(() if at_work else ("bonus",)))
    ]


@admin.register(PanelRecord)
class PanelRecordAdmin(Scoped):
    """The panel's own records, as it gave them."""

    study_path = "panel__study"
    tab = "panel"
    fields = (
        "external_id", "participant_id", "submission", "status", "status_at", "started_at", "completed_at", "code",
    )  # fmt: skip
    list_display = ("external_id", "participant_id", "status", "status_at", "code", "submission")
    list_filter = (StudyFilter.at("panel__study"), "status")
    list_select_related = ("panel__study", "submission")
    search_fields = ("external_id", "participant_id")
    ordering = ("-pk",)

    def extra_pages(self) -> Sequence[tuple[str, str, Callable[..., HttpResponse]]]:
        study, about = "<int:pk>/panel/", "<int:record>/"
        return (
            ("<int:pk>/reconciliation/", "reconciliation", reconciliation),
            (f"{study}preset/", "preset", recruiting.preset),
            (f"{study}whom/", "whom", recruiting.whom),
            (f"{study}draft/", "draft", recruiting.draft),
            (f"{study}places/", "places", recruiting.places),
            *((f"{study}{name}/", name, recruiting.move(name)) for name in recruiting.MOVES),
            (f"{study}sync/", "sync", recruiting.ask_again),
            (f"{study}reading/", "reading", reading),
            (f"{study}approve/", "approve", deciding.approve),
            (f"{study}reject/{about}", "reject", deciding.reject),
            (f"{study}ask/{about}", "ask", deciding.ask),
            (f"{study}bonuses/", "bonuses", deciding.bonuses),
            (f"{study}send/", "send", settling.send_now),
            (f"{study}settle/<int:act>/", "settle", settling.settle_act),
            (f"{study}settle-paid/<int:act>/", "settle_paid", settling.settle_paid),
            (f"{study}pay-again/<int:act>/", "pay_again", settling.pay_anew),
            (f"{study}take-down/{about}", "take_down", settling.take_down_bonus),
            (f"{study}cancel/<int:act>/", "cancel", settling.cancel_act),
            (f"{study}link/", "link", mending.link_visit),
            (f"{study}discard/<int:participant>/", "discard", mending.discard),
            (f"{study}know/", "know", mending.know),
            (f"{study}reopen/<int:known>/", "reopen", mending.reopen),
        )
