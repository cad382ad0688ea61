"""Parsing of request bodies: small JSON; anything else is a bad request and nothing worse."""

from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from rest_framework import status
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import JSONParser

from evaluation.json_bodies import BadJSON, read_json


class BodyTooLarge(APIException):
    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_code = "too_large"

    def __init__(self, limit: int) -> None:
        super().__init__(f"The body is larger than {limit // 1024} kB.")


class SmallJSONParser(JSONParser):
    max_bytes = 64 * 1024

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        raw = stream.read(self.max_bytes + 1)
        if len(raw) > self.max_bytes:
            raise BodyTooLarge(self.max_bytes)
        try:
            return read_json(raw)
        except BadJSON as wrong:
            raise ParseError(str(wrong)) from None


class ItemsJSONParser(SmallJSONParser):
    """As much as any address but those of uploads takes (`config.bodies`)."""

    max_bytes = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
