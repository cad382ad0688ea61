"""Judges that are made of what is there: the prompt conditions of one, and composites by a map."""

from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.base import StudyView
from evaluation.api.problems import CONFLICTS, allowed
from evaluation.api.query import BodyIntegerField, BodyTextField, OpenSerializer, StrictSerializer, read_body
from evaluation.storable import storable_json
from judging.api.judges import JudgeSerializer, judge_of, judge_records
from judging.backends.derived import COMPOSITE, MAP_GIVEN
from judging.models import Judge
from judging.services.conditions import create_conditions
from judging.services.derived.composite import latest_map
from judging.services.judges import create_judge

MOST = 20


class ConditionsSerializer(StrictSerializer):
    """Settings that the conditions do not take from their judge."""

    demonstrations = BodyIntegerField(
        required=False, default=3, min_value=1, max_value=MOST,
        help_text="Worked examples of the two conditions that have some.",
    )  # fmt: skip


class JudgeConditions(StudyView):
    @extend_schema(
        operation_id="create_conditions",
        summary="Make the four prompt conditions of one judge, all or none of them",
        tags=["judges"],
        request=ConditionsSerializer,
        responses={201: JudgeSerializer(many=True), **CONFLICTS},
    )
    def post(self, request: Request, slug: str, judge: int) -> Response:
        wanted = read_body(ConditionsSerializer, request)
        found = judge_of(self.study, judge)
        made = allowed(lambda: create_conditions(found, user=request.user, **wanted))
        return Response(judge_records(made), status=201)


class AgreementSerializer(serializers.Serializer[Any]):
    value = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField(help_text="Items that it is the mean of.")
    n_left_out = serializers.IntegerField()


class MapAgreementSerializer(serializers.Serializer[Any]):
    cross_fitted = AgreementSerializer()
    of_map = AgreementSerializer(
        required=False,
        help_text="Of the categories for which every fold chose the map's member; runs of before have none.",
    )
    in_sample = AgreementSerializer(help_text="Too high: of the people that it was chosen on.")


class MapSerializer(serializers.Serializer[Any]):
    format = serializers.CharField()
    study = serializers.CharField()
    judge = serializers.CharField()
    questions = serializers.ListField(child=serializers.CharField())
    members = serializers.ListField(child=serializers.CharField())
    categories = serializers.DictField(
        child=serializers.CharField(), help_text="The member of each category."
    )
    otherwise = serializers.CharField(help_text="The member of any other category.")
    least_judged = serializers.IntegerField(
        allow_null=True,
        help_text="Judged queries below which a category took the member that is best over all.",
    )
    agreement = MapAgreementSerializer(
        allow_null=True, help_text="With the people that it was chosen on; null of a map that was given."
    )


class JudgeMap(StudyView):
    @extend_schema(
        operation_id="get_map",
        summary="The map of a composite judge's latest complete run: its member by category",
        tags=["judges"],
        responses=MapSerializer,
    )
    def get(self, request: Request, slug: str, judge: int) -> Response:
        found = latest_map(judge_of(self.study, judge))
        if found is None:
            raise Http404
        return Response(found)


class GivenMapSerializer(OpenSerializer):
    """The part of a map that is read; the rest of what get_map gives may stand beside it."""

    categories = serializers.DictField(
        child=BodyTextField(max_length=200), help_text="The member of each category."
    )
    otherwise = BodyTextField(max_length=200, help_text="The member of any other category.")


class CompositeSerializer(StrictSerializer):
    """A composite judge by a map; its members are named as the map names them, or `role = name`."""

    name = BodyTextField(max_length=80, help_text="Letters, digits and hyphens.")
    members = serializers.ListField(child=BodyTextField(max_length=200), min_length=1, max_length=MOST)
    map = GivenMapSerializer(help_text="As get_map gives it.")
    questions = serializers.ListField(
        child=BodyTextField(max_length=200),
        required=False,
        max_length=MOST,
        help_text="Of several preferences, the key of the one that it judges.",
    )


class CompositeList(StudyView):
    @extend_schema(
        operation_id="create_composite",
        summary="Make a composite judge by a map, such as one that another study's people chose",
        tags=["judges"],
        request=CompositeSerializer,
        responses={201: JudgeSerializer, **CONFLICTS},
    )
    def post(self, request: Request, slug: str) -> Response:
        wanted = read_body(CompositeSerializer, request)
        # The names of an object may hold what no database stores.
        given = storable_json(wanted["map"])
        options = {"members": wanted["members"], "chosen": MAP_GIVEN, "map": given}

        def create() -> Judge:
            return create_judge(
                self.study,
                user=request.user,
                name=wanted["name"],
                backend=COMPOSITE.key,
                questions=wanted.get("questions", []),
                options=options,
            )

        return Response(judge_records([allowed(create)])[0], status=201)
