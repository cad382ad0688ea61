"""Parameters and bodies, read strictly: a filter that is misspelt must not silently return everything."""

import re
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.request import Request

# What every database's integers hold.
MAX_ID = 2**63 - 1
MAX_PAGE = 500
# The id of the row before, in as many digits as every database's integers hold.
CURSOR = r"^c[0-9]{1,18}\Z"


class StrictSerializer(serializers.Serializer[Any]):
    """An object without unknown fields: they are refused."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict):
            unknown = [name for name in data if name not in self.fields]
            if unknown:
                raise ValidationError({name: [_unknown()] for name in unknown})
        return super().to_internal_value(data)


class OpenSerializer(serializers.Serializer[Any]):
    """An object that may carry further fields; they are not read."""


def read_body(serializer_class: type[StrictSerializer], request: Request) -> dict[str, Any]:
    body = serializer_class(data=request.data)
    body.is_valid(raise_exception=True)
    values: dict[str, Any] = body.validated_data
    return values


class QuerySerializer(StrictSerializer):
    """The parameters of a request; each may appear once, unless it is a list."""

    @classmethod
    def read(cls, request: Request) -> dict[str, Any]:
        given = dict(request.query_params.lists())
        lists = {name for name, field in cls().fields.items() if isinstance(field, serializers.ListField)}
        twice = [name for name, values in given.items() if len(values) > 1 and name not in lists]
        if twice:
            raise ValidationError({name: [ErrorDetail("Give this once.", "repeated")] for name in twice})
        query = cls(data={name: values if name in lists else values[-1] for name, values in given.items()})
        query.is_valid(raise_exception=True)
        values: dict[str, Any] = query.validated_data
        return values


class QueryIntegerField(serializers.IntegerField):
    """Digits and nothing else: the field it extends also takes 1_000 and 1.0."""

    def to_internal_value(self, data: Any) -> int:
        if not isinstance(data, str) or not re.fullmatch(r"-?[0-9]{1,20}", data):
            self.fail("invalid")
        return super().to_internal_value(data)


class QueryTextField(serializers.CharField):
    """A key as it was given: spaces around it belong to it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(trim_whitespace=False, **options)


class BodyIntegerField(serializers.IntegerField):
    """A number of JSON, not a text of digits. 5.0 is 5: JSON knows no difference."""

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, float) and data.is_integer():
            data = int(data)
        if type(data) is not int:
            self.fail("invalid")
        return super().to_internal_value(data)


class BodyNumberField(serializers.FloatField):
    """A number of JSON, not a text of digits."""

    def to_internal_value(self, data: Any) -> float:
        if type(data) not in (int, float):
            self.fail("invalid")
        return super().to_internal_value(data)


class BodyTextField(serializers.RegexField):
    """A text of JSON as it was given, not a number; not empty, and without U+0000, which no database stores."""

    def __init__(self, **options: Any) -> None:
        super().__init__(r"^[^\x00]+$", trim_whitespace=False, **options)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        text: str = super().to_internal_value(data)
        return text


# More than nothing, with at most four decimals.
AMOUNT = r"(?!0+(\.0+)?$)[0-9]{1,8}(\.[0-9]{1,4})?"


@extend_schema_field({"type": "string", "pattern": f"^{AMOUNT}$"})
class MoneyField(serializers.DecimalField):
    """A text, so that no cent is lost on the way through binary fractions."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_digits=12, decimal_places=4, **options)

    def validate_empty_values(self, data: Any) -> tuple[bool, Any]:
        # The field it extends takes an empty text for null, which here would be a budget without limit.
        return serializers.Field.validate_empty_values(self, data)

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, str) or not re.fullmatch(AMOUNT, data):
            raise ValidationError('Give an amount of more than nothing as text, such as "2.50".', "invalid")
        return super().to_internal_value(data)


# From nothing up to a million, with at most six decimals.
PRICE = r"[0-9]{1,6}(\.[0-9]{1,6})?"


@extend_schema_field({"type": "string", "pattern": f"^{PRICE}$"})
class PriceField(serializers.DecimalField):
    """A price per million tokens, as text."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_digits=12, decimal_places=6, **options)

    def validate_empty_values(self, data: Any) -> tuple[bool, Any]:
        return serializers.Field.validate_empty_values(self, data)

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, str) or not re.fullmatch(PRICE, data):
            raise ValidationError('Give a price per million tokens as text, such as "0.15".', "invalid")
        return super().to_internal_value(data)


class PageQuery(QuerySerializer):
    cursor = serializers.RegexField(
        CURSOR,
        required=False,
        trim_whitespace=False,
        help_text="Where to go on: `next` of the page before has it.",
    )
    page_size = QueryIntegerField(required=False, default=100, min_value=1, max_value=MAX_PAGE)


def _unknown() -> ErrorDetail:
    return ErrorDetail("There is no such parameter here.", "unknown")
