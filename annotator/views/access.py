"""What all of a participant's views share: who may call them, how they answer, and what their answers carry."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any

from csp.constants import SELF
from csp.utils import build_policy
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.http.response import HttpResponseRedirectBase
from django.template.loader import get_template
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt

from annotator.models import Participant
from annotator.services.submitting import NotYours

View = Callable[..., HttpResponse]


class SeeOther(HttpResponseRedirectBase):
    """The answer to every form that was taken: go on with a GET."""

    status_code = 303


def participant_view(*methods: str) -> Callable[[View], View]:
    """A view whose capability is the token in its address: no cookie, no CSRF check, framing by panels allowed.

    A stranger's token and somebody else's assignment are the same to it: there is nothing at this address.
    """

    def decorate(view: View) -> View:
        @csrf_exempt
        @wraps(view)
        def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if request.method not in methods:
                return _protect(HttpResponseNotAllowed(methods))
            try:
                return _protect(view(request, *args, **kwargs))
            except (Http404, Participant.DoesNotExist, NotYours):
                return _protect(render("404.html", {}, status=404))

        return answer

    return decorate


def _protect(response: HttpResponse) -> HttpResponse:
    response["Referrer-Policy"] = "no-referrer"
    response["Cache-Control"] = "no-store"
    response["X-Robots-Tag"] = "noindex"
    response["Content-Security-Policy"] = content_security_policy()
    response.xframe_options_exempt = True
    return response


def content_security_policy() -> str:
    """The policy of every page, except that panels may show these in a frame."""
    return _framed_by(tuple(settings.ASSAY_FRAME_ANCESTORS))


@lru_cache(maxsize=8)
def _framed_by(origins: tuple[str, ...]) -> str:
    return build_policy(replace={"frame-ancestors": [SELF, *origins]})


def render(template: str, context: dict[str, Any], *, status: int = 200) -> HttpResponse:
    """Renders without the request: no context processor runs, so nothing can touch a session or a cookie."""
    return HttpResponse(get_template(template).render(context), status=status)


def home(token: str, notice: str = "") -> SeeOther:
    """On to the participant's page, with a notice to show there (a key of `screens.NOTICES`)."""
    address = reverse("annotator:page", args=[token])
    return SeeOther(f"{address}?notice={notice}" if notice else address)


def clean_text(text: str) -> str:
    """Text that any database takes: without NUL and without halves of surrogate pairs."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode()
