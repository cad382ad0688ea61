"""Questions in the place of what they are about: beside a claim inside its response, below a turn or a reply."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evaluation.forms.fields.part_names import turn_name
from evaluation.forms.shapes import Card, Field, ReplyCell, ResponseScale, TurnLine
from evaluation.protocols import Over
from evaluation.protocols.answers.parts import turn_parts
from evaluation.protocols.base import Stimulus

OF_TURNS = (Over.TURN, Over.TURN_RESPONSE)
# What a response's card holds; where responses are conversations, they have no card.
OF_CARDS = (Over.RESPONSE, Over.CLAIM)


def is_in_place(field: Field, turns: Sequence[TurnLine]) -> bool:
    """True of a question that is drawn beside what it is about, as it has a group for each."""
    are_conversations = any(turn["replies"] for turn in turns)
    places = OF_TURNS if are_conversations else (*OF_TURNS, *OF_CARDS)
    return bool(field["groups"]) and field["over"] in places


def add_claims(cards: Sequence[Card], stimulus: Stimulus, fields: Iterable[Field]) -> None:
    """Add to each card its response's claims, where something is asked of them."""
    asked = _by_part(fields, Over.CLAIM)
    claims = {response["part"]: response.get("claims", ()) for response in stimulus["responses"]}
    for card in cards if asked else ():
        parts = [(f"c{number}.{card['part']}", text) for number, text in enumerate(claims[card["part"]], 1)]
        card["claims"] = [{"part": part, "text": text, "asked": asked.get(part, [])} for part, text in parts]


def turn_lines(stimulus: Stimulus, cards: Sequence[Card], fields: Iterable[Field]) -> list[TurnLine]:
    """The conversation turn by turn: what was said, and below it each response's reply in the order shown.

    Nothing where the responses are no conversations and no question is about turns.
    """
    fields = list(fields)
    of_turn, of_reply = _by_part(fields, Over.TURN), _by_part(fields, Over.TURN_RESPONSE)
    replies = {response["part"]: response.get("turns", []) for response in stimulus["responses"]}
    if not any(replies.values()) and not of_turn:
        return []
    parts = turn_parts(stimulus)
    said = list(stimulus["query"].get("turns") or [])[-len(parts) :]
    lines: list[TurnLine] = []
    for number, part in enumerate(parts):
        spoken: Mapping[str, Any] = said[number] if len(said) == len(parts) else {}
        cells: list[ReplyCell] = [
            {
                "part": f"{part}.{card['part']}",
                "name": card["name"],
                "html": replies[card["part"]][number]["html"],
                "asked": of_reply.get(f"{part}.{card['part']}", []),
            }
            for card in cards
            if number < len(replies[card["part"]])
        ]
        lines.append(
            {
                "part": part,
                "number": number + 1,
                "label": turn_name(part),
                "said": spoken.get("text", ""),
                "html": spoken.get("html", ""),
                "replies": cells,
                "asked": of_turn.get(part, []),
            }
        )
    return lines


def _by_part(fields: Iterable[Field], over: Over) -> dict[str, list[ResponseScale]]:
    """Groups and their fields by part, of the questions over these, in the order of the form."""
    found: dict[str, list[ResponseScale]] = {}
    for field in fields:
        if field["over"] == over:
            for group in field["groups"]:
                found.setdefault(group["part"], []).append({"field": field, "group": group})
    return found
