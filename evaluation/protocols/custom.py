"""A form of one's own: questions of every kind over every part, put together by who makes the study.

Nothing is asked until somebody adds a question. What an item needs is what the study says (`Study.needs`) and what its
questions are about: turns where one is over turns, follow-up questions where one is over those. Where the study has no
guideline of its own, it is written from the questions.
"""

from collections.abc import Mapping
from typing import Any

from evaluation.protocols import texts
from evaluation.protocols.base import Kind, Over, Problem, QuestionSpec, Shown, Spec, Stimulus
from evaluation.protocols.pairwise import pair_problems
from evaluation.protocols.protocol import Protocol
from evaluation.protocols.requirements.items import check_arm
from evaluation.protocols.requirements.needs import (
    MAX_RESPONSES,
    find_needs_problems,
    find_unmet_needs,
    read_needs,
)
from evaluation.protocols.texts import Translate, gettext_noop

TEXTS = {
    "consent": texts.consent(
        "You will read texts that language models wrote, and answer questions about them."
    ),
    "instructions": (
        "1. Read everything on the page to the end.\n"
        "2. Answer each question. What a question means stands below it.\n\n"
        "The order in which responses are shown is arbitrary."
    ),
    # Written from the questions while it is empty.
    "guideline": "",
    "thanks": texts.THANKS,
}
# What a question is about, in a guideline.
EACH = {
    Over.RESPONSE: gettext_noop("of each response"),
    Over.FOLLOW_UP: gettext_noop("of each follow-up question"),
    Over.FOLLOW_UP_RESPONSE: gettext_noop("of each response, for each follow-up question"),
    Over.VALUE: gettext_noop("of each possible answer"),
    Over.TURN: gettext_noop("of each turn"),
    Over.TURN_RESPONSE: gettext_noop("of each response in each turn"),
    Over.CLAIM: gettext_noop("of each claim that a response makes"),
}
HOLD = gettext_noop("Hold everything against the text under “{document}”.")


class Custom(Protocol):
    key = "custom"
    label = "A form of your own"
    template = "evaluation/protocols/custom.html"
    shows_documents = True
    has_needs = True
    response_counts = (0, MAX_RESPONSES)

    def default_questions(self) -> tuple[QuestionSpec, ...]:
        return ()

    def default_texts(self) -> dict[str, str]:
        return dict(TEXTS)

    def compares(self, needs: Mapping[str, Any]) -> bool:
        return read_needs(needs).are_pairs

    def document_name(self, spec: Spec) -> str:
        return read_needs(spec.get("needs") or {}).document

    def spec_problems(self, spec: Spec) -> list[Problem]:
        questions = [QuestionSpec.from_json(data) for data in spec["questions"]]
        problems = super().spec_problems(spec)
        return problems or [*find_needs_problems(spec.get("needs") or {}, questions)]

    def check_item(self, spec: Spec, stimulus: Stimulus) -> list[Problem]:
        if problems := check_arm(spec, stimulus):
            return problems
        needs = read_needs(spec.get("needs") or {})
        problems = find_unmet_needs(needs, spec, self.questions(spec, stimulus), stimulus)
        if needs.are_pairs and not any(problem.code == "responses" for problem in problems):
            problems += pair_problems(stimulus)
        return problems

    def written_guideline(self, spec: Spec, *, with_context: bool, translate: Translate) -> str:
        """The questions as a list, in the order of the form."""
        wanted = (Shown.ALWAYS, Shown.WITH_CONTEXT if with_context else Shown.WITHOUT_CONTEXT)
        questions = [QuestionSpec.from_json(data) for data in spec["questions"] if data["shown"] in wanted]
        document = self.document_name(spec)
        first = translate(HOLD).format(document=document) if document else ""
        asked = "\n".join(_asked(question, translate) for question in questions if question.kind != Kind.TEXT)
        return "\n\n".join(text for text in (first, asked) if text)


def _asked(question: QuestionSpec, translate: Translate) -> str:
    """A question as one line of a list, with what it means."""
    of = f" ({translate(each)})" if (each := EACH.get(question.over)) else ""
    return f"- **{question.prompt}**{of}{' ' if question.help else ''}{question.help}"
