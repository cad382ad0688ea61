"""The questions of a protocol that a judge is asked, and their division into calls."""

from collections.abc import Sequence

from evaluation.protocols import Kind, Over, Protocol, QuestionSpec
from evaluation.protocols.base import Spec, Stimulus
from judging.prompting.settings import CannotAsk, Settings


def asked_questions(
    protocol: Protocol, spec: Spec, stimulus: Stimulus, settings: Settings, step: str = ""
) -> tuple[QuestionSpec, ...]:
    """The questions of this stimulus's arm that the judge answers in this step."""
    wanted = [each for each in protocol.questions(spec, stimulus) if is_wanted(each, settings)]
    if step:
        wanted = [question for question in wanted if question.key == step]
    return tuple(wanted)


def is_wanted(question: QuestionSpec, settings: Settings) -> bool:
    """True if the judge is asked this question where an arm asks it."""
    if settings.questions:
        return question.key in settings.questions
    return question.kind != Kind.TEXT


def steps(protocol: Protocol, spec: Spec, stimulus: Stimulus, settings: Settings) -> tuple[str, ...]:
    """The steps of one judgment: ('',) for the whole form in one call, otherwise a question's key each.

    () where the stimulus's arm asks none of the judge's questions: then there is nothing to judge.
    """
    questions = asked_questions(protocol, spec, stimulus, settings)
    if not settings.one_call_per_question:
        return ("",) if questions else ()
    keys = [question.key for question in questions]
    return tuple(sorted(keys, key=lambda key: key == settings.last_question))


def wants_labels(questions: Sequence[QuestionSpec], settings: Settings) -> bool:
    """True if this step's reply is one label whose log-probabilities are the verdict.

    With one call per question, questions of other kinds are asked in words all the same.
    """
    if settings.verdict != "logprobs" or not questions:
        return False
    if [(question.kind, question.over) for question in questions] == [(Kind.PREFERENCE, Over.ITEM)]:
        return True
    if settings.one_call_per_question:
        return False
    keys = ", ".join(question.key for question in questions)
    raise CannotAsk(
        f"Log-probabilities are read for a preference alone, and this judge is asked {keys} in one call. "
        "Choose the preference about the whole item, or one call per question."
    )
