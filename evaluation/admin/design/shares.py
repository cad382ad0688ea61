"""The form field for the shares that a study names for its report, one a line."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django import forms

from evaluation.protocols.requirements.shares import KEY, MAX_LABEL, is_share_label

BAR, EQUALS, COMMA = "|", "=", ","
WANTED = "key | label | question = values that count | question = values of the denominator"


class SharesField(forms.CharField):
    """One share per line; the value is their list as a spec has it. Whether the questions have these values is looked
    at with everything else that keeps a draft from being launched."""

    def __init__(self) -> None:
        super().__init__(
            label="Shares",
            required=False,
            widget=forms.Textarea(attrs={"rows": 3, "class": "vLargeTextField", "dir": "auto"}),
            help_text=f"{WANTED}, a line each. With “precision | Precision | correct = yes | relevant = yes” the "
            "report has the share of yes to correct among everything with a yes to relevant; “support | Support | "
            "verdict = supported | verdict = supported, contradicted” is of one question.",
        )

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(map(_line, value)) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        if isinstance(value, list):
            return value
        found, problems = [], []
        lines = (super().to_python(value) or "").splitlines()
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                found.append(_share(line))
            except ValueError as error:
                problems.append(forms.ValidationError(f"Line {number}: {error}"))
        if problems:
            raise forms.ValidationError(problems)
        return found

    def has_changed(self, initial: Any, data: Any) -> bool:
        try:
            given = self.to_python(data)
        except forms.ValidationError:
            return True
        return [_line(each) for each in initial or []] != [_line(each) for each in given]


def said_share(share: Mapping[str, Any]) -> str:
    """A share in words: the values that count among those of the denominator."""
    return " among ".join(_side(share[side]) for side in ("of", "among"))


def _line(share: Mapping[str, Any]) -> str:
    return f" {BAR} ".join([share["key"], share["label"], *(_side(share[side]) for side in ("of", "among"))])


def _side(chosen: Mapping[str, Any]) -> str:
    values: Sequence[Any] = chosen["values"]
    return f"{chosen['question']} {EQUALS} {f'{COMMA} '.join(map(str, values))}"


def _share(line: str) -> dict[str, Any]:
    """ValueError says what is wrong with the line."""
    parts = [part.strip() for part in line.split(BAR)]
    if len(parts) != 4:
        raise ValueError(f"{len(parts)} parts, and a share has 4: {WANTED}.")
    key, label, of, among = parts
    if not KEY.fullmatch(key):
        raise ValueError(f"{key!r} is no key: letters, digits, - and _, at most 60.")
    if not is_share_label(label):
        raise ValueError(f"the label is missing or longer than {MAX_LABEL} characters.")
    return {"key": key, "label": label, "of": _chosen(of), "among": _chosen(among)}


def _chosen(text: str) -> dict[str, Any]:
    question, equals, values = text.partition(EQUALS)
    chosen = list(_values(values))
    if not (question.strip() and equals and chosen):
        raise ValueError(f"{text!r} must be a question's key, =, and values with commas between them.")
    return {"question": question.strip(), "values": chosen}


def _values(text: str) -> Iterator[str]:
    yield from (value.strip() for value in text.split(COMMA) if value.strip())
