"""Texts that protocols share, each adding what is its own; and what a study begins with, in its language.

Protocols are written in English. What a new study takes from one is translated, each text as a whole; which texts there
are, `make messages` finds by the same functions.
"""

from collections.abc import Callable
from dataclasses import replace

from evaluation.protocols.base import QuestionSpec

# Our English sentence in another language; `str` leaves it as it is.
Translate = Callable[[str], str]

RIGHTS = (
    "Taking part is voluntary. You can stop at any time with **Withdraw**, which is on every page. We keep your "
    "judgments, what you write and how long you took, under a random code; we do not store your IP address."
)
THANKS = "Thank you. Your judgments have been recorded."


def gettext_noop(text: str) -> str:
    """The text as it is; the catalogues have it (`make messages`)."""
    return text


def consent(what: str) -> str:
    """The consent text of a study whose task this is."""
    return f"You are invited to take part in a study on language models. {what}\n\n{RIGHTS}"


def translate_question(question: QuestionSpec, translate: Translate) -> QuestionSpec:
    """The question in another language: its prompt and help, and the labels of values with their meanings."""
    options = {
        value: translate(label) if label and isinstance(label, str) else label
        for value, label in question.options.items()
    }
    return replace(
        question,
        prompt=translate(question.prompt),
        help=question.help and translate(question.help),
        options=options,
    )
