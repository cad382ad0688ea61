"""Form fields for a question's options, which are stored as JSON."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from django import forms
from django.core.exceptions import ValidationError
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from evaluation.protocols import Kind, Over, QuestionSpec
from evaluation.protocols.base import ABOUT, BOTH_BAD, BOTH_GOOD, FORM, TIE, default_over, option_key
from evaluation.protocols.kinds import KINDS
from evaluation.protocols.requirements.questions import SHORT_TEXT, find_question_problems

OVERS = {
    Over.ITEM: "the whole item, once",
    Over.RESPONSE: "each response",
    Over.FOLLOW_UP: "each follow-up question",
    Over.FOLLOW_UP_RESPONSE: "each follow-up question and response",
    Over.VALUE: "each possible answer of the follow-up questions",
    Over.TURN: "each turn of the conversation",
    Over.TURN_RESPONSE: "each response's reply in each turn",
    Over.CLAIM: "each claim of each response",
    Over.CHOICE: "its own choices, several of which may apply",
}
# What a kind of question is, where it is chosen.
KIND_LABELS: dict[str, str] = {
    Kind.PREFERENCE: "preference between two responses",
    Kind.SCALE: "scale",
    Kind.CHECKLIST: "checklist: yes or no, or several choices",
    Kind.RANKING: "ranking of the responses",
    Kind.CHOICE: "one of several choices",
    Kind.TEXT: "text",
    Kind.ENTRIES: "condition-answer-citation entries",
}
SEPARATOR = "|"
LINES = "value | label | meaning, a line each, in the order of the form; label and meaning are optional"
POINT_LINES = "value | label | meaning, a line for each point that has a label"
# What a new question of a kind starts with, so that it can be asked at once.
NEW_FORMS: dict[str, dict[str, Any]] = {
    Kind.SCALE: {"over": "response", "low": 1, "high": 5},
    Kind.CHOICE: {"choices": ["a", "b"]},
    Kind.RANKING: {"ties": False},
    Kind.TEXT: {"least": SHORT_TEXT},
}
Options = dict[str, Any]


@dataclass(frozen=True)
class OptionPart:
    """One form field, with how it reads and changes the options."""

    label: str
    field: Callable[[], forms.Field]
    read: Callable[[Options], Any]
    write: Callable[[Options, Any], None]


def label_part(key: str, label: str) -> OptionPart:
    def write(options: Options, value: Any) -> None:
        options.pop(key, None)
        if text := (value or "").strip():
            options[key] = text

    return OptionPart(
        label,
        lambda: forms.CharField(max_length=120, required=False),
        lambda options: options.get(key, ""),
        write,
    )


def form_part(key: str, label: str, field: Callable[[], forms.Field], default: Any = None) -> OptionPart:
    """A field for one setting under `form`; an empty field leaves it out."""

    def write(options: Options, value: Any) -> None:
        form = dict(options.get(FORM) or {})
        given = default if value in (None, "") else value
        if given == form.get(key, default):
            return
        form.pop(key, None)
        if given != default:
            form[key] = given
        options.pop(FORM, None)
        if form:
            options[FORM] = form

    return OptionPart(label, field, lambda options: (options.get(FORM) or {}).get(key, default), write)


def number_part(key: str, label: str) -> OptionPart:
    return form_part(key, label, NumberField)


def over_part(key: str) -> OptionPart:
    kind = KINDS[key]
    choices = [(over.value, text) for over, text in OVERS.items() if over in kind.overs]
    default = default_over(key).value
    return form_part("over", "Asked of", lambda: forms.ChoiceField(choices=choices, required=False), default)


def grade_part(number: int) -> OptionPart:
    """The words of a grade, the same for either response: they follow its name."""
    return label_part(str(number), f"Words for grade {number}, after the response's name")


def tick_part(key: str, label: str) -> OptionPart:
    return form_part(key, label, lambda: forms.BooleanField(required=False), False)


FOUR_WAY = tick_part("both_bad", "“Both are bad” apart from “both are good”")


class NumberField(forms.FloatField):
    """Whole numbers stay whole: 3, not 3.0."""

    def __init__(self) -> None:
        super().__init__(required=False, widget=forms.NumberInput(attrs={"step": "any", "class": "narrow"}))

    def to_python(self, value: Any) -> Any:
        number = super().to_python(value)
        return int(number) if number is not None and number.is_integer() else number


def _lines_of(options: Options, values: list[str]) -> str:
    rows = []
    for value in values:
        cells = [value, str(options.get(value) or ""), str(options.get(ABOUT + value) or "")]
        while not cells[-1]:
            cells.pop()
        rows.append(f" {SEPARATOR} ".join(cells))
    return "\n".join(rows)


def _worded(options: Options) -> list[str]:
    """The values that have a label or a meaning, numbers in their order."""
    names = {key.removeprefix(ABOUT) for key, text in options.items() if isinstance(text, str)}
    return sorted(names, key=lambda name: (_as_number(name), name))


def _as_number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("inf")


def _write_lines(options: Options, text: Any) -> list[str]:
    """Replace all labels and meanings by those of the lines; return the values in their order."""
    for key in [key for key, each in options.items() if isinstance(each, str)]:
        del options[key]
    values = []
    for line in (text or "").splitlines():
        if not line.strip():
            continue
        value, label, meaning = ([cell.strip() for cell in line.split(SEPARATOR, 2)] + ["", ""])[:3]
        values.append(value)
        options.update({key: each for key, each in ((value, label), (ABOUT + value, meaning)) if each})
    return values


def _prose(rows: int) -> Callable[[], forms.Field]:
    return lambda: forms.CharField(
        required=False, strip=False, widget=forms.Textarea(attrs={"rows": rows, "dir": "auto"})
    )


def _read_choices(options: Options) -> str:
    return _lines_of(options, [str(each) for each in (options.get(FORM) or {}).get("choices", [])])


def _write_choices(options: Options, text: Any) -> None:
    values = _write_lines(options, text)
    form = {**(options.get(FORM) or {}), "choices": values}
    # What is no choice any more is in no group; a new one is in none until somebody says so.
    groups = {value: group for value, group in (form.pop("groups", None) or {}).items() if value in values}
    options[FORM] = {**form, "groups": groups} if groups else form


def _write_points(options: Options, text: Any) -> None:
    values = _write_lines(options, text)
    form = options.get(FORM) or {}
    low, high = form.get("low"), form.get("high")
    for value in values:
        number = _as_number(value)
        inside = low is None or high is None or low >= high or low <= number <= high
        if not inside or option_key(number) != value:
            raise ValidationError(f"{value} is not a point of the scale from {low} to {high}.")


def _write_some_choices(options: Options, text: Any) -> None:
    """Of a question that may be asked of its own choices, or of something else."""
    if (options.get(FORM) or {}).get("over") == Over.CHOICE:
        _write_choices(options, text)


POINTS = OptionPart(
    f"Points: {POINT_LINES}", _prose(4), lambda options: _lines_of(options, _worded(options)), _write_points
)
CHOICES = OptionPart(f"Choices: {LINES}", _prose(6), _read_choices, _write_choices)
OWN_CHOICES = OptionPart(
    f"If asked of its own choices: {LINES}", _prose(6), _read_choices, _write_some_choices
)
TIE_LABEL = label_part(TIE, "Label of the tie")
# Beside “both are bad”, a tie says that both are good.
FOUR_WAY_LABELS = (
    label_part(BOTH_GOOD, "Label of “both are good”"),
    label_part(BOTH_BAD, "Label of “both are bad”"),
)
GRADED = [("", "which one is better"), *((points, f"by how much, {points} points") for points in (5, 7))]
GRADES = form_part(
    "points",
    "Asks",
    lambda: forms.TypedChoiceField(choices=GRADED, coerce=int, empty_value=None, required=False),
)
BETTER = [("", "default: higher"), ("higher", "higher"), ("lower", "lower")]
DIRECTION = form_part(
    "direction",
    "Better end, without an ideal",
    lambda: forms.ChoiceField(choices=BETTER, required=False),
)
LEAST = number_part("least", "Fewest characters, where it must be answered (0: any number)")
OFFERS_NONE = tick_part("none", "Offer “None of these”, to be ticked where nothing else is")
YES_NO = (label_part("1", "Label of yes"), label_part("0", "Label of no"))


def _tie_labels(form: Mapping[str, Any]) -> tuple[OptionPart, ...]:
    """Where ties are ruled out, there is nothing to label."""
    if form.get("ties") is False:
        return ()
    return FOUR_WAY_LABELS if form.get("both_bad") else (TIE_LABEL,)


def parts_of_kind(kind: str, before: Options) -> tuple[OptionPart, ...]:
    """The fields of a kind of question."""
    form = before.get(FORM) or {}
    match kind:
        case Kind.PREFERENCE:
            return (
                *_tie_labels(form),
                GRADES,
                *(grade_part(number) for number in range(1, form.get("points", 1) // 2 + 1)),
                over_part(kind),
                # Ties that are one of several grades are not divided.
                *(() if form.get("ties") is False or form.get("points") else (FOUR_WAY,)),
            )
        case Kind.SCALE:
            limits = (
                ("low", "From"),
                ("high", "To"),
                ("step", "Step (1)"),
                ("ideal", "Ideal (optional)"),
            )
            return (over_part(Kind.SCALE), *(number_part(*each) for each in limits), POINTS, DIRECTION)
        case Kind.CHECKLIST:
            if form.get("over") == Over.CHOICE:
                return (CHOICES, OFFERS_NONE)
            return (*YES_NO, over_part(Kind.CHECKLIST), tick_part("flag", "A single checkbox"))
        case Kind.CHOICE:
            return (CHOICES, over_part(kind))
        case Kind.RANKING:
            return (tick_part("ties", "Allow ties"),)
        case Kind.TEXT:
            return (LEAST, over_part(kind))
        case _:
            return (over_part(kind),) if len(KINDS[kind].overs) > 1 else ()


def parts_of_new(kind: str, before: Options) -> tuple[OptionPart, ...]:
    """The fields of a question that is not stored yet: what only shows once something was chosen is among them."""
    parts = parts_of_kind(kind, before)
    return (*parts, OWN_CHOICES) if kind == Kind.CHECKLIST else parts


class OptionsWidget(forms.MultiWidget):
    """One field per part, each inside its own label."""

    def __init__(self, parts: tuple[OptionPart, ...], widgets: list[forms.Widget]) -> None:
        self.parts = parts
        super().__init__(widgets)

    def decompress(self, value: Any) -> list[Any]:
        given = dict(value) if isinstance(value, Mapping) else {}
        return [part.read(given) for part in self.parts]

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        shown = self.get_context(name, value, attrs)["widget"]["subwidgets"]
        fields = (
            (
                "tall" if isinstance(widget, forms.Textarea) else "short",
                part.label,
                widget.render(each["name"], each["value"], each["attrs"], renderer),
            )
            for part, widget, each in zip(self.parts, self.widgets, shown, strict=True)
        )
        return format_html('<span class="labels">{}</span>', _labels(fields) or "none")


def _labels(fields: Any) -> SafeString:
    return format_html_join("", '<label class="{}">{} {}</label>', fields)


# What only an item with a context has.
OF_CONTEXTS = (Over.FOLLOW_UP, Over.FOLLOW_UP_RESPONSE, Over.VALUE)


class OptionsField(forms.MultiValueField):
    """A question's options; what its kind has no field for stays as it is."""

    def __init__(self, kind: str, before: Mapping[str, Any], *, new: bool = False) -> None:
        self.kind, self.before, self.is_new = kind, dict(before), new
        self.keys = (parts_of_new if new else parts_of_kind)(kind, self.before)
        fields = [part.field() for part in self.keys]
        super().__init__(
            fields,
            widget=OptionsWidget(self.keys, [field.widget for field in fields]),
            required=False,
            require_all_fields=False,
            label="Answered",
        )
        self.initial = self.before

    def leave_out_contexts(self) -> None:
        """Offer to ask of nothing that a study without contexts lacks, unless it is what is asked of now."""
        default = None if self.is_new else default_over(self.kind).value
        asked_of = (self.before.get(FORM) or {}).get("over", default)
        for field, widget in zip(self.fields, self.widget.widgets, strict=True):
            if isinstance(field, forms.ChoiceField):
                choices = cast(Iterable[tuple[str, str]], field.choices)
                kept = [each for each in choices if each[0] == asked_of or each[0] not in OF_CONTEXTS]
                field.choices = widget.choices = kept

    def compress(self, data_list: list[Any]) -> Options:
        options = dict(self.before)
        for part, value in zip(self.keys, data_list or [None] * len(self.keys), strict=False):
            part.write(options, value)
        if self.kind:
            problems = find_question_problems(QuestionSpec("", self.kind, "", options=options))
            if problems:
                raise ValidationError([str(problem).partition(": ")[2] for problem in problems])
        return options

    def has_changed(self, initial: Any, data: Any) -> bool:
        try:
            return bool(self.clean(data) != (initial if isinstance(initial, dict) else {}))
        except ValidationError:
            return True


