"""Parsing of request bodies: small JSON; anything else is a bad request and nothing worse."""

from collections.abc import Mapping
from typing import IO, Any

from rest_framework import status
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import JSONParser

from evaluation.json_bodies import BadJSON, read_json

MAX_BYTES = 64 * 1024


class BodyTooLarge(APIException):
    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_detail = f"The body is larger than {MAX_BYTES // 1024} kB."
    default_code = "too_large"


class SmallJSONParser(JSONParser):
    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        raw = stream.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            raise BodyTooLarge
        try:
            return read_json(raw)
        except BadJSON as wrong:
            raise ParseError(str(wrong)) from None
