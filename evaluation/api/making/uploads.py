"""Files in parts: for those that are too large to be sent at once over a line that breaks."""

import contextlib
import re
from collections.abc import Iterator, Mapping
from typing import IO, Any

from django.conf import settings
from django.http import Http404, UnreadablePostError
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.base import ApiView
from evaluation.api.fields import time_text
from evaluation.api.parsing import BodyTooLarge
from evaluation.api.problems import CONFLICTS, Conflict, allowed
from evaluation.api.query import MAX_ID, BodyIntegerField, BodyTextField, StrictSerializer, read_body
from evaluation.models import Upload
from evaluation.services.uploads import BLOCK, append_part, begin_upload, delete_upload

CONTENT_RANGE = re.compile(r"bytes ([0-9]{1,15})-([0-9]{1,15})/([0-9]{1,15})", re.ASCII)


class PartParser(BaseParser):
    """The bytes as they come, to be read by the view."""

    media_type = "application/octet-stream"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        return stream


class NewUploadSerializer(StrictSerializer):
    name = BodyTextField(max_length=255, help_text="The file's; a table's kind is told by its end.")
    size = BodyIntegerField(min_value=1, max_value=MAX_ID, help_text="In bytes.")
    sha256 = serializers.RegexField(r"^[0-9a-f]{64}\Z", help_text="Of the whole file, in hexadecimal.")


class UploadSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField(help_text="For an import's `upload`, once the file is complete.")
    name = serializers.CharField()
    size = serializers.IntegerField()
    sha256 = serializers.CharField()
    received = serializers.IntegerField(help_text="Bytes that are there; the next part begins here.")
    largest_part = serializers.IntegerField(help_text="In bytes.")
    created_at = serializers.DateTimeField(help_text="It is deleted a day later.")


def upload_record(upload: Upload) -> dict[str, Any]:
    plain = ("id", "name", "size", "sha256", "received")
    return {name: getattr(upload, name) for name in plain} | {
        "largest_part": settings.ASSAY_UPLOAD_PART_BYTES,
        "created_at": time_text(upload.created_at),
    }


class UploadList(ApiView):
    @extend_schema(
        operation_id="begin_upload",
        summary="Announce a file that is sent in parts, or find the upload of it that broke off",
        description="The answer is 201 for a new upload, and 200 for yours of the same name, size and SHA-256.",
        tags=["studies"],
        request=NewUploadSerializer,
        responses={200: UploadSerializer, 201: UploadSerializer, **CONFLICTS},
    )
    def post(self, request: Request) -> Response:
        given = read_body(NewUploadSerializer, request)
        upload, is_new = allowed(lambda: begin_upload(request.user, **given))
        code = status.HTTP_201_CREATED if is_new else status.HTTP_200_OK
        return Response(upload_record(upload), status=code)


class UploadDetail(ApiView):
    """One's own upload; nobody else sees it."""

    parser_classes = (PartParser,)
    upload: Upload

    def authorise(self) -> None:
        found = Upload.objects.filter(user=self.request.user.pk, pk=self.kwargs["upload"]).first()
        if found is None:
            raise Http404
        self.upload = found

    @extend_schema(
        operation_id="get_upload",
        summary="How much of an upload has come in",
        tags=["studies"],
        responses=UploadSerializer,
    )
    def get(self, request: Request, upload: int) -> Response:
        return Response(upload_record(self.upload))

    @extend_schema(
        operation_id="send_part",
        summary="Append the next part to an upload",
        description="A part that begins elsewhere than where the upload goes on is a conflict that says where.",
        tags=["studies"],
        parameters=[
            OpenApiParameter(
                "Content-Range",
                {"type": "string", "pattern": "^bytes [0-9]{1,15}-[0-9]{1,15}/[0-9]{1,15}$"},
                OpenApiParameter.HEADER,
                required=True,
                description="First and last byte of the part, counted from 0, and the file's size: bytes 0-99/1000.",
            )
        ],
        request={"application/octet-stream": OpenApiTypes.BINARY},
        responses={200: UploadSerializer, **CONFLICTS},
    )
    def put(self, request: Request, upload: int) -> Response:
        blocks = _blocks(request)
        start, last, total = _content_range(request)
        part = {"start": start, "length": last - start + 1, "total": total}
        return Response(upload_record(allowed(lambda: append_part(self.upload, **part, blocks=blocks))))

    @extend_schema(
        operation_id="delete_upload",
        summary="Delete an upload with what has come in",
        tags=["studies"],
        request=None,
        responses={200: UploadSerializer},
    )
    def delete(self, request: Request, upload: int) -> Response:
        record = upload_record(self.upload)
        delete_upload(self.upload)
        return Response(record)


def _content_range(request: Request) -> tuple[int, int, int]:
    """First and last byte, and the size of the whole."""
    found = CONTENT_RANGE.fullmatch(request.headers.get("Content-Range", ""))
    if found is None:
        problem = "Give the part's place as: bytes FIRST-LAST/SIZE."
        raise ValidationError({"Content-Range": [ErrorDetail(problem, "invalid")]})
    start, last, total = (int(each) for each in found.groups())
    if last < start or last >= total:
        problem = f"There is no part from byte {start} to byte {last} of {total} bytes."
        raise Conflict(problem, code="refused", by_field={"Content-Range": [problem]})
    if last - start >= settings.ASSAY_UPLOAD_PART_BYTES:
        raise BodyTooLarge(settings.ASSAY_UPLOAD_PART_BYTES)
    return start, last, total


def _blocks(request: Request) -> Iterator[bytes]:
    """The body, if it is called what it should be, in blocks; more than a part has is refused as it is read."""
    body = request.data
    largest = settings.ASSAY_UPLOAD_PART_BYTES

    def read() -> Iterator[bytes]:
        n = 0
        # Of a line that breaks off too little comes in; without a body there is no stream.
        with contextlib.suppress(UnreadablePostError):
            while hasattr(body, "read") and (block := body.read(BLOCK)):
                n += len(block)
                if n > largest:
                    raise BodyTooLarge(largest)
                yield block

    return read()
