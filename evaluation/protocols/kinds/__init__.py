"""The kinds of question by key. Adding one: a module here with a subclass of `QuestionKind`, its instance below."""

from evaluation.protocols.kinds.base import BadValue, QuestionKind
from evaluation.protocols.kinds.checklist import ChecklistKind
from evaluation.protocols.kinds.choice import ChoiceKind
from evaluation.protocols.kinds.entries import EntriesKind
from evaluation.protocols.kinds.preference import PreferenceKind
from evaluation.protocols.kinds.ranking import RankingKind
from evaluation.protocols.kinds.scale import ScaleKind
from evaluation.protocols.kinds.text import TextKind
from evaluation.registry import Registry

__all__ = ["KINDS", "BadValue", "QuestionKind"]

KINDS: Registry[QuestionKind] = Registry(
    "question kind",
    {
        "key": "its name in specs, files and the database",
        "storage": "the column that its answers fill: number, label or text",
        "form": "how it is answered on a screen and by a judge",
    },
    (PreferenceKind(), ScaleKind(), ChecklistKind(), RankingKind(), ChoiceKind(), TextKind(), EntriesKind()),
    check=QuestionKind.find_missing,
)
