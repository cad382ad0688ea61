"""Judges that need no model: random, shorter, longer (HREF section 2.2). Pure, and answered without an event loop.

`random` answers all but text questions, each part by a draw of its own; of drafted entries it keeps some. `longer`
and `shorter` answer what lengths say something about: preferences, rankings, and scales over the responses.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evaluation.protocols import Kind, Over, QuestionSpec, get_protocol
from evaluation.protocols.answers.parts import parts_of, response_parts, turn_parts
from evaluation.protocols.base import Spec, Stimulus
from evaluation.protocols.entries.sets import MAX_ENTRIES, drafted_entries
from evaluation.protocols.kinds import KINDS
from judging.backends.base import Draws, Heuristic, StopRun

if TYPE_CHECKING:
    import numpy as np

# --- random: uniform over what a form offers ------------------------------------------------------------------------


def draw(question: QuestionSpec, stimulus: Stimulus, draws: Draws) -> Any:
    """A draw for the question, or one for each of its parts; None where there is nothing to choose from."""
    if question.kind == Kind.ENTRIES:
        return _draw_entries(question, stimulus, draws)
    parts = parts_of(question, stimulus)
    if question.kind == Kind.RANKING:
        places = draws.of(question).permutation(len(parts)) + 1
        return {part: int(place) for part, place in zip(parts, places, strict=True)} or None
    choices = _choices(question, stimulus)
    drawn = {part: choices[int(draws.of(question, part).integers(len(choices)))] for part in parts if choices}
    return drawn.get("") if parts == [""] else drawn or None


def _draw_entries(question: QuestionSpec, stimulus: Stimulus, draws: Draws) -> Any:
    """Each drafted entry kept as it is or rejected, never all of them, and of very many as many
    as a set can hold; where nothing is drafted, there is no set."""
    drafted = list(drafted_entries(stimulus).items())
    if not drafted:
        return None
    kept = [entry for name, entry in drafted if draws.of(question, name).integers(2)]
    if len(kept) > MAX_ENTRIES:
        chosen = draws.of(question, "most").choice(len(kept), MAX_ENTRIES, replace=False)
        kept = [kept[at] for at in sorted(chosen.tolist())]
    return kept or [drafted[int(draws.of(question).integers(len(drafted)))][1]]


def _choices(question: QuestionSpec, stimulus: Stimulus) -> Sequence[Any]:
    """The values to draw from; never a tie."""
    if question.kind == Kind.PREFERENCE:
        return [grade for grade in question.grades if grade] or response_parts(stimulus)
    return KINDS[question.kind].offers(question)


# --- longer and shorter ---------------------------------------------------------------------------------------------


def prefer_longer(question: QuestionSpec, stimulus: Stimulus, draws: Draws) -> Any:
    return _by_length(question, stimulus, draws, 1)


def prefer_shorter(question: QuestionSpec, stimulus: Stimulus, draws: Draws) -> Any:
    return _by_length(question, stimulus, draws, -1)


def _by_length(question: QuestionSpec, stimulus: Stimulus, draws: Draws, sign: int) -> Any:
    """By the characters of the texts that are judged, markup included; the more (times the sign), the better."""
    if question.over == Over.TURN:
        return {
            turn: verdict_by_merit(question, _reply_merits(stimulus, number, sign), draws)
            for number, turn in enumerate(turn_parts(stimulus))
        }
    merits: dict[str, float] = {
        response["part"]: sign * len(response["text"]) for response in stimulus["responses"]
    }
    return verdict_by_merit(question, merits, draws) if merits else None


def _reply_merits(stimulus: Stimulus, turn: int, sign: int) -> dict[str, float]:
    """The merits of the replies in one turn; of responses that are no conversations, there is nothing to tell apart."""
    replies = {response["part"]: response.get("turns", ()) for response in stimulus["responses"]}
    return {
        part: float(sign * len(turns[turn]["text"])) if turn < len(turns) else 0.0
        for part, turns in replies.items()
    }


def verdict_by_merit(question: QuestionSpec, merits: Mapping[str, float], draws: Draws) -> Any:
    """The answer that puts responses in the order of their merits; None to a question of another kind."""
    if not question.ties and question.kind in (Kind.PREFERENCE, Kind.RANKING):
        merits = _broken(merits, draws.of(question))
    if question.grades:
        return _grade(question, merits)
    if question.kind == Kind.PREFERENCE:
        best = [part for part, merit in merits.items() if merit == max(merits.values())]
        return best[0] if len(best) == 1 else "tie"
    places = _places(merits)
    if question.kind == Kind.RANKING:
        return places
    if question.kind == Kind.SCALE and question.over == Over.RESPONSE:
        return {part: _on_scale(question, place, len(places)) for part, place in places.items()}
    return None


def _grade(question: QuestionSpec, merits: Mapping[str, float]) -> int:
    """By how much of the longer text the other lacks: all of it is the farthest grade; any difference is a grade."""
    difference = merits["r2"] - merits["r1"]
    longest = max(abs(merit) for merit in merits.values())
    if not difference:
        return 0
    grade = math.ceil(abs(difference) / max(longest, abs(difference)) * question.grades[-1])
    return grade if difference > 0 else -grade


def _broken(merits: Mapping[str, float], chance: "np.random.Generator") -> dict[str, float]:
    """Equals put in an order by chance, where the question has no place for them."""
    order = chance.permutation(len(merits))
    return {
        part: merit + int(at) / len(merits) for (part, merit), at in zip(merits.items(), order, strict=True)
    }


def _places(merits: Mapping[str, float]) -> dict[str, float]:
    """1 for the most; equals share the mean of their places."""
    values = list(merits.values())
    return {
        part: sum(other > merit for other in values) + (values.count(merit) + 1) / 2
        for part, merit in merits.items()
    }


def _on_scale(question: QuestionSpec, place: float, n: int) -> float:
    """The high end for the first place, the low end for the last, linear in between; the middle for one alone."""
    low, high = question.points[0], question.points[-1]
    return min(high, low + (high - low) * ((n - place) / (n - 1) if n > 1 else 0.5))


# --- the judges -----------------------------------------------------------------------------------------------------


def is_no_text(question: QuestionSpec) -> bool:
    return question.kind != Kind.TEXT


def compares_responses(question: QuestionSpec) -> bool:
    """Lengths say something about preferences, rankings, and scales over the responses."""
    rated = question.kind == Kind.SCALE and question.over == Over.RESPONSE
    return rated or question.kind == Kind.RANKING or _is_of_texts(question)


def _is_of_texts(question: QuestionSpec) -> bool:
    """True of a preference between whole responses, or between their replies in each turn."""
    return question.kind == Kind.PREFERENCE and question.over in (Over.ITEM, Over.TURN)


RANDOM = Heuristic(key="random", label="random (seeded)", rule=draw, answers=is_no_text)
SHORTER = Heuristic(
    key="shorter",
    label="the shorter response",
    rule=prefer_shorter,
    answers=compares_responses,
    compares=True,
)
LONGER = Heuristic(
    key="longer", label="the longer response", rule=prefer_longer, answers=compares_responses, compares=True
)


def heuristic_data(
    heuristic: Heuristic,
    spec: Spec,
    stimulus: Stimulus,
    *,
    seed: int,
    item_key: str,
    replicate: int,
    questions: Collection[str] = (),
) -> dict[str, Any]:
    """{question: value} for everything that the stimulus's arm asks and the heuristic can answer, against canonical
    responses, and its measures; `questions` are the keys that it is limited to, none of them means all.

    Unmeasurable where it has no numbers of this item; StopRun where it has nothing to say at all: then no item of this
    arm can be judged this way.
    """
    protocol = get_protocol(spec["protocol"])
    draws = Draws(seed, item_key, replicate)
    given = {
        question.key: heuristic.rule(question, stimulus, draws)
        for question in protocol.questions(spec, stimulus)
        if heuristic.answers_among(question, questions)
    }
    data = {key: value for key, value in given.items() if value is not None}
    data |= heuristic.numbers(stimulus)
    if not data:
        raise StopRun(
            f"The judge {heuristic.key!r} has nothing to say to what {protocol.label} asks of item {item_key}."
        )
    return data
