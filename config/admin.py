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


class AssayAdminConfig(AdminConfig):
    default_site = "config.admin.AssaySite"
