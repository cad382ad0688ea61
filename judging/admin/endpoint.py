"""Endpoints: made by superusers, or by researchers where the environment allows the place. Keys appear by name only."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from judging.models import Endpoint
from judging.services.endpoints import endpoint_problems


class EndpointForm(forms.ModelForm):
    """What an endpoint is; the service says whether this user may have it."""

    # A host without dots is a fine one inside a private network.
    base_url = forms.CharField(
        label="Address",
        max_length=300,
        widget=forms.TextInput(attrs={"class": "vLargeTextField"}),
        help_text="Up to and with the version, such as https://host.example/v1. No redirect is followed.",
    )
    user: Any = None

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        if self.errors:
            return data
        wanted = Endpoint(pk=self.instance.pk, **{**data, "base_url": data["base_url"].rstrip("/")})
        for field, sentences in endpoint_problems(wanted, self.user).items():
            for sentence in sentences:
                self.add_error(field if field in self.fields else None, sentence)
        data["base_url"] = wanted.base_url
        return data

    class Meta:
        model = Endpoint
        fields = ("name", "base_url", "key_name", "timeout_seconds", "max_in_flight")
        labels = {
            "key_name": "Name of its key",
            "max_in_flight": "Calls at once",
            "timeout_seconds": "Seconds to wait",
        }
        help_texts = {
            "name": "What judges are configured with.",
            "timeout_seconds": "A call that takes longer is tried again.",
        }


@admin.register(Endpoint)
class EndpointAdmin(admin.ModelAdmin):
    """Seen and changed by superusers and by who made it."""

    form = EndpointForm
    fields = EndpointForm.Meta.fields
    list_display = ("name", "base_url", "key_name", "max_in_flight", "created_by")
    list_select_related = ("created_by",)
    search_fields = ("name", "base_url")
    ordering = ("name",)
    actions = None
    view_on_site = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request)
        return rows if request.user.is_superuser else rows.filter(created_by=request.user.pk)

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

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, change=change, **kwargs)
        return type("EndpointFormOfUser", (form,), {"user": request.user})

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if not change:
            obj.created_by = request.user
        elif {"base_url", "key_name"} & set(form.changed_data):
            # What was found out about the old place says nothing of the new one.
            obj.capabilities, obj.probed_at = {}, None
            obj.created_by = request.user
        super().save_model(request, obj, form, change)
