"""The parts of a stimulus that a question can be asked about, as answers name them."""

from collections.abc import Mapping

from evaluation.protocols.base import Over, QuestionSpec, Stimulus

# A part of each kind that a stimulus has: the others differ from it by their numbers.
PARTS_LIKE: Mapping[str, str] = {
    Over.ITEM: "",
    Over.RESPONSE: "r1",
    Over.FOLLOW_UP: "f1",
    Over.FOLLOW_UP_RESPONSE: "f1.r1",
    Over.VALUE: "f1.v1",
    Over.TURN: "t1",
    Over.TURN_RESPONSE: "t1.r1",
    Over.CLAIM: "c1.r1",
}


def response_parts(stimulus: Stimulus) -> list[str]:
    return [response["part"] for response in stimulus["responses"]]


def follow_up_parts(stimulus: Stimulus) -> list[str]:
    context = stimulus["context"]
    return [follow_up["part"] for follow_up in context["follow_ups"]] if context else []


def checklist_parts(stimulus: Stimulus) -> list[str]:
    """One cell per follow-up question and response, in the order of the page."""
    return [
        f"{follow_up}.{part}" for follow_up in follow_up_parts(stimulus) for part in response_parts(stimulus)
    ]


def turn_parts(stimulus: Stimulus) -> list[str]:
    """The turns in which the responses reply; where they are no conversations, those of the query itself."""
    replies = [len(response.get("turns", ())) for response in stimulus["responses"]]
    number = max(replies, default=0) or len(stimulus["query"].get("turns") or ())
    return [f"t{turn}" for turn in range(1, number + 1)]


def reply_parts(stimulus: Stimulus) -> list[str]:
    """Each response's reply in each turn, in the order of the page."""
    return [
        f"t{number}.{response['part']}"
        for number in range(1, len(turn_parts(stimulus)) + 1)
        for response in stimulus["responses"]
        if number <= len(response.get("turns", ()))
    ]


def claim_parts(stimulus: Stimulus) -> list[str]:
    """The claims of each response, one after the other."""
    return [
        f"c{number}.{response['part']}"
        for response in stimulus["responses"]
        for number in range(1, len(response.get("claims", ())) + 1)
    ]


def value_parts(stimulus: Stimulus) -> list[str]:
    """The values of every follow-up question's answer set; where one is chosen, that one alone."""
    context = stimulus["context"]
    parts = []
    for follow_up in context["follow_ups"] if context else []:
        chosen = follow_up["answer"]
        parts += [
            f"{follow_up['part']}.v{number}"
            for number, answer in enumerate(follow_up["answers"], 1)
            if not chosen or answer == chosen
        ]
    return parts


def parts_of(question: QuestionSpec, stimulus: Stimulus) -> list[str]:
    """The keys of what the question is asked about, in the order of the stimulus; [''] for the whole item."""
    return list(question.choices) if question.over == Over.CHOICE else parts_over(question.over, stimulus)


def parts_over(over: Over, stimulus: Stimulus) -> list[str]:
    """The same of everything that stands in the stimulus itself."""
    match over:
        case Over.RESPONSE:
            return response_parts(stimulus)
        case Over.FOLLOW_UP:
            return follow_up_parts(stimulus)
        case Over.FOLLOW_UP_RESPONSE:
            return checklist_parts(stimulus)
        case Over.VALUE:
            return value_parts(stimulus)
        case Over.TURN:
            return turn_parts(stimulus)
        case Over.TURN_RESPONSE:
            return reply_parts(stimulus)
        case Over.CLAIM:
            return claim_parts(stimulus)
        case Over.ITEM:
            return [""]
    raise ValueError(f"a stimulus has no parts by {over}")
