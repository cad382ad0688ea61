"""Lanes of a session: one endpoint each, with its connection, its places in flight and its rate limits."""

from judging.backends import open_backend
from judging.backends.base import Backend
from judging.models import Endpoint
from judging.services.endpoints.places import Places
from judging.services.endpoints.rate_gate import RateGate
from judging.services.endpoints.throttle import Throttle


class Lane:
    """One endpoint's part in a session. Never more is in flight than the run wants and the endpoint allows."""

    def __init__(self, endpoint: Endpoint, in_flight: int | None, at_first: int | None) -> None:
        self.endpoint = endpoint
        self.most = min(in_flight or endpoint.max_in_flight, endpoint.max_in_flight)
        self.throttle = Throttle(self.most, at_first)
        self.gate = RateGate(endpoint)
        self.places = Places(self.throttle, self.gate)
        self.backend: Backend

    def open(self, kind: str) -> Backend:
        """The connection of this kind of backend, to be entered; StopRun where the endpoint's key is missing."""
        self.backend = open_backend(kind, self.endpoint, in_flight=self.most)
        return self.backend
