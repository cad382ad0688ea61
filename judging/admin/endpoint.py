"""Endpoints: made by superusers, or by researchers where the environment allows the place. A key appears by its name
alone; one that was entered here not at all."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.views.main import ChangeList
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.shortcuts import render
from django.urls import path, reverse
from django.utils.cache import add_never_cache_headers
from django.utils.html import format_html
from django.utils.text import capfirst

from evaluation.admin.base import TitledChangeList, is_empty
from evaluation.admin.pages import EmptyNote, page
from evaluation.admin.rights import FORM
from evaluation.models import Study
from evaluation.permissions import studies_for
from evaluation.refusals import Refused
from evaluation.storable import storable
from evaluation.tasks import enqueue_job
from judging.admin.endpoint_key import enter_key_page
from judging.admin.spending import ModelPriceInline
from judging.backends import CHAT
from judging.models import Endpoint
from judging.services.endpoints.access import (
    PLACE,
    address_refusals,
    endpoint_problems,
    is_trusted,
    may_trust,
    set_trust,
)
from judging.services.endpoints.changes import moved_away
from judging.services.endpoints.connection_test import (
    KINDS,
    begin_test,
    findings,
    last_test,
)

SERVER = (
    "name", "base_url", "key_name", "timeout_seconds", "max_in_flight", "requests_per_minute", "tokens_per_minute",
    "batch_price_factor",
)  # fmt: skip
PLACE_FIELDS = ("name", "base_url", "key_name")
LIMITS = "Limits and price of batches"
PLAIN = (*SERVER, "local", "open_to_all")


class EndpointForm(forms.ModelForm):
    """An endpoint's fields; the service decides whether this user may save it."""

    # A host without dots is a fine one inside a private network.
    base_url = forms.CharField(
        label="Address",
        max_length=300,
        widget=forms.TextInput(attrs={"class": "vLargeTextField"}),
        help_text="Up to and with the version, such as https://host.example/v1. No redirect is followed.",
    )
    trusted = forms.BooleanField(
        required=False,
        help_text="You allow judges to call it although the setting ASSAY_ENDPOINTS_ALLOWED does not "
        "name it. This ends when you are no longer a superuser.",
    )
    user: Any = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "trusted" in self.fields:
            self.initial["trusted"] = self.instance.pk is None or is_trusted(self.instance)
        studies = Study.objects.visible().order_by("title")
        if not may_trust(self.user):
            writable = studies_for(self.user, "write").values("pk")
            # Those that others opened it to stay as they are.
            studies = studies.filter(Q(pk__in=writable) | Q(endpoints__in=[self.instance.pk or 0])).distinct()
        self.fields["studies"].queryset = studies  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        if self.errors:
            return data
        made_of = {name: data[name] for name in PLAIN if name in data}
        wanted = Endpoint(pk=self.instance.pk, **{**made_of, "base_url": data["base_url"].rstrip("/")})
        if wanted.base_url == self.instance.base_url:
            wanted.stored_key = self.instance.stored_key
        # Or its own row would stand in its way.
        wanted._state.adding = self.instance._state.adding
        by_own_word = data.get("trusted", False)
        for field, sentences in endpoint_problems(wanted, self.user, by_own_word=by_own_word).items():
            for sentence in sentences:
                self.add_error(field if field in self.fields else None, sentence)
        data["base_url"] = wanted.base_url
        return data

    class Meta:
        model = Endpoint
        fields = (*PLAIN, "studies")
        widgets = {"studies": forms.CheckboxSelectMultiple}
        labels = {
            "key_name": "Name of the key",
            "max_in_flight": "Parallel calls",
            "requests_per_minute": "Requests per minute",
            "timeout_seconds": "Timeout in seconds",
            "tokens_per_minute": "Tokens per minute",
        }
        help_texts = {
            "name": "The name used when judges are configured.",
            "timeout_seconds": "A call that takes longer is retried.",
        }


def unusual_limits(endpoint: Endpoint) -> list[tuple[str, str]]:
    """Label and value of each of its limits that is not as an endpoint begins."""
    found = []
    for name in SERVER:
        field: Any = Endpoint._meta.get_field(name)
        value = getattr(endpoint, name)
        if name not in PLACE_FIELDS and value != field.get_default():
            label = EndpointForm.Meta.labels.get(name) or str(capfirst(field.verbose_name))
            found.append((label, "no limit" if value is None else f"{float(value):,g}"))
    return found


def _kind(request: HttpRequest) -> str:
    return request.POST.get("kind", "") or CHAT.key


# What only those see and set whose word is enough.
OF_TRUST = ("trusted", "local", "open_to_all")


