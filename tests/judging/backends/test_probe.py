"""What a model can do is seen, not believed; and kept by model."""

from __future__ import annotations

import asyncio
from decimal import Decimal

import pytest

from judging.backends.base import StopRun, TryAgain
from judging.backends.chat import ChatBackend
from judging.backends.probe import probe
from judging.models import Endpoint
from judging.prompting.item_call import ItemCall
from judging.prompting.request import build_request
from judging.prompting.settings import Settings
from judging.services.endpoints.capabilities import RetryingBackend, known_capabilities, store_capabilities
from judging.services.endpoints.rate_gate import RateGate
from judging.services.endpoints.spend_tracker import SpendTracker
from tests.judging.endpoint import serve
from tests.judging.sample import PAIRWISE, make_spec, make_stimulus

ALL = {
    "json_schema": True,
    "json_object": True,
    "logprobs": True,
    "top_logprobs": 20,
    "seed": True,
    "temperature": True,
    "system_role": True,
    "token_limit": "max_completion_tokens",
}


@pytest.fixture(scope="module")
def server():
    with serve() as served:
        yield served


@pytest.fixture
def endpoint(db, server):
    server.reset()
    return Endpoint.objects.create(name="local", base_url=server.url, timeout_seconds=5)


@pytest.fixture(autouse=True)
def quick(settings):
    settings.ASSAY_RUN_BACKOFF_SECONDS = 0.01


def probed(server, model):
    async def go():
        async with ChatBackend(server.url, timeout=5, in_flight=1) as backend:
            return await probe(backend, model)

    found = asyncio.run(go())
    assert found.pop("probed_at")
    return found


def ask_patiently(endpoint, model):
    """As a run asks before its first call."""

    async def go():
        async with ChatBackend(endpoint.base_url, timeout=5, in_flight=1) as backend:
            tracker = SpendTracker(Endpoint(), model, (Decimal(0), Decimal(0)), purpose="probe")
            return await probe(RetryingBackend(backend, RateGate(Endpoint()), tracker), model)

    found = asyncio.run(go())
    store_capabilities(endpoint, model, found)
    return found


def test_a_server_that_can_do_everything(server):
    assert probed(server, "longer") == ALL


@pytest.mark.parametrize(
    ("behaviour", "changes"),
    [
        ("no_json_schema", {"json_schema": False}),
        ("no_json_schema=500", {"json_schema": False}),
        ("no_json_object=422", {"json_object": False}),
        ("no_logprobs", {"logprobs": False, "top_logprobs": 0}),
        ("no_logprobs=403", {"logprobs": False, "top_logprobs": 0}),
        ("no_logprobs=401", {"logprobs": False, "top_logprobs": 0}),
        ("no_seed=404", {"seed": False}),
        ("no_json_schema=403", {"json_schema": False}),
        ("no_max_completion_tokens=403", {"token_limit": "max_tokens"}),
        ("deaf_logprobs", {"logprobs": False, "top_logprobs": 0}),
        ("top=5", {"top_logprobs": 5}),
        ("no_seed", {"seed": False}),
        ("no_temperature", {"temperature": False}),
        ("no_system", {"system_role": False}),
        ("no_max_completion_tokens", {"token_limit": "max_tokens"}),
        ("deaf_max_completion_tokens", {"token_limit": "max_tokens"}),
        ("no_max_tokens", {}),
    ],
)
def test_what_is_refused_or_overlooked_is_not_used(server, behaviour, changes):
    assert probed(server, f"longer:{behaviour}") == ALL | changes


def test_a_server_that_breaks_on_json_schema_is_asked_for_an_object(server):
    able = probed(server, "longer:no_json_schema=500:no_max_completion_tokens:no_temperature")
    settings = Settings(model="m")
    request = build_request(
        ItemCall(PAIRWISE, make_spec(), make_stimulus(), settings, order="r1,r2", capabilities=able)
    )
    assert request.schema is None
    assert request.parameters == {"max_tokens": 1024, "response_format": {"type": "json_object"}}
    able |= probed(server, "longer:no_json_schema:no_json_object")
    request = build_request(
        ItemCall(PAIRWISE, make_spec(), make_stimulus(), settings, order="r1,r2", capabilities=able)
    )
    assert "response_format" not in request.parameters
    assert request.messages[1]["content"].endswith("preference: <1, 2 or tie>")


def test_a_model_without_system_messages_is_told_all_in_one():
    settings = Settings(model="m")
    request = build_request(
        ItemCall(
            PAIRWISE,
            make_spec(),
            make_stimulus(),
            settings,
            order="r1,r2",
            capabilities={"system_role": False},
        )
    )
    [message] = request.messages
    assert message["role"] == "user"
    assert "# Guideline" in message["content"]
    assert message["content"].endswith("preference: <1, 2 or tie>")


@pytest.mark.parametrize(
    ("behaviour", "error"),
    [
        ("401", StopRun),
        ("404", StopRun),
        ("quota", StopRun),
        ("400", StopRun),
        ("429=0.01", TryAgain),
        ("500", TryAgain),
        ("nothing", TryAgain),
    ],
)  # fmt: skip
def test_an_endpoint_out_of_order_says_nothing_of_what_it_can_do(endpoint, behaviour, error):
    with pytest.raises(error):
        ask_patiently(endpoint, f"longer:{behaviour}")
    endpoint.refresh_from_db()
    assert endpoint.capabilities == {}
    assert endpoint.probed_at is None


@pytest.mark.parametrize("behaviour", ["500", "503", "429=0.01", "nothing", "garbage"])
def test_a_flaky_endpoint_is_asked_again_as_a_call_would_be(endpoint, server, behaviour):
    """Each request meets trouble twice before it is answered; nothing is taken for an inability."""
    ways = 7
    server.script = [behaviour, behaviour, "slow=0"] * ways
    found = ask_patiently(endpoint, "longer")
    assert found | ALL == found
    assert server.total == 3 * ways
    assert known_capabilities(Endpoint.objects.get(), "longer") == found


def test_a_model_is_asked_a_few_things(endpoint, server):
    found = ask_patiently(endpoint, "longer")
    assert server.total < 12
    assert known_capabilities(Endpoint.objects.get(), "longer") == found


def test_capabilities_are_kept_by_model(endpoint):
    ask_patiently(endpoint, "longer")
    other = Endpoint.objects.get()
    ask_patiently(other, "longer:no_seed")
    stale = endpoint
    store_capabilities(stale, "third", {"seed": True})
    stored = Endpoint.objects.get()
    assert set(stored.capabilities) == {"longer", "longer:no_seed", "third"}
    assert known_capabilities(stored, "longer:no_seed")["seed"] is False
    assert known_capabilities(stored, "longer")["seed"] is True
    assert known_capabilities(stored, "fourth") is None
    assert stored.probed_at is not None
