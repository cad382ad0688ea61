"""Reading a request's body: JSON, small, and whatever it is, never more than a bad request."""

import json
from collections.abc import Mapping
from typing import IO, Any

from rest_framework import status
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import JSONParser

MAX_BYTES = 64 * 1024


class TooLarge(APIException):
    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_detail = f"The body is larger than {MAX_BYTES // 1024} kB."
    default_code = "too_large"


class SmallJSONParser(JSONParser):
    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        raw = stream.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            raise TooLarge
        try:
            # JSON is UTF-8, whatever charset the header claims.
            value = json.loads(raw.decode("utf-8"), parse_constant=_refuse)
            # Half a character, as \ud800 alone is one, can neither be stored nor answered with.
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        except RecursionError:
            raise ParseError("The JSON is nested too deeply.") from None
        except ValueError as wrong:
            raise ParseError(f"This is not JSON: {_reason(wrong)}") from None
        return value


def _reason(wrong: ValueError) -> str:
    return "it holds half a character" if isinstance(wrong, UnicodeEncodeError) else str(wrong)


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
