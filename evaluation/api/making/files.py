"""Files that requests send, at once or in parts before, and the jobs that take them."""

import hashlib
from collections.abc import Callable, Iterable
from typing import Any

from django.conf import settings
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.jobs import RETRY_AFTER, job_record
from evaluation.api.once import start_of_file, start_once
from evaluation.api.problems import allowed
from evaluation.api.query import MAX_ID, BodyTextField, StrictSerializer
from evaluation.dumps.tables.table_map import TableMap, read_map
from evaluation.json_bodies import BadJSON, read_json
from evaluation.models import Job, SavedTableMap, Upload
from evaluation.models.saved_table_map import LONGEST_MAP_NAME, as_map_name
from evaluation.refusals import FieldsRefused, Refused
from evaluation.services.jobs import kept_upload
from evaluation.services.uploads import blocks_of, delete_upload, whole_upload

LONGEST_MAP = 200_000


class SentFileSerializer(StrictSerializer):
    """A file, sent here or in parts before."""

    file = serializers.FileField(max_length=255, required=False)
    upload = serializers.IntegerField(
        min_value=1,
        max_value=MAX_ID,
        required=False,
        help_text="In place of the file: the id of a complete upload.",
    )

    def validate_file(self, file: Any) -> Any:
        if "\x00" in file.name:
            raise ValidationError("A file's name can't hold U+0000.")
        if file.size > settings.ASSAY_UPLOAD_MB * 1_000_000:
            raise ValidationError(f"The file is larger than {settings.ASSAY_UPLOAD_MB} MB.")
        return file

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        if ("file" in given) == ("upload" in given):
            problem = "Send a file, or the id of an upload, and not both."
            raise ValidationError({"file": [ErrorDetail(problem, "invalid")]})
        return given


class FileSerializer(SentFileSerializer):
    """A file, sent here or in parts before.

    Assay's own JSONL, a bundle, or a table (CSV, TSV, XLSX, JSON, JSONL, Parquet, ZIP) with its map.
    """

    map = BodyTextField(
        required=False,
        max_length=LONGEST_MAP,
        help_text="Of a table, as JSON text: the one of a guess, corrected. Without it the guess is the answer.",
    )
    map_name = BodyTextField(
        required=False,
        max_length=LONGEST_MAP_NAME,
        help_text="In place of the map: the name of one that you saved.",
    )

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        if "map" in given and "map_name" in given:
            problem = "Send a map, or the name of one that you saved, and not both."
            raise ValidationError({"map_name": [ErrorDetail(problem, "invalid")]})
        return super().validate(given)

    def validate_map(self, text: str) -> TableMap:
        try:
            return read_map(read_json(text.encode()))
        except BadJSON as wrong:
            raise ValidationError(str(wrong), "invalid") from None
        except Refused as refused:
            raise ValidationError([ErrorDetail(each, "invalid") for each in refused.problems]) from None


def sent_file(user: Any, given: dict[str, Any]) -> tuple[Iterable[bytes], str, Upload | None]:
    """The content and the name of the file, and the upload that it is in, if it came in parts."""
    if "upload" in given:
        parts = whole_upload(user, given["upload"])
        return blocks_of(parts), parts.name, parts
    return given["file"].chunks(), given["file"].name, None


def sent_map(user: Any, given: dict[str, Any]) -> TableMap | None:
    """The map that was sent, or the one that the user saved under the name that was; FieldsRefused without one."""
    if "map_name" not in given:
        return given.get("map")
    saved = SavedTableMap.objects.filter(owner=user, name=as_map_name(given["map_name"])).first()
    if saved is None:
        raise FieldsRefused({"map_name": [f"You have no saved map named {given['map_name']!r}."]})
    return read_map(saved.map)


def told_apart(given: dict[str, Any]) -> dict[str, Any]:
    """Everything by which another request with the same key is told apart; of the file its digest."""
    table_map = given.get("map")
    told = {**given, "map": table_map.as_json() if table_map else None}
    if file := given.get("file"):
        digest = hashlib.sha256()
        for chunk in file.chunks():
            digest.update(chunk)
        file.seek(0)
        told["file"] = [file.name, digest.hexdigest()]
    return told


def begin_job_of_file(request: Request, given: dict[str, Any], begin: Callable[[str, str], Job]) -> Response:
    """The answer about the job that `begin` makes of the file, given where that is kept and its name; an upload in
    parts is the job's then."""
    told = told_apart(given)

    def take() -> Response:
        chunks, name, parts = sent_file(request.user, given)
        with kept_upload(chunks) as kept:

            def start() -> dict[str, Any]:
                job = begin(kept, name)
                if parts:
                    delete_upload(parts)
                return job_record(job)

            return start_once(request, start, status=202, body=told)

    answer = start_of_file(request, lambda: allowed(take), status=202, body=told)
    answer["Retry-After"] = str(RETRY_AFTER)
    return answer
