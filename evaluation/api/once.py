"""Requests that create or pay: done once, however often they are sent with the same `Idempotency-Key`."""

import re
from collections.abc import Callable
from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.problems import Conflict
from evaluation.services.idempotency import IdempotencyKeyReused, first_answer, run_once

IDEMPOTENCY_KEY_SHAPE = re.compile(r"[A-Za-z0-9._:-]{1,255}")
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "minLength": 1, "maxLength": 255, "pattern": r"^[A-Za-z0-9._:-]+$"},
    OpenApiParameter.HEADER,
    description="Any text of your own. The same request with the same key is done once and gets the same answer, "
    "for a day.",
)


def start_once(
    request: Request, start: Callable[[], dict[str, Any]], *, status: int = 201, body: Any = None
) -> Response:
    """The answer about what is done once per `Idempotency-Key`, where the request has one.

    `body` is what tells the request from another with the same key, where that is not its JSON.
    """
    key = _idempotency_key(request)
    if key is None:
        return Response(start(), status=status)
    told_apart = request.data if body is None else body
    try:
        answer, _ = run_once(request.user, key=key, path=request.path, body=told_apart, act=start)
    except IdempotencyKeyReused as otherwise:
        raise Conflict(str(otherwise), code="idempotency_key_used") from None
    return Response(answer, status=status)


def start_of_file(request: Request, start: Callable[[], Response], *, status: int, body: Any) -> Response:
    """The first answer of this request, or that of `start`, which stores and reads the file that `body` tells apart
    before it comes to `start_once`: no transaction is open while it does."""
    before = _first_answer(request, body)
    if before is None:
        try:
            return start()
        except Conflict:
            # The same request, sent at the same moment, may have taken the upload.
            before = _first_answer(request, body)
            if before is None:
                raise
    return Response(before, status=status)


def _first_answer(request: Request, body: Any) -> dict[str, Any] | None:
    if (key := _idempotency_key(request)) is None:
        return None
    try:
        return first_answer(request.user, key=key, path=request.path, body=body)
    except IdempotencyKeyReused as otherwise:
        raise Conflict(str(otherwise), code="idempotency_key_used") from None


def _idempotency_key(request: Request) -> str | None:
    key = request.headers.get("Idempotency-Key")
    if key is not None and not IDEMPOTENCY_KEY_SHAPE.fullmatch(key):
        problem = "Give 1 to 255 letters, digits, dots, colons, dashes or underscores."
        raise ValidationError({"Idempotency-Key": [ErrorDetail(problem, "invalid")]})
    return key
