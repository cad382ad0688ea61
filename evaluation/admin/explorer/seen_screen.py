"""A participant's screen as it was seen, in a frame: nothing on it can be filled in."""

from collections.abc import Mapping
from typing import Any

from csp.constants import SELF
from csp.decorators import csp_replace
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import escape
from django.utils.safestring import SafeString
from django.views.decorators.clickjacking import xframe_options_sameorigin

from evaluation.admin.preview import compile_unsaved, latest_spec, some_orders
from evaluation.admin.rights import study_page
from evaluation.forms.answers_in_words import ResponseNames
from evaluation.forms.input.recorded_answers import answers_as_data
from evaluation.forms.language import in_language_of
from evaluation.forms.response_names import response_names
from evaluation.forms.screen import build_screen
from evaluation.models import Item, Judgment, Study
from evaluation.protocols.answers.trace import Trace
from evaluation.protocols.base import Data, Spec, Stimulus
from evaluation.services.answers import load_answers
from evaluation.services.studies.freeze import select_parts

# Of an address: the order in which responses stand, and that systems are named.
ORDER, SYSTEMS = "order", "systems"


def shown_names(stimulus: Stimulus, order: str, systems: Mapping[str, str] | None = None) -> ResponseNames:
    """The responses in that order, by part: as the screen calls them, or by these names of systems."""
    on_screen = {part: SafeString(name) for part, name in response_names(stimulus, order).items()}
    if systems is None:
        return on_screen
    keys = {each["part"]: each["system"] for each in stimulus["responses"]}
    return {part: escape(systems.get(keys[part], keys[part])) for part in on_screen}


def asked_order(request: HttpRequest, stimulus: Stimulus, default: str = "") -> str:
    """The order that the address asks for, if the responses can stand in it; else that one, by default the first."""
    asked, parts = request.GET.get(ORDER, ""), [each["part"] for each in stimulus["responses"]]
    return asked if sorted(asked.split(",")) == sorted(parts) else default or some_orders(len(parts))[0]


@xframe_options_sameorigin
@csp_replace({"frame-ancestors": [SELF]})
@study_page()
def item_screen(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """The item in the order that the address asks for."""
    item = select_parts(Item.objects.filter(study=study, pk=pk)).first()
    if item is None:
        raise Http404
    spec = latest_spec(study)
    problems = compile_unsaved(item, spec, study)
    if item.stimulus is None:
        return render(request, "evaluation/explorer/no_screen.html", {"problems": problems})
    return _screen(request, study, spec, item.stimulus, asked_order(request, item.stimulus))


@xframe_options_sameorigin
@csp_replace({"frame-ancestors": [SELF]})
@study_page()
def judgment_screen(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """The item with the judgment's answers, in the order that its rater saw."""
    rows = Judgment.objects.filter(study=study, pk=pk).select_related("item", "revision")
    judgment = rows.first()
    if judgment is None:
        raise Http404
    spec, stimulus = judgment.revision.spec, judgment.item.stimulus or {}
    questions = study.protocol_object.questions(spec, stimulus)
    asked = {question.key for question in questions}
    answers = [each for each in load_answers(judgment) if each.question in asked]
    trace = {key: moves for key, moves in judgment.trace.items() if key in asked and isinstance(moves, list)}
    data = answers_as_data(questions, answers)
    return _screen(request, study, spec, stimulus, judgment.shown, data=data, trace=trace)


def _screen(
    request: HttpRequest,
    study: Study,
    spec: Spec,
    stimulus: Stimulus,
    order: str,
    *,
    data: Data | None = None,
    trace: Trace | None = None,
) -> HttpResponse:
    with in_language_of(spec):
        screen = build_screen(study.protocol_object, spec, stimulus, order, data=data, trace=trace)
        context: dict[str, Any] = {"screen": screen, "title": spec["title"], "filled_in": bool(data)}
        return render(request, "evaluation/explorer/seen_screen.html", context)
