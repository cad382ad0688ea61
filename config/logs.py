"""Log lines: what they look like, and that no token, key or password is ever in one.

Everything is masked where a line gets its final form, so that messages, arguments, chained tracebacks and the lines
of libraries all pass the same gate. One configuration serves Django, the web server and Celery's processes.
"""

import html
import logging
import os
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote, urlsplit

from pythonjsonlogger.orjson import OrjsonFormatter

from evaluation.operations import logcontext

MASK = "***"
FORMATS = ("line", "json")
KEY_PREFIX = "ASSAY_KEY_"
SECRETS = ("SECRET_KEY", "EMAIL_HOST_PASSWORD", "ASSAY_PROLIFIC_TOKEN", "ASSAY_PROLIFIC_WEBHOOK_SECRET")
SECRET_LISTS = ("ASSAY_SEAL_SECRETS", "ASSAY_ENDPOINT_SECRETS")
# A shorter value is a placeholder such as "none", and masking it would eat ordinary words.
SHORTEST_SECRET = 8
# The addresses of `config.health`.
PROBES = ("/healthz", "/readyz")

# What a terminal obeys, or shows in another order.
UNPRINTED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
# Of what a stranger sent that is no request; it may be as long as a header.
MAX_REFUSED = 300

# Plain, in a string within a string, and on an HTML page.
_QUOTE = r"""(?:\\?['"]|&quot;|&\#x27;|&\#39;)"""
# (words of which one must occur, in whatever case, for the pattern to be tried; pattern; replacement)
PATTERNS: tuple[tuple[tuple[str, ...], re.Pattern[str], str], ...] = (
    # A participant's address is a capability.
    (("/p/",), re.compile(r"(/p/)[A-Za-z0-9_-]{8,}"), rf"\1{MASK}"),
    # So is an invitation's, also where it is what a login leads to.
    (
        ("invitations",),
        re.compile(r"(invitations(?:/|%2F))[A-Za-z0-9_-]{8,}", re.IGNORECASE),
        rf"\1{MASK}",
    ),
    # And a personal link's.
    (("personal=",), re.compile(r"(\bpersonal=)[A-Za-z0-9_-]{8,}"), rf"\1{MASK}"),
    # postgres://user:password@host
    (("://",), re.compile(r"(://[^\s/:@'\"]*:)[^\s/'\"]+(?=@)"), rf"\1{MASK}"),
    # Keys of model endpoints, and this API's own tokens.
    (("sk-",), re.compile(r"\bsk-[A-Za-z0-9_-]{6,}"), f"sk-{MASK}"),
    (("assay_",), re.compile(r"\bassay_[A-Za-z0-9]{16,}"), f"assay_{MASK}"),
    (
        ("bearer", "token"),
        re.compile(r"\b(Bearer|Token)\s+[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE),
        rf"\1 {MASK}",
    ),
    # Headers as libraries print them: "Name: value", {'name': 'value'}, (b'name', b'value').
    (
        ("authorization", "cookie", "api-key", "api_key"),
        re.compile(
            r"((?:proxy-|http_)?authorization|(?:set-|http_)?cookie|(?:x-)?api[-_]key)"
            rf"({_QUOTE}\s*[:=,]\s*b?|\s*[:=]\s*)(?:({_QUOTE}).*?\3|[^\r\n'\"]+)",
            re.IGNORECASE,
        ),
        rf"\1\2{MASK}",
    ),
)


def secret_values(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Every secret that the environment holds, in every spelling a text may have it in; longest first."""
    found = {value.strip() for name, value in environment.items() if name.startswith(KEY_PREFIX)}
    found |= {environment.get(name, "").strip() for name in SECRETS}
    found |= {each.strip() for name in SECRET_LISTS for each in environment.get(name, "").split(",")}
    for name in ("DATABASE_URL", "REDIS_URL"):
        found |= _passwords(environment.get(name, ""))
    spelled = {way(value) for value in found for way in _SPELLINGS}
    return tuple(sorted((value for value in spelled if len(value) >= SHORTEST_SECRET), key=len, reverse=True))


def _passwords(url: str) -> set[str]:
    try:
        password = urlsplit(url).password or ""
    except ValueError:  # assay.E003 and assay.E004 say so
        return set()
    return {password, unquote(password)}


def _in_repr(value: str) -> str:
    return repr(value)[1:-1]


_SPELLINGS: tuple[Callable[[str], str], ...] = (str, _in_repr, html.escape)
_SECRETS = secret_values(os.environ)


def mask(text: str) -> str:
    """The same text with every token, key and password replaced."""
    for secret in _SECRETS:
        if secret in text:
            text = text.replace(secret, MASK)
    lowered = text.lower()
    for hints, pattern, replacement in PATTERNS:
        for hint in hints:
            if hint in lowered:
                text = pattern.sub(replacement, text)
                break
    return text


def _masked(value: Any) -> Any:
    """A value of a JSON line, masked wherever it holds text."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, dict):
        return {str(name): _masked(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_masked(each) for each in value]
    return mask(value if isinstance(value, str) else repr(value))


class LogLine(logging.Formatter):
    """`time level logger [field=value ...] message`, for people."""

    def __init__(self) -> None:
        super().__init__("{asctime} {levelname} {name} {context}{message}", style="{")

    def format(self, record: logging.LogRecord) -> str:
        record.context = "".join(f"{name}={value} " for name, value in logcontext.fields().items())
        return mask(UNPRINTED.sub(_escaped, super().format(record)))

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  # the library's name
        # A message of several lines, such as a server's, has none that looks like another record.
        return "\n  ".join(super().formatMessage(record).splitlines())


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()


class Json(OrjsonFormatter):
    """One JSON object a line, for machines: time, level, logger, message, what is bound, the traceback."""

    def add_fields(
        self, log_data: dict[str, Any], record: logging.LogRecord, message_dict: dict[str, Any]
    ) -> None:
        # The libraries' own extras (a whole request, a task's arguments) stay out; `access` is our middleware's.
        log_data["time"] = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        log_data["level"] = record.levelname
        log_data["logger"] = record.name
        log_data["message"] = record.message
        log_data["process"] = record.process
        log_data.update(logcontext.fields())
        log_data.update(getattr(record, "access", {}))
        log_data.update(message_dict)

    def process_log_record(self, log_data: dict[str, Any]) -> dict[str, Any]:
        return {name: _masked(value) for name, value in log_data.items() if value is not None}


class Refusals(logging.Filter):
    """Passes everything; of a request that is refused, as it is or to who asks, a short line without its traceback."""

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(record, "status_code", 0) in (HTTPStatus.BAD_REQUEST, HTTPStatus.FORBIDDEN):
            record.msg, record.args, record.exc_info = record.getMessage()[:MAX_REFUSED], (), None
        return True


class NoProbes(logging.Filter):
    """Passes Django's lines on failed requests but those of the health checks, which write the reason themselves."""

    def filter(self, record: logging.LogRecord) -> bool:
        return getattr(getattr(record, "request", None), "path_info", "") not in PROBES


def configuration(form: str, level: str) -> dict[str, Any]:
    """Settings for `logging.config.dictConfig`. A logger with its own handler must be named here to mask."""
    ours = {"handlers": ["console"], "propagate": False}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"masked": {"()": "config.logs.Json" if form == "json" else "config.logs.LogLine"}},
        "filters": {
            "no_probes": {"()": "config.logs.NoProbes"},
            "refusals": {"()": "config.logs.Refusals"},
        },
        "handlers": {
            "console": {"class": "logging.StreamHandler", "formatter": "masked", "filters": ["refusals"]}
        },
        "root": {"handlers": ["console"], "level": level},
        "loggers": {
            "django": {"handlers": [], "level": "INFO"},
            "django.request": {"filters": ["no_probes"]},
            "django.server": {**ours, "level": "WARNING"},
            # It says whenever a request has to wait for a thread.
            "waitress.queue": {"level": "ERROR"},
            # Its library gives it a handler.
            "multiprocessing": {**ours, "level": "ERROR"},
            # An HTTP client says at INFO where every single call of a judge went.
            "httpx2": {"level": "WARNING"},
            "httpcore2": {"level": "WARNING"},
            "openai": {"level": "WARNING"},
            # It says at INFO what it does to every table of a font that a plot's file embeds.
            "fontTools": {"level": "WARNING"},
        },
    }
