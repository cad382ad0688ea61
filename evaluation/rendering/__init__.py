"""Responses as HTML that can't do anything."""

from evaluation.rendering.box import PAGE_SECONDS, RenderBox
from evaluation.rendering.images import describe_images
from evaluation.rendering.markdown import render_markdown, render_plain
from evaluation.rendering.rules import DEFAULT_RULES, EARLIER, RENDERER, RenderRules

__all__ = [
    "DEFAULT_RULES",
    "EARLIER",
    "PAGE_SECONDS",
    "RENDERER",
    "RenderBox",
    "RenderRules",
    "describe_images",
    "render_markdown",
    "render_plain",
]
