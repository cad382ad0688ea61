"""Raters with their figures at a glance, and their exclusion and restoration."""

from collections.abc import Callable, Sequence
from typing import Any

from django.contrib import admin
from django.db.models import Avg, Count, Exists, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.urls import reverse

from evaluation.admin.base import StudyScopedAdmin, parse_id, study_of_list
from evaluation.admin.explorer.rater_page import rater_page
from evaluation.admin.pages import (
    ConfirmedAction,
    EmptyNote,
    confirmation_page,
    list_url,
    until_judged,
    way_back,
)
from evaluation.admin.rights import FORM, View, has_right, my_studies, study_for
from evaluation.models import Exclusion, Judgment, Outcome, Rater, Role, Study
from evaluation.refusals import Refused
from evaluation.services.exclusions import AlreadyExcluded, exclude, restore

# Raters that one act is about, at most; more is a sign of a slip.
MAX_AT_ONCE = 500


class ExcludedFilter(admin.SimpleListFilter):
    title = "exclusion"
    parameter_name = "excluded"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("yes", "excluded"), ("no", "not excluded")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == "yes":
            return queryset.filter(gone=True)
        return queryset.filter(gone=False) if self.value() == "no" else queryset


def _per_rater(judgments: QuerySet[Any], figure: Any) -> Subquery:
    mine = judgments.filter(rater=OuterRef("pk"), item__role=Role.MAIN).order_by()
    return Subquery(mine.values("rater").annotate(figure=figure).values("figure"))


