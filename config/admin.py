"""Django's admin as a researcher's desk: its front page lists their studies instead of tables."""

from typing import Any

from django.contrib.admin import AdminSite
from django.contrib.admin.apps import AdminConfig
from django.http import HttpRequest
from django.template.response import TemplateResponse


class AssaySite(AdminSite):
    site_header = "Assay"
    site_title = "Assay"
    index_title = "Studies"
    site_url = None
    enable_nav_sidebar = False

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        # Imported here: apps are not ready when the site is made.
        from evaluation.admin.index import index_context

        return super().index(request, {**index_context(request), **(extra_context or {})})

    def password_change(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Guessing the present password is delayed like a login: a session that was left open must not do for it."""
        from evaluation.operations.logins import count_failure, delayed_page, is_delayed

        account = request.user.get_username()
        if request.method == "POST" and is_delayed(request, account):
            return delayed_page(request)
        response = super().password_change(request, extra_context)
        form = (getattr(response, "context_data", None) or {}).get("form")
        if (
            request.method == "POST"
            and form is not None
            and form.has_error("old_password", "password_incorrect")
        ):
            count_failure(request, account)
        return response


class AssayAdminConfig(AdminConfig):
    default_site = "config.admin.AssaySite"
