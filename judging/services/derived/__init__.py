"""Judges that are made of other raters' judgments: how each kind of them judges.

One more is a `Derived` in `judging.backends`, and a `JudgmentDerivation` of the same key here, with its line in the
registry.
"""

from evaluation.registry import Registry
from judging.models import Judge
from judging.services.derived.base import JudgmentDerivation
from judging.services.derived.by_measure import MeasureDerivation
from judging.services.derived.composite import CompositeDerivation
from judging.services.derived.weighted import WeightedDerivation

DERIVATIONS: Registry[JudgmentDerivation] = Registry(
    "derivation",
    {"key": "the backend whose judges derive so"},
    (CompositeDerivation(), WeightedDerivation(), MeasureDerivation()),
)


def derivation_of(judge: Judge) -> JudgmentDerivation | None:
    """The way in which the judge derives its judgments; None of one that asks a model or reads the texts itself."""
    return DERIVATIONS.get(judge.backend)
