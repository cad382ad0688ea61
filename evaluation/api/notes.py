"""Notes on items and judgments, for colleagues; raters never see them."""

from collections.abc import Sequence
from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.base import StudyView
from evaluation.api.exclusions import item_of, judgment_of
from evaluation.api.fields import time_text
from evaluation.api.once import IDEMPOTENCY_KEY, start_once
from evaluation.api.paging import NewestFirstPagination
from evaluation.api.problems import CONFLICTS, allowed
from evaluation.api.query import (
    MAX_ID,
    BodyIntegerField,
    BodyTextField,
    PageQuery,
    StrictSerializer,
    read_body,
)
from evaluation.models import Note
from evaluation.services.notes import LONGEST_NOTE, add_note, delete_note


class NoteSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    item = serializers.CharField()
    judgment = serializers.IntegerField(allow_null=True, help_text="Null: it is about the item.")
    text = serializers.CharField()
    by = serializers.CharField(help_text="The member; empty where nobody is known any more.")
    at = serializers.DateTimeField()


class NewNoteSerializer(StrictSerializer):
    """A note on an item, or on a judgment of it."""

    item = BodyTextField(max_length=120, help_text="Its key.")
    judgment = BodyIntegerField(
        min_value=1, max_value=MAX_ID, required=False, help_text="A judgment of the item."
    )
    text = BodyTextField(max_length=LONGEST_NOTE)


def note_records(notes: Sequence[Note]) -> list[dict[str, Any]]:
    return [
        {
            "id": each.pk,
            "item": each.item.key,
            "judgment": each.judgment_id,
            "text": each.text,
            "by": str(each.by or ""),
            "at": time_text(each.at),
        }
        for each in notes
    ]


class NoteList(StudyView):
    copied = "notes"
    written = frozenset({"text"})
    query_class = PageQuery
    pagination_class = NewestFirstPagination

    @extend_schema(
        operation_id="list_notes",
        summary="Members' notes on items and judgments, newest first",
        tags=["judgments"],
        responses=NoteSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        notes = self.study.notes.select_related("item", "by").defer("item__stimulus")
        return self.paged(notes, note_records)

    @extend_schema(
        operation_id="write_note",
        summary="Write a note on an item or a judgment",
        tags=["judgments"],
        parameters=[IDEMPOTENCY_KEY],
        request=NewNoteSerializer,
        responses={201: NoteSerializer, **CONFLICTS},
    )
    def post(self, request: Request, slug: str) -> Response:
        wanted = read_body(NewNoteSerializer, request)
        item, judgment = item_of(self.study, wanted["item"]), None
        if "judgment" in wanted:
            judgment = judgment_of(self.study, wanted["judgment"])
            if judgment.item_id != item.pk:
                problem = "This is no judgment of the item."
                raise ValidationError({"judgment": [ErrorDetail(problem, "unknown")]})

        def write() -> dict[str, Any]:
            text = wanted["text"]
            note = allowed(lambda: add_note(item, text=text, by=request.user, judgment=judgment))
            return note_records([note])[0]

        return start_once(request, write)


class NoteDetail(StudyView):
    written = frozenset({"text"})

    @extend_schema(
        operation_id="delete_note",
        summary="Delete a note for good: one's own, or as an owner any",
        tags=["judgments"],
        request=None,
        responses={200: NoteSerializer, **CONFLICTS},
    )
    def delete(self, request: Request, slug: str, note: int) -> Response:
        rows = self.study.notes.select_related("study", "item", "judgment__rater", "by")
        found = rows.filter(pk=note).first()
        if found is None:
            raise Http404
        record = note_records([found])[0]
        allowed(lambda: delete_note(found, by=request.user))
        return Response(record)
