"""The language of what a study's participants read: the study's choice, never the browser's."""

from contextlib import AbstractContextManager

from django.utils import translation

from evaluation.models import Language
from evaluation.protocols.base import Spec


def language_of(spec: Spec) -> str:
    """The language that a spec names; one that names none is English."""
    return str(spec.get("language", Language.ENGLISH))


def in_language_of(spec: Spec) -> AbstractContextManager[None]:
    """Whatever is built inside is in the language of that spec."""
    return translation.override(language_of(spec))
