"""API keys, from the environment or entered in the page and stored encrypted, and where they may be sent."""

import contextlib
import ipaddress
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol
from urllib.parse import SplitResult, urlsplit

import orjson
from django.conf import settings

from evaluation.canonical import canonical_json
from evaluation.encryption import decrypt, encrypt
from judging.backends.base import StopRun

KEY_PREFIX = "ASSAY_KEY_"
KEY_NAME = re.compile(rf"{KEY_PREFIX}[A-Z0-9_]+")
PORTS = {"http": 80, "https": 443}
# An entry of the list for whatever listens on this machine: http://127.0.0.1:*
ANY_PORT = re.compile(r"(https?://[^/:]+):\*(/.*)?")


class HasKey(Protocol):
    base_url: str
    key_name: str
    stored_key: str


def key_for(endpoint: HasKey) -> str:
    """The endpoint's key, stored or read from the environment now, '' for a server without keys; StopRun where it is
    missing."""
    if endpoint.stored_key:
        return _open_key(endpoint)
    name = endpoint.key_name
    if not name:
        return ""
    if not KEY_NAME.fullmatch(name):
        raise StopRun(f"{name!r} can't be a key: a key's name begins with {KEY_PREFIX}.")
    key = os.environ.get(name, "").strip()
    if not key:
        raise StopRun(f"The environment has no {name}; set it where the workers run, then resume.")
    return key


def seal_key(base_url: str, key: str) -> str:
    """The key encrypted for storing, together with the one address that it may be sent to."""
    return encrypt(canonical_json([base_url, key]), settings.ASSAY_ENDPOINT_SECRETS)


def _open_key(endpoint: HasKey) -> str:
    secrets = settings.ASSAY_ENDPOINT_SECRETS
    opened = decrypt(endpoint.stored_key, secrets) if secrets else None
    if opened is None:
        raise StopRun(
            "The endpoint's stored key can't be opened: ASSAY_ENDPOINT_SECRETS does not name the secret that it was "
            "encrypted under. Enter the key again on the endpoint's page, then resume."
        )
    base_url, key = orjson.loads(opened)
    if base_url != endpoint.base_url:
        raise StopRun(
            "The endpoint's key was entered for another address. Enter it again on its page, then resume."
        )
    return str(key)


def scrub(text: str, key: str) -> str:
    """The text without the key or any part of it that is long enough to be of use."""
    size = min(8, len(key))
    if not size:
        return text
    pieces = {key[start : start + size] for start in range(len(key) - size + 1)}
    hidden = [False] * len(text)
    for start in range(len(text) - size + 1):
        if text[start : start + size] in pieces:
            hidden[start : start + size] = [True] * size
    runs = re.sub("1+", "*", "".join("1" if each else "0" for each in hidden))
    shown = iter(char for char, hide in zip(text, hidden, strict=True) if not hide)
    return "".join("***" if mark == "*" else next(shown) for mark in runs)


# --- where an endpoint may be ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """The parts of a URL that decide where a request goes."""

    scheme: str
    host: str
    # Of an entry of the list, None: any.
    port: int | None
    path: tuple[str, ...]

    def within(self, allowed: "Place") -> bool:
        """Same server, and a path below: whole segments, so that /v1 does not cover /v10."""
        same = (self.scheme, self.host) == (allowed.scheme, allowed.host)
        return same and allowed.port in (self.port, None) and self.path[: len(allowed.path)] == allowed.path


