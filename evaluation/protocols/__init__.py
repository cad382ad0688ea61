"""The protocols by key. Adding one: a module here, its instance in this table, at most one template."""

from evaluation.protocols.answer_pairs import AnswerPairs
from evaluation.protocols.aspects import Aspects
from evaluation.protocols.base import (
    AnswersInvalid,
    AnswerValue,
    Comparison,
    GoldResult,
    Kind,
    Over,
    Problem,
    QuestionSpec,
    Shown,
)
from evaluation.protocols.condition_calibration import ConditionCalibration
from evaluation.protocols.context_validation import ContextValidation
from evaluation.protocols.custom import Custom
from evaluation.protocols.justification_coding import JustificationCoding
from evaluation.protocols.pairwise import Pairwise
from evaluation.protocols.protocol import Protocol
from evaluation.protocols.question_quality import QuestionQuality
from evaluation.protocols.ranking import Ranking
from evaluation.protocols.relevance import Relevance
from evaluation.registry import Registry

__all__ = [
    "PROTOCOLS",
    "AnswerValue",
    "AnswersInvalid",
    "Comparison",
    "GoldResult",
    "Kind",
    "Over",
    "Problem",
    "Protocol",
    "QuestionSpec",
    "Shown",
    "get_protocol",
]

PROTOCOLS: Registry[Protocol] = Registry(
    "protocol",
    {
        "key": "its name in files, commands and the database",
        "label": "its name where a study is begun",
        "default_questions": "the questions that a new study begins with",
        "default_texts": "the texts that a new study begins with",
        "check_item": "the check of an item that is imported or launched",
    },
    (
        Pairwise(),
        Aspects(),
        Ranking(),
        ContextValidation(),
        Relevance(),
        AnswerPairs(),
        QuestionQuality(),
        ConditionCalibration(),
        JustificationCoding(),
        Custom(),
    ),
)


def get_protocol(key: str) -> Protocol:
    """The protocol of that key; KeyError names the known ones."""
    return PROTOCOLS[key]
