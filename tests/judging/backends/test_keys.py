"""Keys stay in the environment, and go only where somebody in charge said."""

from __future__ import annotations

import pytest
from django.contrib.auth import get_user_model
from hypothesis import given
from hypothesis import strategies as st

from judging.backends import keys
from judging.backends.base import StopRun
from judging.backends.keys import KEY_PREFIX, endpoint_problems, key_for, scrub
from judging.models import Endpoint
from tests.judging.sample import many

ALLOWED = [
    "https://api.example.com/v1=ASSAY_KEY_EXAMPLE",
    "https://open.example.com",
    "http://10.0.0.5:8080/v1=ASSAY_KEY_INNER",
]
RESEARCHER = get_user_model()(username="researcher", is_staff=True)
SUPERUSER = get_user_model()(username="root", is_staff=True, is_superuser=True)


@pytest.fixture(autouse=True)
def allowed(settings):
    settings.ASSAY_ENDPOINTS_ALLOWED = list(ALLOWED)


def problems(url, key_name="", user=RESEARCHER):
    return endpoint_problems(url, key_name, user)


# --- keys -----------------------------------------------------------------------------------------------------------


def test_a_key_is_read_when_it_is_needed(monkeypatch):
    endpoint = Endpoint(key_name="ASSAY_KEY_EXAMPLE")
    with pytest.raises(StopRun, match="The environment has no ASSAY_KEY_EXAMPLE"):
        key_for(endpoint)
    monkeypatch.setenv("ASSAY_KEY_EXAMPLE", " sk-1 \n")
    assert key_for(endpoint) == "sk-1"
    monkeypatch.setenv("ASSAY_KEY_EXAMPLE", "sk-2")
    assert key_for(endpoint) == "sk-2"
    monkeypatch.setenv("ASSAY_KEY_EXAMPLE", "  ")
    with pytest.raises(StopRun):
        key_for(endpoint)


def test_an_endpoint_without_a_key_needs_none():
    assert key_for(Endpoint(key_name="")) == ""


@pytest.mark.parametrize(
    "name",
    ["SECRET_KEY", "DATABASE_URL", "ASSAY_KEY_", "ASSAY_KEYS_X", "assay_key_x", "ASSAY_KEY_x", "X_ASSAY_KEY_A",
     "ASSAY_KEY_A\n", "ASSAY_KEY_A B", "ASSAY_VAR_DIR"],
)  # fmt: skip
@pytest.mark.parametrize("user", [RESEARCHER, SUPERUSER])
def test_no_other_variable_can_be_named(monkeypatch, name, user):
    monkeypatch.setenv(name.strip(), "the secret of all secrets")
    with pytest.raises(StopRun, match="can't be a key") as caught:
        key_for(Endpoint(key_name=name))
    assert "the secret" not in str(caught.value)
    assert any(
        "begins with ASSAY_KEY_" in each for each in problems("https://api.example.com/v1", name, user)
    )


def test_the_prefix_is_one():
    assert keys.KEY_PREFIX == KEY_PREFIX


# --- where it may go ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "key_name"),
    [
        ("https://api.example.com/v1", "ASSAY_KEY_EXAMPLE"),
        ("https://api.example.com/v1/", "ASSAY_KEY_EXAMPLE"),
        ("https://API.example.com:443/v1/deployments/x", "ASSAY_KEY_EXAMPLE"),
        ("https://api.example.com/v1", ""),
        ("https://open.example.com", ""),
        ("https://open.example.com/any/path", ""),
        ("http://10.0.0.5:8080/v1", "ASSAY_KEY_INNER"),
    ],
)
def test_a_listed_place_is_open_to_researchers(url, key_name):
    assert problems(url, key_name) == []


@pytest.mark.parametrize(
    "url",
    [
        "https://api.example.com.evil/v1",
        "https://api.example.comevil/v1",
        "https://evil.com/https://api.example.com/v1",
        "https://evil.com/v1?https://api.example.com/v1",
        "https://evil.com#https://api.example.com/v1",
        "https://api.example.com@evil.com/v1",
        "https://user:pw@api.example.com/v1",
        "https://api.example.com\\@evil.com/v1",
        "https://api.example.com/v10",
        "https://api.example.com/v1x",
        "https://api.example.com/",
        "https://api.example.com/v1/../admin",
        "https://api.example.com/v1/./../admin",
        "https://api.example.com/v1/%2e%2e/admin",
        "https://api.example.com/V1",
        "https://api.example.com:8443/v1",
        "https://api.example.com/v1?x=1",
        "https://api.example.com/v1#x",
        "https://api.example.com/v1?",
        "https://sub.api.example.com/v1",
        "http://api.example.com/v1",
        "https://api.example.com/v1 ",
        "https://api.ex\u0430mple.com/v1",
        "https://api.example.com\t/v1",
        "//api.example.com/v1",
        "api.example.com/v1",
        "ftp://api.example.com/v1",
        "file:///etc/passwd",
        "https:///v1",
        "https://",
        "https://[::1/v1",
        "https://api.example.com:port/v1",
        "http://127.0.0.1:8000/v1",
        "http://169.254.169.254/latest",
        "http://localhost/v1",
        "http://10.0.0.5:8081/v1",
        "http://10.0.0.5/v1",
        "",
    ],
)
def test_no_other_place_is(url):
    assert problems(url, "")
    assert problems(url, "ASSAY_KEY_EXAMPLE")


