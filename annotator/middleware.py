"""The layer around participants' addresses, which gives them no cookies, takes no files, and lets panels frame errors.

Their views know a person by the token in the address, and set all their headers themselves; an error's answer comes
from no view, and gets here what it lacks.
"""

from collections.abc import Callable
from typing import Any

from django.core.exceptions import SuspiciousOperation
from django.core.files.uploadhandler import FileUploadHandler
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from annotator.views.shared.access import content_security_policy

# django-csp leaves them alone (CONTENT_SECURITY_POLICY in the settings).
PREFIXES = ("/p/", "/s/")
GetResponse = Callable[[HttpRequest], HttpResponseBase]


def participant_requests(get_response: GetResponse) -> GetResponse:
    def middleware(request: HttpRequest) -> HttpResponseBase:
        if not request.path_info.startswith(PREFIXES):
            return get_response(request)
        # No layer can tell one browser from another, or has a reason to set a cookie.
        request.COOKIES = {}
        request.upload_handlers = [NoFiles(request)]
        response = get_response(request)
        if not response.has_header("Content-Security-Policy"):
            response.headers["Content-Security-Policy"] = content_security_policy()
            # Where the policy names the sites that may frame a page, this would forbid them all.
            response.headers.pop("X-Frame-Options", None)
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
