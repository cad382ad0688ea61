"""The texts in a page of HTML that people read, told from the markup that makes it work."""

import re
from collections.abc import Callable
from html import escape, unescape
from urllib.parse import quote, quote_plus, unquote, unquote_plus

# Comments, scripts and styles whole, and single tags: what stands between them is text.
_MARKUP = re.compile(
    r"<!--.*?-->|<(?P<raw>script|style)(?=[\s>]).*?</(?P=raw)\s*>"
    r"|<(?P<tag>[a-z][^\s/>]*+)(?:[^>\"']++|\"[^\"]*+\"|'[^']*+')*+>|</[a-z][^>]*+>|<![^>]*+>",
    re.IGNORECASE | re.DOTALL,
)
_ATTRIBUTE = re.compile(
    r"(?<=[\s\"'])(?P<name>[^\s\"'<>/=]+)(?P<is>\s*=\s*)"
    r"(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'|(?P<bare>[^\s\"'>]+))"
)
# Attributes that are shown or read aloud; style sheets show those of the second line.
_READ = frozenset(
    ("title", "alt", "placeholder", "label", "aria-label", "aria-description", "aria-valuetext",
     "data-label", "data-head")
)  # fmt: skip
# Fields that people type into, and what they searched for where a form keeps it; no token, no key of a choice.
_TYPED = re.compile(
    r"<input(?![^>]*\stype=[\"']?(?!text|search|email|url|tel)[a-z])|<input[^>]*\sname=[\"']?q[\"'\s>]",
    re.IGNORECASE,
)
_ADDRESSES = frozenset(("href", "src", "action", "formaction", "cite", "hx-get", "hx-post"))
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)
# What was searched for, in a query of ours.
_SEARCHED = re.compile(r"(?<=[?&]q=)[^&#]+")

Change = Callable[[str], str]


def change_texts(page: str, change: Change) -> str:
    """The page with each text changed: between tags, in attributes that are read, in fields that are typed into, in
    links that lead elsewhere, and what is searched for in our own. All else stays as it is, byte for byte."""
    parts, end = [], 0
    for markup in _MARKUP.finditer(page):
        parts.append(_changed(page[end : markup.start()], change))
        parts.append(_changed_tag(markup[0], change) if markup["tag"] else markup[0])
        end = markup.end()
    parts.append(_changed(page[end:], change))
    return "".join(parts)


def texts_of(page: str) -> list[str]:
    """All that `change_texts` would change."""
    found: list[str] = []

    def note(text: str) -> str:
        found.append(text)
        return text

    change_texts(page, note)
    return found


def _changed(html: str, change: Change) -> str:
    if not html or html.isspace():
        return html
    text = unescape(html)
    changed = change(text)
    return html if changed == text else escape(changed)


def _changed_tag(tag: str, change: Change) -> str:
    typed = _TYPED.match(tag) is not None

    def replace(found: re.Match[str]) -> str:
        name, given = found["name"].lower(), found["double"] or found["single"] or found["bare"] or ""
        if name in _READ or (name == "value" and typed):
            new = _changed(given, change)
        elif name in _ADDRESSES:
            new = _changed(given, lambda address: _changed_address(address, change))
        else:
            return found[0]
        return found[0] if new == given else f'{found["name"]}{found["is"]}"{new}"'

    return _ATTRIBUTE.sub(replace, tag)


def _changed_address(address: str, change: Change) -> str:
    if _ELSEWHERE.match(address):
        plain = unquote(address)
        if change(plain) == plain:
            return change(address)
        return quote(change(plain), safe=":/?#[]@!$&'()*+,;=~")

    def replace(found: re.Match[str]) -> str:
        text = unquote_plus(found[0])
        changed = change(text)
        return found[0] if changed == text else quote_plus(changed)

    return _SEARCHED.sub(replace, address)
