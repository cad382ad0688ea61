"""Pairwise comparison, in its two forms: without context, and with up to ten follow-up questions and answers.

ContextEval sections 4.1 and 4.3 and appendix A (two forms, follow-up checklist, justification), HREF section 2.1.2
(ties allowed). One protocol; the arm picks the questions.
"""

from collections.abc import Mapping, Sequence

from evaluation.protocols import texts
from evaluation.protocols.answers.gold import given_value
from evaluation.protocols.answers.parts import checklist_parts
from evaluation.protocols.answers.values import clean_value
from evaluation.protocols.base import (
    AnswerValue,
    Comparison,
    Data,
    GoldResult,
    Kind,
    Problem,
    QuestionSpec,
    Shown,
    Spec,
    Stimulus,
    arm_of,
    option_key,
    sees_context,
)
from evaluation.protocols.protocol import Protocol
from evaluation.protocols.requirements.items import MAX_FOLLOW_UPS, check_query, check_response_count
from evaluation.protocols.requirements.questions import SHORT_TEXT

TEXTS = {
    "consent": (
        "You are invited to take part in a study on the quality of answers that language models write. You will read "
        "questions that people asked, compare two answers to each, and say which one you find better, and why.\n\n"
        "Taking part is voluntary. You can stop at any time with **Withdraw**, which is on every page. We keep your "
        "judgments, the reasons you give and how long you took, under a random code; we do not store your IP address."
    ),
    "instructions": (
        "For each question you see two answers, **Response 1** and **Response 2**.\n\n"
        "1. Read the question and both answers to the end.\n"
        "2. Choose the better answer, or say that neither is better.\n"
        "3. Say in two or three sentences why.\n\n"
        "The order of the answers is arbitrary. You may skip a topic you don't know."
    ),
    "guideline": (
        "Judge how well each response serves the person who asked. Prefer the response that is correct, relevant, "
        "complete enough and easy to use. Length and formatting count only as far as they help that person. "
        "If neither response is better, say so, whether both are good or both are bad."
    ),
    "guideline_context": (
        "The person also answered follow-up questions. For each of them, say whether a response takes the answer into "
        "account; be critical, and ask whether this person would find the response useful given that answer. Base "
        "your overall preference on how many answers a response takes into account and on how well it serves the "
        "question as a whole."
    ),
    "thanks": texts.THANKS,
}


class Pairwise(Protocol):
    key = "pairwise"
    label = "Pairwise comparison"
    compares_pairs = True
    response_counts = (2, 2)

    def default_questions(self) -> tuple[QuestionSpec, ...]:
        return (
            QuestionSpec(
                "satisfied",
                Kind.CHECKLIST,
                "Does each response take the person's answers into account?",
                shown=Shown.WITH_CONTEXT,
                options={"1": "Yes", "0": "No"},
            ),
            QuestionSpec(
                "preference",
                Kind.PREFERENCE,
                "Which response is better overall?",
                options={"tie": "Tie"},
            ),
            QuestionSpec(
                "justification",
                Kind.TEXT,
                "Why?",
                help="Two or three sentences; we cannot use a judgment without them.",
                options={"form": {"least": SHORT_TEXT}},
            ),
        )

    def default_texts(self) -> dict[str, str]:
        return dict(TEXTS)

    def check_item(self, spec: Spec, stimulus: Stimulus) -> list[Problem]:
        return [*check_query(stimulus), *pair_problems(stimulus), *self._check_context(spec, stimulus)]

    def _check_context(self, spec: Spec, stimulus: Stimulus) -> list[Problem]:
        try:
            arm = arm_of(spec, stimulus["arm"])
        except KeyError:
            return [Problem("unknown_arm", "arm", {"arm": stimulus["arm"]})]
        if not arm["context_at_judging"]:
            return []
        follow_ups = stimulus["context"]["follow_ups"] if stimulus["context"] else []
        if not follow_ups:
            return [Problem("context_missing", "context", {"arm": arm["key"]})]
        problems = [
            Problem("follow_up_unanswered", "context", {"number": number})
            for number, follow_up in enumerate(follow_ups, 1)
            if not follow_up["answer"]
        ]
        if len(follow_ups) > MAX_FOLLOW_UPS:
            params = {"found": len(follow_ups), "limit": MAX_FOLLOW_UPS}
            problems.append(Problem("too_many_follow_ups", "context", params))
        return problems

    def gold_problems(self, spec: Spec, stimulus: Stimulus, gold: Data) -> list[Problem]:
        problems = [
            Problem("unknown_question", f"gold.{key}")
            for key in gold
            if key not in ("preference", "satisfied", "note")
        ]
        problems += [
            Problem(problem.code, "gold.preference", problem.params)
            for question in self.questions(spec, stimulus)
            if question.key == "preference"
            for value in _as_list(gold.get("preference", []))
            for problem in clean_value(question, stimulus, value, "import")[1]
        ]
        if not _names_preference(gold) and not gold.get("satisfied"):
            problems.append(Problem("gold_empty", "gold"))
        cells = checklist_parts(stimulus) if sees_context(spec, stimulus) else []
        satisfied = gold.get("satisfied", {})
        if not isinstance(satisfied, Mapping):
            return [*problems, Problem("not_a_mapping", "gold.satisfied")]
        for part, value in satisfied.items():
            if part not in cells:
                problems.append(Problem("unknown_part", "gold.satisfied", {"part": part}))
            elif value not in (0, 1):
                problems.append(
                    Problem("not_a_choice", f"gold.satisfied.{part}", {"value": value, "choices": "0, 1"})
                )
        return problems

    def compare_gold(self, stimulus: Stimulus, gold: Data, answers: Sequence[AnswerValue]) -> GoldResult:
        """The preference decides; where the gold has none, every checked cell must agree.

        Cells are compared all the same, because the feedback in training shows them.
        """
        given = {(answer.question, answer.part): answer for answer in answers}
        comparisons = []
        if _names_preference(gold):
            accepted = tuple(_as_list(gold["preference"]))
            value = given_value(given.get(("preference", "")), accepted)
            comparisons.append(Comparison("preference", "", accepted, value))
        for part, value in dict(gold.get("satisfied", {})).items():
            answer = given.get(("satisfied", part))
            number = None if answer is None or answer.number is None else str(int(answer.number))
            comparisons.append(Comparison("satisfied", part, (str(int(value)),), number))
        decisive = [each for each in comparisons if each.question == "preference"] or comparisons
        return GoldResult(
            tuple(comparisons), all(each.correct for each in decisive), str(gold.get("note", ""))
        )


def pair_problems(stimulus: Stimulus) -> list[Problem]:
    """Problems of items without two responses by different systems."""
    problems = check_response_count(stimulus, 2, 2)
    systems = [response["system"] for response in stimulus["responses"]]
    if not problems and systems[0] == systems[1]:
        problems.append(Problem("same_system", "responses", {"system": systems[0]}))
    return problems


def _names_preference(gold: Data) -> bool:
    """True if the gold names a preference; a tie may be the grade 0."""
    return gold.get("preference") not in (None, "", [])


def _as_list(value: object) -> list[str]:
    return [option_key(each) for each in value] if isinstance(value, list | tuple) else [option_key(value)]
