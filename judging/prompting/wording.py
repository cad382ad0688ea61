"""How each kind of question is to be answered, in a sentence and in the study's own words."""

from collections.abc import Iterable

from evaluation.protocols import Over, Question
from judging.prompting.view import View

WHERE = {
    Over.ITEM: "",
    Over.RESPONSE: "For each response, ",
    Over.FOLLOW_UP: "For each follow-up question, ",
    Over.FOLLOW_UP_RESPONSE: "For each follow-up question and each response, ",
    Over.VALUE: "For each value of each attribute, ",
}


def listed(names: Iterable[str]) -> str:
    """1, 2 or tie."""
    *most, last = names
    return f"{', '.join(most)} or {last}" if most else last


def point_text(point: float) -> str:
    """A point of a scale as it is said: without the noise of adding up fractions."""
    return f"{point:.10g}"


def preference_how(question: Question, view: View, tie: str = "tie") -> str:
    says = [f"{number} for Response {number}" for number in range(1, len(view.order) + 1)]
    if question.ties:
        says.append(f"{tie} for “{question.label('tie') or 'Tie'}”")
    if len(says) > 1:
        says[-1] = f"or {says[-1]}"
    return _with_meanings(f"Answer {', '.join(says)}.", [(tie, question.about("tie"))])


def scale_how(question: Question, view: View) -> str:
    points = [point_text(point) for point in question.points]
    lines = [(text, _worded(question, point)) for text, point in zip(points, question.points, strict=True)]
    sentence = _begun(question, f"answer with one of the points {listed(points)}")
    return _with_meanings(sentence, lines, end=":" if any(said for _, said in lines) else ".")


def checklist_how(question: Question, view: View) -> str:
    if question.over == Over.CHOICE:
        tags = [(choice, _worded(question, choice) or choice) for choice in question.choices]
        return _with_meanings("Answer yes for each of these that holds and no for each that does not:", tags)
    if question.is_flag:
        return "Answer yes if this is so and no if it is not."
    yes, no = question.label(1) or "Yes", question.label(0) or "No"
    sentence = _begun(question, f"answer yes for “{yes}” or no for “{no}”.")
    return _with_meanings(sentence, [("yes", question.about(1)), ("no", question.about(0))])


def choice_how(question: Question, view: View) -> str:
    choices = [(choice, _worded(question, choice) or choice) for choice in question.choices]
    return _with_meanings("Answer with one of these:", choices)


def ranking_how(question: Question, view: View) -> str:
    equals = "equal ones may share a place" if question.ties else "give each place once"
    return (
        f"For each response, answer with its place in the order, from 1 for the first to {len(view.order)} for the "
        f"last; {equals}."
    )


def text_how(question: Question, view: View) -> str:
    return "Answer in one line of text."


def _begun(question: Question, sentence: str) -> str:
    where = WHERE.get(question.over, "")
    return where + sentence if where else sentence[0].upper() + sentence[1:]


def _worded(question: Question, value: object) -> str:
    """A value's label and what it means."""
    label, about = question.label(value), question.about(value)
    return f"{label} ({about})" if label and about else label or about


def _with_meanings(sentence: str, lines: Iterable[tuple[str, str]], *, end: str = "") -> str:
    return "\n".join([sentence + end, *(f"- {name}: {said}" for name, said in lines if said)])
