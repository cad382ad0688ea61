"""`{% counted "answers_left" %}`: a sentence with a number in it, for scripts that fill the number in.

It is JSON, with the sentence of each of the language's plural categories by the name that browsers know it by
(`Intl.PluralRules`).
"""

import json
from collections.abc import Callable, Mapping

from django import template
from django.utils.translation import get_language, ngettext

register = template.Library()

# A number of each plural category; of other languages, see the default.
NUMBERS: Mapping[str, Mapping[str, int]] = {
    "ar": {"zero": 0, "one": 1, "two": 2, "few": 3, "many": 11, "other": 100},
}
DEFAULT_NUMBERS = {"one": 1, "other": 2}
SENTENCES: Mapping[str, Callable[[int], str]] = {
    "answers_left": lambda n: ngettext("{n} answer left", "{n} answers left", n),
    "matches_in_documents": lambda n: ngettext(
        "{n} match in {documents} of {all} documents", "{n} matches in {documents} of {all} documents", n
    ),
    "matches_in_fragments": lambda n: ngettext(
        "{n} match in {documents} of {all} fragments", "{n} matches in {documents} of {all} fragments", n
    ),
    "reserved_for": lambda n: ngettext(
        "This item is reserved for you for another {n} minute.",
        "This item is reserved for you for another {n} minutes.",
        n,
    ),
}


@register.simple_tag
def counted(name: str) -> str:
    """The sentence of that name in the language of the page, by plural category."""
    numbers = NUMBERS.get(get_language() or "", DEFAULT_NUMBERS)
    return json.dumps({category: SENTENCES[name](n) for category, n in numbers.items()}, ensure_ascii=False)
