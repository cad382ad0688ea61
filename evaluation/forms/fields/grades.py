"""A graded preference: from the first response much better to the second much better, in the order shown.

The words belong to a distance ("1": slightly better, "2": much better) and not to a response, so that they are true of
either side whichever response stands there.
"""

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy

from evaluation.forms.fields.screen_input import ScreenInput, build_option
from evaluation.forms.fields.ties import tie_text
from evaluation.forms.shapes import Option
from evaluation.protocols import QuestionSpec
from evaluation.protocols.base import TIE, option_key

SLIGHTLY, BETTER, MUCH = (
    gettext_lazy("slightly better"),
    gettext_lazy("better"),
    gettext_lazy("much better"),
)
# The words of each distance from a tie where the study has none, by the farthest.
WORDS: Mapping[int, tuple[str | Promise, ...]] = {2: (SLIGHTLY, MUCH), 3: (SLIGHTLY, BETTER, MUCH)}


def grade_options(
    question: QuestionSpec, page: ScreenInput, name: str, id_: str, value: object, *, has_keys: bool = True
) -> list[Option]:
    """A row of points; their values are canonical, so that the row is turned round where r2 is shown first."""
    names = {card["part"]: card["name"] for card in page.cards}
    turned = page.cards[0]["part"] == "r2"
    return [
        build_option(
            name,
            str(grade),
            _label(question, grade, names),
            "" if number > 1 else id_,
            str(number) if has_keys else "",
            checked=isinstance(value, str) and value == str(grade),
        )
        for number, grade in enumerate(sorted(question.grades, reverse=turned), 1)
    ]


def grade_text(question: QuestionSpec, grade: float, names: Mapping[str, str]) -> str:
    """A grade in a line of text; `names` are those of the responses by part, escaped."""
    return (
        str(_label(question, grade, names))
        if grade == 0
        else f"{_who(grade, names)} {_words(question, grade)}"
    )


def _label(question: QuestionSpec, grade: float, names: Mapping[str, str]) -> SafeString:
    if grade == 0:
        return tie_text(question, TIE)
    return format_html(
        '<span class="side">{}</span> <span>{}</span>', _who(grade, names), _words(question, grade)
    )


def _who(grade: float, names: Mapping[str, str]) -> SafeString:
    return SafeString(names["r1" if grade < 0 else "r2"])


def _words(question: QuestionSpec, grade: float) -> SafeString:
    """The study's words for this distance, or the default ones; between two distances, the number."""
    distance = abs(grade)
    ours = dict(enumerate(WORDS[int(question.grades[-1])], 1))
    return escape(question.label(distance) or ours.get(int(distance)) or option_key(distance))
