"""The base of every model's admin: it lists, links and changes nothing outside the user's studies."""

from collections.abc import Collection, Sequence
from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.admin.models import ADDITION, CHANGE, DELETION
from django.contrib.admin.utils import unquote
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import PermissionDenied
from django.db import models
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.text import capfirst

from evaluation.admin.pages import EmptyNote, list_url, study_context
from evaluation.admin.prose import Prose
from evaluation.admin.rights import (
    FORM,
    View,
    has_right,
    has_right_anywhere,
    my_studies,
    reads_ids,
    study_for,
    study_page,
    without_ids,
)
from evaluation.models import Study
from evaluation.refusals import WrongState
from evaluation.services.history import log_action
from evaluation.services.studies.drafts import lock_draft


class RowFilter(admin.SimpleListFilter):
    """A filter by the row that the listed ones belong to; what is no row's id finds nothing."""

    # From the listed rows to the one chosen; the parameter's name where it says nothing else.
    path = ""

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() is None:
            return queryset
        pk = parse_id(self.value())
        path = self.path or str(self.parameter_name)
        return queryset.none() if pk is None else queryset.filter(**{path: pk})


class StudyRowFilter(RowFilter):
    """A filter by a row of the study whose list it is."""

    model: type[Model]
    related: tuple[str, ...] = ()
    longest = 100

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        study = study_of_list(request)
        if study is None:
            return []
        rows = self.model._default_manager.filter(study=study).select_related(*self.related)
        return [(str(each.pk), str(each)) for each in rows[: self.longest]]


class PresentChoices(admin.ChoicesFieldListFilter):
    """A filter by those of a field's choices that the listed study's rows have, where these are several."""

    def __init__(
        self, field: Any, request: HttpRequest, params: Any, model: Any, model_admin: Any, field_path: str
    ) -> None:
        super().__init__(field, request, params, model, model_admin, field_path)
        rows = model_admin.get_queryset(request).order_by()
        self.present = set(rows.values_list(field_path, flat=True).distinct())

    def has_output(self) -> bool:
        return len(self.present) > 1 or self.lookup_val is not None

    def choices(self, changelist: ChangeList) -> Any:
        everything, *each = super().choices(changelist)
        yield everything
        keys = [key for key, _ in self.field.flatchoices]
        yield from (choice for key, choice in zip(keys, each, strict=False) if key in self.present)


def study_of_list(request: HttpRequest) -> Study | None:
    """The study whose list is asked for; None on the pages of single rows."""
    return getattr(request, "study_of_list", None)


def parse_id(value: Any) -> int | None:
    """A row's id out of an address, or None for anything else."""
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


class TitledChangeList(ChangeList):
    """A change list titled by what it lists."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.title = str(capfirst(self.opts.verbose_name_plural))


class StudyChangeList(TitledChangeList):
    """That of a study's rows."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Django counts those that a filter offers; an address can ask for others.
        self.has_active_filters = bool(self.filter_params)

    def url_for_result(self, result: Any) -> str:
        own: StudyScopedAdmin = self.model_admin  # type: ignore[assignment]
        return own.row_url(result) if own.pages_of_row() else super().url_for_result(result)


def is_empty(changes: ChangeList) -> bool:
    """True if a study's list has no row, and not because of what was searched or filtered."""
    return not (changes.result_count or changes.query or changes.has_active_filters)


