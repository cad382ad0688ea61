"""Django's report on an exception, on a page of DEBUG or in a mail, with every secret masked.

Django hides settings and headers by their names; a key in a variable of a frame, in the exception's own words or in
the address of a database is found by its value.
"""

import sys

from django.http import HttpRequest, HttpResponse
from django.template.loader import get_template
from django.utils.safestring import SafeString
from django.views.debug import ExceptionReporter
from django.views.defaults import server_error

from config.logs import mask
from evaluation.operations.full_disk import is_full_disk


class MaskedReporter(ExceptionReporter):
    def get_traceback_html(self) -> SafeString:
        return SafeString(mask(super().get_traceback_html()))

    def get_traceback_text(self) -> SafeString:
        return SafeString(mask(super().get_traceback_text()))


def error_page(request: HttpRequest) -> HttpResponse:
    """Answer an unexpected error; a full disk is told from the rest, since trying again is of use then."""
    if is_full_disk(sys.exc_info()[1]):
        return HttpResponse(get_template("507.html").render({}), status=507)
    return server_error(request)
