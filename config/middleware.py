"""The outermost layer of a request: its id, and its one line in the log.

Before everything else, so that the id is in every line and the time is the whole time. It reads no cookie and no
session, and costs a participant's page next to nothing.
"""

import logging
import os
import re
import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.signals import request_finished
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.functional import SimpleLazyObject, empty

from evaluation import logcontext

logger = logging.getLogger("assay.access")
SANE_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")
GetResponse = Callable[[HttpRequest], HttpResponseBase]


def request_log(get_response: GetResponse) -> GetResponse:
    """Gives the request an id, answers with it, and writes one line when the answer is there."""
    with_lines = settings.ASSAY_ACCESS_LOG

    def middleware(request: HttpRequest) -> HttpResponseBase:
        began = time.perf_counter()
        given = request.META.get("HTTP_X_REQUEST_ID", "")
        request_id = given if SANE_ID.fullmatch(given) else os.urandom(8).hex()
        # Ended by `request_finished` and not here: Django logs an answer's status after its middleware.
        logcontext.begin(request=request_id)
        response = get_response(request)
        response.headers["X-Request-ID"] = request_id
        if with_lines and logger.isEnabledFor(logging.INFO):
            _write_line(request, response, time.perf_counter() - began)
        return response

    return middleware


def _write_line(request: HttpRequest, response: HttpResponseBase, seconds: float) -> None:
    # Without the query string: panels put their people's ids there. Escaped, so that no path can forge a line.
    path = request.path if request.path.isprintable() else request.path.encode("unicode_escape").decode()
    ms, user = round(seconds * 1000, 1), _user_id(request)
    status = response.status_code
    fields = {"method": request.method, "path": path, "status": status, "ms": ms, "user": user}
    who = "" if user is None else f" user={user}"
    logger.info("%s %s %s %s ms%s", request.method, path, status, ms, who, extra={"access": fields})


def _user_id(request: HttpRequest) -> int | None:
    """Who it was, if somebody asked already; never the one who asks."""
    user = request.__dict__.get("_cached_user") or request.__dict__.get("user")
    if isinstance(user, SimpleLazyObject) and user.__dict__.get("_wrapped") is empty:
        return None
    found: int | None = getattr(user, "pk", None)
    return found


def _forget(**kwargs: Any) -> None:
    logcontext.end()


request_finished.connect(_forget, dispatch_uid="assay-request-log")
