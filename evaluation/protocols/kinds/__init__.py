"""The kinds of question. One more is a module here with a subclass of `QuestionKind`, and its line below."""

from evaluation.protocols.kind_registry import KINDS
from evaluation.protocols.kinds.base import BadValue, QuestionKind
from evaluation.protocols.kinds.checklist import Checklist
from evaluation.protocols.kinds.choice import Choice
from evaluation.protocols.kinds.entries import Entries
from evaluation.protocols.kinds.preference import Preference
from evaluation.protocols.kinds.ranking import Ranking
from evaluation.protocols.kinds.scale import Scale
from evaluation.protocols.kinds.text import Text

__all__ = ["KINDS", "BadValue", "QuestionKind", "kind_of"]

for _kind in (Preference(), Scale(), Checklist(), Ranking(), Choice(), Text(), Entries()):
    KINDS.register(_kind)
