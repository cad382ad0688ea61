"""Context validation: whether follow-up questions and their answer sets are fit to be a query's context.

ContextEval section 3.3: per question whether it is important, and per answer set whether it is realistic, complete
and diverse.
"""

from evaluation.protocols import texts
from evaluation.protocols.base import Kind, Problem, QuestionSpec, Spec, Stimulus
from evaluation.protocols.protocol import Protocol
from evaluation.protocols.requirements.items import check_answer_sets, check_arm, check_query

TEXTS = {
    "consent": texts.consent(
        "You will read questions that people asked, with follow-up questions that one could ask them and the answers "
        "they might give, and say whether these make sense."
    ),
    "instructions": (
        "For each question you see follow-up questions, each with a set of answers that a person might give.\n\n"
        "1. Read the question and imagine who might ask it.\n"
        "2. Say of each follow-up question whether the answer to it matters for a good response.\n"
        "3. Say of each set of answers whether the answers are realistic, whether the important ones are there, and "
        "whether they differ from each other."
    ),
    "guideline": (
        "A follow-up question is important if a good response would be a different one depending on the answer. A set "
        "of answers is realistic if people who ask this might give each of them; complete if it covers what most "
        "people would say; diverse if the answers are clearly different and would lead to different responses."
    ),
    "thanks": texts.THANKS,
}
YES_NO = {"1": "Yes", "0": "No"}


def check(key: str, prompt: str, help: str) -> QuestionSpec:
    """Yes or no, of each follow-up question."""
    return QuestionSpec(
        key, Kind.CHECKLIST, prompt, help=help, options={**YES_NO, "form": {"over": "follow_up"}}
    )


class ContextValidation(Protocol):
    key = "context_validation"
    label = "Context validation"
    template = "evaluation/protocols/context_validation.html"
    response_counts = (0, 0)
    needed_columns = ("context",)

    def default_questions(self) -> tuple[QuestionSpec, ...]:
        return (
            check("important", "Is the question important?", "Would a good response depend on the answer?"),
            check("realistic", "Are the answers realistic?", "Might people who ask this give each of them?"),
            check("complete", "Is the set complete?", "Does it cover what most people would say?"),
            check("diverse", "Is the set diverse?", "Are the answers clearly different from each other?"),
            QuestionSpec("comments", Kind.TEXT, "Anything that is wrong or missing?", required=False),
        )

    def default_texts(self) -> dict[str, str]:
        return dict(TEXTS)

    def check_item(self, spec: Spec, stimulus: Stimulus) -> list[Problem]:
        return [
            *check_arm(spec, stimulus),
            *check_query(stimulus),
            *check_answer_sets(stimulus),
            *check_no_responses(stimulus),
        ]


def check_no_responses(stimulus: Stimulus) -> list[Problem]:
    found = len(stimulus["responses"])
    return [Problem("responses", "responses", {"wanted": 0, "found": found})] if found else []
