"""The study's pages at its panel: each asks for a confirmation and acts; some of them are remedies of mismatches."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse

from annotator.models import Panel, PanelRecord
from annotator.panels.platforms.errors import NotSetUp, PanelError
from annotator.panels.reconciliation.cases import Case
from annotator.panels.reconciliation.kinds import Mismatch
from annotator.panels.reconciliation.overview import VisitReconciliation, reconcile_visit
from evaluation.admin.pages import ConfirmedAction, confirmation_page
from evaluation.admin.rights import FORM, View, study_page
from evaluation.models import Study
from evaluation.refusals import Refused
from evaluation.registry import Registry

TAB = "panel"
# What an address names, in its path and in its query; None where the visit lacks it.
Target = tuple[tuple[Any, ...], Mapping[str, Any]] | None


@dataclass(frozen=True)
class PanelPage:
    """A page that confirms one act. `act` gets the request, the panel and what the route names."""

    key: str
    # Behind the address of the study's panel; empty of a page that another part of the admin serves.
    route: str
    act: Callable[..., ConfirmedAction] | None

    @property
    def view(self) -> View:
        act = self.act
        assert act is not None

        @study_page("write", methods=FORM)
        def answer(request: HttpRequest, study: Study, **named: Any) -> HttpResponse:
            return confirmation_page(request, study, act(request, panel_for(study), **named), tab=TAB)

        return answer


def no_target(case: Case | None, mismatch: Mismatch | None) -> Target:
    return (), {}


def record_target(case: Case | None, mismatch: Mismatch | None) -> Target:
    return ((case.record.pk,), {}) if case is not None and case.record is not None else None


def chosen_record_target(case: Case | None, mismatch: Mismatch | None) -> Target:
    return ((), {"record": case.record.pk}) if case is not None and case.record is not None else None


def act_target(case: Case | None, mismatch: Mismatch | None) -> Target:
    return ((mismatch.act.pk,), {}) if mismatch is not None and mismatch.act is not None else None


@dataclass(frozen=True)
class Remedy(PanelPage):
    """Something that can be done about a mismatch: its label beside it, its route, and its act."""

    label: str
    # What of the visit or the mismatch its address names.
    about: Callable[[Case | None, Mismatch | None], Target] = no_target

    def url(self, study: Study, case: Case | None = None, mismatch: Mismatch | None = None) -> str:
        """Empty where the visit lacks what the act is about."""
        target = self.about(case, mismatch)
        if target is None:
            return ""
        path, query = target
        return panel_url(study, self.key, *path) + (f"?{urlencode(query)}" if query else "")


def _find_problems(page: PanelPage) -> Iterator[str]:
    if isinstance(page, Remedy) and not page.label:
        yield "label (what its link beside a mismatch says)"
    if page.route and page.act is None:
        yield "act (what it confirms and does)"
    if page.act is not None and not page.route:
        yield "route (its address behind the study's panel)"


PAGES: Registry[PanelPage] = Registry(
    "page at the panel",
    {
        "key": "its name in addresses' names, and in the kinds of mismatches that it is a remedy of",
    },
    check=_find_problems,
)


def panel_page(
    key: str, route: str = ""
) -> Callable[[Callable[..., ConfirmedAction]], Callable[..., ConfirmedAction]]:
    """Register a page by its act."""

    def register(act: Callable[..., ConfirmedAction]) -> Callable[..., ConfirmedAction]:
        PAGES.register(PanelPage(key, route or f"{key}/", act))
        return act

    return register


def remedy(
    key: str, label: str, route: str = "", about: Callable[[Case | None, Mismatch | None], Target] = no_target
) -> Callable[[Callable[..., ConfirmedAction]], Callable[..., ConfirmedAction]]:
    """Register a remedy by its act."""

    def register(act: Callable[..., ConfirmedAction]) -> Callable[..., ConfirmedAction]:
        PAGES.register(Remedy(key, route or f"{key}/", act, label, about))
        return act

    return register


def remedies_of(study: Study, mismatch: Mismatch) -> list[tuple[str, str]]:
    """Label and address of each remedy that fits."""
    found = (PAGES[key] for key in mismatch.remedies)
    urls = [
        (each.label, each.url(study, mismatch.case, mismatch)) for each in found if isinstance(each, Remedy)
    ]
    return [(label, url) for label, url in urls if url]


# --- shared -----------------------------------------------------------------------------------------------------------


def panel_for(study: Study) -> Panel:
    """The study's panel, or Http404."""
    panel = Panel.objects.filter(study=study).first()
    if panel is None:
        raise Http404
    panel.study = study
    return panel


def panel_url(study: Study, name: str = "", *args: Any) -> str:
    """The address of the study's panel, or of one of its pages."""
    suffix = f"_{name.replace('-', '_')}" if name else ""
    return reverse(f"admin:evaluation_study_panel{suffix}", args=[study.slug, *args])


def visit_for(panel: Panel, record: int) -> VisitReconciliation:
    """The visit of one of the panel's records, or Http404."""
    there = PanelRecord.objects.filter(panel=panel, pk=record).first()
    found = reconcile_visit(panel, record=there) if there is not None else None
    if found is None:
        raise Http404
    return found


def case_of(panel: Panel, record: int) -> tuple[Case, PanelRecord]:
    case = visit_for(panel, record).case
    assert case.record is not None
    return case, case.record


def caption(case: Case) -> str:
    """The person, the visit, and how much they did."""
    here = case.participant
    done = f"{case.work.judged} of {here.quota} judged" if here is not None else "unknown here"
    return f"{case.person} · {case.id} · {done}"


def with_refusals(act: Callable[[], Any]) -> Any:
    """The act's result; what fails at the panel is refused too, and so stands above the form."""
    try:
        return act()
    except (NotSetUp, PanelError) as failed:
        raise Refused(str(failed)) from None
