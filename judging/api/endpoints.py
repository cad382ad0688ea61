"""Endpoints by name. Where they are and which key opens them is for superusers; a key itself is never told."""

from collections.abc import Sequence
from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.base import ApiView
from evaluation.api.fields import FreeObjectField
from evaluation.api.paging import IdPagination
from evaluation.api.problems import CONFLICTS, Conflict
from evaluation.api.query import BodyTextField, PageQuery, StrictSerializer
from evaluation.refusals import Refused
from evaluation.tasks import enqueue_job
from judging.backends import CHAT
from judging.models import Endpoint
from judging.services.endpoints.access import endpoints_for, may_change
from judging.services.endpoints.connection_test import KIND_CHOICES, begin_test, last_test


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


class EndpointTestSerializer(serializers.Serializer[Any]):
    state = serializers.ChoiceField(choices=["", "asking", "done", "lost"])
    model = serializers.CharField(help_text="The one that was asked, as the endpoint names it.")
    kind = serializers.ChoiceField(choices=KIND_CHOICES)
    problem = serializers.CharField(help_text="What is in the way; empty where it works.")
    models = serializers.ListField(child=serializers.CharField(), help_text="Those that the endpoint lists.")
    milliseconds = serializers.IntegerField(allow_null=True)
    tokens = serializers.IntegerField(allow_null=True)
    able = FreeObjectField(help_text="What the model can do, by capability.")


class StartEndpointTestSerializer(StrictSerializer):
    """Kind of answer to ask an endpoint for."""

    model = BodyTextField(
        required=False, default="", max_length=200, help_text="Left out: the first that the endpoint lists."
    )
    kind = serializers.ChoiceField(choices=KIND_CHOICES, required=False, default=CHAT.key)


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


class EndpointTest(ApiView):
    """For who may change the endpoint: it tells what stands there, and asks at its cost."""

    endpoint: Endpoint

    def authorise(self) -> None:
        rows = endpoints_for(self.request.user).select_related("trusted_by")
        endpoint = rows.filter(name=self.kwargs["name"]).first()
        if endpoint is None:
            raise Http404
        if not may_change(endpoint, self.request.user):
            raise PermissionDenied
        self.endpoint = endpoint

    @extend_schema(
        operation_id="get_endpoint_test",
        summary="What came of the last test of an endpoint",
        tags=["judges"],
        responses=EndpointTestSerializer,
    )
    def get(self, request: Request, name: str) -> Response:
        return Response(_test_record(self.endpoint))

    @extend_schema(
        operation_id="test_endpoint",
        summary="Have a worker test an endpoint: its models, one short call, and what the model can do",
        tags=["judges"],
        request=StartEndpointTestSerializer,
        responses={200: EndpointTestSerializer, **CONFLICTS},
    )
    def post(self, request: Request, name: str) -> Response:
        body = StartEndpointTestSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        model, kind = body.validated_data["model"].strip(), body.validated_data["kind"]
        try:
            enqueue_job(begin_test(self.endpoint, model, kind, by=request.user))
        except Refused as refused:
            raise Conflict(str(refused), code="refused") from None
        return Response(_test_record(self.endpoint))


def _test_record(endpoint: Endpoint) -> dict[str, Any]:
    test = last_test(endpoint)
    tested = test.found
    return {
        "state": test.state,
        "model": tested.get("model", ""),
        "kind": tested.get("kind", CHAT.key),
        "problem": tested.get("problem", ""),
        "models": tested.get("models", []),
        "milliseconds": tested.get("milliseconds"),
        "tokens": tested.get("tokens"),
        "able": tested.get("able", {}),
    }
