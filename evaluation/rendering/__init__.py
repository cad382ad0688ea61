"""Responses as HTML that can't do anything."""

from evaluation.rendering.box import RenderBox
from evaluation.rendering.markdown import RENDERER, render_markdown, render_plain

__all__ = ["RENDERER", "RenderBox", "render_markdown", "render_plain"]
