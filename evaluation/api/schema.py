"""The API's description: OpenAPI, generated from the code."""

from functools import cache
from typing import Any

from django.http import HttpResponse
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.renderers import OpenApiJsonRenderer
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.permissions import SAFE_METHODS, AllowAny
from rest_framework.request import Request

from evaluation.api.base import ApiView
from evaluation.api.problems import MEDIA_TYPE, ProblemSerializer
from evaluation.api.query import OpenSerializer, StrictSerializer

SAID = {
    "200": "As asked.",
    "201": "Made.",
    "202": "Begun: a worker does it.",
    "206": "The range of the file that Range asks for, of the file that If-Range names.",
    "304": "The file is the one that If-None-Match names.",
    "400": "A parameter or field that does not exist or does not fit.",
    "401": "No token, or one that is not valid or no longer.",
    "403": "You may read this study, not change it.",
    "404": "It does not exist, or it is not yours to see.",
    "406": "Only JSON is spoken here.",
    "409": "The state of the study or of the run forbids it.",
    "412": "The file is not the one that If-Match names.",
    "413": "The body is too large.",
    "415": "The body is not called JSON; a file not multipart/form-data, a part of one not application/octet-stream.",
    "416": "The file has no such range; Content-Range says its size.",
    "429": "Too many requests in this minute; see Retry-After.",
}


class Schema(AutoSchema):
    """Adds what holds for every operation: its parameters are the view's query, its errors are problems."""

    def get_override_parameters(self) -> list[Any]:
        query = getattr(self.view, "query_class", None)
        reads = self.method in SAFE_METHODS and query is not None and query().fields
        return [*super().get_override_parameters(), *([query] if reads else [])]

    def get_description(self) -> str:  # type: ignore[override]
        """Leave a view's docstring out: it is for those who read the code."""
        return ""

    def _map_basic_serializer(self, serializer: Any, direction: Any) -> dict[str, Any]:
        schema: dict[str, Any] = super()._map_basic_serializer(  # type: ignore[no-untyped-call]
            serializer, direction
        )
        if isinstance(serializer, StrictSerializer):
            return schema | {"additionalProperties": False}
        if isinstance(serializer, OpenSerializer):
            return schema | {"additionalProperties": {}}
        return schema

    def _get_response_bodies(self, direction: Any = "response") -> dict[str, Any]:
        bodies: dict[str, Any] = super()._get_response_bodies(direction)
        problem = self.resolve_serializer(ProblemSerializer, direction).ref
        for code in self._error_codes():
            body = {"content": {MEDIA_TYPE: {"schema": problem}}, "description": SAID[code]}
            bodies.setdefault(code, body | _headers(code))
        if _is_file(bodies.get("200", {})):
            bodies |= _of_file(bodies["200"])
        for code, body in bodies.items():
            body["description"] = body.get("description") or SAID[code]
        return dict(sorted(bodies.items()))

    def _error_codes(self) -> list[str]:
        codes = ["400", "401", "406", "429"]
        if self.method not in SAFE_METHODS:
            codes.append("403")
            if self.get_request_serializer():
                codes += ["413", "415"]
        if "{" in self.path:
            codes.append("404")
        return codes


def _is_file(body: dict[str, Any]) -> bool:
    return any(each["schema"].get("format") == "binary" for each in body.get("content", {}).values())


def _of_file(whole: dict[str, Any]) -> dict[str, Any]:
    """The answers that a file has beside the whole of it (`evaluation.downloads`)."""
    etag, place = (
        {"description": text, "required": True, "schema": {"type": "string"}}
        for text in ("For If-Range and If-None-Match.", "First and last byte, and the file's size.")
    )
    return {
        "200": {**whole, "headers": {"ETag": etag}},
        "206": {"content": whole["content"], "headers": {"ETag": etag, "Content-Range": place}},
        "304": {"headers": {"ETag": etag}},
        "412": {},
        "416": {"headers": {"ETag": etag, "Content-Range": place}},
    }


def _headers(code: str) -> dict[str, Any]:
    """The headers that a client must read of such an answer."""
    wait = {"description": "Seconds to wait.", "required": True, "schema": {"type": "integer", "minimum": 0}}
    return {"headers": {"Retry-After": wait}} if code == "429" else {}


@cache
def description() -> bytes:
    """The whole of the API as OpenAPI in JSON. It changes with the code only."""
    generator: Any = SchemaGenerator
    generated = generator().get_schema(request=None, public=True)
    text: bytes = OpenApiJsonRenderer().render(generated, renderer_context={})
    return text


class SchemaView(ApiView):
    """The API's description, open to everybody: it describes requests and reveals no data."""

    authentication_classes = ()
    permission_classes = (AllowAny,)

    @extend_schema(exclude=True)
    def get(self, request: Request) -> HttpResponse:
        return HttpResponse(description(), content_type="application/vnd.oai.openapi+json")


class NotFoundView(ApiView):
    """Every other address below the API's: an error like the others, and not the site's page."""

    authentication_classes = ()
    permission_classes = ()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        raise NotFound("There is nothing at this address. Every address of the API ends with a slash.")
