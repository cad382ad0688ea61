"""Django's report on an exception, on a page of DEBUG or in a mail, with every secret masked.

Django hides settings and headers by their names; a key in a variable of a frame, in the exception's own words or in
the address of a database is found by its value.
"""

from django.utils.safestring import SafeString
from django.views.debug import ExceptionReporter

from config.logs import mask


class MaskedReporter(ExceptionReporter):
    def get_traceback_html(self) -> SafeString:
        return SafeString(mask(super().get_traceback_html()))

    def get_traceback_text(self) -> SafeString:
        return SafeString(mask(super().get_traceback_text()))
