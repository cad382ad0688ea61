"""Studies from files, and items of drafts: a dump, a study's file, or a table with its map."""

import hashlib
from collections.abc import Iterable
from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.acts import BegunImport, UploadedFile, import_uploaded
from evaluation.api.base import BeginningView, StudyView
from evaluation.api.fields import FreeObjectField
from evaluation.api.jobs import RETRY_AFTER, JobProblemSerializer, JobSerializer, job_record
from evaluation.api.once import IDEMPOTENCY_KEY, start_once
from evaluation.api.problems import CONFLICTS, allowed
from evaluation.api.query import MAX_ID, BodyTextField, StrictSerializer, read_body
from evaluation.dumps.problems import place_and_fault
from evaluation.dumps.tables.row_notes import row_notes
from evaluation.dumps.tables.staged_table import StagedTable
from evaluation.dumps.tables.table_map import TableMap, read_map
from evaluation.dumps.tables.unused import unused_texts
from evaluation.json_bodies import BadJSON, read_json
from evaluation.models import SavedTableMap, Study, Upload
from evaluation.models.saved_table_map import LONGEST_MAP_NAME
from evaluation.protocols import PROTOCOLS
from evaluation.refusals import FieldsRefused, Refused
from evaluation.services.studies.duplication import MAX_SLUG, MAX_TITLE
from evaluation.services.uploads import blocks_of, delete_upload, whole_upload

LONGEST_MAP = 200_000


class FileSerializer(StrictSerializer):
    """A file, sent here or in parts before.

    Assay's own JSONL, a bundle, or a table (CSV, TSV, XLSX, JSON, JSONL, Parquet, ZIP) with its map.
    """

    file = serializers.FileField(max_length=255, required=False)
    upload = serializers.IntegerField(
        min_value=1,
        max_value=MAX_ID,
        required=False,
        help_text="In place of the file: the id of a complete upload.",
    )
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
        if "map" in given and "map_name" in given:
            problem = "Send a map, or the name of one that you saved, and not both."
            raise ValidationError({"map_name": [ErrorDetail(problem, "invalid")]})
        return given

    def validate_map(self, text: str) -> TableMap:
        try:
            return read_map(read_json(text.encode()))
        except BadJSON as wrong:
            raise ValidationError(str(wrong), "invalid") from None
        except Refused as refused:
            raise ValidationError([ErrorDetail(each, "invalid") for each in refused.problems]) from None


class ImportSerializer(FileSerializer):
    """A file, and of a table what becomes of its errors."""

    skip_bad_rows = serializers.BooleanField(
        default=False, help_text="Of a table: leave out rows with errors, and import the others."
    )


class NewStudyImportSerializer(ImportSerializer):
    """A file that a study is made of."""

    title = BodyTextField(max_length=MAX_TITLE, required=False, help_text="Without it, the file's.")
    slug = serializers.SlugField(
        max_length=MAX_SLUG, required=False, help_text="Without it, the file's name."
    )
    protocol = serializers.ChoiceField(
        choices=list(PROTOCOLS), required=False, help_text="Without it, as the map or the file suggests."
    )


class ColumnSerializer(serializers.Serializer[Any]):
    column = serializers.CharField()
    used_as = serializers.CharField(help_text="A key for the map's `as`.")
    system = serializers.CharField(
        help_text="Whose response, score or rank it is; empty where no column says."
    )


class BegunImportSerializer(serializers.Serializer[Any]):
    """The job; or, of a table without a map, the guess of it, of which nothing is kept."""

    job = JobSerializer(allow_null=True)
    map = FreeObjectField(allow_null=True, help_text="To be corrected and sent with the file.")
    columns = ColumnSerializer(many=True, help_text="All that the table has, as the map uses them.")
    notes = serializers.ListField(child=serializers.CharField(), help_text="What to know before the import.")
    problems = JobProblemSerializer(
        many=True, help_text="What would be refused of the first rows by this map."
    )
    n_problems = serializers.IntegerField()


def _begin(request: Request, given: dict[str, Any], study: Study | None) -> Response:
    def begin_import() -> BegunImport:
        chunks, name, parts = sent_file(request.user, given)
        file = UploadedFile(
            chunks=chunks,
            name=name,
            study=study,
            title=given.get("title", ""),
            slug=given.get("slug", ""),
            protocol=given.get("protocol", ""),
            map=sent_map(request.user, given),
            skip_bad_rows=given["skip_bad_rows"],
        )
        begun = import_uploaded(file, by=request.user)
        if parts and begun.job:
            delete_upload(parts)
        return begun

    def begin() -> dict[str, Any]:
        begun = allowed(begin_import)
        guess = _guess_record(begun.table) if begun.table else NO_GUESS
        return {"job": job_record(begun.job) if begun.job else None, **guess}

    answer = start_once(request, begin, status=202, body=told_apart(given))
    if answer.data["job"] is None:
        answer.status_code = 200
    else:
        answer["Retry-After"] = str(RETRY_AFTER)
    return answer


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
    saved = SavedTableMap.objects.filter(owner=user, name=given["map_name"]).first()
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


NO_GUESS: dict[str, Any] = {"map": None, "columns": [], "notes": [], "problems": [], "n_problems": 0}


def _guess_record(table: StagedTable) -> dict[str, Any]:
    found = table.sample()
    places = [place_and_fault(each) for each in found.problems]
    unused = map(str, unused_texts(table.sheet, table.map, guessed=table.is_guess))
    return {
        "map": table.map.as_json(),
        "columns": [
            {"column": each.column, "used_as": str(each.role), "system": each.system}
            for each in table.map.columns
        ],
        "notes": [*table.sheet.notices, *found.judgments, *unused, *row_notes(table.source())],
        "problems": [{"place": place, "message": fault} for place, fault in places],
        "n_problems": found.total,
    }


class ImportStudies(BeginningView):
    parser_classes = (MultiPartParser,)

    @extend_schema(
        operation_id="import_study",
        summary="Make a study of a file: a dump, a bundle, or a table with its map",
        description="A worker makes it, all or nothing, and you own it: the answer is 202 with the job. For a table "
        "without a map nothing is made, and the answer is 200 with the guess. Errors among the first rows are a "
        "conflict that names them; those further down are the job's.",
        tags=["studies"],
        parameters=[IDEMPOTENCY_KEY],
        request={"multipart/form-data": NewStudyImportSerializer},
        responses={200: BegunImportSerializer, 202: BegunImportSerializer, **CONFLICTS},
    )
    def post(self, request: Request) -> Response:
        return _begin(request, read_body(NewStudyImportSerializer, request), None)


class ImportItems(StudyView):
    parser_classes = (MultiPartParser,)

    @extend_schema(
        operation_id="import_items",
        summary="Put a file's items in place of those that a draft has",
        description="As import_study, of a draft that is there: the answer is 202 with the job, or 200 with the guess.",
        tags=["items"],
        parameters=[IDEMPOTENCY_KEY],
        request={"multipart/form-data": ImportSerializer},
        responses={200: BegunImportSerializer, 202: BegunImportSerializer, **CONFLICTS},
    )
    def post(self, request: Request, slug: str) -> Response:
        return _begin(request, read_body(ImportSerializer, request), self.study)