class StudyScopedAdmin(admin.ModelAdmin):
    """Rows of the user's studies, read-only unless a subclass says what a draft's writers may change."""

    # The lookup from a row to its study, the address of a study's rows below its own, and the key of their tab.
    study_path: ClassVar[str] = "study"
    address: ClassVar[str] = ""
    tab: ClassVar[str] = ""
    # Fields that writers may change while the study is a draft.
    draft_fields: ClassVar[tuple[str, ...]] = ()
    # Names of fields with ids of platforms, which viewers neither see nor search by.
    private_fields: ClassVar[tuple[str, ...]] = ()
    # Names of fields with what somebody or the application wrote: viewers see them with ids blacked out, and find
    # nothing by what is blacked out.
    written_fields: ClassVar[tuple[str, ...]] = ()
    list_per_page = 50
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    actions: Sequence[Any] = ()
    view_on_site = False
    formfield_overrides: ClassVar[dict[Any, Any]] = {models.TextField: {"form_class": Prose}}

    # --- whose it is ------------------------------------------------------------------------------------------------
    def study_of(self, obj: Any) -> Study:
        for name in self.study_path.split("__"):
            obj = getattr(obj, name)
        found: Study = obj
        return found

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows, study = super().get_queryset(request), study_of_list(request)
        if study is not None:
            return rows.filter(**{self.study_path: study})
        return rows.filter(**{f"{self.study_path}__in": my_studies(request).values("pk")})

    def has_module_permission(self, request: HttpRequest) -> bool:
        return False  # the admin's front page is that of the installation

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        if obj is None:
            return True  # of one's own studies
        return has_right(request, "view", self.study_of(obj).pk)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        if not self.draft_fields:
            return False
        if obj is None:
            return has_right_anywhere(request, "write")
        study = self.study_of(obj)
        return has_right(request, "write", study.pk) and not study.is_frozen

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        actions = super().get_actions(request)
        actions.pop("delete_selected", None)
        return actions

    # --- who reads ids of platforms ---------------------------------------------------------------------------------
    def _open_to(self, request: HttpRequest, names: Any, obj: Any = None) -> list[Any]:
        """Those of the lookups or names that the user may read."""
        study = study_of_list(request) if obj is None else self.study_of(obj)
        return self._without(names, self.private_fields, request, study)

    def _found_by(self, request: HttpRequest, names: Any) -> list[Any]:
        """Those of the lookups that the user may find rows by."""
        hidden = (*self.private_fields, *self.written_fields)
        return self._without(names, hidden, request, study_of_list(request))

    @staticmethod
    def _without(names: Any, hidden: Collection[str], request: HttpRequest, study: Study | None) -> list[Any]:
        if not hidden or reads_ids(request, study):
            return list(names)
        return [name for name in names if set(hidden).isdisjoint(str(name).split("__"))]

    def get_list_display(self, request: HttpRequest) -> Any:
        return self._open_to(request, super().get_list_display(request))

    def get_search_fields(self, request: HttpRequest) -> Any:
        return self._found_by(request, super().get_search_fields(request))

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self._open_to(request, super().get_fields(request, obj), obj)

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        return bool(self._found_by(request, [lookup])) and super().lookup_allowed(lookup, value, request)

    # --- what is shown ----------------------------------------------------------------------------------------------
    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        shown = self.get_fields(request, obj) if self.fields else ()
        return [name for name in shown if name not in self.draft_fields]

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return StudyChangeList

    def list_view(self, request: HttpRequest, study: Study) -> HttpResponse:
        """The study's rows."""
        request.study_of_list = study  # type: ignore[attr-defined]
        response: Any = self.changelist_view(request, study_context(request, study, self.tab))
        changes = getattr(response, "context_data", {}).get("cl")
        if changes is not None and is_empty(changes):
            response.context_data["empty"] = self.when_empty(request, study)
            changes.has_filters = False
        if changes is not None and self.private_fields and not reads_ids(request, study):
            changes.search_help_text = ""  # it speaks of ids
        shown: HttpResponse = response  # its ids are blacked out around this view
        return shown

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        if study_of_list(request) is not None:
            return super().changelist_view(request, extra_context)
        # Rows were listed here, those of one study by its id, those of all without.
        given = request.GET.copy()
        pk = parse_id(given.pop("study", [""])[-1])
        study = my_studies(request).filter(pk=pk).first() if pk is not None else None
        if study is None:
            return HttpResponseRedirect(reverse("evaluation:study-list"))
        return HttpResponseRedirect(f"{self.list_url(study)}?{given.urlencode()}".removesuffix("?"))

    def list_url(self, study: Study) -> str:
        return list_url(f"{self.opts.app_label}_{self.opts.model_name}", study)

    def response_post_save_change(self, request: HttpRequest, obj: Any) -> HttpResponseRedirect:
        return HttpResponseRedirect(self.list_url(self.study_of(obj)))

    def when_empty(self, request: HttpRequest, study: Study) -> EmptyNote:
        """The sentence in place of a study's list that has no row."""
        return EmptyNote(f"No {self.opts.verbose_name_plural} yet.")

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        obj = kwargs.get("obj")
        if obj is not None:
            study = self.study_of(obj)
            context.update(study_context(request, study, self.tab))
            context["title"] = f"{capfirst(self.opts.verbose_name)} {obj}"
            context["subtitle"] = ""
            context["action_links"] = self.action_links(request, obj, study)
            context["notice"] = self.notice(request, obj, study)
        context.update(show_save_and_continue=False, show_save_and_add_another=False)
        response = super().render_change_form(request, context, *args, **kwargs)
        return without_ids(request, None if obj is None else study, response)

    def action_links(self, request: HttpRequest, obj: Any, study: Study) -> list[tuple[str, str]]:
        """Labels and addresses of further pages and actions for the object, besides changing its fields."""
        return []

    def notice(self, request: HttpRequest, obj: Any, study: Study) -> str:
        if self.draft_fields and study.is_frozen:
            return "This is frozen: what people and judges saw can no longer change."
        return ""

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        obj = self.get_object(request, object_id)
        tab = "history" if isinstance(obj, Study) else self.tab
        study = None if obj is None else self.study_of(obj)
        around = {} if study is None else study_context(request, study, tab)
        titled = {"title": "History"} if isinstance(obj, Study) else {}
        response = super().history_view(request, object_id, {**around, **titled, **(extra_context or {})})
        return without_ids(request, study, response)

    # --- what is chosen from ----------------------------------------------------------------------------------------
    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Offer rows of the user's studies where the other model belongs to one; of other models, nothing."""
        kwargs["queryset"] = self.choices_of(db_field.remote_field.model, request)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        kwargs["queryset"] = self.choices_of(db_field.remote_field.model, request)
        return super().formfield_for_manytomany(db_field, request, **kwargs)

    def choices_of(self, model: type[Model], request: HttpRequest) -> QuerySet[Any]:
        if self.admin_site.is_registered(model):
            other = self.admin_site.get_model_admin(model)
            if isinstance(other, StudyScopedAdmin):
                return other.get_queryset(request)
        return model._default_manager.none()

    # --- what is written --------------------------------------------------------------------------------------------
    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Save inside the page's transaction: no launch can begin before it ends."""
        self.lock_draft(obj)
        super().save_model(request, obj, form, change)

    def lock_draft(self, obj: Any) -> None:
        try:
            lock_draft(self.study_of(obj))
        except WrongState as frozen:
            raise PermissionDenied(str(frozen)) from None

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        self._log_under_study(request, obj, "Added", ADDITION)
        return super().log_addition(request, obj, message)

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        fields = ", ".join(
            field
            for each in message
            if isinstance(each, dict)
            for field in each.get("changed", {}).get("fields", [])
        )
        self._log_under_study(request, obj, f"Changed {fields} of" if fields else "Changed", CHANGE)
        return super().log_change(request, obj, message)

    def _log_under_study(self, request: HttpRequest, obj: Any, what: str, flag: int) -> None:
        if flag != DELETION and not isinstance(obj, Study):
            text = f"{what} {self.opts.verbose_name} “{obj}”."
            log_action(study=self.study_of(obj), by=request.user, message=text)

    # --- further pages ----------------------------------------------------------------------------------------------
    def pages_of_row(self) -> Sequence[tuple[str, str, View]]:
        """(route, name, view) of pages about one row below its study, which get the study and the row's id. The first,
        `page`, is there in place of Django's."""
        return ()

    def row_url(self, obj: Any) -> str:
        name = f"admin:{self.opts.app_label}_{self.opts.model_name}_page"
        return reverse(name, args=[self.study_of(obj).slug, obj.pk])

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Django's form where there is something to change in it."""
        if self.pages_of_row() and request.method in ("GET", "HEAD"):
            obj = self.get_object(request, unquote(object_id))
            if obj is not None and not self.has_change_permission(request, obj):
                return HttpResponseRedirect(self.row_url(obj))
        return super().change_view(request, object_id, form_url, extra_context)

    def extra_pages(self) -> Sequence[tuple[str, str, View]]:
        """(route, name, view) of pages besides Django's; the name stands behind app_model_."""
        return ()

    def urls_of_study(self) -> list[URLPattern]:
        """The addresses below that of a study."""
        name = f"{self.opts.app_label}_{self.opts.model_name}_list"
        listed = study_page(methods=FORM)(self.list_view)
        return [
            path(f"{self.address}/", self.admin_site.admin_view(listed), name=name),
            *self._pages_of_row(),
            *self._below_list(),
        ]

    def _pages_of_row(self) -> list[URLPattern]:
        names = f"{self.opts.app_label}_{self.opts.model_name}"
        return [
            path(f"{self.address}/<int:pk>/{route}", self.admin_site.admin_view(view), name=f"{names}_{name}")
            for route, name, view in self.pages_of_row()
        ]

    def urls_of_new(self) -> list[URLPattern]:
        """The addresses below /new/."""
        return []

    def pages_of_study(self) -> Sequence[tuple[str, str, View]]:
        """(route, name, view) of pages below the list, about the study and no row of it."""
        return ()

    def _below_list(self) -> list[URLPattern]:
        names = f"{self.opts.app_label}_{self.opts.model_name}"
        return [
            path(
                f"{self.address}/{route}".lstrip("/"),
                self.admin_site.admin_view(view),
                name=f"{names}_{name}",
            )
            for route, name, view in self.pages_of_study()
        ]

    def get_urls(self) -> list[URLPattern]:
        names = f"{self.opts.app_label}_{self.opts.model_name}"
        own = [
            path(route, self.admin_site.admin_view(view), name=f"{names}_{name}")
            for route, name, view in self.extra_pages()
        ]
        moved = [
            path(f"{route}<int:pk>/", self.admin_site.admin_view(moved_page(f"admin:{names}_{name}")))
            for route, name, _ in self.pages_of_study()
        ]
        return own + moved + super().get_urls()


def moved_page(url_name: str) -> View:
    """The view at an address of a study's page by the study's id, from before they went by its slug."""

    def lead_on(request: HttpRequest, pk: int) -> HttpResponse:
        address = reverse(url_name, args=[study_for(request, pk).slug])
        return lead_to(request, address)

    return lead_on


def lead_to(request: HttpRequest, address: str) -> HttpResponse:
    """To a page's new address, with what was asked or sent."""
    asked = request.META.get("QUERY_STRING", "")
    answer = HttpResponseRedirect(f"{address}?{asked}" if asked else address)
    if request.method not in ("GET", "HEAD"):
        answer.status_code = 307  # which a browser follows with the form that it sent
    return answer
