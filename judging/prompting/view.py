"""A judge's view of an item by position, and the names of the parts that questions are about."""

from collections.abc import Iterator
from dataclasses import dataclass

from evaluation.protocols import Over, QuestionSpec
from evaluation.protocols.answers.parts import (
    claim_parts,
    follow_up_parts,
    reply_parts,
    turn_parts,
    value_parts,
)
from evaluation.protocols.base import Stimulus


@dataclass(frozen=True)
class View:
    """Canonical parts in the order shown: of the responses, the follow-ups, and the values of attributes."""

    order: tuple[str, ...]
    follow_ups: tuple[str, ...]
    # Each attribute's values that are rated: all of its answer set, or the one that was chosen.
    values: tuple[tuple[str, ...], ...] = ()
    turns: tuple[str, ...] = ()
    # The canonical parts of replies in turns and of claims, whichever there are.
    replies: frozenset[str] = frozenset()
    claims: frozenset[str] = frozenset()


def view_of(stimulus: Stimulus, order: str) -> View:
    """The view in that presented order; ValueError unless it has every response once."""
    parts = tuple(order.split(",")) if order else ()
    if sorted(parts) != sorted(response["part"] for response in stimulus["responses"]):
        raise ValueError(f"{order!r} is no order of this item's responses")
    follow_ups, values = follow_up_parts(stimulus), value_parts(stimulus)
    grouped = (tuple(each for each in values if each.partition(".")[0] == part) for part in follow_ups)
    replies, claims = frozenset(reply_parts(stimulus)), frozenset(claim_parts(stimulus))
    return View(parts, tuple(follow_ups), tuple(grouped), tuple(turn_parts(stimulus)), replies, claims)


def part_paths(question: QuestionSpec, view: View) -> Iterator[tuple[tuple[str, ...], str]]:
    """The parts that the question is about: each one's name in the view, and its canonical key."""
    match question.over:
        case Over.ITEM:
            yield (), ""
        case Over.RESPONSE:
            for number, part in enumerate(view.order, 1):
                yield (f"response_{number}",), part
        case Over.FOLLOW_UP:
            for row, part in enumerate(view.follow_ups, 1):
                yield (f"follow_up_{row}",), part
        case Over.FOLLOW_UP_RESPONSE:
            for row, follow_up in enumerate(view.follow_ups, 1):
                for number, part in enumerate(view.order, 1):
                    yield (f"follow_up_{row}", f"response_{number}"), f"{follow_up}.{part}"
        case Over.VALUE:
            for row, values in enumerate(view.values, 1):
                for number, part in enumerate(values, 1):
                    yield (f"attribute_{row}", f"value_{number}"), part
        case Over.TURN:
            for row, part in enumerate(view.turns, 1):
                yield (f"turn_{row}",), part
        case Over.TURN_RESPONSE:
            for row, turn in enumerate(view.turns, 1):
                for number, part in enumerate(view.order, 1):
                    if f"{turn}.{part}" in view.replies:
                        yield (f"turn_{row}", f"response_{number}"), f"{turn}.{part}"
        case Over.CLAIM:
            for number, part in enumerate(view.order, 1):
                claims = [each for each in view.claims if each.endswith(f".{part}")]
                for row in range(1, len(claims) + 1):
                    yield (f"response_{number}", f"claim_{row}"), f"c{row}.{part}"
        case Over.CHOICE:
            for choice in question.choices:
                yield (choice,), choice
