"""The webhook of panels. Knowing the secret is the only authentication: no session, no cookie."""

import logging

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from annotator.panels.platforms import platform_apis
from annotator.panels.platforms.errors import NoSecret, NotAnEvent, NotSigned
from annotator.panels.services.events import receive
from annotator.panels.tasks import queue_events

logger = logging.getLogger(__name__)


@csrf_exempt
@require_POST
def panel_hook(request: HttpRequest, platform: str) -> HttpResponse:
    """Store a delivery and answers at once; the worker does what it calls for. What is not 2xx is delivered again."""
    if platform not in platform_apis():
        raise Http404
    try:
        event = receive(platform, request.body, request.headers)
    except NoSecret as why:
        logger.error("A webhook was refused: %s", why)
        return _plain(f"Not set up: {why}", 503)
    except NotSigned as why:
        logger.warning("A webhook was refused: %s", why)
        return _plain(str(why), 401)
    except NotAnEvent as why:
        logger.warning("A webhook was refused: %s", why)
        return _plain(str(why), 400)
    if event is not None:
        queue_events()
    return HttpResponse(status=204)


def _plain(said: str, status: int) -> HttpResponse:
    return HttpResponse(f"{said}\n", status=status, content_type="text/plain; charset=utf-8")
