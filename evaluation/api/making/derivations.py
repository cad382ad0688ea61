"""Studies derived from what was judged in another."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.base import StudyView
from evaluation.api.fields import AnyValueField
from evaluation.api.problems import CONFLICTS, Conflict
from evaluation.api.query import BodyTextField, StrictSerializer
from evaluation.dumps.derive import derivations_of, derive_study, plan_derivation
from evaluation.refusals import Refused
from evaluation.services.studies.duplication import MAX_SLUG, MAX_TITLE


class OptionSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    about = serializers.CharField()
    default = AnyValueField()
    choices = serializers.ListField(child=serializers.CharField(), help_text="Empty where it is free.")


class DerivationSerializer(serializers.Serializer[Any]):
    kind = serializers.CharField()
    about = serializers.CharField()
    options = OptionSerializer(many=True)


class DeriveSerializer(StrictSerializer):
    kind = BodyTextField(max_length=60)
    options = serializers.DictField(default=dict, help_text="By their names; the others have their defaults.")
    slug = BodyTextField(required=False, max_length=MAX_SLUG, help_text="Without it, one that is free.")
    title = BodyTextField(required=False, max_length=MAX_TITLE)
    preview = serializers.BooleanField(default=False, help_text="Count only, and make nothing.")


class LeftOutItemsSerializer(serializers.Serializer[Any]):
    reason = serializers.CharField()
    n = serializers.IntegerField()


class DerivedSerializer(serializers.Serializer[Any]):
    slug = serializers.CharField(help_text="Of the draft; empty for a preview.")
    protocol = serializers.CharField()
    items = serializers.IntegerField(help_text="Main items.")
    queries = serializers.IntegerField()
    left_out = LeftOutItemsSerializer(many=True)


class StudyDerivations(StudyView):
    @extend_schema(
        operation_id="list_derivations",
        summary="What can be derived from this study, with the options of each",
        tags=["studies"],
        responses=DerivationSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        records = [
            {
                "kind": each.key,
                "about": each.about,
                "options": [
                    {
                        "name": option.name,
                        "about": " ".join(filter(None, (f"{option.label}.", option.help))),
                        "default": option.default,
                        "choices": list(option.choices),
                    }
                    for option in each.options
                ],
            }
            for each in derivations_of(self.study)
        ]
        return Response(DerivationSerializer(records, many=True).data)

    @extend_schema(
        operation_id="derive_study",
        summary="Derive a draft from what was judged in this study",
        description="All or nothing. The draft is yours, and tells what it was made from.",
        tags=["studies"],
        request=DeriveSerializer,
        responses={200: DerivedSerializer, 201: DerivedSerializer, **CONFLICTS},
    )
    def post(self, request: Request, slug: str) -> Response:
        given = DeriveSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        data = given.validated_data
        names = {name: data[name] for name in ("slug", "title") if name in data}
        made = ""
        try:
            plan = plan_derivation(self.study, data["kind"], data["options"], by=request.user)
            if not data["preview"]:
                derived = derive_study(self.study, data["kind"], data["options"], by=request.user, **names)
                made = derived.slug
        except Refused as refused:
            raise Conflict(str(refused), code="refused") from None
        record = {
            "slug": made,
            "protocol": plan.protocol,
            "items": plan.items,
            "queries": plan.queries,
            "left_out": [{"reason": reason, "n": n} for reason, n in plan.left_out.items() if n],
        }
        code = status.HTTP_201_CREATED if made else status.HTTP_200_OK
        return Response(DerivedSerializer(record).data, status=code)