@admin.register(Endpoint)
class EndpointAdmin(admin.ModelAdmin):
    """Seen and changed by superusers and by who made it."""

    form = EndpointForm
    list_display = ("name", "base_url", "key_name", "trust", "local", "max_in_flight", "created_by")
    list_select_related = ("created_by",)
    search_fields = ("name", "base_url")
    ordering = ("name",)
    readonly_fields = ("key",)
    change_form_template = "admin/judging/endpoint_page.html"
    actions = None
    view_on_site = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request)
        return rows if request.user.is_superuser else rows.filter(created_by=request.user.pk)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return TitledChangeList

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        response: Any = super().changelist_view(request, extra_context)
        changes = getattr(response, "context_data", {}).get("cl")
        if changes is not None and is_empty(changes):
            response.context_data["empty"] = EmptyNote(
                "No endpoints yet. An endpoint is the server at which a judge's model is asked."
            )
        return response

    def has_module_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_active and request.user.is_staff)

    def _is_mine(self, request: HttpRequest, obj: Any) -> bool:
        if not (request.user.is_active and request.user.is_staff):
            return False
        return request.user.is_superuser or obj is None or obj.created_by_id == request.user.pk

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._is_mine(request, obj)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._is_mine(request, obj)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_active and request.user.is_staff)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return obj is not None and self._is_mine(request, obj) and not obj.judges.exists()

    def get_inlines(self, request: HttpRequest, obj: Any) -> Any:
        return [] if obj is None else [ModelPriceInline]

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        place = (*PLACE_FIELDS, "key") if obj is not None else PLACE_FIELDS
        trust = OF_TRUST if may_trust(request.user) else ()
        return [
            ("Server", {"fields": place}),
            ("Who may use it", {"fields": (*trust, "studies")}),
            (LIMITS, {"fields": [name for name in SERVER if name not in PLACE_FIELDS]}),
        ]

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        endpoint = kwargs.get("obj")
        context.update(show_save_and_continue=False, show_save_and_add_another=False, limits=LIMITS)
        form = context["adminform"].form
        names = [name for name in SERVER if name not in PLACE_FIELDS]
        context["opens_limits"] = any(form[name].errors for name in names)
        if endpoint is not None:
            address = reverse("admin:judging_endpoint_test", args=[endpoint.pk])
            test = last_test(endpoint)
            context |= {
                "title": f"Endpoint {endpoint}",
                "subtitle": "",
                "endpoint": endpoint,
                "test_address": address,
                "state": test.state,
                "tested": test.found,
                "unusual": unusual_limits(endpoint),
                "judges_n": endpoint.judges.count(),
            }
        return super().render_change_form(request, context, *args, **kwargs)

    @admin.display(description="key entered here")
    def key(self, endpoint: Endpoint) -> str:
        at = endpoint.key_entered_at
        return format_html(
            '{} <a class="button plain" href="{}">{}</a>',
            f"on {at:%Y-%m-%d}" if at else "none",
            reverse("admin:judging_endpoint_key", args=[endpoint.pk]),
            "Replace or remove" if at else "Enter a key",
        )

    def get_urls(self) -> list[Any]:
        test, key = (self.admin_site.admin_view(view) for view in (self.test, enter_key_page))
        return [
            path("<int:pk>/test/", test, name="judging_endpoint_test"),
            path("<int:pk>/key/", key, name="judging_endpoint_key"),
            *super().get_urls(),
        ]

    def test(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Ask for a test, which a worker makes, and show the last one."""
        if request.method not in FORM:
            return HttpResponseNotAllowed(FORM)
        endpoint = self.get_queryset(request).select_related("trusted_by").filter(pk=pk).first()
        if endpoint is None:
            raise Http404
        refused = address_refusals(endpoint)
        address = reverse("admin:judging_endpoint_test", args=[pk])
        if request.method == "POST" and not refused:
            model = storable(request.POST.get("model", "")).strip()[:200]
            try:
                enqueue_job(begin_test(endpoint, model, _kind(request), by=request.user))
            except Refused as problems:
                messages.error(request, str(problems))
            return HttpResponseRedirect(address)
        test = last_test(endpoint)
        context = {
            "title": f"Test {endpoint}",
            "endpoint": endpoint,
            "refused": refused,
            "state": test.state,
            "tested": test.found,
            "able": findings(test.found.get("able") or {}),
            "kinds": [(key, label, key == test.found.get("kind", CHAT.key)) for key, label in KINDS.items()],
            "address": address,
        }
        if request.headers.get("HX-Request"):
            response = render(request, "admin/judging/_connection.html", context)
        else:
            response = page(request, "admin/judging/connection.html", context)
        add_never_cache_headers(response)
        return response

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        left_out = () if may_trust(request.user) else OF_TRUST
        fields = {name: None for name in left_out if name == "trusted"}
        base = type("EndpointFormOfUser", (EndpointForm,), {"user": request.user, **fields})
        kwargs |= {"form": base, "exclude": [*left_out, *self.readonly_fields]}
        form: Any = super().get_form(request, obj, change=change, **kwargs)
        # A study is made elsewhere.
        form.base_fields["studies"].widget.can_add_related = False
        return form

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if not change:
            obj.created_by = request.user
        moved = not change or bool(PLACE & set(form.changed_data))
        if change and moved_away(obj, form.changed_data):
            messages.warning(request, "Its stored key was for the old address, and was removed.")
        if moved or "trusted" in form.changed_data:
            set_trust(obj, request.user, trusted=form.cleaned_data.get("trusted", False))
        super().save_model(request, obj, form, change)
