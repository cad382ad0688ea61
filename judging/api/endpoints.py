"""Endpoints by name. Where they are and which key opens them is for superusers; a key itself is never told."""

from collections.abc import Sequence
from typing import Any, ClassVar

from django.http import Http404
from django.utils.decorators import method_decorator
from django.views.decorators.debug import sensitive_variables
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, PermissionDenied, ValidationError
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.base import NOT_STAFF, ApiView, BeginningView
from evaluation.api.fields import FreeObjectField, time_text
from evaluation.api.once import IDEMPOTENCY_KEY, start_once
from evaluation.api.paging import IdPagination
from evaluation.api.problems import CONFLICTS, Conflict, allowed
from evaluation.api.query import (
    BodyIntegerField,
    BodyNumberField,
    BodyTextField,
    PageQuery,
    StrictSerializer,
    read_body,
)
from evaluation.permissions import may_begin_studies
from evaluation.refusals import Refused
from evaluation.tasks import enqueue_job
from judging.backends import CHAT
from judging.models import Endpoint
from judging.services.endpoints.access import create_endpoint, endpoints_for, may_change, may_trust
from judging.services.endpoints.changes import change_endpoint
from judging.services.endpoints.connection_test import KIND_CHOICES, begin_test, last_test
from judging.services.endpoints.stored_keys import enter_key, may_enter_keys, remove_key

MAX_IN_FLIGHT = 1024
# Of the numbers that the database keeps.
MOST = 2**31 - 1


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
        allow_null=True,
        help_text="For superusers: the name of the environment variable that holds the key.",
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


class EndpointChangesSerializer(StrictSerializer):
    """Fields of an endpoint; those that are left out stay as they are, or are as an endpoint begins."""

    base_url = BodyTextField(
        max_length=300,
        required=False,
        help_text="Up to and with the version, such as https://host.example/v1.",
    )
    key_name = serializers.RegexField(
        r"^[A-Za-z0-9_]*$", max_length=80, required=False, allow_blank=True,
        help_text="Name of the environment variable that holds the key; empty: a server without keys.",
    )  # fmt: skip
    timeout_seconds = BodyNumberField(min_value=1, max_value=600, required=False)
    max_in_flight = BodyIntegerField(min_value=1, max_value=MAX_IN_FLIGHT, required=False)
    requests_per_minute = BodyIntegerField(min_value=1, max_value=MOST, required=False, allow_null=True)
    tokens_per_minute = BodyIntegerField(min_value=1, max_value=MOST, required=False, allow_null=True)
    local = serializers.BooleanField(
        required=False, help_text="Keeps what it is sent. For superusers to say."
    )
    open_to_all = serializers.BooleanField(required=False, help_text="To every study. For superusers to say.")


class NewEndpointSerializer(EndpointChangesSerializer):
    """An endpoint: its address, the name of its key, and its limits."""

    name = serializers.SlugField(max_length=80)
    base_url = BodyTextField(
        max_length=300, help_text="Up to and with the version, such as https://host.example/v1."
    )


# What only those say whose word is enough.
OF_TRUST = ("local", "open_to_all")


def _read(serializer_class: type[StrictSerializer], request: Request) -> dict[str, Any]:
    wanted = read_body(serializer_class, request)
    if not may_trust(request.user) and (said := [name for name in OF_TRUST if name in wanted]):
        raise ValidationError(
            {name: [ErrorDetail("This is for superusers to say.", "superusers")] for name in said}
        )
    return wanted


class EndpointList(BeginningView):
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
        return [_record(endpoint, self.request.user) for endpoint in endpoints]

    @extend_schema(
        operation_id="create_endpoint",
        summary="Make an endpoint, at a place that the rules allow",
        description="A superuser's word is enough for any place; one that others make must stand on the list of "
        "allowed endpoints, or it is a conflict. Its key is told by the name of an environment variable.",
        tags=["judges"],
        parameters=[IDEMPOTENCY_KEY],
        request=NewEndpointSerializer,
        responses={201: EndpointSerializer, **CONFLICTS},
    )
    def post(self, request: Request) -> Response:
        wanted = _read(NewEndpointSerializer, request)

        def make() -> dict[str, Any]:
            return _record(allowed(lambda: create_endpoint(user=request.user, **wanted)), request.user)

        return start_once(request, make)


