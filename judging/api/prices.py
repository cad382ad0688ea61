"""Prices of models at an endpoint, read by who may use it and set by who may change it."""

from collections.abc import Sequence
from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.base import ApiView
from evaluation.api.paging import IdPagination
from evaluation.api.query import BodyTextField, PageQuery, PriceField, StrictSerializer
from judging.models import Endpoint, ModelPrice
from judging.services.endpoints.access import endpoints_for, may_change
from judging.services.endpoints.prices import set_price


class ModelPriceSerializer(serializers.Serializer[Any]):
    model = serializers.CharField()
    price_prompt = serializers.CharField(help_text="Per million tokens, as text.")
    price_completion = serializers.CharField(help_text="As for prompt tokens.")


class SetPriceSerializer(StrictSerializer):
    """The price of a model; runs that have begun keep theirs."""

    model = BodyTextField(max_length=200, help_text="As the endpoint names it.")
    price_prompt = PriceField(help_text="Per million tokens.")
    price_completion = PriceField()


class PriceList(ApiView):
    query_class = PageQuery
    pagination_class = IdPagination
    endpoint: Endpoint

    def authorise(self) -> None:
        endpoint = endpoints_for(self.request.user).filter(name=self.kwargs["name"]).first()
        if endpoint is None:
            raise Http404
        if self.request.method not in SAFE_METHODS and not may_change(endpoint, self.request.user):
            raise PermissionDenied
        self.endpoint = endpoint

    @extend_schema(
        operation_id="list_prices",
        summary="Prices of an endpoint's models, for judges that have none of their own",
        tags=["judges"],
        responses=ModelPriceSerializer(many=True),
    )
    def get(self, request: Request, name: str) -> Response:
        return self.paged(ModelPrice.objects.filter(endpoint=self.endpoint), _records)

    @extend_schema(
        operation_id="set_price",
        summary="Set the price of one model at an endpoint",
        tags=["judges"],
        request=SetPriceSerializer,
        responses=ModelPriceSerializer,
    )
    def put(self, request: Request, name: str) -> Response:
        body = SetPriceSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        return Response(_records([set_price(self.endpoint, **body.validated_data)])[0])


def _records(prices: Sequence[ModelPrice]) -> list[dict[str, Any]]:
    return [
        {
            "model": price.model,
            "price_prompt": f"{price.price_prompt:f}",
            "price_completion": f"{price.price_completion:f}",
        }
        for price in prices
    ]