class NewOptionsWidget(forms.Widget):
    """The fields of every kind of question, those of each in a group of its own; a script shows the chosen kind's."""

    def __init__(self, fields: Mapping[str, OptionsField]) -> None:
        self.of_kinds = fields
        super().__init__()

    def id_for_label(self, id_: str) -> str:
        return ""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        given = value or {}
        groups = (
            (
                kind,
                KIND_LABELS.get(kind, kind),
                field.widget.render(
                    f"{name}_{kind}",
                    given.get(kind, field.before),
                    {"id": f"id_{name}_{kind}"},
                    renderer,
                ),
            )
            for kind, field in self.of_kinds.items()
        )
        return format_html_join(
            "", '<div class="of-kind" data-kind="{}"><b class="quiet">{}</b> {}</div>', groups
        )

    def value_from_datadict(self, data: Any, files: Any, name: str) -> dict[str, Any]:
        return {
            kind: field.widget.value_from_datadict(data, files, f"{name}_{kind}")
            for kind, field in self.of_kinds.items()
        }

    def value_omitted_from_data(self, data: Any, files: Any, name: str) -> bool:
        return False


class NewOptionsField(forms.Field):
    """The options of a question whose kind is chosen in the same form; `options_of` reads those of the chosen kind."""

    def __init__(self) -> None:
        self.of_kinds = {kind: OptionsField(kind, _new_options(kind), new=True) for kind in KINDS}
        super().__init__(required=False, label="Answered", widget=NewOptionsWidget(self.of_kinds))

    def options_of(self, kind: str, value: Mapping[str, Any]) -> Options:
        """The options, by default those that a new question of the kind starts with."""
        given = value.get(kind) or []
        if not any(given):
            return _new_options(kind)
        options: Options = self.of_kinds[kind].clean(given)
        return options

    def has_changed(self, initial: Any, data: Any) -> bool:
        return False  # a row in which nothing else was filled in is none


def _new_options(kind: str) -> Options:
    return {FORM: dict(NEW_FORMS[kind])} if kind in NEW_FORMS else {}


def wording(question: Mapping[str, Any]) -> dict[str, str]:
    """The labels and meanings of a compiled question that a revision may change, each with what it is called."""
    called = {
        TIE: "label of the tie",
        BOTH_GOOD: "label of “both are good”",
        BOTH_BAD: "label of “both are bad”",
        **({"1": "label of yes", "0": "label of no"} if question["kind"] == Kind.CHECKLIST else {}),
        **(
            {str(n): f"words for grade {n}" for n in (1, 2, 3)} if question["kind"] == Kind.PREFERENCE else {}
        ),
    }
    return {
        key: called.get(key)
        or (f"meaning of {key.removeprefix(ABOUT)}" if key.startswith(ABOUT) else f"label of {key}")
        for key, text in question["options"].items()
        if isinstance(text, str)
    }
