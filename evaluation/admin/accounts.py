"""Accounts and groups of the site: Django's own pages, without the widgets that a screen reader can't name."""

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User


class SiteAccountAdmin(UserAdmin):
    # A list with several chosen says what it is; the pair of boxes that Django puts in its place does not.
    filter_horizontal = ()
    readonly_fields = ("last_login", "date_joined")


class SiteGroupAdmin(GroupAdmin):
    filter_horizontal = ()


for model, page in ((User, SiteAccountAdmin), (Group, SiteGroupAdmin)):
    admin.site.unregister(model)
    admin.site.register(model, page)
