"""An item that is stored nowhere, on the participant's own page; what is filled in goes nowhere."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext

from evaluation import design
from evaluation.forms.language import in_language_of
from evaluation.forms.screen import build_screen
from evaluation.protocols import PROTOCOLS
from evaluation.protocols.base import Spec, Stimulus
from evaluation.rendering.markdown import render_markdown


def unsaved_item_page(request: HttpRequest, spec: Spec, stimulus: Stimulus, *, slug: str) -> HttpResponse:
    """The item as participants will see it. `slug` is that of the study that it would be in."""
    protocol = PROTOCOLS[spec["protocol"]]
    order = design.presented_order(len(stimulus["responses"]), 0)
    with in_language_of(spec):
        context = {
            "screen": build_screen(protocol, spec, stimulus, order),
            "bar": {
                "title": spec["title"],
                "label": gettext("Preview"),
                "done": 0,
                "total": 0,
                "progress": "",
            },
            "notice": "",
            "help": {
                "contact": None,
                "withdraw": "",
                "problem": "",
                "guideline": render_markdown(protocol.guideline(spec, with_context=False, translate=gettext)),
                "shortcuts": False,
            },
            "item": {"submit": "", "skip": "", "draft": "", "visible_ms": "0", "screen": ""},
            "remember": False,
            "slug": slug,
        }
        response = render(request, "admin/evaluation/job/mapped_item.html", context)
    add_never_cache_headers(response)
    return response
