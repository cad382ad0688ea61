"""Failed logins delay further ones: soon by account and address together, later by address alone.

Never by account alone, which would let anybody keep a researcher out. django-axes watches the logins and refuses them;
here is what it counts by and where. An address is known by a keyed hash, which is deleted with its count, and of the
browser nothing is kept.
"""

import ipaddress
import logging
from typing import Any

from axes.backends import AxesStandaloneBackend
from axes.handlers.cache import AxesCacheHandler
from axes.handlers.proxy import AxesProxyHandler
from axes.helpers import get_client_cache_keys
from django.conf import settings
from django.contrib.auth.signals import user_login_failed
from django.core.cache.backends.db import DatabaseCache
from django.db import connection, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.crypto import salted_hmac

from evaluation.operations.redis_error import redis_error

logger = logging.getLogger(__name__)
# Where the count stands if there is no Redis; a migration makes it.
TABLE = "login_failures"
# An address of the newer kind stands for a network, of which its owner has every address.
IPV6_NETWORK = 64


def client_address(request: HttpRequest) -> str:
    """The address a request comes from, as the outermost of the ASSAY_TRUSTED_PROXIES proxies saw it."""
    direct = request.META.get("REMOTE_ADDR", "")
    hops = settings.ASSAY_TRUSTED_PROXIES
    passed = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
    # Counted from the end: what stands before is whatever the client made up.
    found = passed[-hops].strip() if 0 < hops <= len(passed) else direct
    try:
        address = ipaddress.ip_address(found)
    except ValueError:
        return str(direct)
    if address.version == 4:
        return str(address)
    mapped = address.ipv4_mapped
    return str(mapped or ipaddress.ip_network((address, IPV6_NETWORK), strict=False))


def address_key(request: HttpRequest) -> str:
    """The key by which an address is counted. Scripts with an old token delay no login from the same house."""
    kind = "api" if request.path.startswith("/api/") else "login"
    return salted_hmac(f"assay.logins.{kind}", client_address(request), algorithm="sha256").hexdigest()[:32]


def log_name(*parameters: Any) -> str:
    """The name of a client in axes's log lines."""
    return "somebody"


class LoginDelayBackend(AxesStandaloneBackend):
    """A backend that refuses logins while they are delayed; logins without a request, as in commands, never are."""

    def authenticate(self, request: HttpRequest | None, **credentials: Any) -> None:
        if request is not None:
            super().authenticate(request, **credentials)


class LoginDelayHandler(AxesCacheHandler):
    """axes's handler, with a limit of its own for each of the two counts."""

    def is_locked(self, request: HttpRequest, credentials: dict[str, Any] | None = None) -> bool:
        pair, address = get_client_cache_keys(request, credentials)
        try:
            counts = self.cache.get_many([pair, address])
        except redis_error() as error:
            # Whoever can log in is let in: a broken count must not keep everybody out.
            logger.error("Failed logins can't be looked up: %s", error)
            return False
        return bool(
            counts.get(pair, 0) >= settings.ASSAY_LOGIN_FAILURES
            or counts.get(address, 0) >= settings.ASSAY_LOGIN_FAILURES_PER_ADDRESS
        )

    def user_login_failed(
        self, sender: Any, credentials: dict[str, Any], request: Any = None, **kwargs: Any
    ) -> None:
        # What is refused anyway does not prolong the delay.
        if request is None or request.axes_locked_out:
            return
        try:
            for key in get_client_cache_keys(request, credentials):
                self._count(key)
        except redis_error() as error:
            logger.error("A failed login can't be counted: %s", error)
            return
        request.axes_locked_out = self.is_locked(request, credentials)

    def _count(self, key: str) -> None:
        seconds = settings.ASSAY_LOGIN_DELAY_SECONDS
        if isinstance(self.cache, DatabaseCache):
            self._count_in_database(key, seconds)
        elif not self.cache.add(key, 1, seconds):
            self.cache.incr(key)
            self.cache.touch(key, seconds)

    def _count_in_database(self, key: str, seconds: int) -> None:
        """Count in one transaction, and delete expired rows, which the cache itself does only when it is full."""
        with transaction.atomic(), connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                # SQLite has one writer anyway.
                cursor.execute(f"LOCK TABLE {TABLE} IN SHARE ROW EXCLUSIVE MODE")
            now = connection.ops.adapt_datetimefield_value(timezone.now())
            cursor.execute(f"DELETE FROM {TABLE} WHERE expires < %s", [now])  # noqa: S608 - a constant
            self.cache.set(key, self.cache.get(key, 0) + 1, seconds)

    def user_logged_in(self, sender: Any, request: HttpRequest, user: Any, **kwargs: Any) -> None:
        """The account's count begins anew; that of the address stays, or an account of one's own would clear it."""
        pair, _ = get_client_cache_keys(request, {"username": user.get_username()})
        try:
            self.cache.delete(pair)
        except redis_error() as error:
            logger.error("Failed logins can't be forgotten: %s", error)

    def user_logged_out(self, sender: Any, request: HttpRequest, user: Any, **kwargs: Any) -> None:
        pass


def is_delayed(request: HttpRequest, account: str) -> bool:
    """True while attempts at this account from this request's address are refused."""
    return not AxesProxyHandler.is_allowed(request, {"username": account})


def count_failure(request: HttpRequest, account: str) -> bool:
    """Count a failed attempt made other than by logging in; True if further ones are delayed."""
    if is_delayed(request, account):
        return True
    user_login_failed.send(sender=__name__, credentials={"username": account}, request=request)
    return bool(request.axes_locked_out)  # type: ignore[attr-defined]


def delayed_page(
    request: HttpRequest, response: HttpResponse | None = None, credentials: Any = None
) -> HttpResponse:
    """The page in place of whatever was going to be answered; the API says it in its own way."""
    if response is not None and response.status_code == 429:
        return response
    minutes = max(1, round(settings.ASSAY_LOGIN_DELAY_SECONDS / 60))
    page = render(request, "429.html", {"minutes": minutes}, status=429)
    page["Retry-After"] = str(settings.ASSAY_LOGIN_DELAY_SECONDS)
    page["Cache-Control"] = "no-store"
    return page
