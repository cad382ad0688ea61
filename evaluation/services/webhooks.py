"""A study's webhook: set by its owners where the installation allows the place, and sent to with a signature.

Nothing follows a redirect, and no request leaves for an address of an inner network: the name is looked up once, each
of its addresses is looked at, and the connection is made to one of these.
"""

import hmac
import http.client
import ipaddress
import json
import socket
import ssl
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from urllib.parse import unquote, urlsplit

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac

from evaluation.extension import Concern
from evaluation.models import Study, StudyWebhook
from evaluation.refusals import Refused
from evaluation.services.history import log_action

SIGNATURE = "Assay-Signature"
SECONDS = 10.0
# After so many minutes it is tried again, twice as long each time, and no longer apart than six hours.
AGAIN_AFTER, AT_MOST = 1, 360
FAILURES = (OSError, http.client.HTTPException, ValueError)


class WebhookFailed(Exception):
    """The server did not take it; the message says why."""


def webhook_of(study: Study) -> StudyWebhook | None:
    return StudyWebhook.objects.filter(study=study).first()


def webhooks_to_try() -> list[int]:
    """The studies whose webhook failed, and is to be tried again by now."""
    return list(StudyWebhook.objects.filter(next_at__lte=timezone.now()).values_list("study", flat=True))


def secret_of(webhook: StudyWebhook) -> str:
    """The secret by which its messages are signed: of this webhook alone, and kept nowhere."""
    return salted_hmac("evaluation.webhook", f"{webhook.pk} {webhook.url}", algorithm="sha256").hexdigest()


def can_have_webhooks() -> bool:
    return bool(settings.ASSAY_WEBHOOKS_ALLOWED)


def set_webhook(study: Study, url: str, *, told: Sequence[str], by: Any) -> str:
    """Send its news there from now on, or nowhere where the address is empty; a sentence about it. `told` are the keys
    of what is so already. Refused where the address is not allowed."""
    if url and (problem := address_problem(url)):
        raise Refused(problem)
    with transaction.atomic():
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        StudyWebhook.objects.filter(study=study).delete()
        if url:
            StudyWebhook.objects.create(study=study, url=url, told=list(told))
        host = urlsplit(url).hostname
        said = f"News of this study goes to {host}." if url else "The webhook was removed."
        log_action(study=study, by=by, message=said)
    return said


def address_problem(url: str) -> str:
    """Why nothing may be sent to this address, as a sentence; '' where it is allowed."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "This is no address."
    if parts.scheme != "https" or not parts.hostname:
        return "A webhook has an address that begins with https://."
    if parts.username or parts.password or parts.fragment:
        return "The address may have no user name, password or fragment."
    if not any(_covers(entry, parts.hostname, port, parts.path) for entry in settings.ASSAY_WEBHOOKS_ALLOWED):
        return (
            f"Whoever runs Assay has to allow this address: https://{parts.netloc}/ in the setting "
            "ASSAY_WEBHOOKS_ALLOWED."
        )
    return ""


def _covers(entry: str, host: str, port: int | None, path: str) -> bool:
    allowed = urlsplit(entry)
    return (
        allowed.scheme == "https"
        and (allowed.hostname, allowed.port or 443) == (host, port or 443)
        and f"{path.rstrip('/')}/".startswith(f"{allowed.path.rstrip('/')}/")
        and ".." not in unquote(path).replace("\\", "/").split("/")
    )


def send_to_webhook(webhook: StudyWebhook, news: Sequence[Concern]) -> None:
    """Send what is new of the study's news; what could not be sent is tried again, later each time."""
    keys = [each.news for each in news]
    new = [each for each in news if each.news not in webhook.told]
    if webhook.told == keys or (new and webhook.next_at and webhook.next_at > timezone.now()):
        return
    # Whoever set it anew meanwhile has another row.
    row = StudyWebhook.objects.filter(pk=webhook.pk)
    problem = _send(webhook, new) if new else ""
    if problem:
        wait = timedelta(minutes=min(AGAIN_AFTER * 2**webhook.tries, AT_MOST))
        row.update(problem=problem[:300], tries=webhook.tries + 1, next_at=timezone.now() + wait)
    else:
        row.update(told=keys, problem="", tries=0, next_at=None)


def _send(webhook: StudyWebhook, news: Sequence[Concern]) -> str:
    """Send it; why it was not taken, '' where it was."""
    if problem := address_problem(webhook.url):
        return problem
    study = webhook.study
    body = json.dumps(
        {
            "study": study.slug,
            "title": study.title,
            "news": [{"key": each.news, "text": each.text, "url": _absolute(each.url)} for each in news],
        }
    ).encode()
    at = str(int(time.time()))
    signed = hmac.digest(secret_of(webhook).encode(), at.encode() + b"." + body, "sha256").hex()
    try:
        post(webhook.url, body, {SIGNATURE: f"t={at},v1={signed}", "Content-Type": "application/json"})
    except WebhookFailed as failed:
        return str(failed)
    except FAILURES as error:
        return f"The server could not be reached ({type(error).__name__})."
    return ""


def _absolute(url: str) -> str:
    return f"{settings.ASSAY_PUBLIC_URL}{url}" if url else ""


# --- the request ------------------------------------------------------------------------------------------------------
def post(url: str, body: bytes, headers: dict[str, str], *, context: ssl.SSLContext | None = None) -> None:
    """Send it; WebhookFailed, OSError or HTTPException where the server does not take it."""
    parts = urlsplit(url)
    connection = _OuterConnection(
        parts.hostname or "",
        parts.port or 443,
        timeout=SECONDS,
        context=context or ssl.create_default_context(),
    )
    try:
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("POST", target, body, {**headers, "User-Agent": "Assay"})
        status = connection.getresponse().status
    finally:
        connection.close()
    if not 200 <= status < 300:
        why = "a redirect, which is not followed" if 300 <= status < 400 else str(status)
        raise WebhookFailed(f"The server answered with {why}.")


class _OuterConnection(http.client.HTTPSConnection):
    """A connection to an address that it has looked at: no name is looked up twice."""

    def connect(self) -> None:
        found = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        addresses = [str(each[4][0]) for each in found]
        if not addresses or not all(map(is_outer, addresses)):
            raise WebhookFailed("The address leads into an inner network, where nothing is sent.")
        self.sock = socket.create_connection((addresses[0], self.port), self.timeout)
        self.sock = self._context.wrap_socket(self.sock, server_hostname=self.host)  # type: ignore[attr-defined]


def is_outer(address: str) -> bool:
    """True of an address of the open internet."""
    found = ipaddress.ip_address(address.partition("%")[0])
    mapped = getattr(found, "ipv4_mapped", None)
    return (mapped or found).is_global and not found.is_multicast
