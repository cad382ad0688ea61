"""Judges that need no model: random, shorter, longer (HREF section 2.2). Pure, and answered without an event loop."""

from collections.abc import Callable, Sequence
from typing import Any

from evaluation.design import generator
from evaluation.protocols import Kind, get_protocol
from evaluation.protocols.base import Spec, Stimulus
from judging.backends.base import StopRun

# The lengths of the responses in characters, the study's seed, and what the draw is for; gives an index or None: tie.
Rule = Callable[[Sequence[int], int, tuple[object, ...]], int | None]


def pick_random(lengths: Sequence[int], seed: int, what: tuple[object, ...]) -> int | None:
    """Uniform over the responses, never a tie; the same for the same seed, item and replicate."""
    return int(generator(seed, "random judge", *what).integers(len(lengths)))


def pick_longer(lengths: Sequence[int], seed: int, what: tuple[object, ...]) -> int | None:
    return _only(lengths, max(lengths))


def pick_shorter(lengths: Sequence[int], seed: int, what: tuple[object, ...]) -> int | None:
    return _only(lengths, min(lengths))


def _only(lengths: Sequence[int], wanted: int) -> int | None:
    """The one response of that length; None where several have it."""
    return lengths.index(wanted) if lengths.count(wanted) == 1 else None


HEURISTICS: dict[str, Rule] = {"random": pick_random, "shorter": pick_shorter, "longer": pick_longer}


def heuristic_data(
    kind: str, spec: Spec, stimulus: Stimulus, *, seed: int, item_key: str, replicate: int
) -> dict[str, Any]:
    """{question: label} for every preference that the stimulus's arm asks, against canonical responses.

    Lengths are characters of the text that was judged, markup included. StopRun where the protocol asks for no
    preference: then no item of the study can be judged this way.
    """
    protocol = get_protocol(spec["protocol"])
    keys = [each.key for each in protocol.questions(spec, stimulus) if each.kind == Kind.PREFERENCE]
    if not keys:
        raise StopRun(f"The judge {kind!r} answers preferences alone, and {protocol.label} asks for none.")
    lengths = [len(response["text"]) for response in stimulus["responses"]]
    chosen = HEURISTICS[kind](lengths, seed, (item_key, replicate))
    label = "tie" if chosen is None else stimulus["responses"][chosen]["part"]
    return dict.fromkeys(keys, label)
