"""A preference read from log-probabilities.

At the verdict's place, the probabilities of the tokens that are a label (whatever blanks and case they are written
with) are summed per label and divided by their sum. The number is P(r2 is better) plus half of P(tie), the mass of a
tie, or of both being bad, being shared evenly; the presented order is undone first. The label is the most likely one,
or a tie where two share the first place. If the labels together have less than the judge's `label_share`, the model was
about to say something else, and the reply is unparsed.
"""

import math
from collections.abc import Collection, Hashable, Mapping
from typing import Any, TypeVar

from evaluation.protocols import QuestionSpec
from evaluation.protocols.base import TIE
from evaluation.storable import storable
from judging.backends.base import BLANKS, Reply
from judging.parsing.rationale import without_heading
from judging.parsing.rejection import reject, require_complete
from judging.parsing.wrappers import has_thoughts, said_in
from judging.prompting.cells import cells_of
from judging.prompting.settings import Settings
from judging.prompting.view import View
from judging.prompting.wording import TIE_LABELS

Label = TypeVar("Label", bound=Hashable)


def read_label(
    question: QuestionSpec, view: View, settings: Settings, reply: Reply
) -> tuple[dict[str, Any], str]:
    """A preference with the probability that r2 is better, and the rationale."""
    choices = cells_of(question, view, as_labels=True)[0].choices or {}
    masses, rationale = read_masses(choices, settings, reply)
    verdict = _continuous(masses)
    # The number of a graded preference is a grade, which a probability is not.
    return {question.key: verdict["label"] if question.grades else verdict}, rationale


def read_masses(
    choices: Mapping[str, Label], settings: Settings, reply: Reply
) -> tuple[dict[Label, float], str]:
    """The probability of what each label stands for, adding up to one, and the rationale.

    Where the label is asked for alone, its place is the first token and what follows does not matter. With a rationale
    the label must stand alone in its line, the first or the last.
    """
    if settings.rationale != "none":
        require_complete(reply)
    if settings.rationale != "before" and has_thoughts(reply):
        reject("The reply begins with thoughts, so its first token is no verdict.")
    said = said_in(reply)
    if not storable(reply.text).strip().endswith(said):
        reject("The reply ends with thoughts, so its last token is no verdict.")
    rationale = _beside_label(said, choices, settings)
    if not reply.logprobs:
        reject("No log-probabilities came with the reply.")
    place = reply.logprobs[-1 if settings.rationale == "before" else 0]
    return _label_masses(place, choices, settings.label_share), rationale


def _beside_label(text: str, choices: Collection[str], settings: Settings) -> str:
    """The rationale, without the line that is the label."""
    if settings.rationale == "none":
        return ""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    label = lines[-1 if settings.rationale == "before" else 0] if lines else ""
    labels = [line for line in lines if line.casefold() in {each.casefold() for each in choices}]
    if label not in labels or len(labels) > 1:
        reject("No line is the label alone where it was asked for, or several are.")
    return without_heading(lines[:-1] if settings.rationale == "before" else lines[1:])


def _label_masses(
    place: Mapping[str, float], choices: Mapping[str, Label], needed: float
) -> dict[Label, float]:
    """Probability by what a label stands for, adding up to one."""
    stored = {label.casefold(): value for label, value in choices.items()}
    masses = dict.fromkeys(stored.values(), 0.0)
    for token, logprob in place.items():
        label = stored.get(token.strip(BLANKS).casefold())
        if label is None:
            continue
        if not isinstance(logprob, int | float) or not logprob <= 1e-3:  # also refuses NaN
            reject(f"The log-probability {logprob!r} is none.")
        masses[label] += math.exp(logprob)
    total = sum(masses.values())
    if total < needed:
        reject(f"The labels have {total:.2f} of the probability, and {needed:g} is needed.")
    return {label: mass / total for label, mass in masses.items()}


def _continuous(masses: Mapping[str, float]) -> dict[str, Any]:
    most = max(masses.values())
    likeliest = [label for label, mass in masses.items() if mass == most]
    label = likeliest[0] if len(likeliest) == 1 else TIE
    if masses.keys() - TIE_LABELS.keys() != {"r1", "r2"}:  # of three responses or more, none is the other
        return {"label": label}
    tied = sum(masses.get(value, 0.0) for value in TIE_LABELS)
    return {"label": label, "number": min(masses["r2"] + tied / 2, 1.0)}
