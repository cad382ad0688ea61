"""News to a webhook: signed, to allowed addresses of the open internet alone, tried again where they fail."""

import datetime
import hmac
import http.server
import json
import ssl
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from django.utils import timezone

from evaluation.extension import Concern
from evaluation.models import Study, StudyWebhook
from evaluation.refusals import Refused
from evaluation.services import webhooks
from evaluation.services.webhooks import WebhookFailed, is_outer, post, secret_of, set_webhook
from evaluation.tasks import count_progress
from tests import factories
from tests.evaluation.admin.conftest import make_user, signed_in
from tests.evaluation.admin.test_confirmations import text
from tests.extensions import extend

HOST = "hooks.example.org"
FULL = Concern("All 12 judgments needed are in.", "Close the study", "/studies/s/close/", news="full")
Sent = list[tuple[str, bytes, dict[str, str]]]


@pytest.fixture
def now(monkeypatch: Any, settings: Any) -> list[Concern]:
    settings.ASSAY_PUBLIC_URL = "https://assay.example.org"
    settings.ASSAY_WEBHOOKS_ALLOWED = [f"https://{HOST}/in/"]
    concerns: list[Concern] = []
    extend(monkeypatch, alone=True, needs=lambda study, progress: concerns)
    monkeypatch.setattr("evaluation.tasks.studies_to_count", lambda: list(Study.objects.all()))
    monkeypatch.setattr("evaluation.tasks.send_message", lambda task, *arguments: task(*arguments))
    return concerns


@pytest.fixture
def sent(monkeypatch: Any) -> Sent:
    found: Sent = []
    monkeypatch.setattr(webhooks, "post", lambda url, body, headers: found.append((url, body, headers)))
    return found


@pytest.fixture
def study(db: None, now: list[Concern]) -> Study:
    return factories.make_study("contrast", owner=make_user("ada"))


def test_each_news_is_sent_once_and_signed(study: Study, now: list[Concern], sent: Sent) -> None:
    page = signed_in(study.members.get().user)
    answer = page.post(
        f"/studies/{study.slug}/members/webhook/", {"url": f"https://{HOST}/in/a?b=c"}, follow=True
    )
    assert f"News of this study goes to {HOST}." in text(answer)
    hook = StudyWebhook.objects.get()
    assert secret_of(hook) in text(answer)
    count_progress()
    assert sent == []
    now.append(FULL)
    count_progress()
    count_progress()
    [(url, body, headers)] = sent
    assert url == f"https://{HOST}/in/a?b=c"
    assert json.loads(body) == {
        "study": study.slug,
        "title": study.title,
        "news": [{"key": "full", "text": FULL.text, "url": "https://assay.example.org/studies/s/close/"}],
    }
    at, signature = headers["Assay-Signature"].split(",")
    message = at.removeprefix("t=").encode() + b"." + body
    assert signature == "v1=" + hmac.digest(secret_of(hook).encode(), message, "sha256").hex()
    page.post(f"/studies/{study.slug}/members/webhook/", {"url": ""})
    assert not StudyWebhook.objects.exists()


def test_what_fails_is_told_on_the_page_and_tried_again_later(
    study: Study, now: list[Concern], monkeypatch: Any
) -> None:
    set_webhook(study, f"https://{HOST}/in/", told=[], by=study.members.get().user)
    now.append(FULL)
    tried = []

    def fail(*args: Any) -> None:
        tried.append(1)
        raise WebhookFailed("The server answered with 503.")

    monkeypatch.setattr(webhooks, "post", fail)
    count_progress()
    count_progress()
    assert len(tried) == 1
    page = text(signed_in(study.members.get().user).get(f"/studies/{study.slug}/members/"))
    assert "The last news did not arrive: The server answered with 503. Tried once; tried again from" in page
    StudyWebhook.objects.update(next_at=timezone.now())
    # Also of a study that nobody counts any more.
    monkeypatch.setattr("evaluation.tasks.studies_to_count", list)
    count_progress()
    hook = StudyWebhook.objects.get()
    assert (len(tried), hook.tries) == (2, 2)
    assert hook.next_at is not None
    assert hook.next_at - timezone.now() > datetime.timedelta(seconds=90)
    monkeypatch.setattr(webhooks, "post", lambda *args: None)
    StudyWebhook.objects.update(next_at=timezone.now())
    count_progress()
    hook.refresh_from_db()
    assert (hook.told, hook.problem, hook.tries, hook.next_at) == (["full"], "", 0, None)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        (f"http://{HOST}/in/", "begins with https://"),
        ("https://elsewhere.example.org/in/", "Whoever runs Assay has to allow this address"),
        (f"https://{HOST}/inner", "Whoever runs Assay has to allow this address"),
        (f"https://{HOST}/in/%2e%2e/x", "Whoever runs Assay has to allow this address"),
        (f"https://{HOST}/in/../x", "Whoever runs Assay has to allow this address"),
        (f"https://{HOST}:8443/in/", "Whoever runs Assay has to allow this address"),
        (f"https://me:pw@{HOST}/in/", "no user name"),
        (f"https://{HOST}.evil.example/in/", "Whoever runs Assay has to allow this address"),
    ],
)
def test_addresses_that_are_not_allowed(study: Study, url: str, said: str) -> None:
    with pytest.raises(Refused, match=said):
        set_webhook(study, url, told=[], by=study.members.get().user)
    assert not StudyWebhook.objects.exists()


