"""A map that was written down, as a file in a form."""

from typing import Any

import orjson
from django import forms

from evaluation.dumps.tables.table_map import TableMap, read_map
from evaluation.refusals import Refused

MAX_BYTES = 200_000


class MapField(forms.FileField):
    """The map in a file of JSON; None where no file was chosen."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"label": "Map of a table", "required": False, **kwargs})

    def clean(self, data: Any, initial: Any = None) -> TableMap | None:
        file = super().clean(data, initial)
        if not file:
            return None
        if file.size > MAX_BYTES:
            raise forms.ValidationError("This file is too large to be a map.")
        try:
            return read_map(orjson.loads(file.read()))
        except orjson.JSONDecodeError as error:
            raise forms.ValidationError(f"This is not JSON: {error.msg} (line {error.lineno}).") from None
        except Refused as refused:
            raise forms.ValidationError(refused.problems[:5]) from None


class MapFileForm(forms.Form):
    """A map from a file, for the table that is open."""

    map = MapField(required=True, help_text="As “Download the map” or --save-map wrote it.")
