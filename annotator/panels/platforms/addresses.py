"""Addresses that researchers set and panels send: which may be opened or posted to, and how they are filled in.

A participant's browser goes there, so it is https, or http on this machine alone.
"""

import re
from collections.abc import Mapping
from urllib.parse import quote, urlsplit

LOOPBACK = ("localhost", "127.0.0.1", "::1")
_NAME = r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*"
_ORIGIN = re.compile(rf"https://{_NAME}(:\d{{1,5}})?|http://(localhost|127\.0\.0\.1|\[::1\])(:\d{{1,5}})?")
_WIDE_ORIGIN = re.compile(rf"https://\*\.{_NAME}(:\d{{1,5}})?")
_PLACE = re.compile(r"\{([^{}]*)\}")
# What an address holds only in its encoded form; backslashes are slashes to a browser.
_UNSAFE = re.compile(r"[\x00-\x20\x7f\\<>\"'`]")


def is_origin(text: str, *, wide: bool = False) -> bool:
    """Scheme, host and port alone; `wide` also allows `*.` before the host, as a content policy does."""
    return bool(_ORIGIN.fullmatch(text) or (wide and _WIDE_ORIGIN.fullmatch(text)))


def is_public_url(text: str) -> bool:
    """Scheme and host alone, by which this installation is reached; not by TLS where a proxy or nobody adds it."""
    return _is_address(text, path=False)


def is_api_address(text: str) -> bool:
    """The address of an API that a token may be sent to: by TLS unless it is on this machine, perhaps with a path."""
    return _is_address(text, path=True)


def _is_address(text: str, *, path: bool) -> bool:
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return False
    more = parts.query or parts.fragment or parts.username or (parts.path and not path)
    if not host or port == 0 or more or text != text.strip():
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and (host in LOOPBACK or not path))


def origin_of(address: str) -> str:
    """The origin of an address, or nothing if it has none that may be used."""
    if _UNSAFE.search(address):
        return ""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    origin = f"{parts.scheme}://{parts.netloc}".lower()
    return origin if is_origin(origin) else ""


def fill(template: str, values: Mapping[str, str]) -> str:
    """The address with each {name} replaced by its percent-encoded value; nothing if one of them has no value."""
    names = _PLACE.findall(template)
    if not template or not all(values.get(name) for name in names):
        return ""
    return _PLACE.sub(lambda place: quote(values[place[1]], safe=""), template)


def find_template_problems(template: str, known: tuple[str, ...]) -> list[str]:
    """Sentences that say why an address with these names in it can't be opened."""
    found = []
    unknown = sorted(set(_PLACE.findall(template)) - set(known))
    if unknown:
        names = ", ".join(f"{{{name}}}" for name in unknown)
        found.append(f"{names} is not known; there is {', '.join(f'{{{name}}}' for name in known)}.")
    if re.search(r"[{}]", _PLACE.sub("", template)):
        found.append("A brace has no partner.")
    # The host must be the researcher's word, never a participant's parameter.
    if not origin_of(_PLACE.sub("x", template)) or "{" in template.partition("://")[2].partition("/")[0]:
        found.append("It must be a whole address that begins with https:// and a host.")
    return found


def split_origins(text: str) -> list[str]:
    """Origins separated by spaces, commas or lines."""
    return [each for each in re.split(r"[\s,]+", text) if each]


def find_origin_problems(text: str, *, wide: bool = False) -> list[str]:
    return [
        f"{each} is not an origin: https://, a host, and nothing after it."
        for each in split_origins(text)
        if not is_origin(each, wide=wide)
    ]
