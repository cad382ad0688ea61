"""Base classes of the API's views."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, ClassVar

from django.http import Http404, HttpRequest
from rest_framework.exceptions import MethodNotAllowed, PermissionDenied
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.api.paging import IdPagination
from evaluation.api.query import QuerySerializer
from evaluation.models import Study
from evaluation.permissions import NoRight, get_study_for, may_begin_studies, reads_ids
from evaluation.private_words import PrivateWords, texts_in
from evaluation.services.history import log_copy
from evaluation.services.private_texts import private_words_in

NOT_STAFF = "Your account may not begin studies or endpoints."


class ApiView(APIView):
    """Reads the parameters before it does anything else; `query` holds them."""

    query_class: type[QuerySerializer] = QuerySerializer
    pagination_class: type[IdPagination] | None = None
    query: dict[str, Any]
    # Fields with what members wrote, or a job said: viewers read no platform's ids in them.
    written: ClassVar[frozenset[str]] = frozenset()

    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Request:
        # A charset in the Content-Type would decide how parameters are read, and Python knows some that read nothing.
        request.encoding = "utf-8"
        return super().initialize_request(request, *args, **kwargs)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if not hasattr(self, (request.method or "").lower()):
            raise MethodNotAllowed(request.method or "")
        # No key holds U+0000, and PostgreSQL does not take it in a question.
        if any("\x00" in value for value in kwargs.values() if isinstance(value, str)):
            raise Http404
        self.authorise()
        self.query = (self.query_class if request.method in SAFE_METHODS else QuerySerializer).read(request)

    def authorise(self) -> None:
        """Check what is needed beside a valid token, before any error about parameters."""

    def finalize_response(self, request: Any, response: Any, *args: Any, **kwargs: Any) -> Any:
        study: Study | None = getattr(self, "study", None)
        may_hide = bool(self.written) and isinstance(response, Response)
        if may_hide and study is not None and not reads_ids(self.request.user, study):
            private = private_words_in(study, texts_in(response.data))
            response.data = _without_ids(response.data, self.written, private)
        final = super().finalize_response(request, response, *args, **kwargs)
        final["Cache-Control"] = "private, no-store"
        return final

    def paged(self, queryset: Any, records: Any) -> Response:
        """A page of the rows, each page turned into records by one call."""
        assert self.pagination_class is not None
        pages = self.pagination_class()
        return pages.get_paginated_response(records(pages.paginate_queryset(queryset, self.request, self)))


def _without_ids(data: Any, written: frozenset[str], private: PrivateWords) -> Any:
    """The same, with ids blacked out in the fields of these names, at whatever depth."""
    if isinstance(data, Mapping):
        return {
            name: private.blacked_out_json(value)
            if name in written
            else _without_ids(value, written, private)
            for name, value in data.items()
        }
    return [_without_ids(each, written, private) for each in data] if isinstance(data, list) else data


class BeginningView(ApiView):
    """A view that makes what costs the installation something: for members of its staff."""

    def authorise(self) -> None:
        if self.request.method not in SAFE_METHODS and not may_begin_studies(self.request.user):
            raise PermissionDenied(NOT_STAFF, code="not_staff")


def study_of(request: Request, slug: str, right: str) -> Study:
    """The study in which the user has the right; Http404 for outsiders, 403 with a code of its own for owners' acts."""
    try:
        return get_study_for(request.user, slug, right=right)
    except NoRight:
        if right != "own":
            raise
        raise PermissionDenied("Only owners of this study may do that.", code="owners_only") from None


class StudyView(ApiView):
    """A view below a study: for its members only, and for writing only with the right to.

    `rights` names, by method, the right that is needed where it is another one. `copied` says what of people's work a
    page of it holds: the history has a line for it.
    """

    study: Study
    rights: ClassVar[Mapping[str, str]] = {}
    copied: ClassVar[str] = ""

    def authorise(self) -> None:
        method = self.request.method or ""
        right = self.rights.get(method, "view" if method in SAFE_METHODS else "write")
        self.study = study_of(self.request, self.kwargs["slug"], right)

    def finalize_response(self, request: Any, response: Any, *args: Any, **kwargs: Any) -> Any:
        final = super().finalize_response(request, response, *args, **kwargs)
        if self.copied and request.method == "GET" and final.status_code == HTTPStatus.OK:
            log_copy(self.study, f"{self.copied}, through the API", by=self.request.user)
        return final
