"""Django's admin: a study's pages for its members, below /studies/, and the installation's for who runs it."""

from collections.abc import Sequence
from typing import Any

from django.apps import apps
from django.contrib.admin import AdminSite, autodiscover
from django.contrib.admin.apps import SimpleAdminConfig
from django.contrib.admin.checks import check_admin_app, check_dependencies
from django.core import checks
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import include, path, reverse


class AssaySite(AdminSite):
    site_header = "Assay"
    site_title = "Assay"
    index_title = "The installation"
    site_url = None
    enable_nav_sidebar = False

    def get_urls(self) -> list[Any]:
        """With the apps' admin modules, which import most of them: commands that need no address load none."""
        from evaluation.admin.base import StudyScopedAdmin

        autodiscover()
        admins = [self.get_model_admin(model) for model in apps.get_models() if self.is_registered(model)]
        of_studies = [each for each in admins if isinstance(each, StudyScopedAdmin)]
        return [
            path("admin/", include(super().get_urls())),
            path("new/", include([url for each in of_studies for url in each.urls_of_new()])),
            path(
                "studies/<slug:slug>/", include([url for each in of_studies for url in each.urls_of_study()])
            ),
        ]

    def has_permission(self, request: HttpRequest) -> bool:
        """Whoever has an account: each page asks for the rights that it needs."""
        return bool(request.user.is_active)

    @property
    def login_form(self) -> Any:  # type: ignore[override] # nobody sets it
        """Whoever has an account signs in: members without the staff flag read their studies outside the admin."""
        # Imported here, as below.
        from django.contrib.auth.forms import AuthenticationForm

        return AuthenticationForm

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        if not request.user.is_superuser:
            return HttpResponseRedirect(reverse("evaluation:study-list"))
        return super().index(request, extra_context)

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Leads to one's studies unless another page asked."""
        asked = "next" in request.GET or "next" in request.POST
        studies = {} if asked else {"next": reverse("evaluation:study-list")}
        return super().login(request, studies | (extra_context or {}))

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
