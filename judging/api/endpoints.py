"""Endpoints by name. Where they are and which key opens them is for superusers; a key itself is never told."""

from collections.abc import Sequence
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.base import ApiView
from evaluation.api.paging import IdPagination
from evaluation.api.query import PageQuery
from judging.models import Endpoint
from judging.services.endpoints.access import endpoints_for


class EndpointSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    max_in_flight = serializers.IntegerField(help_text="Calls in flight at once, per worker process.")
    requests_per_minute = serializers.IntegerField(
        allow_null=True, help_text="All workers together; null: no limit."
    )
    tokens_per_minute = serializers.IntegerField(
        allow_null=True, help_text="Of prompts and of what replies may take; null: no limit."
    )
    batch_price_factor = serializers.CharField(
        help_text="The price of batches as a share of the usual price, as text."
    )
    local = serializers.BooleanField(
        help_text="Whether it keeps what it is sent; others are sent nothing of a private split."
    )
    base_url = serializers.CharField(allow_null=True, help_text="For superusers; null for others.")
    key_name = serializers.CharField(
        allow_null=True, help_text="For superusers: the name of the environment variable that holds the key."
    )


class EndpointList(ApiView):
    query_class = PageQuery
    pagination_class = IdPagination

    @extend_schema(
        operation_id="list_endpoints",
        summary="The endpoints that judges of your studies may call",
        tags=["judges"],
        responses=EndpointSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        return self.paged(endpoints_for(request.user), self._records)

    def _records(self, endpoints: Sequence[Endpoint]) -> list[dict[str, Any]]:
        sees_all = bool(self.request.user.is_superuser)
        return [
            {
                "name": endpoint.name,
                "max_in_flight": endpoint.max_in_flight,
                "requests_per_minute": endpoint.requests_per_minute,
                "tokens_per_minute": endpoint.tokens_per_minute,
                "batch_price_factor": f"{endpoint.batch_price_factor.normalize():f}",
                "local": endpoint.local,
                "base_url": endpoint.base_url if sees_all else None,
                "key_name": endpoint.key_name if sees_all else None,
            }
            for endpoint in endpoints
        ]
