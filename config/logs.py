"""Keeps participants' tokens out of the logs."""

import logging
import re

TOKEN_IN_PATH = re.compile(r"(/p/)[A-Za-z0-9_-]{8,}")


def mask_tokens(text: str) -> str:
    """The same text with every participant token replaced."""
    return TOKEN_IN_PATH.sub(r"\1***", text)


class MaskTokens(logging.Filter):
    """Rewrites a record's message, arguments included, before any handler formats it."""

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        masked = mask_tokens(message)
        if masked != message:
            record.msg, record.args = masked, ()
        if record.exc_info and not record.exc_text:
            record.exc_text = mask_tokens(logging.Formatter().formatException(record.exc_info))
        return True
