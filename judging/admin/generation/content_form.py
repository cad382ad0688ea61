"""A product's content as a form: a field for each of its values, and blank rows at the end of its lists.

Lists grow and shrink without scripts: a row that is left blank is none, and a button brings more of them.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django import forms
from django.forms.fields import InvalidJSONInput
from django.http import QueryDict

from judging.generation.replies import MAX_TEXT
from judging.generation.shapes import UNFORESEEN, WHOLE_NUMBERS, Shape, content_shape, is_blank

# Blank rows at the end of a list of texts and of one of objects, which are several fields each; and no list has more
# rows, whatever is sent.
BLANK_TEXTS, BLANK_OBJECTS, MOST_ROWS = 2, 1, 200
# Characters of a text that still fit one line.
ONE_LINE = 70
REMOVE = "remove"
NOTHING = object()


class ReadableJSON(json.JSONEncoder):
    """Letters as they are."""

    def __init__(self, **options: object) -> None:
        super().__init__(**{**options, "ensure_ascii": False, "indent": 1})  # type: ignore[arg-type]


class TextField(forms.CharField):
    """A text as it is entered, with the line ends that a model writes."""

    def __init__(self, *, rows: int, **options: Any) -> None:
        attrs: dict[str, Any] = {"dir": "auto"}
        widget = forms.Textarea(attrs | {"rows": rows}) if rows > 1 else forms.TextInput(attrs)
        super().__init__(required=False, strip=False, max_length=MAX_TEXT, widget=widget, **options)

    def to_python(self, value: Any) -> str:
        return str(super().to_python(value) or "").replace("\r\n", "\n")


class NumbersField(forms.CharField):
    """Whole numbers with commas between them."""

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(map(str, value)) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        parts = str(super().to_python(value) or "").replace(",", " ").split()
        try:
            return [int(part) for part in parts]
        except ValueError:
            raise forms.ValidationError(
                "Enter whole numbers with commas between them, such as 1, 3."
            ) from None


@dataclass
class Part:
    """A part of the form as it is laid out: one field, or a named group of parts, a row of a list among them."""

    label: str
    name: str = ""
    parts: list["Part"] = field(default_factory=list)
    is_list: bool = False
    # Each part is a text, so that its number is label enough.
    is_texts: bool = False
    # JSON, which stands folded.
    is_raw: bool = False
    # The field that takes a row out.
    remove: str = ""
    form: forms.Form | None = None

    @property
    def bound(self) -> Any:
        return self.form[self.name] if self.form and self.name else None

    @property
    def bound_remove(self) -> Any:
        return self.form[self.remove] if self.form and self.remove else None


class ContentForm(forms.Form):
    """The values of one content. `more`: what was entered so far, with further blank rows and nothing checked."""

    prefix = "c"

    def __init__(
        self,
        content: Mapping[str, Any],
        declared: Mapping[str, Shape],
        data: QueryDict | None = None,
        *,
        more: bool = False,
    ) -> None:
        super().__init__(None if more else data)
        self.content, self.shape = content, content_shape(content, declared)
        self._posted, self._more = data, more
        # The place of each value in what is entered, by its place in the content that this makes.
        self._places: dict[str, str] = {}
        properties = self.shape["properties"]
        self.parts = [
            self._part(shape, content.get(name, NOTHING), name, _label(name))
            for name, shape in properties.items()
            if not shape.get("readOnly")
        ]

    @property
    def has_lists(self) -> bool:
        return any(part.is_list for part in self.parts)

    def kept(self) -> list[tuple[str, Any]]:
        """The values that no field is for."""
        shapes = self.shape["properties"]
        return [(_label(name), self.content[name]) for name, shape in shapes.items() if shape.get("readOnly")]

    # --- its fields ---------------------------------------------------------------------------------------------------

    def _part(self, shape: Shape, value: Any, path: str, label: str) -> Part:
        items = shape.get("items", {})
        if shape.get("type") == "object":
            parts = [
                self._part(each, _value_of(value, name), f"{path}.{name}", _label(name))
                for name, each in shape["properties"].items()
                if not each.get("readOnly")
            ]
            return Part(label, parts=parts)
        if shape.get("type") == "array" and not _is_one_field(shape):
            return self._list(items, value, path, label)
        return self._add(path, label, _field(shape, value), value, is_raw=shape == UNFORESEEN)

    def _add(
        self, path: str, label: str, made: forms.Field, value: Any = NOTHING, *, is_raw: bool = False
    ) -> Part:
        made.label = label
        if value is not NOTHING:
            made.initial = value
        if self._more:
            entered = made.widget.value_from_datadict(self._posted, {}, self.add_prefix(path))
            made.initial = InvalidJSONInput(entered) if is_raw and entered else entered
        self.fields[path] = made
        return Part(label, name=path, is_raw=is_raw, form=self)

    def _list(self, items: Shape, value: Any, path: str, label: str) -> Part:
        given = value if isinstance(value, list) else []
        rows = []
        blank = BLANK_OBJECTS if "properties" in items else BLANK_TEXTS
        for place in range(self._rows(path, len(given), blank)):
            row = given[place] if place < len(given) else NOTHING
            here, name = f"{path}.{place}", f"{_singular(label)} {place + 1}"
            part = self._part(items, row, here, name)
            if part.parts and row is not NOTHING and not _is_numbered(items):
                part.remove, part.form = f"{here}.{REMOVE}", self
                self._add(part.remove, "Remove", forms.BooleanField(required=False))
            rows.append(part)
        return Part(label, parts=rows, is_list=True, is_texts="properties" not in items)

    def _rows(self, path: str, given: int, blank: int) -> int:
        if self._posted is None:
            return given + blank
        before = self.add_prefix(f"{path}.")
        places = [name[len(before) :].partition(".")[0] for name in self._posted if name.startswith(before)]
        # A row whose only fields are boxes that nobody ticked sends nothing.
        rows = max([given, *(int(each) + 1 for each in places if each.isdecimal() and len(each) <= 4)])
        return min(rows + (blank if self._more else 0), max(MOST_ROWS, given))

    # --- what is entered ----------------------------------------------------------------------------------------------

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        self._missing: list[str] = []
        data["content"] = self._read(self.shape, self.content, "", "")
        for path in self._missing:
            self.add_error(path, "Enter a number.")
        return data

    def _read(self, shape: Shape, value: Any, path: str, place: str) -> Any:
        """The value that was entered at a path; what nobody touched is what it was."""
        self._places[place] = path
        if shape.get("type") == "object":
            found = {}
            for name, each in shape["properties"].items():
                before = _value_of(value, name)
                if not each.get("readOnly"):
                    below = (f"{path}.{name}".lstrip("."), f"{place}.{name}".lstrip("."))
                    found[name] = self._read(each, before, *below)
                elif before is not NOTHING:
                    found[name] = before
            return found
        if shape.get("type") == "array" and not _is_one_field(shape):
            return self._read_list(shape["items"], value, path, place)
        entered = self.cleaned_data.get(path)
        if value is not NOTHING and _same(entered, value):
            return value
        if shape.get("type") in ("integer", "number") and entered is None and path not in self.errors:
            self._missing.append(path)
        return entered

    def _read_list(self, items: Shape, value: Any, path: str, place: str) -> list[Any]:
        given = value if isinstance(value, list) else []
        found: list[Any] = []
        for row in self._row_numbers(path):
            here = f"{path}.{row}"
            if self.cleaned_data.get(f"{here}.{REMOVE}"):
                continue
            before = given[row] if row < len(given) else NOTHING
            missing = len(self._missing)
            entered = self._read(items, before, here, f"{place}.{len(found)}")
            keeps = _is_numbered(items) and before is not NOTHING
            if is_blank(entered) and not keeps:
                del self._missing[missing:]
                continue
            if _is_numbered(items) and before is NOTHING:
                entered = {"number": len(found) + 1, **entered}
            found.append(entered)
        return found

    def _row_numbers(self, path: str) -> Iterator[int]:
        row = 0
        while any(name == f"{path}.{row}" or name.startswith(f"{path}.{row}.") for name in self.fields):
            yield row
            row += 1

    def show(self, problems: Mapping[str, Sequence[str]]) -> None:
        """Put the reasons of a refusal beside the fields that they are about."""
        for place, sentences in problems.items():
            for sentence in sentences:
                self.add_error(self._field_at(place), sentence)

    def _field_at(self, place: str) -> str | None:
        """The field of a place in the content, or the first one in it; without one, that of what it stands in."""
        while place and place not in self._places:
            place = place.rpartition(".")[0]
        path = self._places.get(place, "")
        inside = (name for name in self.fields if name == path or (path and name.startswith(f"{path}.")))
        return next((name for name in inside if not name.endswith(f".{REMOVE}")), None)


def _value_of(value: Any, name: str) -> Any:
    return value.get(name, NOTHING) if isinstance(value, Mapping) else NOTHING


def _same(entered: Any, value: Any) -> bool:
    """True if nothing was changed, whichever line ends the text has and however a number is written."""
    if isinstance(value, str) and isinstance(entered, str):
        return entered == value.replace("\r\n", "\n")
    return type(entered) in (type(value), float) and bool(entered == value)


def _is_one_field(shape: Shape) -> bool:
    """True of a list that one field takes: numbers, or choices to tick."""
    return shape == WHOLE_NUMBERS or "enum" in shape["items"]


def _is_numbered(items: Shape) -> bool:
    """True of rows that others name by their numbers, so that none may be taken out."""
    return bool(items.get("properties", {}).get("number", {}).get("readOnly"))


def _field(shape: Shape, value: Any) -> forms.Field:
    if "enum" in shape:
        known = list(shape["enum"])
        others = [value] if isinstance(value, str) and value not in known else []
        return forms.ChoiceField(required=False, choices=[(each, _label(each)) for each in known + others])
    match shape.get("type"):
        case "array" if "enum" in shape["items"]:
            choices = [(each, _label(each)) for each in shape["items"]["enum"]]
            return forms.MultipleChoiceField(
                required=False, choices=choices, widget=forms.CheckboxSelectMultiple
            )
        case "array":
            return NumbersField(required=False)
        case "boolean":
            return forms.BooleanField(required=False)
        case "integer":
            return forms.IntegerField(required=False)
        case "number":
            return forms.FloatField(required=False, widget=forms.NumberInput(attrs={"step": "any"}))
        case "string":
            return TextField(rows=_height(shape, value if isinstance(value, str) else ""))
    return forms.JSONField(
        required=False,
        encoder=ReadableJSON,
        widget=forms.Textarea(attrs={"rows": 6, "class": "code", "dir": "auto"}),
        error_messages={"invalid": "This is not valid JSON; put names and texts in double quotes."},
    )


def _height(shape: Shape, text: str) -> int:
    """The rows of a text's field: as many as it fills, within reason."""
    lines = sum(1 + len(line) // ONE_LINE for line in text.splitlines())
    return min(max(lines + 1, 2), 24) if shape.get("format") == "textarea" or lines > 1 else 1


def _singular(label: str) -> str:
    return f"{label[:-3]}y" if label.endswith("ies") else label.removesuffix("s")


def _label(name: str) -> str:
    return name.replace("_", " ").capitalize()
