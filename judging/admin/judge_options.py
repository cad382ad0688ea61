"""Form fields for the options that only one kind of judge has."""

from collections.abc import Mapping
from typing import Any

from django import forms

from judging.backends.options import MAX_OPTION_TEXT, Input, JudgeOption


def option_name(backend: str, key: str) -> str:
    """The name of an option's field; every kind of judge has fields of its own."""
    return f"{backend}__{key}"


def option_field(option: JudgeOption, given: Mapping[str, Any]) -> forms.Field:
    value = given.get(option.key, option.default)
    common: dict[str, Any] = {
        "required": False,
        "label": option.label,
        "help_text": " ".join(filter(None, [option.help, option.hint()])),
        "initial": value,
    }
    match option.input:
        case Input.NUMBER:
            return forms.FloatField(**common)
        case Input.FLAG:
            return forms.BooleanField(**common)
        case Input.CHOICE:
            return forms.ChoiceField(choices=list((option.choices or {}).items()), **common)
        case Input.LINES:
            common |= {"initial": "\n".join(value), "widget": forms.Textarea(attrs={"rows": 4})}
            return forms.CharField(max_length=MAX_OPTION_TEXT, **common)
        case Input.JSON:
            invalid = f"{option.label}: this is not valid JSON; put names and texts in double quotes."
            return forms.JSONField(
                widget=forms.Textarea(attrs={"rows": 4, "class": "code"}),
                error_messages={"invalid": invalid},
                **common,
            )
    return forms.CharField(max_length=MAX_OPTION_TEXT, **common)


def read_option(option: JudgeOption, entered: Any) -> Any:
    """The value that was entered; the default where the field was left empty."""
    if entered in (None, "") and option.input != Input.TEXT:
        return option.default
    return entered.splitlines() if option.input == Input.LINES else entered
