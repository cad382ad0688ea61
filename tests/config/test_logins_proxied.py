"""Behind the documented proxy, attempts are counted by where they come from: not the proxy, and no invented address."""

import shutil
from http.client import HTTPSConnection

import pytest

from tests.config import site as sites

pytestmark = pytest.mark.embedded
BAD_TOKEN = "assay_" + "0" * 64


@pytest.fixture
def proxied(tmp_path, migrated):
    shutil.copy(migrated, tmp_path / "assay.sqlite3")
    given = {"ASSAY_TLS": "1", "ALLOWED_HOSTS": "assay.example.org", "ASSAY_TRUSTED_PROXIES": "1"}
    with sites.serving(tmp_path, **given) as behind, sites.nginx(tmp_path / "nginx", behind) as before:
        yield before


def try_token(site, number, source="127.0.0.1"):
    """The status, for somebody who claims to be elsewhere each time."""
    asked = HTTPSConnection("127.0.0.1", site.port, timeout=30, context=site.tls, source_address=(source, 0))
    claims = {"X-Forwarded-For": f"10.0.0.{number}", "Forwarded": f"for=10.0.0.{number}"}
    headers = {"Host": site.host, "Authorization": f"Bearer {BAD_TOKEN}", **claims}
    try:
        asked.request("GET", "/api/v1/studies/", headers=headers)
        return asked.getresponse().status
    finally:
        asked.close()


def test_attempts_are_counted_by_the_address_that_the_proxy_saw(proxied):
    assert [try_token(proxied, number) for number in range(6)] == [401] * 4 + [429] * 2
    assert try_token(proxied, 7, source="127.0.0.2") == 401
