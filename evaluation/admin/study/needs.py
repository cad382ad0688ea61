"""Form fields for what a study says itself: what an item needs, and the groups of people that are told apart."""

import re
from collections.abc import Mapping
from typing import Any

from django import forms

from evaluation.protocols.requirements.needs import MAX_NAME, MAX_RESPONSES, Needs, read_needs

GROUP_NAME = re.compile(r"[A-Za-z0-9_-]{1,60}")
MAX_GROUPS = 10


class GroupsField(forms.CharField):
    """Names of groups, with commas between them; the value is their list."""

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        given = value if isinstance(value, list) else (super().to_python(value) or "").split(",")
        names = [name.strip() for name in given if name.strip()]
        if wrong := next((name for name in names if not GROUP_NAME.fullmatch(name)), None):
            raise forms.ValidationError(f"{wrong!r}: letters, digits, - and _, at most 60.")
        if len(set(names)) < len(names):
            raise forms.ValidationError("A group is named twice.")
        if len(names) > MAX_GROUPS:
            raise forms.ValidationError(f"At most {MAX_GROUPS} groups.")
        return names

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(self.to_python(data) != (initial or []))


class NeedsForm(forms.Form):
    """Form of the needs of a study's items: `initial_needs` in, `needs_of` out."""

    needs_query = forms.BooleanField(label="A query", required=False, help_text="Every item shows a query.")
    needs_least = forms.IntegerField(
        label="Responses, at least", min_value=0, max_value=MAX_RESPONSES, required=False
    )
    needs_most = forms.IntegerField(
        label="Responses, at most",
        min_value=0,
        max_value=MAX_RESPONSES,
        required=False,
        help_text="With exactly two, a preference compares systems: it has win rates and can be asked per turn.",
    )
    needs_document = forms.CharField(
        label="Document",
        max_length=MAX_NAME,
        required=False,
        help_text="The name of a text that the responses are held against, such as “Source document”. It has a place "
        "of its own beside them. Empty: there is none.",
    )

    NEEDS_FIELDS = (("needs_query", "needs_least", "needs_most"), "needs_document")

    @staticmethod
    def initial_needs(needs: Mapping[str, Any]) -> dict[str, Any]:
        return {f"needs_{name}": value for name, value in read_needs(needs).as_json().items()}

    @staticmethod
    def needs_of(data: Mapping[str, Any]) -> dict[str, Any]:
        """Needs as they were filled in; a number that was left empty is as usual."""
        usual = Needs()
        least, most = data.get("needs_least"), data.get("needs_most")
        return Needs(
            query=bool(data.get("needs_query")),
            least=usual.least if least is None else least,
            most=usual.most if most is None else most,
            document=(data.get("needs_document") or "").strip(),
        ).as_json()

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        least, most = data.get("needs_least"), data.get("needs_most")
        if least is not None and most is not None and most < least:
            self.add_error("needs_most", "This must not be below the least number.")
        return data
