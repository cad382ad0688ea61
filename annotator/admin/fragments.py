"""Fragments about slots and participants for the study's pages, which members read without the admin."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.cache import add_never_cache_headers


def render_panel(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    response = render(request, template, context)
    add_never_cache_headers(response)
    return response


def panel_path(view: Callable[..., HttpResponse], name: str) -> Any:
    """Panels stand on members' pages too, so they ask for membership only."""
    return path("panel/<slug:slug>/", view, name=name)
