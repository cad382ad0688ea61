"""The kinds of question by key. Adding one: a module here with a subclass of `QuestionKind`, its instance below."""

from evaluation.protocols.kinds.base import BadValue, QuestionKind
from evaluation.protocols.kinds.checklist import Checklist
from evaluation.protocols.kinds.choice import Choice
from evaluation.protocols.kinds.entries import Entries
from evaluation.protocols.kinds.preference import Preference
from evaluation.protocols.kinds.ranking import Ranking
from evaluation.protocols.kinds.scale import Scale
from evaluation.protocols.kinds.text import Text
from evaluation.registry import Registry

__all__ = ["KINDS", "BadValue", "QuestionKind"]

KINDS: Registry[QuestionKind] = Registry(
    "question kind",
    {
        "key": "its name in specs, files and the database",
        "storage": "the column that its answers fill: number, label or text",
        "form": "how it is answered on a screen and by a judge",
    },
    (Preference(), Scale(), Checklist(), Ranking(), Choice(), Text(), Entries()),
    check=QuestionKind.find_missing,
)
