"""Values whose shape is described elsewhere: by a protocol, by the report's own schema, by the dump formats."""

from datetime import UTC, datetime
from decimal import Decimal

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers


@extend_schema_field({"type": "object", "additionalProperties": {}})
class FreeObjectField(serializers.JSONField):
    """Any object."""


@extend_schema_field({"type": ["object", "null"], "additionalProperties": {}})
class NullableObjectField(serializers.JSONField):
    """Any object, or null."""


@extend_schema_field({})
class AnyValueField(serializers.JSONField):
    """Any JSON."""


def money_text(amount: Decimal | None) -> str | None:
    return None if amount is None else f"{amount:f}"


def time_text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).isoformat()
