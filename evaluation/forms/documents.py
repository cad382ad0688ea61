"""Reference documents as a screen shows them."""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from django.utils.translation import gettext

from evaluation.forms.shapes import Document


def read_documents(documents: Iterable[Any]) -> list[Document]:
    """Read documents from {title, url or link, snippet or text}, or plain text; empty ones are left out."""
    found = (_document(each, number) for number, each in enumerate(documents, 1))
    return [each for each in found if each["url"] or each["text"]]


def _document(given: Any, number: int) -> Document:
    each = given if isinstance(given, Mapping) else {"text": given}
    url = web_address(_first(each, "url", "link"))
    site = (urlsplit(url).hostname or "").removeprefix("www.") if url else ""
    title = _first(each, "title") or site or gettext("Document %(number)s") % {"number": number}
    return {"title": title, "url": url, "site": site, "text": _first(each, "snippet", "text")}


def _first(document: Mapping[str, Any], *names: str) -> str:
    return next((str(document[name]).strip() for name in names if document.get(name)), "")


def web_address(text: str) -> str:
    """The address if it is one of the web; whoever wrote the documents must not make a link do anything else."""
    try:
        parts = urlsplit(text)
        return text if parts.scheme in ("http", "https") and parts.hostname else ""
    except ValueError:
        return ""
