"""The judges' tables."""

from judging.models.endpoint import Endpoint, Trust
from judging.models.judge import Judge, Orders, Rationale, SelfPreference, Verdict
from judging.models.run import ACTIVE, Call, CallState, Purpose, Run, RunState

__all__ = [
    "ACTIVE",
    "Call",
    "CallState",
    "Endpoint",
    "Judge",
    "Orders",
    "Purpose",
    "Rationale",
    "Run",
    "RunState",
    "SelfPreference",
    "Trust",
    "Verdict",
]
