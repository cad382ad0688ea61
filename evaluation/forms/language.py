"""The language of what a study's participants read: the study's choice, never the browser's; and that of what they
judge, which is another."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.utils import translation

from evaluation.models import Language
from evaluation.protocols.base import Spec

_of_texts: ContextVar[str] = ContextVar("language of judged texts", default="")


def language_of(spec: Spec) -> str:
    """The language that a spec names; one that names none is English."""
    return str(spec.get("language", Language.ENGLISH))


def texts_language_of(spec: Spec) -> str:
    """The language of what is judged, '' where nobody says."""
    return str(spec.get("texts_language", ""))


@contextmanager
def in_languages(language: str, of_texts: str = "") -> Iterator[None]:
    """Whatever is built inside is in that language, around texts in the other one."""
    before = _of_texts.set(of_texts)
    try:
        with translation.override(language):
            yield
    finally:
        _of_texts.reset(before)


@contextmanager
def in_language_of(spec: Spec) -> Iterator[None]:
    """Whatever is built inside is in the languages of that spec."""
    with in_languages(language_of(spec), texts_language_of(spec)):
        yield


def speak(language: str, of_texts: str = "") -> None:
    """From here on, to the end of `in_languages`, in that language, around texts in the other one."""
    translation.activate(language)
    _of_texts.set(of_texts)


def texts_language() -> str:
    """That of the texts that are judged on what is built now; '' where nobody says."""
    return _of_texts.get()
