"""Question quality: clarifying questions rated from 1 to 10 on seven aspects (AGENT-CQ, CrowdLLM's metrics).

Of complexity 10 is the most (AGENT-CQ, appendix B.3). Studies from before that asked for it with 10 as the simplest;
their questions say no direction, and keep theirs.
"""

from evaluation.protocols import texts
from evaluation.protocols.base import Kind, Problem, QuestionSpec, Spec, Stimulus
from evaluation.protocols.protocol import Protocol
from evaluation.protocols.requirements.items import check_arm, check_query, check_response_count

MAX_QUESTIONS = 5

TEXTS = {
    "consent": texts.consent(
        "You will read what people typed into a search system and a question that the system could ask back, and rate "
        "that question."
    ),
    "instructions": (
        "For each search you see a question that the system could ask back before it answers.\n\n"
        "1. Imagine you typed the search.\n"
        "2. Rate the question on each aspect, from 1 to 10.\n\n"
        "Use the whole scale: 1 is as bad as you can imagine, 10 could not be better. Only complexity is no matter of "
        "good and bad: there, 1 is a very simple question and 10 a highly complex one."
    ),
    "guideline": (
        "Rate the question as the person who searched would: would it help to be asked this, and is it easy to answer? "
        "Take each aspect by itself; a question may be clear and useless, or useful and clumsy."
    ),
    "thanks": texts.THANKS,
}


def quality(
    key: str,
    prompt: str,
    help: str,
    *,
    ends: tuple[str, str] = ("Very poor", "Excellent"),
    direction: str = "higher",
) -> QuestionSpec:
    form = {"over": "response", "low": 1, "high": 10, "direction": direction}
    return QuestionSpec(
        key, Kind.SCALE, prompt, help=help, options={"1": ends[0], "10": ends[1], "form": form}
    )


class QuestionQuality(Protocol):
    key = "question_quality"
    label = "Question quality"
    template = "evaluation/protocols/question_quality.html"
    response_counts = (1, MAX_QUESTIONS)

    def default_questions(self) -> tuple[QuestionSpec, ...]:
        return (
            quality("clarification", "Clarification", "Would the answer make clear what the person wants?"),
            quality("on_topic", "On topic", "Is it about the search?"),
            quality("specificity", "Specificity", "Does it ask for something definite?"),
            quality("usefulness", "Usefulness", "Would the results get better with the answer?"),
            quality("clarity", "Clarity", "Is it easy to understand?"),
            quality(
                "complexity",
                "Complexity",
                "Does it bring in technical terms, or ask for special knowledge, that the search does not have?",
                ends=("Very simple", "Highly complex"),
                direction="lower",
            ),
            quality("overall", "Overall", "All in all, how good is the question?"),
            QuestionSpec("comments", Kind.TEXT, "Any other comments?", required=False),
        )

    def default_texts(self) -> dict[str, str]:
        return dict(TEXTS)

    def check_item(self, spec: Spec, stimulus: Stimulus) -> list[Problem]:
        return [
            *check_arm(spec, stimulus),
            *check_query(stimulus),
            *check_response_count(stimulus, *self.response_counts),
        ]
