"""An item as participants see it: the same rendering in the same page, storing nothing."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext
from django.views.decorators.csrf import csrf_exempt

from evaluation import design
from evaluation.admin.rights import FORM, study_for
from evaluation.forms.input.posted_fields import read_fields, read_trace
from evaluation.forms.language import in_language_of
from evaluation.forms.screen import build_screen
from evaluation.models import Item, Study
from evaluation.protocols import AnswersInvalid, Problem
from evaluation.protocols.answers.trace import Trace
from evaluation.protocols.base import Spec, Stimulus, sees_context
from evaluation.rendering.box import PAGE_SECONDS, RenderBox
from evaluation.rendering.markdown import render_markdown
from evaluation.services.studies.compilation import ResponseRenderer, compile_spec
from evaluation.services.studies.freeze import freeze_item, select_parts

# Orders offered: those in which the study shows as many responses, of many the first few.
MAX_ORDERS = 10


@csrf_exempt  # the participant's own form carries no token, and nothing is stored
def preview(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the screen; a POST checks the form as the study would, and stores nothing."""
    if request.method not in FORM:
        return HttpResponseNotAllowed(FORM)
    item = select_parts(Item.objects.select_related("study").filter(pk=pk)).first()
    if item is None:
        raise Http404
    study = study_for(request, item.study_id)
    spec = latest_spec(study)
    problems = compile_unsaved(item, spec, study)
    if item.stimulus is None:
        text = "; ".join(str(problem) for problem in problems)
        messages.error(
            request, f"Item {item.key} can't be judged yet, so there is nothing to preview: {text}."
        )
        return redirect("admin:evaluation_item_page", study.slug, item.pk)
    with in_language_of(spec):
        return _screen(request, study, item, spec)


def latest_spec(study: Study) -> dict[str, Any]:
    """The spec of the latest revision; of a draft the one that it would be launched with."""
    latest = study.revisions.order_by("-number").values_list("spec", flat=True).first()
    return latest or compile_spec(study)


def compile_unsaved(item: Item, spec: dict[str, Any], study: Study) -> list[Problem]:
    """Compile a draft's item without storing anything."""
    if item.stimulus is not None:
        return []
    with RenderBox(total=PAGE_SECONDS) as box:
        return freeze_item(item, spec, study, ResponseRenderer(spec, box.render))


def _screen(request: HttpRequest, study: Study, item: Item, spec: dict[str, Any]) -> HttpResponse:
    stimulus: dict[str, Any] = item.stimulus or {}
    orders = some_orders(len(stimulus["responses"]))
    order = request.GET.get("order", "")
    order = order if order in orders else orders[0]
    protocol = study.protocol_object
    data: dict[str, Any] | None = None
    trace: Trace = {}
    wrong: tuple[Problem, ...] = ()
    fine = False
    if request.method == "POST":
        data, trace = read_fields(request.POST.dict()), read_trace(request.POST.dict())
        try:
            protocol.clean(spec, stimulus, data)
            fine = True
        except AnswersInvalid as invalid:
            wrong = tuple(invalid.problems)
    here = reverse("admin:evaluation_item_preview", args=[item.pk])
    context = {
        "screen": build_screen(protocol, spec, stimulus, order, data=data, problems=wrong, trace=trace),
        **around_screen(study, spec, stimulus, submit=f"{here}?order={order}"),
        "preview": {
            "item": item,
            "study": study,
            "draft": not study.is_frozen,
            "fine": fine,
            "back": reverse("admin:evaluation_item_page", args=[study.slug, item.pk]),
            "orders": [(n, f"{here}?order={each}", each == order) for n, each in enumerate(orders, 1)],
            "neighbours": _neighbours(item),
        },
    }
    response = render(request, "admin/evaluation/item/preview.html", context, status=422 if wrong else 200)
    add_never_cache_headers(response)
    return response


def around_screen(
    study: Study, spec: Spec, stimulus: Stimulus, *, submit: str = "", label: str = ""
) -> dict[str, Any]:
    """The variables around an item's form on a participant's page, for a page that is nobody's visit, headed by
    `label`."""
    guideline = study.protocol_object.guideline(
        spec, with_context=sees_context(spec, stimulus), translate=gettext
    )
    return {
        "bar": {
            "title": spec["title"],
            "label": label or gettext("Preview"),
            "done": 0,
            "total": 0,
            "progress": "",
        },
        "notice": "",
        "help": {
            "contact": {"href": f"mailto:{study.contact}"} if "@" in study.contact else None,
            "withdraw": "",
            "problem": "",
            "guideline": render_markdown(guideline),
            "shortcuts": True,
        },
        "item": {"submit": submit, "skip": "", "draft": "", "visible_ms": "0", "screen": ""},
        "remember": False,
        "slug": study.slug,
    }


def some_orders(n: int) -> list[str]:
    """Orders in which so many responses are shown, of many the first few."""
    return [design.presented_order(n, row) for row in range(min(design.n_orders(n), MAX_ORDERS))]


def _neighbours(item: Item) -> list[tuple[str, str]]:
    """The items before and after it in its study, by position."""
    rows = Item.objects.filter(study=item.study_id)
    before = rows.filter(position__lte=item.position, pk__lt=item.pk).order_by("-position", "-pk").first()
    after = rows.filter(position__gte=item.position, pk__gt=item.pk).order_by("position", "pk").first()
    return [
        (label, reverse("admin:evaluation_item_preview", args=[each.pk]))
        for label, each in (("Previous item", before), ("Next item", after))
        if each is not None
    ]