@pytest.mark.parametrize(
    ("url", "key_name"),
    [
        ("https://open.example.com", "ASSAY_KEY_EXAMPLE"),
        ("https://api.example.com/v1", "ASSAY_KEY_INNER"),
        ("http://10.0.0.5:8080/v1", "ASSAY_KEY_EXAMPLE"),
    ],
)
def test_a_researcher_can_t_send_one_place_s_key_to_another(url, key_name):
    assert any(f"{key_name} may not be sent" in each for each in problems(url, key_name))


def test_an_entry_that_can_t_be_read_allows_nothing(settings):
    settings.ASSAY_ENDPOINTS_ALLOWED = ["open.example.com", "", "https://a b", *ALLOWED]
    assert problems("https://open.example.com/v1") == []
    assert problems("https://elsewhere.example.com/v1")


def test_without_a_list_researchers_make_no_endpoints(settings):
    settings.ASSAY_ENDPOINTS_ALLOWED = []
    assert problems("https://api.example.com/v1") == [
        "This address is not on the list of allowed endpoints. Whoever runs Assay can add https://api.example.com/v1 "
        "to the setting ASSAY_ENDPOINTS_ALLOWED and restart it; or a superuser makes the endpoint."
    ]


def test_an_entry_may_leave_the_port_open_on_this_machine(settings):
    settings.ASSAY_ENDPOINTS_ALLOWED = ["http://127.0.0.1:*", "http://localhost:*/v1"]
    for url in ("http://127.0.0.1:8080/v1", "http://127.0.0.1/v1", "http://localhost:11434/v1"):
        assert problems(url) == []
        assert problems(url, "ASSAY_KEY_EXAMPLE"), "without a key"
    for url in (
        "https://127.0.0.1:8080/v1",
        "http://127.0.0.2:8080/v1",
        "http://localhost:11434/v10",
        "http://127.0.0.1:8080@evil.com/v1",
    ):
        assert problems(url), url


@pytest.mark.parametrize(
    "entry",
    [
        "http://10.0.0.5:*",
        "https://api.example.com:*/v1",
        "http://127.0.0.1:*=ASSAY_KEY_EXAMPLE",
        "http://x@127.0.0.1:*",
    ],
)
def test_an_open_port_elsewhere_or_with_a_key_is_no_entry(settings, entry):
    settings.ASSAY_ENDPOINTS_ALLOWED = [entry]
    assert not keys.is_readable(entry)
    assert problems("http://10.0.0.5:8080/v1")
    assert problems("http://127.0.0.1:8080/v1", "ASSAY_KEY_EXAMPLE")


@pytest.mark.parametrize(
    ("url", "key_name"),
    [
        ("https://anything.example.org/v1", "ASSAY_KEY_ANY"),
        ("http://127.0.0.1:8080/v1", "ASSAY_KEY_ANY"),
        ("http://127.9.9.9/v1", "ASSAY_KEY_ANY"),
        ("http://localhost:1234", "ASSAY_KEY_ANY"),
        ("http://[::1]:8080/v1", "ASSAY_KEY_ANY"),
        ("http://192.168.1.7:8000/v1", ""),
        ("http://10.0.0.5:8080/v1", "ASSAY_KEY_INNER"),
    ],
)
def test_a_superuser_may_name_any_server(url, key_name):
    assert problems(url, key_name, SUPERUSER) == []


@pytest.mark.parametrize(
    "url",
    [
        "http://192.168.1.7/v1",
        "http://example.org/v1",
        "http://localhost.evil.com/v1",
        "http://10.0.0.5:8080/v1",
    ],
)
def test_nobody_sends_a_key_in_the_clear_unless_it_is_listed(url):
    assert problems(url, "ASSAY_KEY_ANY", SUPERUSER) == [
        f"A key is only sent over https://, or to this machine, unless ASSAY_ENDPOINTS_ALLOWED has {url}=ASSAY_KEY_ANY."
    ]


@pytest.mark.parametrize(
    "url", ["ftp://example.org", "https://", "https://user@example.org/v1", "https://example.org/v1?x"]
)
def test_a_superuser_s_url_is_a_url_all_the_same(url):
    assert problems(url, "", SUPERUSER)


# --- scrubbing ------------------------------------------------------------------------------------------------------

KEY = "sk-proj-AbCdEfGhIjKlMnOp"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"bad key {KEY}!", "bad key ***!"),
        (f"bad key {KEY[:10]}...", "bad key ***..."),
        (f"bad key ...{KEY[-9:]}", "bad key ...***"),
        (f"{KEY}{KEY}", "***"),
        ("nothing here", "nothing here"),
        ("sk-proj", "sk-proj"),
        ("", ""),
    ],
)
def test_a_key_is_cut_out_of_a_text(text, shown):
    assert scrub(text, KEY) == shown
    assert scrub(text, "") == text


@many
@given(before=st.text(), after=st.text(), key=st.text(min_size=1))
def test_no_text_keeps_the_key(before, after, key):
    assert key not in scrub(f"{before}{key}{after}", key) or key in "***"
