"""Answer pairs: two answers to a clarifying question, compared on several dimensions.

AGENT-CQ, the comparison of simulated users' answers: relevance to the question, usefulness for the information need,
naturalness, and overall.
"""

from evaluation.protocols import texts
from evaluation.protocols.base import Kind, Problem, QuestionSpec, Spec, Stimulus
from evaluation.protocols.pairwise import pair_problems
from evaluation.protocols.protocol import Protocol
from evaluation.protocols.requirements.items import check_arm, check_query

TEXTS = {
    "consent": texts.consent(
        "You will read searches, a question that the search system asked back, and two answers that the person might "
        "have given, and compare the answers."
    ),
    "instructions": (
        "For each search you see what the person is really looking for, the question that the system asked back, and "
        "two answers, **Response 1** and **Response 2**.\n\n"
        "1. Read the search, what the person needs, and the question.\n"
        "2. Read both answers.\n"
        "3. Compare them on each of the points below. If they are equal on a point, say so."
    ),
    "guideline": (
        "Take each point by itself. An answer is relevant if it answers the question that was asked; useful if it "
        "helps the system to find what the person needs; natural if a person might have typed it. Overall, prefer the "
        "answer that you would rather see in such a conversation."
    ),
    "thanks": texts.THANKS,
}


def dimension(key: str, prompt: str, help: str = "") -> QuestionSpec:
    return QuestionSpec(key, Kind.PREFERENCE, prompt, help=help, options={"tie": "Equal"})


class AnswerPairs(Protocol):
    key = "answer_pairs"
    label = "Answer pairs"
    template = "evaluation/protocols/answer_pairs.html"
    shows_information_need = True
    compares_pairs = True
    response_counts = (2, 2)
    needed_columns = ("clarifying_question", "information_need")

    def default_questions(self) -> tuple[QuestionSpec, ...]:
        return (
            dimension("relevance", "Which is more relevant?", "Which answers the question that was asked?"),
            dimension(
                "usefulness", "Which is more useful?", "Which helps more to find what the person needs?"
            ),
            dimension(
                "naturalness", "Which is more natural?", "Which is more like what a person would type?"
            ),
            dimension("overall", "Which is better overall?", "All in all, which would you rather see?"),
            QuestionSpec("justification", Kind.TEXT, "Why?", required=False),
        )

    def default_texts(self) -> dict[str, str]:
        return dict(TEXTS)

    def check_item(self, spec: Spec, stimulus: Stimulus) -> list[Problem]:
        problems = [*check_arm(spec, stimulus), *check_query(stimulus), *pair_problems(stimulus)]
        if not stimulus["clarifying_question"].strip():
            problems.append(Problem("clarifying_question_missing", "clarifying_question"))
        if not stimulus["query"]["information_need"].strip():
            problems.append(Problem("information_need_missing", "query"))
        return problems
