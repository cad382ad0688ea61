"""A ranking as its partial draws it: the responses themselves, in the order that they are in now."""

import json
from collections.abc import Mapping
from html import unescape
from typing import Any

from django.utils.html import escape, strip_tags
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext

from evaluation.forms.fields.screen_input import ScreenInput
from evaluation.forms.problems import sentence_for
from evaluation.forms.shapes import Card, Field, RankingEntry
from evaluation.protocols import Kind, QuestionSpec
from evaluation.protocols.kinds.ranking import RANKING_CONFIRMED

# Of a response's text, so much is its name where it is spoken of.
LABEL_LENGTH = 70
ENOUGH_HTML = 4_000


def build_ranking(field: Field, question: QuestionSpec, page: ScreenInput, value: Any) -> None:
    given: Mapping[str, Any] = value if isinstance(value, Mapping) else {}
    n = len(page.cards)
    # What has no rank yet stands where it was shown.
    placed = [(_rank(given.get(card["part"]), n), place, card) for place, card in enumerate(page.cards, 1)]
    placed.sort(key=lambda each: (each[0] or each[1], each[1]))
    ranks = [rank or place for place, (rank, _, _) in enumerate(placed, 1)]
    name = escape(question.key)
    places = [str(place) for place in range(1, n + 1)]
    entries = [
        _entry(name, card, rank, tied=question.ties and rank == before, places=places)
        for (_, _, card), rank, before in zip(placed, ranks, [0, *ranks], strict=False)
    ]
    field["ranked"] = {
        "entries": entries,
        "name": name,
        "start": ",".join(card["part"] for card in page.cards),
        "confirmed": bool(given.get(RANKING_CONFIRMED)),
        "moves": json.dumps(page.trace.get(question.key, []), separators=(",", ":")),
        "ties": question.ties,
    }
    wrong = [error for where, error in page.errors.items() if where.startswith(f"{question.key}.")]
    if wrong and not field["error"]:
        field["error"] = sentence_for(wrong[0], Kind.RANKING)


def _rank(value: Any, n: int) -> int | None:
    """A place from 1 to n as a form or a draft has it."""
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 3 and 1 <= int(text) <= n else None


def _entry(name: str, card: Card, rank: int, *, tied: bool, places: list[str]) -> RankingEntry:
    part = SafeString(f"{name}.{card['part']}")
    return {
        "part": card["part"],
        "name": part,
        "id": SafeString(f"q-{part}"),
        "label": response_label(card["html"]),
        "html": card["html"],
        "rank": str(rank),
        "tied": tied,
        "places": places,
    }


def response_label(html: str) -> str:
    """The beginning of a response, as its name where it is not shown."""
    text = " ".join(unescape(strip_tags(html[:ENOUGH_HTML])).split())
    return Truncator(text).chars(LABEL_LENGTH) or gettext("empty response")
