"""Ranking: clarifying questions for a query, put in order from the most to the least helpful.

AGENT-CQ, the human evaluation by dragging. What is ranked are the item's responses.
"""

from evaluation.protocols import texts
from evaluation.protocols.base import Kind, Problem, QuestionSpec, Spec, Stimulus
from evaluation.protocols.protocol import Protocol
from evaluation.protocols.requirements.items import check_arm, check_query, check_response_count

MAX_RANKED = 20

TEXTS = {
    "consent": texts.consent(
        "You will read what people typed into a search system, and put questions that the system could ask back into "
        "an order, from the most to the least helpful."
    ),
    "instructions": (
        "For each search you see a list of questions that the system could ask back before it answers.\n\n"
        "1. Imagine you typed the search.\n"
        "2. Put the questions in order: the most helpful at the top. Drag them, or use the arrows beside them.\n"
        "3. If the order is right as it stands, confirm it.\n\n"
        "The order you find them in is arbitrary."
    ),
    "guideline": (
        "A clarifying question is helpful if the answer to it would let the system give a better result for this "
        "search: it is about the search, asks for one thing that matters, is easy to understand and to answer, and "
        "does not ask for what the search already says."
    ),
    "thanks": texts.THANKS,
}


class Ranking(Protocol):
    key = "ranking"
    label = "Ranking"
    template = "evaluation/protocols/ranking.html"
    response_counts = (2, MAX_RANKED)

    def default_questions(self) -> tuple[QuestionSpec, ...]:
        return (
            QuestionSpec(
                "ranking",
                Kind.RANKING,
                "Put the questions in order, the most helpful first.",
                options={"form": {"ties": False}},
            ),
            QuestionSpec(
                "justification", Kind.TEXT, "What made the first one the most helpful?", required=False
            ),
        )

    def default_texts(self) -> dict[str, str]:
        return dict(TEXTS)

    def check_item(self, spec: Spec, stimulus: Stimulus) -> list[Problem]:
        return [
            *check_arm(spec, stimulus),
            *check_query(stimulus),
            *check_response_count(stimulus, *self.response_counts),
        ]
