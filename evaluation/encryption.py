"""Encryption of what the database keeps for this installation alone, under secrets that the environment has."""

import base64
import hashlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Any


def encrypt(content: bytes, secrets: Sequence[str]) -> str:
    """The content encrypted under the first of the secrets."""
    return _text(_cipher(tuple(secrets)).encrypt(content))


def decrypt(stored: str, secrets: Sequence[str]) -> bytes | None:
    """Open what was encrypted under one of the secrets; None where none of them does."""
    from cryptography.fernet import InvalidToken

    try:
        opened: bytes = _cipher(tuple(secrets)).decrypt(stored)
    except InvalidToken:
        return None
    return opened


def encrypt_anew(stored: str, secrets: Sequence[str]) -> str:
    """The same content under the first of the secrets; ValueError where none of them opens it."""
    from cryptography.fernet import InvalidToken

    try:
        return _text(_cipher(tuple(secrets)).rotate(stored))
    except InvalidToken:
        raise ValueError("the key was encrypted under a secret that is not at hand") from None


def _text(token: bytes) -> str:
    return token.decode()


@lru_cache(maxsize=8)
def _cipher(secrets: tuple[str, ...]) -> Any:
    # Loaded where something is encrypted or opened: commands that do neither start without it.
    from cryptography.fernet import Fernet, MultiFernet

    keys = (base64.urlsafe_b64encode(hashlib.sha256(each.encode()).digest()) for each in secrets)
    return MultiFernet([Fernet(key) for key in keys])