def _record(endpoint: Endpoint, user: Any) -> dict[str, Any]:
    sees_place = bool(user.is_superuser)
    return {
        "name": endpoint.name,
        "max_in_flight": endpoint.max_in_flight,
        "requests_per_minute": endpoint.requests_per_minute,
        "tokens_per_minute": endpoint.tokens_per_minute,
        "batch_price_factor": f"{endpoint.batch_price_factor.normalize():f}",
        "local": endpoint.local,
        "base_url": endpoint.base_url if sees_place else None,
        "key_name": endpoint.key_name if sees_place else None,
    }


class OfEndpoint(ApiView):
    """A view of an endpoint that the user may know of; to change it is for who made it and for superusers."""

    endpoint: Endpoint
    # Methods that only those have who may change it.
    changing: ClassVar[frozenset[str]] = frozenset()

    def authorise(self) -> None:
        rows = endpoints_for(self.request.user).select_related("trusted_by")
        endpoint = rows.filter(name=self.kwargs["name"]).first()
        if endpoint is None:
            raise Http404
        if self.request.method in self.changing and not may_change(endpoint, self.request.user):
            raise Http404 if self.request.method in SAFE_METHODS else PermissionDenied
        self.endpoint = endpoint


class EndpointDetail(OfEndpoint):
    changing = frozenset({"PATCH"})

    def authorise(self) -> None:
        super().authorise()
        if self.request.method in self.changing and not may_begin_studies(self.request.user):
            raise PermissionDenied(NOT_STAFF, code="not_staff")

    @extend_schema(
        operation_id="get_endpoint",
        summary="One endpoint that judges of your studies may call",
        tags=["judges"],
        responses=EndpointSerializer,
    )
    def get(self, request: Request, name: str) -> Response:
        return Response(_record(self.endpoint, request.user))

    @extend_schema(
        operation_id="change_endpoint",
        summary="Change an endpoint's place, key or limits",
        description="For who made it and for superusers. At another place it is tested, keyed and trusted anew.",
        tags=["judges"],
        request=EndpointChangesSerializer,
        responses={200: EndpointSerializer, **CONFLICTS},
    )
    def patch(self, request: Request, name: str) -> Response:
        wanted = _read(EndpointChangesSerializer, request)
        changed = allowed(lambda: change_endpoint(self.endpoint, by=request.user, **wanted))
        return Response(_record(changed, request.user))


class KeySerializer(StrictSerializer):
    """A key as its provider issued it."""

    key = BodyTextField(max_length=600)


class StoredKeySerializer(serializers.Serializer[Any]):
    entered_at = serializers.DateTimeField(allow_null=True, help_text="Null: no key is stored.")


class EndpointKey(OfEndpoint):
    """For whoever has the permission and may know of the endpoint; no answer has the key."""

    def authorise(self) -> None:
        super().authorise()
        if not may_enter_keys(self.request.user):
            raise PermissionDenied

    @extend_schema(
        operation_id="enter_endpoint_key",
        summary="Store an endpoint's key, encrypted, in place of the one before",
        description="Needs a permission of its own, which a superuser gives.",
        tags=["judges"],
        request=KeySerializer,
        responses={200: StoredKeySerializer, **CONFLICTS},
    )
    @method_decorator(sensitive_variables())
    def put(self, request: Request, name: str) -> Response:
        key = read_body(KeySerializer, request)["key"]
        allowed(lambda: enter_key(self.endpoint, key, request.user))
        return Response({"entered_at": time_text(self.endpoint.key_entered_at)})

    @extend_schema(
        operation_id="remove_endpoint_key",
        summary="Forget an endpoint's stored key",
        tags=["judges"],
        request=None,
        responses={200: StoredKeySerializer, **CONFLICTS},
    )
    def delete(self, request: Request, name: str) -> Response:
        allowed(lambda: remove_key(self.endpoint, request.user))
        return Response({"entered_at": None})


class EndpointTest(OfEndpoint):
    """For who may change the endpoint: it tells what stands there, and asks at its cost."""

    changing = frozenset({"GET", "HEAD", "POST"})

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
