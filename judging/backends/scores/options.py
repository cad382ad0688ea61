"""Options of judges that give scores, each a measure under a name of its own."""

from typing import Any

from evaluation.protocols.answers.measures import NAME
from judging.backends.options import Input, JudgeOption
from judging.backends.scores.criteria import CRITERIA, OWN


def measure_name(value: Any) -> str:
    """The name of a measure; ValueError where none can be called so."""
    if not NAME.fullmatch(value):
        raise ValueError("a name is letters, digits, -, _ and ., at most 50.")
    return str(value)


def measure_option(default: str) -> JudgeOption:
    return JudgeOption(
        key="measure",
        label="Name of the measure",
        help="Its column in exports and its row in reports are measure:<name>.",
        default=default,
        clean=measure_name,
    )


COUNT_OPTIONS = (
    JudgeOption(
        key="per",
        label="Number given",
        help="One number per response, or one per follow-up question and response.",
        input=Input.CHOICE,
        default="share",
        choices={
            "share": "share of the follow-up questions taken into account",
            "count": "number of follow-up questions taken into account",
            "question": "1 or 0 for each follow-up question",
        },
    ),
    measure_option("constraints"),
)

MOST_STEPS, LONGEST_STEP = 12, 500


def evaluation_steps(value: Any) -> list[str]:
    if len(value) > MOST_STEPS or any(len(step) > LONGEST_STEP for step in value):
        raise ValueError(f"at most {MOST_STEPS} steps of at most {LONGEST_STEP} characters each.")
    return list(value)


GEVAL_OPTIONS = (
    JudgeOption(
        key="criterion",
        label="Criteria",
        input=Input.CHOICE,
        default="helpfulness",
        choices={**{key: label for key, (label, _) in CRITERIA.items()}, OWN: "in your own words (below)"},
    ),
    JudgeOption(
        key="criteria",
        label="Criteria in your own words",
        help="What a response is scored for; only with criteria of your own.",
    ),
    JudgeOption(
        key="steps",
        label="Evaluation steps",
        help="One per line. The judge's model can write them once, from the criteria; look them over before a run.",
        input=Input.LINES,
        default=[],
        clean=evaluation_steps,
        needed="The judge has no evaluation steps yet: have its model write them, or enter them.",
    ),
    JudgeOption(
        key="range",
        label="Range",
        help="Of a question of the study that it answers, the question's own points are taken.",
        input=Input.CHOICE,
        default="1-5",
        choices={"1-5": "1 to 5", "0-1": "0 to 1, in tenths"},
    ),
    JudgeOption(
        key="score",
        label="Score",
        help="Where the model gives no log-probabilities, and of scores that are no single digit, the score it says.",
        input=Input.CHOICE,
        default="expected",
        choices={
            "expected": "mean, by the scores' probabilities",
            "said": "the score it says",
        },
    ),
    measure_option("geval"),
)
