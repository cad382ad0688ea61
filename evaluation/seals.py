"""Keyed hashes by which a change past the application is found, and the key of each study, stored encrypted.

A seal is the HMAC of what was recorded. Which seals there are is told by a count and by a digest, the exclusive or of a
mark per seal, so that one more or one less costs no look at the others. Both hold against whoever can change the
database and does not have the installation's secret; nothing holds against whoever has it.
"""

import hmac
import logging
import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from django.conf import settings

from evaluation.canonical import canonical_json
from evaluation.encryption import decrypt, encrypt, encrypt_anew

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Bits of a seal: the most that both databases store as a whole number.
BITS = 63

logger = logging.getLogger(__name__)


class SealKey:
    """A study's key, with which seals and their marks are made."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def seal(self, content: bytes) -> int:
        return self._number(b"seal\n" + content)

    def mark(self, seal: int, place: str = "") -> int:
        """A seal's part in a digest; `place` says of which row it is, where its content does not."""
        return self._number(f"mark\n{place}\n{seal}".encode())

    def _number(self, message: bytes) -> int:
        return int.from_bytes(hmac.digest(self._secret, message, "sha256")[:8], "big") >> (64 - BITS)


def new_seal_key() -> str:
    """A random key, encrypted under the installation's first secret."""
    return encrypt(secrets.token_bytes(32), _secrets())


def open_seal_key(stored: str) -> SealKey | None:
    """Nothing where none is stored, or where it was encrypted under a secret that is not at hand."""
    return _opened(stored, tuple(settings.ASSAY_SEAL_SECRETS)) if stored else None


def open_key(stored: str) -> bytes | None:
    """The key itself, of one that is no study's; None where no secret at hand opens it."""
    return decrypt(stored, _secrets())


def encrypted_anew(stored: str) -> str:
    """The same key under the installation's first secret; ValueError where it can't be opened."""
    return encrypt_anew(stored, _secrets())


def is_public(stored: str) -> bool:
    """True of a key that was encrypted under the built-in secret, which everybody has."""
    return decrypt(stored, (settings.INSECURE_SEAL_SECRET,)) is not None


def micros(moment: datetime | None) -> int | None:
    """Microseconds since 1970, as every database gives a moment back."""
    if moment is None:
        return None
    since = moment - EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def stable_json(value: Any) -> bytes:
    """Canonical JSON that is the same before a value is stored and after: PostgreSQL writes 1e16 as a whole number."""
    return canonical_json(_stable(value))


def _stable(value: Any) -> Any:
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, Mapping):
        return {str(name): _stable(each) for name, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_stable(each) for each in value]
    return value


@lru_cache(maxsize=1024)
def _opened(stored: str, installed: tuple[str, ...]) -> SealKey | None:
    secret = decrypt(stored, (*installed, settings.INSECURE_SEAL_SECRET))
    if secret is None:
        logger.error(
            "A study's key is encrypted under a secret that ASSAY_SEAL_SECRETS does not name: not sealed."
        )
        return None
    return SealKey(secret)


def _secrets() -> tuple[str, ...]:
    return (*settings.ASSAY_SEAL_SECRETS, settings.INSECURE_SEAL_SECRET)
