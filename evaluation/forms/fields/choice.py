"""Choices: one of several, in a segmented control where all are short, else in a list with what each means."""

from typing import Any

from django.utils.html import escape
from django.utils.safestring import SafeString

from evaluation.forms.fields.screen_input import ScreenInput, build_option
from evaluation.forms.shapes import Field
from evaluation.protocols import QuestionSpec
from evaluation.protocols.kinds import KINDS

# What fits beside each other in a segmented control on a wide screen.
MOST_SEGMENTS = 5
LONGEST_SEGMENT = 24


def build_choice(field: Field, question: QuestionSpec, page: ScreenInput, value: Any) -> None:
    choices = KINDS[question.kind].offers(question)
    labels = [question.label(choice) or choice for choice in choices]
    fits = len(labels) <= MOST_SEGMENTS and all(len(label) <= LONGEST_SEGMENT for label in labels)
    if not fits or any(question.about(choice) for choice in choices):
        field["template"] = "evaluation/_choice_list.html"
    name = escape(question.key)
    for number, (choice, label) in enumerate(zip(choices, labels, strict=True)):
        id_ = SafeString(f"{field['id']}-{escape(choice)}") if number else field["id"]
        option = build_option(name, escape(choice), escape(label), id_, checked=value == choice)
        option["about"] = question.about(choice)
        field["options"].append(option)
