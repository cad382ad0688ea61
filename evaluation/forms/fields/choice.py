"""Choices: one of several, in a segmented control where all are short, else in a list with what each means."""

from typing import Any

from django.utils.html import escape
from django.utils.safestring import SafeString

from evaluation.forms.fields.screen_input import ScreenInput, build_option
from evaluation.forms.shapes import Field, Option
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
    field["options"] = choice_options(question, page, escape(question.key), field["id"], value)


def choice_options(
    question: QuestionSpec, page: ScreenInput, name: str, id_: str, value: Any
) -> list[Option]:
    """The choices under that name; name and id are escaped."""
    options = []
    for number, choice in enumerate(KINDS[question.kind].offers(question)):
        own = SafeString(f"{id_}-{escape(choice)}") if number else id_
        label = escape(question.label(choice) or choice)
        option = build_option(name, escape(choice), label, own, checked=value == choice)
        option["about"] = question.about(choice)
        options.append(option)
    return options
