"""The addresses of a walk through a study, for its members. They store nothing, which the connection itself holds."""

from collections.abc import Callable
from functools import wraps

from csp.constants import SELF
from csp.decorators import csp_replace
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_safe

from annotator.views.draft import is_too_large
from annotator.views.shared.access import SeeOther
from annotator.views.shared.texts import NOTICES
from annotator.views.walkthrough.acts import answer_form
from annotator.views.walkthrough.pages import station_page
from annotator.views.walkthrough.state import WalkState, read_state
from annotator.views.walkthrough.walk import Walk
from annotator.views.walkthrough.walked_study import WalkedStudy
from evaluation.database.reads import reads_only
from evaluation.forms.language import in_language_of
from evaluation.models import Study
from evaluation.permissions import RIGHTS, get_study_for

FIRST = "entry"
View = Callable[..., HttpResponse]


def member_view(view: View) -> View:
    """A page of the walk: it gets the study of that slug in place of the slug, and can't write."""

    @login_required
    @wraps(view)
    def answer(request: HttpRequest, slug: str, **named: str) -> HttpResponse:
        study = get_study_for(request.user, slug)
        with reads_only():
            response = view(request, study, **named)
        add_never_cache_headers(response)
        return response

    return answer


@require_safe
@member_view
def walk_through(request: HttpRequest, study: Study) -> HttpResponse:
    return SeeOther(reverse("annotator:walk-station", args=[study.slug, FIRST]))


@csrf_exempt  # a participant's forms carry no token, and nothing is stored
@require_http_methods(["GET", "HEAD", "POST"])
@xframe_options_sameorigin
@csp_replace({"frame-ancestors": [SELF]})
@member_view
def walk_station(request: HttpRequest, study: Study, station: str) -> HttpResponse:
    """A station's page, or the answer to one of its forms."""
    state = read_state(request.GET.get("s", ""), study.pk)
    if state is None:
        return _again(study, station)
    walk = _walk(request, study, state, station)
    with in_language_of(walk.walked.spec):
        if request.method != "POST":
            return station_page(walk)
        if is_too_large(request):
            return walk.go(station, state.but(notice="too-large"))
        return answer_form(walk, request.GET.get("act", ""))


@require_safe
@csp_replace({"frame-src": [SELF]})
@member_view
def walk_phone(request: HttpRequest, study: Study, station: str) -> HttpResponse:
    """The station in a frame of a phone's width."""
    state = read_state(request.GET.get("s", ""), study.pk)
    if state is None:
        return _again(study, station)
    walk = _walk(request, study, state.but(framed=True), station)
    return render(request, "annotator/walkthrough/phone.html", {"study": study, "frame": walk.url()})


def _walk(request: HttpRequest, study: Study, state: WalkState, station: str) -> Walk:
    walked = WalkedStudy(study, state.arm)
    sees_codes = request.user.is_superuser or getattr(study, "own_role", "") in RIGHTS["write"]
    walk = Walk(request, study, walked, state, station, sees_codes)
    if station not in {each.key for each in walk.stations}:
        raise Http404
    if state.notice and state.notice not in NOTICES:
        raise Http404
    return walk


def _again(study: Study, station: str) -> HttpResponse:
    """From an address that was cut off or is of another study: the same station from its beginning."""
    return SeeOther(reverse("annotator:walk-station", args=[study.slug, station]))
