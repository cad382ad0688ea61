"""Problems of a judge's settings, found before it is asked anything."""

from collections.abc import Callable, Sequence
from typing import Any

from evaluation.protocols import Kind, Over, Protocol, QuestionSpec, Shown
from evaluation.protocols.base import Spec
from judging.prompting.questions import is_wanted, wants_labels
from judging.prompting.settings import OWN_PARAMETERS, CannotAsk, Settings
from judging.prompting.template import PLACEHOLDER, needed_of, template_problems


def settings_problems(protocol: Protocol, spec: Spec, settings: Settings) -> list[str]:
    """Reasons why a judge of such settings can't judge a study of this spec, a sentence each."""
    questions = [QuestionSpec.from_json(each) for each in spec["questions"]]
    keys = {question.key for question in questions}
    problems = [f"The study has no question {key!r}." for key in settings.questions if key not in keys]
    problems += problems or _question_problems(
        [each for each in questions if is_wanted(each, settings)], spec, settings
    )
    problems += _last_question_problems(questions, settings)
    problems += _example_problems(spec, settings)
    own = sorted(OWN_PARAMETERS & settings.extra.keys())
    problems += [f"{name} can't be among the further parameters." for name in own]
    if settings.template:
        problems += _template_misses(protocol, spec, settings)
    return list(dict.fromkeys(problems))


def _question_problems(wanted: Sequence[QuestionSpec], spec: Spec, settings: Settings) -> list[str]:
    """Check that these questions can be asked, of items without context and, where an arm shows it, with it."""
    if not wanted:
        return ["The judge is asked no question: name some of the protocol's."]
    if settings.verdict == "logprobs" and all(each.kind != Kind.PREFERENCE for each in wanted):
        return [
            "Log-probabilities are read for preferences, and the judge is asked none: take the verdict from the text."
        ]
    problems = []
    shows_context = any(arm["context_at_judging"] for arm in spec["arms"])
    for shown in (Shown.WITH_CONTEXT, Shown.WITHOUT_CONTEXT) if shows_context else (Shown.WITHOUT_CONTEXT,):
        together = [each for each in wanted if each.shown in (Shown.ALWAYS, shown)]
        problems.append(_refusal(wants_labels, together, settings))
    return [problem for problem in problems if problem]


def _last_question_problems(questions: Sequence[QuestionSpec], settings: Settings) -> list[str]:
    """Check that the question to be asked last is asked at all, and in a call of its own after others."""
    last = settings.last_question
    if not last:
        return []
    asked = [each.key for each in questions if is_wanted(each, settings)]
    if last not in asked:
        return [f"The judge is to ask {last!r} last, and it is not asked that at all."]
    if asked == [last]:
        return [f"The judge is to ask {last!r} last, and it is asked nothing else."]
    if not settings.one_call_per_question:
        return [f"The judge is to ask {last!r} last: choose one call per question."]
    return []


def _example_problems(spec: Spec, settings: Settings) -> list[str]:
    """Check that every arm has as many worked examples as its items are to be judged by."""
    wanted = settings.demonstrations
    problems = []
    for arm in spec["arms"]:
        there = len(settings.examples.get(arm["key"], ()))
        if there < wanted:
            note = ", with a note as the reasons," if settings.rationale != "none" else ""
            problems.append(
                f"The judge is to be shown {wanted} worked examples, and {arm['key']} has {there} training "
                f"item{'' if there == 1 else 's'} whose gold{note} answers everything that it is asked."
            )
    return problems


def _refusal(check: Callable[..., object], *given: Any) -> str:
    try:
        check(*given)
    except CannotAsk as cannot:
        return str(cannot)
    return ""


def _template_misses(protocol: Protocol, spec: Spec, settings: Settings) -> list[str]:
    """The template's problems, and placeholders that this study or this judge needs besides."""
    found = {match[1] for match in PLACEHOLDER.finditer(settings.template)}
    overs = {QuestionSpec.from_json(each).over for each in spec["questions"] if each["kind"] != Kind.TEXT}
    problems = template_problems(settings.template, needed_of(overs != {Over.FOLLOW_UP}))
    if "context" not in found and any(arm["context_at_judging"] for arm in spec["arms"]):
        problems.append(
            "The placeholder {context} is missing, and the study has an arm that shows the context."
        )
    elif "context" not in found and overs & {Over.FOLLOW_UP, Over.VALUE}:
        problems.append("The placeholder {context} is missing, and the study asks about what stands there.")
    if "documents" not in found and settings.documents:
        problems.append("The placeholder {documents} is missing, and the judge is to be shown documents.")
    elif "documents" not in found and settings.documents is None and protocol.shows_documents:
        problems.append("The placeholder {documents} is missing, and people are shown the query's documents.")
    if "examples" not in found and settings.demonstrations:
        problems.append(
            "The placeholder {examples} is missing, and the judge is to be shown worked examples."
        )
    if "own_answers" not in found and settings.last_question:
        problems.append(
            "The placeholder {own_answers} is missing, and the last question is asked from the judge's other answers."
        )
    if "reference" not in found and settings.with_reference:
        problems.append(
            "The placeholder {reference} is missing, and the judge is to see the human-written reference."
        )
    return problems
