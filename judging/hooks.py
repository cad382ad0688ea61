"""The kinds of work that the engine of calls takes, registered by name so that it imports none of them."""

from typing import Any

from evaluation.hooks import HookRegistry

# `KindOfWork` of judging.services.calls.workload, filled when the app is ready.
kinds_of_work: HookRegistry[Any] = HookRegistry()
