"""Items that are added to a running study."""

from collections.abc import Iterator, Sequence
from typing import Any

import orjson
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.base import StudyView
from evaluation.api.parsing import ItemsJSONParser
from evaluation.api.problems import CONFLICTS, Conflict
from evaluation.api.query import BodyTextField, StrictSerializer
from evaluation.dumps.imports.added_items import add_items, preview_items
from evaluation.dumps.imports.new_system import AGAINST, NewSystemSource
from evaluation.dumps.lines import Source, SourceLine, parse_line
from evaluation.refusals import Refused, WrongState

MOST = 5_000


class AdditionRequestSerializer(StrictSerializer):
    """Items, or with `system` the responses of one new system."""

    items = serializers.ListField(
        child=serializers.DictField(), min_length=1, max_length=MOST,
        help_text="As on the lines of a dump; with `system`, responses: query, text, and the context it was given.",
    )  # fmt: skip
    system = BodyTextField(required=False, max_length=120, help_text="Key of the new system.")
    label = BodyTextField(required=False, max_length=200)  # type: ignore[assignment]
    family = BodyTextField(required=False, max_length=80)
    against = serializers.ChoiceField(choices=AGAINST, default="all", help_text="Whom it is compared with.")
    preview = serializers.BooleanField(default=False, help_text="Count only, and add nothing.")


class AdditionSerializer(serializers.Serializer[Any]):
    revision = serializers.IntegerField(allow_null=True, help_text="Null for a preview.")
    revision_hash = serializers.CharField(help_text="The revision's own; empty for a preview.")
    items = serializers.IntegerField(help_text="Main items.")
    others = serializers.IntegerField(help_text="For training, qualification and checks.")
    new_queries = serializers.IntegerField()
    new_systems = serializers.ListField(child=serializers.CharField())
    new_responses = serializers.IntegerField()
    places = serializers.IntegerField(help_text="For judgments of people.")
    participants = serializers.IntegerField(help_text="About so many take these places.")
    pay = serializers.CharField(allow_null=True, help_text="For them, as text; null where none is set.")
    notes = serializers.ListField(child=serializers.CharField())


COUNTS = ("items", "others", "new_queries", "new_systems", "new_responses", "places", "participants", "notes")


class RequestSource:
    """The records of a request, as lines of a file."""

    name, format, unit = "The request", "assay-api-1", "item"

    def __init__(self, records: Sequence[Any]) -> None:
        self.records = [orjson.dumps(each) for each in records]

    @property
    def total(self) -> int:
        return len(self.records)

    def fingerprint(self) -> str:
        return ""  # nobody changes it meanwhile

    def notes(self) -> dict[str, Any]:
        return {}

    def lines(self) -> Iterator[SourceLine]:
        for number, raw in enumerate(self.records, 1):
            yield parse_line(raw, number, number)


class StudyAdditions(StudyView):
    parser_classes = (ItemsJSONParser,)

    @extend_schema(
        operation_id="add_items",
        summary="Add items, or a system's responses, to a running study, as a revision of their own",
        description="All or nothing. What does not fit the study is a conflict, which names items by their places.",
        tags=["items"],
        request=AdditionRequestSerializer,
        responses={200: AdditionSerializer, 201: AdditionSerializer, **CONFLICTS},
    )
    def post(self, request: Request, slug: str) -> Response:
        given = AdditionRequestSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        data = given.validated_data
        revision = None
        try:
            source = self._source(data)
            if data["preview"]:
                addition = preview_items(source, self.study)
            else:
                addition, revision = add_items(source, self.study, by=request.user)
        except WrongState as wrong:
            raise Conflict(str(wrong), code="wrong_state") from None
        except Refused as refused:
            raise Conflict(str(refused), code="refused") from None
        record = {
            **{name: getattr(addition, name) for name in COUNTS},
            "pay": None if addition.pay is None else f"{addition.pay:f}",
            "revision": revision and revision.number,
            "revision_hash": revision.hash if revision else "",
        }
        if revision is None:
            return Response(AdditionSerializer(record).data)
        return Response(AdditionSerializer(record).data, status=status.HTTP_201_CREATED)

    def _source(self, data: dict[str, Any]) -> Source:
        try:
            source = RequestSource(data["items"])
        except (TypeError, ValueError) as wrong:
            raise Refused(f"The items can't be written as JSON: {wrong}.") from None
        if "system" not in data:
            return source
        names = {name: data[name] for name in ("label", "family") if name in data}
        return NewSystemSource(source, self.study, system=data["system"], against=data["against"], **names)
