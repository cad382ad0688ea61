"""A form field for text of several lines."""

from typing import Any

from django import forms


class Prose(forms.CharField):
    """Text of several lines. Browsers send other line ends than specs have, which must not count as a change."""

    widget = forms.Textarea

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{**kwargs, "strip": False})

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        return text.replace("\r\n", "\n") if isinstance(text, str) else text
