"""The form of a study's completion codes."""

from collections.abc import Mapping
from typing import Any

from django import forms

from annotator.models import ParticipantOutcome

MAX_CODE = 40


class CodesForm(forms.Form):
    """One code per outcome. `locked`: they are shown, and can't be changed."""

    def __init__(self, *args: Any, codes: Mapping[str, Any], locked: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for outcome, label in ParticipantOutcome.choices:
            self.fields[f"code_{outcome}"] = forms.CharField(
                label=str(label).capitalize(),
                max_length=MAX_CODE,
                required=False,
                disabled=locked,
                initial=codes.get(outcome, ""),
                widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
            )

    def clean(self) -> dict[str, Any]:
        """Check that each outcome has its own code, by which the panel pays."""
        data: dict[str, Any] = super().clean() or self.cleaned_data
        first: dict[str, str] = {}
        for outcome, label in ParticipantOutcome.choices:
            code = data.get(f"code_{outcome}", "")
            if code and code in first:
                text = f"This is the code of “{first[code]}” too; each outcome needs its own."
                self.add_error(f"code_{outcome}", text)
            first.setdefault(code, str(label).capitalize())
        return data

    def codes(self) -> dict[str, str]:
        """The codes that were given, by outcome."""
        given = {outcome: self.cleaned_data[f"code_{outcome}"] for outcome in ParticipantOutcome.values}
        return {outcome: code for outcome, code in given.items() if code}
