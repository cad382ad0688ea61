"""Studies from files, and items of drafts: a dump, a study's file, or a table with its map."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.acts import UploadedFile, begin_import, read_upload
from evaluation.api.base import BeginningView, StudyView
from evaluation.api.fields import FreeObjectField
from evaluation.api.jobs import RETRY_AFTER, JobProblemSerializer, JobSerializer, job_record
from evaluation.api.making.files import FileSerializer, sent_file, sent_map, told_apart
from evaluation.api.once import IDEMPOTENCY_KEY, start_of_file, start_once
from evaluation.api.problems import CONFLICTS, allowed
from evaluation.api.query import BodyTextField, read_body
from evaluation.dumps.problems import place_and_fault
from evaluation.dumps.tables.row_notes import row_notes
from evaluation.dumps.tables.staged_table import StagedTable
from evaluation.dumps.tables.unused import unused_texts
from evaluation.models import Study
from evaluation.protocols import PROTOCOLS
from evaluation.services.jobs import kept_upload
from evaluation.services.studies.duplication import MAX_SLUG, MAX_TITLE
from evaluation.services.uploads import delete_upload


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
    told = told_apart(given)

    def begin() -> Response:
        chunks, name, parts = sent_file(request.user, given)
        with kept_upload(chunks) as kept:
            texts = {each: given.get(each, "") for each in ("title", "slug", "protocol")}
            read = read_upload(
                UploadedFile(
                    kept=kept,
                    name=name,
                    study=study,
                    map=sent_map(request.user, given),
                    skip_bad_rows=given["skip_bad_rows"],
                    **texts,
                )
            )
            guess = _guess_record(read.table) if read.table else NO_GUESS

            def start() -> dict[str, Any]:
                if read.table:
                    return {"job": None, **guess}
                job = begin_import(read, by=request.user)
                if parts:
                    delete_upload(parts)
                return {"job": job_record(job), **guess}

            return start_once(request, start, status=202, body=told)

    answer = start_of_file(request, lambda: allowed(begin), status=202, body=told)
    if answer.data["job"] is None:
        answer.status_code = 200
    else:
        answer["Retry-After"] = str(RETRY_AFTER)
    return answer


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
