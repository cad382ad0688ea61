"""Django's admin as a researcher's desk: its front page lists their studies instead of tables."""

from collections.abc import Sequence
from typing import Any

from django.contrib.admin import AdminSite, autodiscover
from django.contrib.admin.apps import SimpleAdminConfig
from django.contrib.admin.checks import check_admin_app, check_dependencies
from django.core import checks
from django.http import HttpRequest
from django.template.response import TemplateResponse


class AssaySite(AdminSite):
    site_header = "Assay"
    site_title = "Assay"
    index_title = "Studies"
    site_url = None
    enable_nav_sidebar = False

    def get_urls(self) -> list[Any]:
        """With the apps' admin modules, which import most of them: commands that need no address load none."""
        autodiscover()
        return super().get_urls()

    @property
    def login_form(self) -> Any:  # type: ignore[override] # nobody sets it
        """Whoever has an account signs in: members without the staff flag read their studies outside the admin."""
        # Imported here, as below.
        from django.contrib.auth.forms import AuthenticationForm

        return AuthenticationForm

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


class AssayAdminConfig(SimpleAdminConfig):
    default_site = "config.admin.AssaySite"

    def ready(self) -> None:
        checks.register(check_dependencies, checks.Tags.admin)
        checks.register(check_admin, checks.Tags.admin)


def check_admin(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[checks.CheckMessage]:
    """Django's check, of the admin modules that only the addresses load otherwise."""
    autodiscover()
    return check_admin_app(app_configs, **kwargs)
