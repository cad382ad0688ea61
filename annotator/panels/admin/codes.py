"""The form of a study's completion codes."""

from typing import Any

from django import forms

from annotator.models import ParticipantOutcome
from annotator.panels.visit_codes import code_label, further_keys
from evaluation.models import Study

MAX_CODE = 40


class CodesForm(forms.Form):
    """One code per outcome, and one per further visit."""

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        further = further_keys(study)
        self._keys = [*ParticipantOutcome.values, *further]
        for key in self._keys:
            self.fields[f"code_{key}"] = forms.CharField(
                label=code_label(key).capitalize(),
                help_text="Empty: a new one is made." if key in further else "",
                max_length=MAX_CODE,
                required=False,
                initial=study.completion_codes.get(key, ""),
                widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
            )

    def clean(self) -> dict[str, Any]:
        """Check that each outcome and visit has its own code, by which the panel pays."""
        data: dict[str, Any] = super().clean() or self.cleaned_data
        first: dict[str, str] = {}
        for key in self._keys:
            code = data.get(f"code_{key}", "")
            if code and code in first:
                text = f"This is the code of “{first[code]}” too; each outcome needs its own."
                self.add_error(f"code_{key}", text)
            first.setdefault(code, code_label(key).capitalize())
        return data

    def codes(self) -> dict[str, str]:
        """The codes that were given, by outcome, and by the key of a further visit."""
        given = {key: self.cleaned_data[f"code_{key}"] for key in self._keys}
        return {key: code for key, code in given.items() if code}
