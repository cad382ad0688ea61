"""System checks: a misconfigured production says so before it serves anybody.

Errors that no installation can work with are found by every command; what only matters on the open network is found by
`check --deploy`. docs/settings.md explains each id.
"""

import contextlib
import re
import tempfile
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core import checks
from django.core.exceptions import ImproperlyConfigured
from django.db import OperationalError, connections

DAY_SECONDS = 86_400
LOOPBACK = ("localhost", "127.0.0.1", "::1")
Found = list[checks.CheckMessage]


def _is_origin(text: str) -> bool:
    """scheme://host[:port] and nothing more, by TLS unless on this machine; `*.` may stand before the host."""
    try:
        parts = urlsplit(text)
        host = parts.hostname or ""
        whole = not (parts.path or parts.query or parts.fragment or parts.username) and parts.port != 0
    except ValueError:
        return False
    named = bool(re.fullmatch(r"(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*|[0-9a-f:]+", host))
    return named and whole and (parts.scheme == "https" or (parts.scheme == "http" and host in LOOPBACK))


# --- by every command --------------------------------------------------------------------------------------------


@checks.register
def check_database_url(app_configs: Sequence[Any] | None, **kwargs: Any) -> Found:
    database = settings.DATABASES["default"]
    kind = database["ENGINE"].rpartition(".")[2]
    if kind == "sqlite3" or (kind == "postgresql" and database.get("NAME")):
        return []
    return [
        checks.Error(
            "DATABASE_URL is not the address of a PostgreSQL or SQLite database.",
            hint="postgres://user:password@host:5432/name, the password percent-encoded; or sqlite:////path.",
            id="assay.E004",
        )
    ]


@checks.register
def check_redis_url(app_configs: Sequence[Any] | None, **kwargs: Any) -> Found:
    if not settings.REDIS_URL:
        return []
    try:
        parts = urlsplit(settings.REDIS_URL)
        known = parts.scheme in ("redis", "rediss") and parts.hostname and parts.port != 0
    except ValueError:
        known = None
    if known:
        return []
    hint = "redis://[:password@]host:6379/0, or rediss:// with TLS; the password percent-encoded."
    return [checks.Error("REDIS_URL is not the address of a Redis.", hint=hint, id="assay.E005")]


@checks.register
def check_var_dir(app_configs: Sequence[Any] | None, **kwargs: Any) -> Found:
    """Uploads, exports, the filesystem broker and SQLite live there."""
    try:
        settings.VAR_DIR.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=settings.VAR_DIR):
            return []
    except OSError as error:
        return [
            checks.Error(
                f"Nothing can be written to {settings.VAR_DIR}: {error.strerror}.",
                hint="ASSAY_VAR_DIR names the folder; it must belong to the account that runs Assay.",
                id="assay.E006",
            )
        ]


@checks.register(checks.Tags.security)
def check_frame_ancestors(app_configs: Sequence[Any] | None, **kwargs: Any) -> Found:
    """Each goes into a header as it is; anything but an origin could add a directive to the policy."""
    return [
        checks.Error(
            f"ASSAY_FRAME_ANCESTORS has {each!r}, which is not an origin.",
            hint="Origins only, without a path and separated by commas: https://app.prolific.com,https://*.example.org",
            id="assay.E007",
        )
        for each in settings.ASSAY_FRAME_ANCESTORS
        if not _is_origin(each)
    ]


@checks.register
def check_log_format(app_configs: Sequence[Any] | None, **kwargs: Any) -> Found:
    if settings.ASSAY_LOG_FORMAT in ("line", "json"):
        return []
    return [
        checks.Error(
            f"ASSAY_LOG_FORMAT is {settings.ASSAY_LOG_FORMAT!r}.", hint="line or json.", id="assay.E008"
        )
    ]


@checks.register(checks.Tags.security)
def check_logins(app_configs: Sequence[Any] | None, **kwargs: Any) -> Found:
    """Each limit lets somebody in, the address's is the looser one, and no address is kept for more than a day."""
    known = (
        1 <= settings.ASSAY_LOGIN_FAILURES <= settings.ASSAY_LOGIN_FAILURES_PER_ADDRESS
        and 1 <= settings.ASSAY_LOGIN_DELAY_SECONDS <= DAY_SECONDS
        and settings.ASSAY_TRUSTED_PROXIES >= 0
    )
    if known:
        return []
    return [
        checks.Error(
            "The limits of failed logins can't be kept.",
            hint="1 <= ASSAY_LOGIN_FAILURES <= ASSAY_LOGIN_FAILURES_PER_ADDRESS, "
            "1 <= ASSAY_LOGIN_DELAY_SECONDS <= 86400, and ASSAY_TRUSTED_PROXIES is not below 0.",
            id="assay.E013",
        )
    ]


@checks.register
def check_mail(app_configs: Sequence[Any] | None, **kwargs: Any) -> Found:
    """Otherwise every invitation by e-mail would fail when it is sent."""
    if not settings.EMAIL_HOST:
        return []
    both = settings.EMAIL_USE_TLS and settings.EMAIL_USE_SSL
    if settings.DEFAULT_FROM_EMAIL and not both:
        return []
    return [
        checks.Error(
            "EMAIL_HOST names a mail server, but no mail can be sent by it.",
            hint="DEFAULT_FROM_EMAIL is the sender's address; EMAIL_USE_TLS and EMAIL_USE_SSL exclude each other.",
            id="assay.E015",
        )
    ]


# --- by `migrate` and `check --database default` -----------------------------------------------------------------


