"""The frame of every participant's view: who may call it, how it answers, and which headers its answers carry."""

import uuid
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any

from csp.constants import SELF
from csp.utils import build_policy
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.http.response import HttpResponseRedirectBase
from django.template.loader import get_template
from django.urls import get_script_prefix, reverse
from django.views.decorators.csrf import csrf_exempt

from annotator.models import Assignment, Participant
from annotator.panels.platforms import Departure
from annotator.panels.platforms.addresses import origin_of
from annotator.panels.services.arrivals import frame_origins
from annotator.selectors.participants import get_participant, get_present
from annotator.services.work.submit import NotYours
from evaluation.forms.language import in_languages, language_of, speak, texts_language_of
from evaluation.models import Language, Study
from evaluation.protocols.base import Spec

View = Callable[..., HttpResponse]
# Stand for a participant's token and an assignment's id in addresses that are made ahead.
NO_TOKEN, NO_ASSIGNMENT = "_" * 32, uuid.UUID(int=0)


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
            # English until the study is known (`speak_as`), and again for whatever this process answers next.
            with in_languages(Language.ENGLISH):
                try:
                    return _protect(view(request, *args, **kwargs))
                except (Http404, Participant.DoesNotExist, Study.DoesNotExist, NotYours):
                    return _protect(render("404.html", {}, status=404))

        return answer

    return decorate


def speak_as(spec: Spec) -> None:
    """Answer this request in that spec's languages from here on, whatever the browser asks for."""
    speak(language_of(spec), texts_language_of(spec))


def participant_of(token: str) -> Participant:
    """The participant of that token, answered in their study's language; or DoesNotExist."""
    participant = get_participant(token)
    speak_as(participant.revision.spec)
    return participant


def present_of(token: str) -> tuple[Participant, Assignment | None]:
    """The same with what is before them."""
    participant, assignment = get_present(token)
    speak_as(participant.revision.spec)
    return participant, assignment


def _protect(response: HttpResponse) -> HttpResponse:
    response["Referrer-Policy"] = "no-referrer"
    response["Cache-Control"] = "no-store"
    response["X-Robots-Tag"] = "noindex"
    # A page about a study has its own: who may frame it is the platform's word.
    response.headers.setdefault("Content-Security-Policy", content_security_policy())
    response.xframe_options_exempt = True
    return response


def content_security_policy() -> str:
    """The policy of every page, except that the installation's sites may show these in a frame."""
    return _policy(tuple(settings.ASSAY_FRAME_ANCESTORS), ())


@lru_cache(maxsize=256)
def _policy(frames: tuple[str, ...], form_targets: tuple[str, ...]) -> str:
    return build_policy(
        replace={"frame-ancestors": [SELF, *frames], "form-action": [SELF, *form_targets]},
    )


def render(template: str, context: dict[str, Any], *, status: int = 200) -> HttpResponse:
    """Render without the request: no context processor runs, so nothing can touch a session or a cookie."""
    return HttpResponse(get_template(template).render(context), status=status)


def render_for(
    study: Study, template: str, context: dict[str, Any], *, status: int = 200, leave: Departure | None = None
) -> HttpResponse:
    """A page about a study, which its platform's sites may frame; one that ends the way may post its form there."""
    frames = frame_origins(study)
    # The site answers the form with a redirect inside its own frame, which the policy has to allow, too.
    targets = (origin_of(leave.post_to), *frames) if leave is not None and leave.post_to else ()
    response = render(template, context, status=status)
    response["Content-Security-Policy"] = _policy(frames, targets)
    return response


def address_of(name: str, token: str, assignment: uuid.UUID | None = None) -> str:
    """The address of one of a participant's views; those on an item name the assignment."""
    pattern = _pattern(name, get_script_prefix(), on_item=assignment is not None)
    address = pattern.replace(NO_TOKEN, token)
    return address.replace(str(NO_ASSIGNMENT), str(assignment)) if assignment else address


@lru_cache(maxsize=64)
def _pattern(name: str, prefix: str, *, on_item: bool) -> str:
    """The address with stand-ins: an item's page has five, and Django asks for the language three times for each."""
    return reverse(f"annotator:{name}", args=[NO_TOKEN, NO_ASSIGNMENT] if on_item else [NO_TOKEN])


def home(token: str, notice: str = "") -> SeeOther:
    """On to the participant's page, with a notice to show there (a key of `screens.NOTICES`)."""
    address = address_of("page", token)
    return SeeOther(f"{address}?notice={notice}" if notice else address)
