"""Justification coding: free-text justifications tagged with a codebook, several tags allowed.

ContextEval section 5.3 (surface-level and content-level criteria) and LFQA appendix C (eleven aspects). A codebook is
data: the choices of one question. What is tagged is the item's one response; its system is who wrote it.
"""

from evaluation.protocols import texts
from evaluation.protocols.base import Problem, QuestionSpec, Spec, Stimulus
from evaluation.protocols.codebooks import codebook_question
from evaluation.protocols.protocol import Protocol
from evaluation.protocols.requirements.items import check_arm, check_response_count

TEXTS = {
    "consent": texts.consent(
        "You will read reasons that people gave for preferring an answer, and say what they are about."
    ),
    "instructions": (
        "For each item you see the reason that somebody gave for their choice, and what it was about.\n\n"
        "1. Read the reason.\n"
        "2. Tick everything that it names as a ground for the choice. Often that is more than one thing.\n"
        "3. Tick only what is said, not what may have been meant."
    ),
    "guideline": (
        "Tag a ground if the writer names it, in whatever words, as a reason for or against an answer. Praise "
        "without a ground gets no tag."
    ),
    "thanks": texts.THANKS,
}


class JustificationCoding(Protocol):
    key = "justification_coding"
    label = "Justification coding"
    template = "evaluation/protocols/justification_coding.html"
    response_counts = (1, 1)

    def default_questions(self) -> tuple[QuestionSpec, ...]:
        return (codebook_question("criteria"),)

    def default_texts(self) -> dict[str, str]:
        return dict(TEXTS)

    def check_item(self, spec: Spec, stimulus: Stimulus) -> list[Problem]:
        problems = [*check_arm(spec, stimulus), *check_response_count(stimulus, *self.response_counts)]
        return problems + [
            Problem("response_empty", "responses", {"part": response["part"]})
            for response in stimulus["responses"]
            if not response["text"].strip()
        ]