@checks.register(checks.Tags.database)
def check_upgrade(
    app_configs: Sequence[Any] | None, databases: Sequence[str] | None = None, **kwargs: Any
) -> Found:
    """Before anything is changed. What is wrong with a database that can't be asked, others say."""
    if not databases:
        return []
    from evaluation.operations.upgrades import VERSION_BEFORE, unfinished_apps

    found: set[str] = set()
    with contextlib.suppress(OperationalError, ImproperlyConfigured):
        found.update(app for alias in databases for app in unfinished_apps(connections[alias]))
    if not found:
        return []
    before = f"the version before (commit {VERSION_BEFORE})"
    return [
        checks.Error(
            f"This database has only some of the migrations of {before}: {', '.join(sorted(found))}.",
            hint=f"Nothing was changed. Check out {before}, run its manage.py migrate, and come back to this one.",
            id="assay.E016",
        )
    ]


# --- by `check --deploy` -----------------------------------------------------------------------------------------


@checks.register(checks.Tags.security, deploy=True)
def check_secret_key(app_configs: Sequence[Any] | None, **kwargs: Any) -> Found:
    """The built-in key is public, so sessions signed with it prove nothing."""
    if settings.SECRET_KEY != settings.INSECURE_SECRET_KEY:
        return []
    return [
        checks.Error(
            "SECRET_KEY is the built-in one. Set it in the environment.",
            hint='python -c "import secrets; print(secrets.token_urlsafe(50))" makes one.',
            id="assay.E001",
        )
    ]


@checks.register(checks.Tags.security, deploy=True)
def check_seal_secrets(app_configs: Sequence[Any] | None, **kwargs: Any) -> Found:
    """The built-in secret is public, so seals under it prove nothing."""
    if settings.ASSAY_SEAL_SECRETS:
        return []
    return [
        checks.Error(
            "ASSAY_SEAL_SECRETS is not set: whoever can change the database can renew its seals, too.",
            hint='python -c "import secrets; print(secrets.token_urlsafe(50))" makes one; keep it with your backups, '
            "not in them. `manage.py seal --rotate` takes over what was sealed before.",
            id="assay.E017",
        )
    ]


@checks.register(checks.Tags.security, deploy=True)
def check_allowed_hosts(app_configs: Sequence[Any] | None, **kwargs: Any) -> Found:
    if "*" in settings.ALLOWED_HOSTS:
        return [
            checks.Warning(
                "ALLOWED_HOSTS takes any name.",
                hint="Name the hosts; health checks by IP address need no entry.",
                id="assay.W001",
            )
        ]
    if set(settings.ALLOWED_HOSTS) <= set(settings.LOCAL_HOSTS):
        return [
            checks.Error(
                "ALLOWED_HOSTS names this machine only, so nobody else is answered.",
                hint="The names under which people reach Assay, separated by commas.",
                id="assay.E002",
            )
        ]
    return []


@checks.register(checks.Tags.security, deploy=True)
def check_debug(app_configs: Sequence[Any] | None, **kwargs: Any) -> Found:
    if not settings.DEBUG:
        return []
    return [
        checks.Error(
            "DEBUG is on: error pages show code and data, and every query is kept in memory.",
            hint="Leave DEBUG out of the environment.",
            id="assay.E003",
        )
    ]


@checks.register(checks.Tags.security, deploy=True)
def check_tls(app_configs: Sequence[Any] | None, **kwargs: Any) -> Found:
    if settings.ASSAY_TLS:
        return []
    return [
        checks.Warning(
            "ASSAY_TLS is off: passwords, API tokens and participants' addresses travel readable.",
            hint="Put a proxy that ends TLS before Assay, have it set X-Forwarded-Proto, and set ASSAY_TLS=1.",
            id="assay.W002",
        )
    ]


@checks.register(checks.Tags.security, deploy=True)
def check_trusted_proxies(app_configs: Sequence[Any] | None, **kwargs: Any) -> Found:
    """Unless the proxy is looked past, everybody has its address, and one person's failed logins delay all."""
    if not settings.ASSAY_TLS or settings.ASSAY_TRUSTED_PROXIES:
        return []
    return [
        checks.Warning(
            "ASSAY_TLS is on and ASSAY_TRUSTED_PROXIES is 0: everybody seems to come from the proxy's address.",
            hint="ASSAY_TRUSTED_PROXIES=1 behind one proxy that adds to X-Forwarded-For, as docs/operating.md has it.",
            id="assay.W009",
        )
    ]


@checks.register(deploy=True)
def check_sqlite(app_configs: Sequence[Any] | None, **kwargs: Any) -> Found:
    if not settings.DATABASES["default"]["ENGINE"].endswith("sqlite3"):
        return []
    return [
        checks.Warning(
            "The database is SQLite: one writer at a time, on one machine.",
            hint="DATABASE_URL=postgres://... for a crowd, or for web and worker on several machines.",
            id="assay.W003",
        )
    ]


@checks.register(deploy=True)
def check_broker(app_configs: Sequence[Any] | None, **kwargs: Any) -> Found:
    """Messages as files reach this machine's worker only, and one is lost with the worker that took it."""
    if settings.REDIS_URL or not settings.DATABASES["default"]["ENGINE"].endswith("postgresql"):
        return []
    return [
        checks.Warning(
            "PostgreSQL without REDIS_URL: messages are files, which only a worker on this machine sees.",
            hint="REDIS_URL=redis://host:6379/0",
            id="assay.W004",
        )
    ]


@checks.register(deploy=True)
def check_static(app_configs: Sequence[Any] | None, **kwargs: Any) -> Found:
    if settings.ASSAY_HASHED_STATIC:
        return []
    return [
        checks.Warning(
            "Static files carry no hash in their names, so browsers ask again for each of them, or keep old ones.",
            hint="ASSAY_HASHED_STATIC=1, and run manage.py collectstatic when deploying.",
            id="assay.W005",
        )
    ]