def test_only_owners_set_it_and_only_where_it_is_allowed(study: Study, settings: Any) -> None:
    other = make_user("bob")
    study.members.create(user=other, role="editor")
    assert signed_in(other).post(f"/studies/{study.slug}/members/webhook/", {"url": ""}).status_code == 403
    owner, address = signed_in(study.members.earliest("pk").user), f"/studies/{study.slug}/members/"
    assert "News to a webhook" in text(owner.get(address))
    settings.ASSAY_WEBHOOKS_ALLOWED = []
    assert "News to a webhook" not in text(owner.get(address))


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.0.0.8", "192.168.1.1", "169.254.169.254", "::1", "fd00::1", "fe80::1%eth0", "::ffff:10.0.0.1",
     "0.0.0.1", "224.0.0.1", "100.64.0.1"],
)  # fmt: skip
def test_addresses_of_inner_networks(address: str) -> None:
    assert not is_outer(address)
    assert is_outer("93.184.216.34")
    assert is_outer("2606:2800:220:1::1")


# --- the request itself, at a server with a certificate of its own ----------------------------------------------
@pytest.fixture
def server(tmp_path: Any, monkeypatch: Any) -> Iterator[Any]:
    """(port, context that trusts it, requests seen); its answer's status is the request's path."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, HOST)])
    day = datetime.timedelta(days=1)
    today = datetime.datetime.now(datetime.UTC)
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(1).not_valid_before(today - day).not_valid_after(today + day)
    signed = made.add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False).sign(
        key, hashes.SHA256()
    )
    path = tmp_path / "server.pem"
    path.write_bytes(
        signed.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    seen: list[tuple[str, bytes, str]] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            seen.append((self.path, body, self.headers["Host"]))
            self.send_response(int(self.path.strip("/")))
            self.send_header("Location", "/200")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: Any) -> None:
            pass

    served = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    own.load_cert_chain(path)
    served.socket = own.wrap_socket(served.socket, server_side=True)
    thread = threading.Thread(target=served.serve_forever)
    thread.start()
    looked_up: list[str] = []

    def look_up(host: str, port: int, *more: Any, **named: Any) -> list[Any]:
        looked_up.append(host)
        return [(2, 1, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(webhooks.socket, "getaddrinfo", look_up)
    yield served.server_port, ssl.create_default_context(cafile=str(path)), seen, looked_up
    served.shutdown()
    thread.join()
    served.server_close()


def test_a_request_goes_to_the_address_that_was_looked_at(server: Any, monkeypatch: Any) -> None:
    port, trusts, seen, looked_up = server
    url = f"https://{HOST}:{port}"
    with pytest.raises(WebhookFailed, match="leads into an inner network"):
        post(f"{url}/200", b"{}", {}, context=trusts)
    assert seen == []
    looked_up.clear()
    monkeypatch.setattr(webhooks, "is_outer", lambda address: address == "127.0.0.1")
    post(f"{url}/200", b"{}", {}, context=trusts)
    assert seen == [("/200", b"{}", f"{HOST}:{port}")]
    assert looked_up[0] == HOST
    assert set(looked_up[1:]) <= {"127.0.0.1"}
    for status, said in ((302, "a redirect, which is not followed"), (500, "500")):
        with pytest.raises(WebhookFailed, match=said):
            post(f"{url}/{status}", b"{}", {}, context=trusts)
    assert len(seen) == 3
    # Whose certificate nobody has signed is not told anything.
    with pytest.raises(ssl.SSLCertVerificationError):
        post(f"{url}/200", b"{}", {})
    assert len(seen) == 3
