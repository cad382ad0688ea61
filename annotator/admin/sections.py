"""Sections of a study's page about slots and participants, which members read without the admin."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.cache import add_never_cache_headers
from django.views.decorators.http import require_safe

from evaluation.permissions import get_study_for


def render_section(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    response = render(request, template, context)
    add_never_cache_headers(response)
    return response


def former_section(url_name: str) -> Any:
    """The address that a section had in the admin: pages that were loaded before go on asking there."""

    @login_required
    @require_safe
    def answer(request: HttpRequest, slug: str) -> HttpResponse:
        get_study_for(request.user, slug)
        return redirect(url_name, slug=slug, permanent=True)

    return path("panel/<slug:slug>/", answer)
