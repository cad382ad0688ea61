"""Aspects: several answers to a question, each rated on the study's aspects, and the best one picked.

LFQA section 3 and appendix (four answers, four aspects with their ideals, best pick, "none is appropriate, but if I
must choose", justification, comments, reference documents).
"""

from evaluation.protocols import texts
from evaluation.protocols.base import Kind, Problem, QuestionSpec, Spec, Stimulus
from evaluation.protocols.protocol import Protocol
from evaluation.protocols.requirements.items import check_arm, check_query, check_response_count
from evaluation.protocols.requirements.questions import SHORT_TEXT

MAX_ANSWERS = 10

TEXTS = {
    "consent": texts.consent(
        "You will read questions with several answers to each, rate every answer on a few aspects, and pick the one "
        "you find best."
    ),
    "instructions": (
        "You see one question and several answers, **Response 1**, **Response 2** and so on.\n\n"
        "1. Read the question. It stays in view while you scroll.\n"
        "2. Read each answer and rate it on every aspect. What an aspect means stands beside it; open it whenever you "
        "are unsure.\n"
        "3. Where there are reference documents, look facts up in them. You need not read them all.\n"
        "4. Pick the answer you like best, and say in two or three sentences why.\n\n"
        "If no answer is appropriate, pick the least bad one and say so with the box below the choice."
    ),
    "guideline": (
        "Rate each answer by itself, not against the others. Judge what it says before how it says it, and do not "
        "reward length. Where you can't tell whether something is true, look it up in the documents that are given; if "
        "they don't say, go by what you know. The best answer is the one that you would most like to have received."
    ),
    "thanks": texts.THANKS,
}


def aspect(key: str, prompt: str, help: str, low: int, ideal: int, labels: tuple[str, ...]) -> QuestionSpec:
    """A scale over the responses whose points all have a label, from low up."""
    form = {"over": "response", "low": low, "high": low + len(labels) - 1, "ideal": ideal}
    worded = {str(low + at): label for at, label in enumerate(labels)}
    return QuestionSpec(key, Kind.SCALE, prompt, help=help, options={**worded, "form": form})


class Aspects(Protocol):
    key = "aspects"
    label = "Ratings by aspect"
    template = "evaluation/protocols/aspects.html"
    shows_documents = True
    response_counts = (1, MAX_ANSWERS)

    def default_questions(self) -> tuple[QuestionSpec, ...]:
        return (
            aspect(
                "acceptability",
                "Acceptability",
                "Taken as a whole, would this do as an answer to the person who asked?",
                0,
                3,
                ("Not acceptable", "Partly acceptable", "Mostly acceptable", "Fully acceptable"),
            ),
            aspect(
                "factuality",
                "Factuality",
                "Is what the answer claims true, as far as you know or can find in the documents?",
                0,
                3,
                ("Mostly false", "Partly false", "Mostly true", "True throughout"),
            ),
            aspect(
                "amount_info",
                "Amount of information",
                "Does it say as much as the question calls for?",
                -1,
                0,
                ("Too little", "The right amount", "Too much"),
            ),
            aspect(
                "formality",
                "Formality",
                "Does the tone suit the question?",
                -1,
                0,
                ("Too casual", "Suitable", "Too formal"),
            ),
            QuestionSpec(
                "best", Kind.PREFERENCE, "Which answer do you like best?", options={"form": {"ties": False}}
            ),
            QuestionSpec(
                "none_appropriate",
                Kind.CHECKLIST,
                "None is acceptable; this is the least bad.",
                required=False,
                options={"form": {"over": "item", "flag": True}},
            ),
            QuestionSpec(
                "justification",
                Kind.TEXT,
                "Why is it the best?",
                help="Two or three sentences; say what the others lack.",
                options={"form": {"least": SHORT_TEXT}},
            ),
            QuestionSpec("comments", Kind.TEXT, "Any other comments on these answers?", required=False),
        )

    def default_texts(self) -> dict[str, str]:
        return dict(TEXTS)

    def check_item(self, spec: Spec, stimulus: Stimulus) -> list[Problem]:
        return [
            *check_arm(spec, stimulus),
            *check_query(stimulus),
            *check_response_count(stimulus, *self.response_counts),
        ]
