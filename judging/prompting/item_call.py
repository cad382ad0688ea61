"""One call about an item: the material of its request, of a possible reply, and of the reading of the reply."""

from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from evaluation.protocols import Protocol
from evaluation.protocols.base import Spec, Stimulus
from judging.backends.base import NO_DRAWS, Draws
from judging.prompting.settings import Settings


@dataclass(frozen=True)
class ItemCall:
    """A call as a way of asking is told of it, in the request and in the reading alike."""

    protocol: Protocol
    spec: Spec
    stimulus: Stimulus
    settings: Settings
    _: KW_ONLY
    # The presented order as canonical parts, "r2,r1".
    order: str
    step: str = ""
    # What the steps before it said, {step: data}; only of a step that follows others.
    earlier: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    # Of the judge's model, or of an endpoint by model.
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    # Of this judgment, where a number leaves something to chance.
    draws: Draws = NO_DRAWS


def joined_by_part(data: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The values of all steps; what several steps say of one key, each of other parts, stands side by side."""
    found: dict[str, Any] = {}
    for each in data:
        for key, value in each.items():
            before = found.get(key)
            both = isinstance(before, Mapping) and isinstance(value, Mapping)
            found[key] = {**before, **value} if both else value  # type: ignore[dict-item]
    return found
