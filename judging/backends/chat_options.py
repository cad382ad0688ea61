"""The options of judges by chat completions."""

from typing import Any

from judging.backends.options import Input, JudgeOption

MOST_EXAMPLES, MOST_DOCUMENTS = 20, 100


def whole(most: int, least: int = 0) -> Any:
    """A check that a number is whole and from `least` to `most`."""

    def clean(number: float) -> int:
        if number != int(number) or not least <= number <= most:
            raise ValueError(f"a whole number from {least:,} to {most:,} is needed.")
        return int(number)

    return clean


def percentage(number: float) -> float:
    if not 0 < number <= 100:
        raise ValueError("more than 0 and at most 100 is needed.")
    return number


CHAT_OPTIONS = (
    JudgeOption(
        key="persona",
        label="Persona",
        help="The kind of judge that the model is to be, in sentences that its prompt begins with; empty: none.",
    ),
    JudgeOption(
        key="without_guideline",
        label="Without the guideline",
        help="Ask the questions alone, to see what the guideline is worth.",
        input=Input.FLAG,
        default=False,
    ),
    JudgeOption(
        key="demonstrations",
        label="Worked examples",
        help="So many of the study's training items stand in the prompt with their gold answers.",
        input=Input.NUMBER,
        default=0,
        clean=whole(MOST_EXAMPLES),
    ),
    JudgeOption(
        key="documents",
        label="Documents",
        help="The first so many of the query's documents stand in the prompt. Empty: those that people see.",
        input=Input.NUMBER,
        default=None,
        clean=whole(MOST_DOCUMENTS),
    ),
    JudgeOption(
        key="repeated_share",
        label="Repeated queries, in percent",
        help="The number of samples is asked of this share of the queries, drawn by the seed; of the others one.",
        input=Input.NUMBER,
        default=100,
        clean=percentage,
    ),
    JudgeOption(
        key="last_question",
        label="Question asked last",
        help="Key of a question that is asked once the judge has answered the others, and from these answers. "
        "Needs one call per question; empty: none.",
    ),
    JudgeOption(
        key="label_share",
        label="Probability of the labels, in percent",
        help="Of verdicts read from log-probabilities: where the labels together have less, the model was about to say "
        "something else, and the reply is unparsed. Small models may need less.",
        input=Input.NUMBER,
        default=50,
        clean=percentage,
    ),
)
