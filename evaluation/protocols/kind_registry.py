"""The kinds of question by key; `evaluation.protocols.kinds` fills it."""

from typing import TYPE_CHECKING

from evaluation.registry import Registry

if TYPE_CHECKING:
    from evaluation.protocols.kinds.base import QuestionKind


def _find_problems(kind: "QuestionKind") -> list[str]:
    return kind.find_missing()


KINDS: "Registry[QuestionKind]" = Registry(
    "question kind",
    {
        "key": "its name in specs, files and the database",
        "storage": "the column that its answers fill: number, label or text",
        "form": "how it is answered on a screen and by a judge",
    },
    check=_find_problems,
)
