"""The short way for participants' requests: past sessions, accounts, messages and everything else they have no use for.

Their views know a person by the token in the address, read no cookie, and set all their headers themselves.
"""

from collections.abc import Callable
from typing import Any

from django.core.exceptions import SuspiciousOperation
from django.core.files.uploadhandler import FileUploadHandler
from django.core.handlers.exception import convert_exception_to_response
from django.http import HttpRequest
from django.http.response import HttpResponse, HttpResponseBase
from django.urls import Resolver404, resolve

from annotator.views.access import content_security_policy

PREFIXES = ("/p/", "/s/")
GetResponse = Callable[[HttpRequest], HttpResponseBase]


def participants_first(get_response: GetResponse) -> GetResponse:
    """Answers a participant's request here; all others, and addresses that lead nowhere, go the long way."""
    answer: GetResponse = convert_exception_to_response(_answer)  # type: ignore[assignment]  # it is not asynchronous

    def middleware(request: HttpRequest) -> HttpResponseBase:
        if not request.path_info.startswith(PREFIXES):
            return get_response(request)
        try:
            request.resolver_match = resolve(request.path_info)
        except Resolver404:
            return get_response(request)
        response = answer(request)
        # An error's answer comes from no view.
        response.headers.setdefault("Content-Security-Policy", content_security_policy())
        if isinstance(response, HttpResponse):
            response.headers.setdefault("Content-Length", str(len(response.content)))
        return response

    return middleware


class NoFiles(FileUploadHandler):
    """Refuses a file as it begins: no participant sends any, and Django would write it to a disk for anybody."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        raise SuspiciousOperation("Participants' addresses take no files.")

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        raise AssertionError("no file has begun")

    def file_complete(self, file_size: int) -> None:
        return None


def _answer(request: HttpRequest) -> HttpResponseBase:
    request.get_host()  # refuses a host that ALLOWED_HOSTS does not have
    request.upload_handlers = [NoFiles(request)]
    match = request.resolver_match
    assert match is not None
    response: HttpResponseBase = match.func(request, *match.args, **match.kwargs)
    return response
