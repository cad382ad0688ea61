"""The log of requests: an id for each, and one line, which names the user where a view asked for them.

`request_log` is the outermost layer, so that the id is in every line and the time is the whole time. Neither layer
reads a cookie or a session.
"""

import logging
import os
import re
import time
from collections.abc import Callable
from typing import Any

from csp.constants import HEADER
from csp.middleware import CSPMiddleware
from django.conf import settings
from django.core.signals import request_finished
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.utils.functional import SimpleLazyObject, empty

from evaluation.operations import logcontext

logger = logging.getLogger("assay.access")
SANE_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")
GetResponse = Callable[[HttpRequest], HttpResponseBase]


def request_log(get_response: GetResponse) -> GetResponse:
    """Give the request an id, answer with it, and write one line when the answer is there."""
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


class Compression(GZipMiddleware):
    """Compress pages, styles and scripts for whoever has no proxy before it that does. Files that are downloaded stay
    as they are: their length is told, and most are compressed already."""

    kinds = frozenset({"text/html", "text/css", "text/javascript"})

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        kind = response.headers.get("Content-Type", "").partition(";")[0]
        if kind not in self.kinds or response.has_header("Content-Disposition"):
            return response
        compressed: HttpResponseBase = super().process_response(request, response)
        return compressed


def note_user(get_response: GetResponse) -> GetResponse:
    """Note the user for the log once something asks for `request.user`; after AuthenticationMiddleware, which sets it
    unasked. A page that knows nobody by a session then looks nobody up for the log alone."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        session_user = request.user

        def noted() -> Any:
            request.known_user = session_user  # type: ignore[attr-defined]
            return session_user

        request.user = SimpleLazyObject(noted)  # type: ignore[assignment]
        return get_response(request)

    return middleware


def _user_id(request: HttpRequest) -> int | None:
    """The user who was asked for, or whom a login or the API has set; None for nobody and for a stranger."""
    user = vars(request).get("user")
    if isinstance(user, SimpleLazyObject):
        user = vars(request).get("known_user")
        # Who could not be looked up, as without a database, is not looked up for the log.
        if isinstance(user, SimpleLazyObject) and vars(user)["_wrapped"] is empty:
            return None
    found: int | None = getattr(user, "pk", None)
    return found


def _forget(**kwargs: Any) -> None:
    logcontext.end()


request_finished.connect(_forget, dispatch_uid="assay-request-log")


class ContentSecurityPolicy(CSPMiddleware):
    """django-csp's layer; an answer that brings a policy of its own, as participants' pages do, has none built."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        return response if response.has_header(HEADER) else super().process_response(request, response)