def endpoint_problems(base_url: str, key_name: str, user: Any) -> list[str]:
    """Reasons that keep this user from creating such an endpoint, a sentence each; empty if there are none.

    Superusers may name any http(s) server. Others need an entry of ASSAY_ENDPOINTS_ALLOWED that covers the URL and,
    where a key is to be sent, names that key. Nobody sends a key over http:// to another machine, unless an entry
    of the list says just that.
    """
    problems = _key_problems(key_name)
    try:
        place = place_of(base_url)
    except ValueError as error:
        return [*problems, str(error)]
    entries = [entry for entry in allowed_entries() if place.within(entry[0])]
    listed = [entry for entry in entries if not key_name or entry[1] == key_name]
    if not user.is_superuser and not entries:
        problems.append(
            f"This address is not on the list of allowed endpoints. {_what_allows(base_url, key_name)}"
        )
    elif not user.is_superuser and not listed and not problems:
        problems.append(
            f"{key_name} may not be sent to this address: its entry on the list of allowed endpoints names no such "
            f"key. {_what_allows(base_url, key_name)}"
        )
    if key_name and is_overheard(base_url) and not listed:
        problems.append(
            "A key is only sent over https://, or to this machine, unless ASSAY_ENDPOINTS_ALLOWED has "
            f"{base_url}={key_name}."
        )
    return problems


def is_overheard(base_url: str) -> bool:
    """True of an address where a key would cross a network in the clear."""
    place = place_of(base_url)
    return place.scheme == "http" and not _is_loopback(place.host)


def _what_allows(base_url: str, key_name: str) -> str:
    entry = f"{base_url}={key_name}" if key_name else base_url
    return (
        f"Whoever runs Assay can add {entry} to the setting ASSAY_ENDPOINTS_ALLOWED and restart it; or a superuser "
        "makes the endpoint."
    )


def _key_problems(key_name: str) -> list[str]:
    if not key_name or KEY_NAME.fullmatch(key_name):
        return []
    return [f"A key's name begins with {KEY_PREFIX} and has capital letters, digits and _ after it."]


def allowed_entries() -> list[tuple[Place, str]]:
    """The list of allowed endpoints: `URL` without a key, `URL=ASSAY_KEY_NAME` with that one.

    A port may be `*` on this machine, without a key. An entry that can't be read allows nothing; a system check names
    it.
    """
    entries = []
    for entry in settings.ASSAY_ENDPOINTS_ALLOWED:
        with contextlib.suppress(ValueError):
            entries.append(_read_entry(entry))
    return entries


def is_readable(entry: str) -> bool:
    """True if this entry of the list is valid."""
    try:
        _read_entry(entry)
    except ValueError:
        return False
    return True


def _read_entry(entry: str) -> tuple[Place, str]:
    url, separator, key_name = entry.strip().partition("=")
    if separator and not KEY_NAME.fullmatch(key_name):
        raise ValueError(f"{key_name!r} is not a key's name.")
    any_port = ANY_PORT.fullmatch(url)
    if any_port is None:
        return place_of(url), key_name
    place = place_of("".join(any_port.groups("")))
    if key_name or not _is_loopback(place.host):
        raise ValueError("Any port is for servers without keys on this machine.")
    return replace(place, port=None), key_name


def place_of(url: str) -> Place:
    """The parts of a URL that decide where it leads, or ValueError with what is wrong with it.

    Whatever two readers of URLs might take differently is refused rather than guessed at.
    """
    if re.search(r"[\s\\\x00-\x1f\x7f%]", url) or not url.isascii():
        raise ValueError("The URL holds characters that don't belong into one.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ValueError("This is not a URL.") from None
    if parts.scheme not in PORTS or not parts.hostname:
        raise ValueError("The URL must begin with https:// or http:// and name a server.")
    if parts.username is not None or parts.password is not None:
        raise ValueError("The URL must not hold a name or a password.")
    if parts.query or parts.fragment or "?" in url or "#" in url:
        raise ValueError("The URL must end with its path: no ? and no #.")
    return Place(parts.scheme, parts.hostname.rstrip("."), port or PORTS[parts.scheme], _segments(parts))


def _segments(parts: SplitResult) -> tuple[str, ...]:
    segments: Sequence[str] = [each for each in parts.path.split("/") if each]
    if "." in segments or ".." in segments:
        raise ValueError("The URL's path must not go up or stand still (.. or .).")
    return tuple(segments)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
