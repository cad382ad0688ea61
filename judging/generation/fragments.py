"""Fragments: numbered passages for a query, as products have them and as a query's documents do."""

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.protocols.condition_calibration import MAX_FRAGMENTS
from judging.generation.pipeline import QueryState, Record

RETRIEVAL, FRAGMENTS = "retrieval", "fragments"
# As many as a calibration's item can have.
MOST = MAX_FRAGMENTS


def number_of_fragments(value: Any) -> int:
    if not float(value).is_integer() or not 1 <= value <= MOST:
        raise ValueError(f"a whole number from 1 to {MOST} is needed.")
    return int(value)


def fragments_for(state: QueryState, most: int) -> list[Record]:
    """So many fragments of a query at most, numbered from 1: those that were retrieved, otherwise its documents."""
    found = [each.content for each in state.products(FRAGMENTS, RETRIEVAL)]
    given = found or [fragment_of(each) for each in state.query.documents if isinstance(each, Mapping)]
    kept = [each for each in given if str(each.get("text") or "").strip()][:most]
    return [
        {"number": number, **{name: str(each.get(name) or "") for name in ("title", "text", "source")}}
        for number, each in enumerate(kept, 1)
    ]


def fragment_of(document: Mapping[str, Any]) -> Record:
    """A query's document as a fragment, without a number."""
    return {
        "title": document.get("title") or "",
        "text": document.get("snippet") or document.get("text") or "",
        "source": document.get("url") or document.get("source") or "",
    }


def documents_of(fragments: Sequence[Mapping[str, Any]]) -> list[Record]:
    """Fragments as a query's documents; a source that is an address becomes a link."""
    return [
        {
            "title": each["title"],
            "text": each["text"],
            **({_source_field(each["source"]): each["source"]} if each.get("source") else {}),
        }
        for each in fragments
    ]


def _source_field(source: str) -> str:
    return "url" if source.startswith(("https://", "http://")) else "source"


def written_fragments(fragments: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Fragments as named texts of a prompt."""
    return [
        (f"Fragment {each['number']}", "\n".join(filter(None, [each["title"], each["text"]])))
        for each in fragments
    ]
