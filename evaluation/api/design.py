"""A study's design: read by every member, changed as far as its state allows."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.base import StudyView
from evaluation.api.fields import FreeObjectField
from evaluation.api.parsing import ItemsJSONParser
from evaluation.api.problems import CONFLICTS, allowed
from evaluation.api.query import StrictSerializer, read_body
from evaluation.dumps.imports.design_changes import change_design, design_as_dumped
from evaluation.models import Study
from evaluation.storable import storable_json


class DesignSerializer(serializers.Serializer[Any]):
    spec = FreeObjectField(
        help_text="Title, arms, questions, texts, attributes, steps and so on, as on the first line of a dump."
    )
    rules = FreeObjectField(help_text="Redundancy, pay, minutes and so on, as on the first line of a dump.")
    frozen = serializers.BooleanField(
        help_text="Launched: of all this only rules can be changed here, and not the redundancy."
    )


class DesignChangesSerializer(StrictSerializer):
    """Parts of the design; those that are left out stay as they are."""

    spec = serializers.DictField(
        default=dict,
        help_text="Texts are merged by their keys; questions, arms and attributes replace those that there are; null "
        "takes a setting back.",
    )
    rules = serializers.DictField(default=dict)


class StudyDesignView(StudyView):
    parser_classes = (ItemsJSONParser,)

    @extend_schema(
        operation_id="get_design",
        summary="A study's questions, texts, arms and rules",
        tags=["studies"],
        responses=DesignSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        return Response(_record(self.study))

    @extend_schema(
        operation_id="change_design",
        summary="Change a draft's questions, texts, arms or rules; of a running study, rules",
        description="All or nothing. What can't be is a conflict, which names it by its path: spec.questions[0].kind.",
        tags=["studies"],
        request=DesignChangesSerializer,
        responses={200: DesignSerializer, **CONFLICTS},
    )
    def patch(self, request: Request, slug: str) -> Response:
        wanted = storable_json(read_body(DesignChangesSerializer, request))
        allowed(lambda: change_design(self.study, **wanted, by=request.user))
        return Response(_record(self.study))


def _record(study: Study) -> dict[str, Any]:
    return {**design_as_dumped(study), "frozen": study.is_frozen}