@admin.register(Rater)
class RaterAdmin(StudyScopedAdmin):
    address = "raters"
    tab = "raters"
    fields = (
        "pseudonym",
        "label",
        "kind",
        "group",
        "source",
        "in_figures",
        "judged",
        "failed",
        "seconds",
        "standing",
    )
    list_display = (
        "name",
        "kind",
        "group",
        "source",
        "judged",
        "failed",
        "seconds",
        "in_figures",
        "standing",
    )
    list_filter = ("kind", "source", ExcludedFilter)
    list_select_related = ("study",)
    search_fields = ("pseudonym", "label")
    search_help_text = "Pseudonym or published name"
    actions = ("exclude_selected", "restore_selected")

    def when_empty(self, request: HttpRequest, study: Study) -> EmptyNote:
        return until_judged(study, "raters")

    def get_queryset(self, request: HttpRequest) -> Any:
        ok, failed = Judgment.objects.filter(outcome=Outcome.OK), Judgment.objects.exclude(outcome=Outcome.OK)
        standing = Exclusion.objects.filter(rater=OuterRef("pk"), undone_at=None)
        return (
            super()
            .get_queryset(request)
            .annotate(
                gone=Exists(standing),
                n_ok=Coalesce(_per_rater(ok, Count("pk")), 0),
                n_failed=Coalesce(_per_rater(failed, Count("pk")), 0),
                mean_ms=_per_rater(ok, Avg("duration_ms")),
                why=Subquery(standing.values("reason")[:1]),
            )
            .order_by("study", "pk")
        )

    @admin.display(description="rater")
    def name(self, rater: Rater) -> str:
        return str(rater)

    @admin.display(description="judged")
    def judged(self, rater: Any) -> str:
        return f"{rater.n_ok:,}"

    @admin.display(description="not ok")
    def failed(self, rater: Any) -> str:
        return f"{rater.n_failed:,}"

    @admin.display(description="mean time")
    def seconds(self, rater: Any) -> str:
        return "" if rater.mean_ms is None else f"{rater.mean_ms / 1000:,.0f} s"

    @admin.display(description="excluded")
    def standing(self, rater: Any) -> str:
        return rater.why or ""

    def pages_of_row(self) -> Sequence[tuple[str, str, View]]:
        return (("", "page", rater_page),)

    @admin.action(description="Exclude from every figure…")
    def exclude_selected(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse:
        return self._on_to("exclude", queryset)

    @admin.action(description="Include in all figures again…")
    def restore_selected(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse:
        return self._on_to("restore", queryset)

    @staticmethod
    def _on_to(name: str, queryset: QuerySet[Any]) -> HttpResponse:
        ids = ",".join(str(pk) for pk in queryset.values_list("pk", flat=True)[: MAX_AT_ONCE + 1])
        return HttpResponseRedirect(f"{reverse(f'admin:evaluation_rater_{name}')}?ids={ids}")

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """For who may write in the study."""
        study = study_of_list(request)
        return super().get_actions(request) if study and has_right(request, "write", study.pk) else {}

    def extra_pages(self) -> Sequence[tuple[str, str, Callable[..., HttpResponse]]]:
        return (("exclude/", "exclude", exclude_raters), ("restore/", "restore", restore_raters))


def _chosen(request: HttpRequest) -> tuple[Study, list[Rater]]:
    """The raters that the address names, all of one study that the user may write in."""
    ids = [parse_id(each) for each in request.GET.get("ids", "").split(",")]
    if not ids or None in ids or len(ids) > MAX_AT_ONCE:
        raise Http404
    known = [pk for pk in ids if pk is not None]
    rows = Rater.objects.filter(pk__in=known, study__in=my_studies(request).values("pk")).order_by("pk")
    raters = list(rows)
    studies = {rater.study_id for rater in raters}
    if len(raters) != len(set(ids)) or len(studies) != 1:
        raise Http404
    return study_for(request, studies.pop(), "write"), raters


def exclude_raters(request: HttpRequest) -> HttpResponse:
    if request.method not in FORM:
        return HttpResponseNotAllowed(FORM)
    study, raters = _chosen(request)

    def do(data: dict[str, Any]) -> str:
        done = []
        for rater in raters:
            try:
                exclude(study=study, rater=rater, reason=data["reason"], by=request.user)
            except AlreadyExcluded:
                continue
            done.append(str(rater))
        if not done:
            raise Refused("All of these raters are already excluded.")
        return f"Excluded {_named(done)}."

    act = ConfirmedAction(
        title="Exclude raters" if len(raters) > 1 else f"Exclude {raters[0]}",
        text="Their judgments are excluded from all figures. Nothing is deleted, and you can undo this. To "
        "collect judgments in their stead, open the study's slots.",
        button="Exclude",
        danger=True,
        objects=[str(rater) for rater in raters],
        do=do,
        logs_itself=True,
        back=way_back(request, _list_of(study)),
    )
    return confirmation_page(request, study, act, tab="raters")


def restore_raters(request: HttpRequest) -> HttpResponse:
    if request.method not in FORM:
        return HttpResponseNotAllowed(FORM)
    study, raters = _chosen(request)

    def do(data: dict[str, Any]) -> str:
        standing = Exclusion.objects.filter(study=study, rater__in=raters, undone_at=None).select_related(
            "rater"
        )
        done = []
        for exclusion in standing:
            restore(exclusion, reason=data["reason"], by=request.user)
            done.append(str(exclusion.rater))
        if not done:
            raise Refused("None of these raters is excluded.")
        return f"Restored {_named(done)}."

    act = ConfirmedAction(
        title="Restore raters" if len(raters) > 1 else f"Restore {raters[0]}",
        text="Their judgments are included in all figures again.",
        button="Restore",
        objects=[str(rater) for rater in raters],
        do=do,
        logs_itself=True,
        back=way_back(request, _list_of(study)),
    )
    return confirmation_page(request, study, act, tab="raters")


def _list_of(study: Study) -> str:
    return list_url("evaluation_rater", study)


def _named(names: list[str]) -> str:
    """The first few by name, so that the history's line stays a line."""
    shown = ", ".join(names[:10])
    return f"{shown} and {len(names) - 10} more" if len(names) > 10 else shown
