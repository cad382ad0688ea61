"""Errors, all in one shape: RFC 9457's problem details, with a code for programs and the fields that are wrong."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any, TypeVar

from django.http import Http404
from rest_framework import serializers, status
from rest_framework.exceptions import APIException, NotFound, PermissionDenied, Throttled, ValidationError
from rest_framework.response import Response
from rest_framework.views import exception_handler, set_rollback

from evaluation.counting import counted
from evaluation.dumps.problems import place_and_fault
from evaluation.permissions import NoRight
from evaluation.refusals import FieldsRefused, Refused, WrongState

T = TypeVar("T")
MEDIA_TYPE = "application/problem+json"
# The row of a table, the line of a file, the item of a study.
PLACE = re.compile(r"(row|line|record|item) ", re.IGNORECASE)


class FieldProblemSerializer(serializers.Serializer[Any]):
    field = serializers.CharField(
        help_text="The parameter or field, or the place in a file; empty: all of them together."
    )
    code = serializers.CharField()
    message = serializers.CharField()


class ProblemSerializer(serializers.Serializer[Any]):
    """A problem (RFC 9457)."""

    type = serializers.CharField(help_text="about:blank: the status says what kind of problem this is.")
    title = serializers.CharField(help_text="The status in words.")
    status = serializers.IntegerField()
    code = serializers.CharField(help_text="For programs: invalid, not_found, throttled, ...")
    detail = serializers.CharField(help_text="For people.")
    # The metaclass takes fields away before they could hide what the class has by these names.
    errors = FieldProblemSerializer(  # type: ignore[assignment]
        many=True, help_text="Each field that is wrong, where some are; otherwise empty."
    )


# For the description of an operation that may be refused so.
CONFLICTS: dict[Any, Any] = {(409, MEDIA_TYPE): ProblemSerializer}


class Conflict(APIException):
    """The request does not fit the present state. `by_field` names fields whose values are what does not fit."""

    status_code = status.HTTP_409_CONFLICT
    default_detail = "This can't be done in the present state."
    default_code = "conflict"

    def __init__(self, detail: str, code: str, by_field: Mapping[str, Sequence[str]] | None = None) -> None:
        super().__init__(detail, code)
        self.by_field = by_field or {}


def allowed(act: Callable[[], T]) -> T:
    """The service's result; a refusal is a conflict, with the service's sentences and what they are about: a field, or
    a place in a file."""
    try:
        return act()
    except WrongState as wrong:
        raise Conflict(str(wrong), code="wrong_state") from None
    except FieldsRefused as refused:
        raise Conflict(str(refused), code="refused", by_field=refused.by_field) from None
    except Refused as refused:
        raise Conflict(str(refused), code="refused", by_field=_by_place(refused)) from None


def _by_place(refused: Refused) -> dict[str, list[str]]:
    """Each reason under its place in the file; of a single one that has no place the detail says all."""
    found: dict[str, list[str]] = {}
    for sentence in refused.problems:
        place, fault = place_and_fault(sentence)
        if not PLACE.match(place):
            place, fault = "", sentence
        found.setdefault(place, []).append(fault)
    return {} if list(found) == [""] and len(refused.problems) == 1 else found


def problem_response(exc: Exception, context: dict[str, Any]) -> Response | None:
    """The problem as a response; None for unforeseen exceptions, which are logged as server errors."""
    problem = _as_api_exception(exc)
    # Its headers, and that the transaction is rolled back.
    plain = exception_handler(problem, context)
    if plain is None:
        return None
    set_rollback()
    invalid = isinstance(problem, ValidationError)
    errors = list(_fields(problem.detail) if invalid else _refused_fields(problem))
    body = {
        "type": "about:blank",
        "title": HTTPStatus(problem.status_code).phrase,
        "status": problem.status_code,
        "code": "invalid" if invalid else _code(problem),
        "detail": _detail(problem, errors if invalid else []),
        "errors": errors,
    }
    headers = {name: plain[name] for name in ("WWW-Authenticate", "Retry-After") if plain.has_header(name)}
    return Response(body, status=problem.status_code, headers=headers, content_type=MEDIA_TYPE)


def _as_api_exception(exc: Any) -> Any:
    if isinstance(exc, Http404):
        return NotFound("There is nothing here that you may see.")
    if isinstance(exc, NoRight):
        return PermissionDenied("You may read this study, not change it.", code="read_only")
    return exc


def _code(problem: APIException) -> str:
    codes = problem.get_codes()
    return codes if isinstance(codes, str) else problem.default_code


def _detail(problem: APIException, errors: list[dict[str, str]]) -> str:
    # Set by its own initialiser, which the framework's types do not say.
    wait: int | None = getattr(problem, "wait", None)
    if isinstance(problem, Throttled) and wait is not None:
        return f"Too many requests in this minute: try again in {counted(wait, 'second')}."
    if not errors:
        return str(problem.detail)
    return " ".join(
        f"{each['field']}: {each['message']}" if each["field"] else each["message"] for each in errors
    )


def _fields(detail: Any, path: str = "") -> Iterator[dict[str, str]]:
    if isinstance(detail, dict):
        for name, inner in detail.items():
            own = "" if name == "non_field_errors" else str(name)
            yield from _fields(inner, ".".join(part for part in (path, own) if part))
    elif isinstance(detail, list):
        for inner in detail:
            yield from _fields(inner, path)
    else:
        yield {"field": path, "code": detail.code, "message": str(detail)}


def _refused_fields(problem: APIException) -> Iterator[dict[str, str]]:
    by_field = problem.by_field if isinstance(problem, Conflict) else {}
    for field, sentences in by_field.items():
        for sentence in sentences:
            yield {"field": field, "code": "refused", "message": sentence}
