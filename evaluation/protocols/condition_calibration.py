"""Condition calibration: drafted condition-answer-citation entries, held against numbered fragments and put right.

CondAmbigQA section 3.3 and appendix B (human and model working on one set, in rounds; three things to verify). A
query's fragments are its documents; a draft is a response whose text is a set (`evaluation.protocols.entries.sets`). An
item has no draft (begin from nothing), one, or several: then each is a calibrator's set, and who judges resolves.
"""

from collections.abc import Callable, Mapping, Sequence

from evaluation.protocols import texts
from evaluation.protocols.answers.gold import compare_all, find_gold_problems
from evaluation.protocols.base import (
    AnswerValue,
    Comparison,
    Data,
    GoldResult,
    Kind,
    Problem,
    QuestionSpec,
    Spec,
    Stimulus,
)
from evaluation.protocols.entries.sets import (
    Decision,
    decisions,
    drafted_entries,
    find_draft_problems,
    fragments_of,
    read_answers,
)
from evaluation.protocols.protocol import Protocol
from evaluation.protocols.requirements.items import check_arm, check_query, check_response_count

ENTRIES = "entries"
MAX_SETS = 6
MAX_FRAGMENTS = 60

TEXTS = {
    "consent": texts.consent(
        "You will read questions that can be understood in several ways, and check what a model has drafted about "
        "them against passages from an encyclopedia."
    ),
    "instructions": (
        "Some questions have several right answers, each under a condition of its own. For each question you see "
        "numbered **fragments** and a set of **entries**: a condition, the answers that hold under it, the fragments "
        "that say so, and the reason.\n\n"
        "1. Read the question and the fragments.\n"
        "2. Go through the entries. Accept an entry that is right, mend one that is not, reject one that nothing "
        "supports, and merge two that mean the same.\n"
        "3. Add what is missing, and cite for each entry the fragments it rests on.\n"
        "4. Put the entries in order, the most likely meaning first, and tick the three checks when they hold.\n\n"
        "Leave blank what the fragments don't say."
    ),
    "guideline": (
        "Use the fragments alone, not what you know besides. A condition is the circumstance under which its answers "
        "are right: a time, a place, a version, a reading of a word. Two entries whose conditions can't be told apart "
        "are one. An answer says no more than the fragments that are cited for it. What the fragments leave open "
        "stays blank, and the reason says so."
    ),
    "thanks": texts.THANKS,
}
CHECKS = {
    "supported": (
        "Each condition is supported",
        "A cited fragment says of every condition that there is such a case.",
    ),
    "true_to_source": (
        "Each answer is true to its source",
        "It says what the cited fragments say, and adds nothing to it.",
    ),
    "covers": (
        "The set covers the main interpretations",
        "Whatever the fragments let the question mean has an entry.",
    ),
}


class ConditionCalibration(Protocol):
    key = "condition_calibration"
    label = "Condition calibration"
    template = "evaluation/protocols/condition_calibration.html"
    shows_documents = True
    drafts_entries = True
    response_counts = (0, MAX_SETS)
    needed_columns = ("document",)

    def default_questions(self) -> tuple[QuestionSpec, ...]:
        labels = {key: label for key, (label, _) in CHECKS.items()}
        meanings = {f"help:{key}": help for key, (_, help) in CHECKS.items()}
        return (
            QuestionSpec(
                ENTRIES,
                Kind.ENTRIES,
                "The entries",
                help="A condition, its answers, the fragments that say so, and why.",
            ),
            QuestionSpec(
                "checks",
                Kind.CHECKLIST,
                "Which statements are true of your set?",
                options={
                    **labels,
                    **meanings,
                    "form": {"over": "choice", "choices": list(CHECKS), "none": True},
                },
            ),
            QuestionSpec("comments", Kind.TEXT, "Any other comments on this question?", required=False),
        )

    def default_texts(self) -> dict[str, str]:
        return dict(TEXTS)

    def check_item(self, spec: Spec, stimulus: Stimulus) -> list[Problem]:
        problems = [
            *check_arm(spec, stimulus),
            *check_query(stimulus),
            *check_response_count(stimulus, *self.response_counts),
            *check_fragments(stimulus),
        ]
        for response in stimulus["responses"]:
            where = f"responses.{response['part']}"
            problems += find_draft_problems(response["text"], fragments_of(stimulus), where)
        return problems

    def advice(self, redundancy: int, fewest_responses: Callable[[], int]) -> list[str]:
        """Two people or more calibrate a query. Of items with several sets one person settles them."""
        if redundancy > 1 or fewest_responses() > 1:
            return []
        return [
            "One calibrator per query: there is nothing to compare, and a resolver would have one set. Ask for two "
            "judgments per item or more."
        ]

    def gold_problems(self, spec: Spec, stimulus: Stimulus, gold: Data) -> list[Problem]:
        """Check the gold's decisions about drafted entries, and the rest as for any question."""
        problems = find_gold_problems(self.questions(spec, stimulus), stimulus, _without_entries(gold))
        if ENTRIES not in gold:
            return problems
        others = [problem for problem in problems if problem.code != "gold_empty"]
        return others + _decision_problems(stimulus, gold[ENTRIES])

    def compare_gold(self, stimulus: Stimulus, gold: Data, answers: Sequence[AnswerValue]) -> GoldResult:
        """Under `entries` the gold has decisions: {"r1.e2": "rejected", "r1.e3": ["edited", "merged"]}."""
        made = decisions(stimulus, read_answers(answers))
        compared = [
            Comparison(ENTRIES, part, tuple(_as_list(wanted)), made.get(part))
            for part, wanted in dict(gold.get(ENTRIES, {})).items()
        ]
        rest = compare_all(_without_entries(gold), answers)
        passed = rest.passed and all(each.correct for each in compared)
        return GoldResult((*compared, *rest.comparisons), passed, rest.note)


def _without_entries(gold: Data) -> Data:
    return {key: value for key, value in gold.items() if key != ENTRIES}


def _decision_problems(stimulus: Stimulus, wanted: object) -> list[Problem]:
    where = f"gold.{ENTRIES}"
    if not isinstance(wanted, Mapping):
        return [Problem("not_a_mapping", where)]
    drafted, choices = drafted_entries(stimulus), ", ".join(Decision)
    problems = [] if wanted else [Problem("gold_empty", "gold")]
    problems += [Problem("unknown_part", where, {"part": part}) for part in wanted if part not in drafted]
    return problems + [
        Problem("not_a_choice", f"{where}.{part}", {"value": value, "choices": choices})
        for part, values in wanted.items()
        for value in _as_list(values)
        if value not in list(Decision)
    ]


def check_fragments(stimulus: Stimulus) -> list[Problem]:
    """Fragments that all have a text: one without is left out on screens, and the numbers would no longer fit."""
    documents = stimulus["query"]["documents"]
    problems = [
        Problem("fragment_empty", "query.documents", {"number": number})
        for number, document in enumerate(documents, 1)
        if not isinstance(document, Mapping)
        or not any(str(document.get(name) or "").strip() for name in ("snippet", "text"))
    ]
    if len(documents) > MAX_FRAGMENTS:
        params = {"found": len(documents), "limit": MAX_FRAGMENTS}
        problems.append(Problem("too_many_fragments", "query.documents", params))
    return problems


def _as_list(value: object) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list | tuple) else [str(value)]
