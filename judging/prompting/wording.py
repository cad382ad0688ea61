"""Instructions for each kind of question, in a sentence and in the study's own words."""

from collections.abc import Iterable, Mapping

from evaluation.protocols import Over, QuestionSpec
from evaluation.protocols.base import BOTH_BAD, TIE
from evaluation.protocols.kinds import KINDS
from judging.prompting.view import View

WHERE = {
    Over.ITEM: "",
    Over.RESPONSE: "For each response, ",
    Over.FOLLOW_UP: "For each follow-up question, ",
    Over.FOLLOW_UP_RESPONSE: "For each follow-up question and each response, ",
    Over.VALUE: "For each value of each attribute, ",
    Over.TURN: "For each turn, ",
    Over.TURN_RESPONSE: "For each turn and each response, ",
    Over.CLAIM: "For each claim of each response, ",
}


def listed(names: Iterable[str]) -> str:
    """1, 2 or tie."""
    *most, last = names
    return f"{', '.join(most)} or {last}" if most else last


def point_text(point: float) -> str:
    """A point of a scale as it is said: without the noise of adding up fractions."""
    return f"{point:.10g}"


# What each distance from a tie is called where the study does not say, by the farthest.
DISTANCES = {2: ("slightly better", "much better"), 3: ("slightly better", "better", "much better")}


# What a reply calls the answers that prefer no response, and as labels: a letter alone is one token in every
# tokeniser, as digits are.
TIE_NAMES = {TIE: "tie", BOTH_BAD: "bad"}
TIE_LABELS = {TIE: "T", BOTH_BAD: "B"}


def preference_how(question: QuestionSpec, view: View, ties: Mapping[str, str] = TIE_NAMES) -> str:
    if question.grades and ties is TIE_NAMES:
        return _graded_how(question)
    says = [f"{number} for Response {number}" for number in range(1, len(view.order) + 1)]
    says += [f"{ties[value]} for “{tie_words(question, value)}”" for value in question.tie_values]
    if len(says) > 1:
        says[-1] = f"or {says[-1]}"
    meanings = [(ties[value], question.about(value)) for value in question.tie_values]
    return _with_meanings(_begun(question, f"answer {', '.join(says)}."), meanings)


def tie_words(question: QuestionSpec, value: str) -> str:
    """The study's words for an answer that prefers no response, or those of the form."""
    told_apart = "Both are good" if question.tells_both_bad else "Tie"
    return question.label(value) or ("Both are bad" if value == BOTH_BAD else told_apart)


def label_meaning(question: QuestionSpec) -> str:
    """A clause on the labels that stand for no response."""
    said = {(): "", (TIE,): f"{TIE_LABELS[TIE]} stands for a tie"}
    both = f"{TIE_LABELS[TIE]} says that both are good and {TIE_LABELS[BOTH_BAD]} that both are bad"
    return said.get(question.tie_values, both)


def _graded_how(question: QuestionSpec) -> str:
    """The points from one response to the other; whichever is shown first, the words are of its distance."""
    grades = question.grades
    lines = [(str(number), _grade_said(question, grade)) for number, grade in enumerate(grades, 1)]
    sentence = f"answer with one of the points {listed(name for name, _ in lines)}:"
    return _with_meanings(_begun(question, sentence), lines)


def _grade_said(question: QuestionSpec, place: int) -> str:
    if not place:
        return tie_words(question, TIE)
    words = question.label(abs(place)) or DISTANCES[question.grades[-1]][abs(place) - 1]
    return f"Response {1 if place < 0 else 2} is {words}"


def scale_how(question: QuestionSpec, view: View) -> str:
    offered = KINDS[question.kind].offers(question)
    points = [point_text(point) for point in offered]
    lines = [(text, _worded(question, point)) for text, point in zip(points, offered, strict=True)]
    sentence = _begun(question, f"answer with one of the points {listed(points)}")
    return _with_meanings(sentence, lines, end=":" if any(said for _, said in lines) else ".")


def checklist_how(question: QuestionSpec, view: View) -> str:
    if question.over == Over.CHOICE:
        tags = [(choice, _worded(question, choice) or choice) for choice in question.choices]
        return _with_meanings("Answer yes for each of these that holds and no for each that does not:", tags)
    if question.is_flag:
        return "Answer yes if this is so and no if it is not."
    yes, no = question.label(1) or "Yes", question.label(0) or "No"
    sentence = _begun(question, f"answer yes for “{yes}” or no for “{no}”.")
    return _with_meanings(sentence, [("yes", question.about(1)), ("no", question.about(0))])


def choice_how(question: QuestionSpec, view: View) -> str:
    offered = KINDS[question.kind].offers(question)
    choices = [(choice, _worded(question, choice) or choice) for choice in offered]
    return _with_meanings(_begun(question, "answer with one of these:"), choices)


def ranking_how(question: QuestionSpec, view: View) -> str:
    equals = "equal ones may share a place" if question.ties else "give each place once"
    return (
        f"For each response, answer with its place in the order, from 1 for the first to {len(view.order)} for the "
        f"last; {equals}."
    )


def text_how(question: QuestionSpec, view: View) -> str:
    return _begun(question, "answer in one line of text.")


# Under which name an entry says which drafted ones it came from.
ORIGINS_FIELD = "from"


def entries_how(question: QuestionSpec, view: View) -> str:
    said = [
        ("condition", "under which reading or in which circumstances its answers hold"),
        ("answers", "a list of the answers that hold then, each in one line"),
        ("citations", "a list of the numbers of the documents that say so; what is quoted from elsewhere stands there "
         "as an object with title and text"),
        ("reason", "how the answers follow from what is cited, and why anything is left blank"),
    ]  # fmt: skip
    if view.order:
        said.append((
            ORIGINS_FIELD,
            'a list of the drafted entries that it came from, as "2.1" for entry 1 of Response 2; several where you '
            "merged them, none where you added it",
        ))  # fmt: skip
    left_out = " A drafted entry that no entry came from is rejected." if view.order else ""
    sentence = f"Answer with the whole set as you settle it: a list of entries in their order.{left_out}"
    return _with_meanings(f"{sentence} Each entry has:", said)


def _begun(question: QuestionSpec, sentence: str) -> str:
    where = WHERE.get(question.over, "")
    return where + sentence if where else sentence[0].upper() + sentence[1:]


def value_lines(question: QuestionSpec, points: Iterable[str]) -> list[str]:
    """A line for each of these points of a scale that has a label or a meaning."""
    worded = ((text, _worded(question, float(text))) for text in points)
    return [f"- {text}: {said}" for text, said in worded if said]


def _worded(question: QuestionSpec, value: object) -> str:
    """A value's label and what it means."""
    label, about = question.label(value), question.about(value)
    return f"{label} ({about})" if label and about else label or about


def _with_meanings(sentence: str, lines: Iterable[tuple[str, str]], *, end: str = "") -> str:
    return "\n".join([sentence + end, *(f"- {name}: {said}" for name, said in lines if said)])
