"""Relevance by attribute value: how well one response suits people of whom something is known.

ContextEval section 6: a default response rated for every value of a contextual attribute, which shows whom it has in
mind; section 7: a response adapted to one value, rated for that one. An attribute is a follow-up question of the
item's context, its values are the answer set; where an answer is chosen, the item is of the second shape.
A study begins with the paper's attributes, which its researchers edit; an item names one by its key, or brings its own.
"""

from evaluation.protocols import texts
from evaluation.protocols.attributes import ATTRIBUTES, AttributeSpec
from evaluation.protocols.base import Kind, Problem, QuestionSpec, Spec, Stimulus
from evaluation.protocols.protocol import Protocol
from evaluation.protocols.requirements.items import (
    check_answer_sets,
    check_arm,
    check_query,
    check_response_count,
)

TEXTS = {
    "consent": texts.consent(
        "You will read questions that people asked, with a response to each, and say how well the response would suit "
        "different people who might have asked."
    ),
    "instructions": (
        "For each question you see one response, and below it something that may be true of the person who asked.\n\n"
        "1. Read the question and the response to the end.\n"
        "2. For each line, imagine that the person who asked is like that.\n"
        "3. Say how well the response would suit that person, from 1 to 5.\n\n"
        "The same response may suit one person well and another badly; it may also suit all of them alike."
    ),
    "guideline": (
        "A response suits a person if it is correct and useful for them in particular: at their level, about what "
        "they can do where they are, and within their means and wishes. Do not rate how good the response is in "
        "general."
    ),
    "thanks": texts.THANKS,
}
LABELS = {"1": "Not at all", "2": "A little", "3": "Somewhat", "4": "Well", "5": "Very well"}


class Relevance(Protocol):
    key = "relevance"
    label = "Relevance by attribute value"
    template = "evaluation/protocols/relevance.html"
    has_attributes = True
    response_counts = (1, 1)
    needed_columns = ("attributes",)

    def default_questions(self) -> tuple[QuestionSpec, ...]:
        return (
            QuestionSpec(
                "relevance",
                Kind.SCALE,
                "How well would the response suit this person?",
                options={**LABELS, "form": {"over": "value", "low": 1, "high": 5}},
            ),
            QuestionSpec("comments", Kind.TEXT, "Any other comments?", required=False),
        )

    def default_texts(self) -> dict[str, str]:
        return dict(TEXTS)

    def default_attributes(self) -> tuple[AttributeSpec, ...]:
        return tuple(ATTRIBUTES.values())

    def check_item(self, spec: Spec, stimulus: Stimulus) -> list[Problem]:
        return [
            *check_arm(spec, stimulus),
            *check_query(stimulus),
            *check_response_count(stimulus, *self.response_counts),
            *check_answer_sets(stimulus),
            *_chosen_problems(stimulus),
        ]


def _chosen_problems(stimulus: Stimulus) -> list[Problem]:
    """Problems of chosen answers that are not in their set, which would leave nothing to rate."""
    follow_ups = stimulus["context"]["follow_ups"] if stimulus["context"] else []
    return [
        Problem("answer_not_in_set", "context", {"number": number})
        for number, follow_up in enumerate(follow_ups, 1)
        if follow_up["answer"] and follow_up["answers"] and follow_up["answer"] not in follow_up["answers"]
    ]
