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
    if "documents" not in found and protocol.shows_documents:
        problems.append("The placeholder {documents} is missing, and people are shown the query's documents.")
    if "reference" not in found and settings.with_reference:
        problems.append(
            "The placeholder {reference} is missing, and the judge is to see the human-written reference."
        )
    return problems
