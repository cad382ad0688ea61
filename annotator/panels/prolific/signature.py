"""The signature of Prolific's webhooks: base64 of HMAC-SHA256 over the timestamp and the body as it came."""

import base64
import hashlib
import hmac


def sign(raw: bytes, timestamp: str, secret: str) -> str:
    digest = hmac.new(secret.encode(), timestamp.encode() + raw, hashlib.sha256).digest()
    return base64.b64encode(digest).decode("ascii")


def verify(raw: bytes, timestamp: str, signature: str, secret: str) -> bool:
    """False without a secret: an installation that has none believes nobody.

    Of the body every byte counts; JSON that is read and written again is another text.
    """
    if not secret or not timestamp:
        return False
    return hmac.compare_digest(sign(raw, timestamp, secret).encode(), signature.strip().encode())
