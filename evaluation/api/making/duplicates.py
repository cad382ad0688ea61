"""Copies of a study."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.base import StudyView
from evaluation.api.problems import CONFLICTS, Conflict
from evaluation.api.query import BodyTextField, StrictSerializer
from evaluation.api.studies import StudySerializer, study_brief
from evaluation.refusals import Refused
from evaluation.services.studies.duplication import (
    ALONG,
    EXTENTS,
    MAX_SLUG,
    MAX_TITLE,
    USUALLY_ALONG,
    duplicate_study,
)


class DuplicateSerializer(StrictSerializer):
    copy = serializers.ChoiceField(
        choices=list(EXTENTS), default="items", help_text="Settings alone; with items; with items and judges."
    )
    along = serializers.ListField(
        child=serializers.ChoiceField(choices=list(ALONG)),
        default=list(USUALLY_ALONG),
        help_text="What comes along of its recruitment.",
    )
    slug = BodyTextField(required=False, max_length=MAX_SLUG, help_text="Without it, one that is free.")
    title = BodyTextField(required=False, max_length=MAX_TITLE)


class StudyDuplicates(StudyView):
    @extend_schema(
        operation_id="duplicate_study",
        summary="Copy a study as a draft of your own, without its judgments and its people",
        tags=["studies"],
        request=DuplicateSerializer,
        responses={201: StudySerializer, **CONFLICTS},
    )
    def post(self, request: Request, slug: str) -> Response:
        given = DuplicateSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        data = dict(given.validated_data)
        items, judges = EXTENTS[data.pop("copy")]
        try:
            copy = duplicate_study(self.study, by=request.user, items=items, judges=judges, **data)
        except Refused as refused:
            raise Conflict(str(refused), code="refused") from None
        return Response(study_brief(copy, "owner", 0), status=status.HTTP_201_CREATED)
