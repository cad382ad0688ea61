"""Accounts and groups of the site: Django's own pages, without the widgets that a screen reader can't name."""

from typing import Any

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from django.http import HttpRequest


class SiteAccountAdmin(UserAdmin):
    # A list with several chosen says what it is; the pair of boxes that Django puts in its place does not.
    filter_horizontal = ()
    readonly_fields = ("last_login", "date_joined")

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        # Of several, it would speak of missing rights where one of them has acted.
        actions = super().get_actions(request)
        actions.pop("delete_selected", None)
        return actions

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        # Lines of studies' histories go with who did the act: who has acted is deactivated.
        acted = obj is not None and LogEntry.objects.filter(user=obj).exists()
        return not acted and super().has_delete_permission(request, obj)


class SiteGroupAdmin(GroupAdmin):
    filter_horizontal = ()


for model, page in ((User, SiteAccountAdmin), (Group, SiteGroupAdmin)):
    admin.site.unregister(model)
    admin.site.register(model, page)
