"""The names of the parts that a question is asked about, as a screen calls them."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from django.utils.translation import gettext

from evaluation.forms.fields.screen_input import ScreenInput
from evaluation.protocols import Over, QuestionSpec
from evaluation.protocols.answers.parts import turn_parts, value_parts
from evaluation.protocols.base import Stimulus


class PartName(NamedTuple):
    """A part: its key, what it is called, and what it belongs to."""

    key: str
    who: str = ""
    head: str = ""
    head_key: str = ""


def part_names(question: QuestionSpec, page: ScreenInput) -> list[PartName]:
    """The parts that the question is asked about: responses in the order shown, the rest in that of the stimulus."""
    stimulus = page.stimulus
    match question.over:
        case Over.RESPONSE:
            return [PartName(card["part"], card["name"]) for card in page.cards]
        case Over.FOLLOW_UP:
            return [PartName(each["part"], each["question"]) for each in _follow_ups(stimulus)]
        case Over.FOLLOW_UP_RESPONSE:
            return [
                PartName(f"{each['part']}.{card['part']}", card["name"], _answered(each), each["part"])
                for each in _follow_ups(stimulus)
                for card in page.cards
            ]
        case Over.VALUE:
            return list(_values(stimulus))
        case Over.TURN:
            return [PartName(turn, turn_name(turn)) for turn in turn_parts(stimulus)]
        case Over.TURN_RESPONSE:
            return list(_replies(page))
        case Over.CLAIM:
            return list(_claims(page))
        case _:
            return [PartName("")]


def turn_name(part: str) -> str:
    return gettext("Turn %(number)s") % {"number": part.removeprefix("t")}


def _follow_ups(stimulus: Stimulus) -> list[Mapping[str, Any]]:
    return list(stimulus["context"]["follow_ups"]) if stimulus["context"] else []


def _answered(follow_up: Mapping[str, Any]) -> str:
    """A follow-up question with the answer that was chosen, if one was."""
    question, answer = follow_up["question"], follow_up["answer"]
    return f"{question} {answer}" if answer else question


def _values(stimulus: Stimulus) -> Iterator[PartName]:
    attributes = {each["part"]: each for each in _follow_ups(stimulus)}
    for part in value_parts(stimulus):
        key, _, number = part.partition(".v")
        attribute = attributes[key]
        yield PartName(part, attribute["answers"][int(number) - 1], attribute["question"], key)


def _replies(page: ScreenInput) -> Iterator[PartName]:
    replies = {response["part"]: len(response.get("turns", ())) for response in page.stimulus["responses"]}
    for number, turn in enumerate(turn_parts(page.stimulus), 1):
        for card in page.cards:
            if number <= replies[card["part"]]:
                yield PartName(f"{turn}.{card['part']}", card["name"], turn_name(turn), turn)


def _claims(page: ScreenInput) -> Iterator[PartName]:
    claims = {response["part"]: response.get("claims", ()) for response in page.stimulus["responses"]}
    for card in page.cards:
        for number, text in enumerate(claims[card["part"]], 1):
            yield PartName(f"c{number}.{card['part']}", text, card["name"], card["part"])
