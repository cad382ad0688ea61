"""Scales that revisions of a study ask in two directions: answers in the one are in no figure of the other."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from analytics.frames.rows import Asked, StudyRows, places
from analytics.statistics.core.tidy import Ints
from evaluation.database.columns import ColumnType, read_columns
from evaluation.models import Judgment, Revision
from evaluation.protocols import Kind, QuestionSpec


@dataclass(frozen=True)
class Directed:
    """A question as the revisions with these primary keys ask it; None stands for all of them."""

    question: QuestionSpec
    key: str
    revisions: tuple[int, ...] | None = None


def directed_questions(revisions: Sequence[Revision]) -> list[Directed]:
    """The questions of the latest revision (the last one), and behind each the same one of another direction."""
    by_key: list[dict[str, QuestionSpec]] = [
        {question.key: question for question in map(QuestionSpec.from_json, revision.spec["questions"])}
        for revision in revisions
    ]
    found: list[Directed] = []
    for key, question in by_key[-1].items():
        asked: dict[str, list[int]] = {}
        for revision, questions in zip(revisions, by_key, strict=True):
            if key in questions:
                asked.setdefault(questions[key].direction, []).append(revision.pk)
        if question.kind != Kind.SCALE or len(asked) == 1:
            found.append(Directed(question, key))
            continue
        for direction in sorted(asked, key=lambda each: each != question.direction):
            latest = next(
                each[key] for each in reversed(by_key) if each.get(key, question).direction == direction
            )
            found.append(_named(latest, key, tuple(asked[direction]), is_latest=latest is question))
    return found


def _named(question: QuestionSpec, key: str, revisions: tuple[int, ...], *, is_latest: bool) -> Directed:
    """Under a name that says which direction it is; no key of a question has a dot."""
    direction = f"{question.direction} is better" if question.direction else "with an ideal"
    return Directed(
        replace(
            question,
            key=key if is_latest else f"{key}.{question.direction or 'ideal'}",
            prompt=f"{question.prompt} ({direction})",
        ),
        key,
        revisions,
    )


def by_direction(
    rows: StudyRows, directed: Iterable[Directed], asked: Mapping[str, Asked]
) -> dict[str, Asked]:
    """The answers, read by the questions' own keys, under the directed questions' keys."""
    directed = [each for each in directed if each.key in asked]
    if all(each.revisions is None for each in directed):
        return dict(asked)
    revision = _revisions(rows)
    found: dict[str, Asked] = {}
    for each in directed:
        answers = asked[each.key]
        if each.revisions is not None:
            mine = np.isin(revision[answers.judgment], each.revisions)
            answers = replace(answers.where(mine), question=each.question)
        found[each.question.key] = answers
    return found


def _revisions(rows: StudyRows) -> Ints:
    """The revision of each judgment."""
    table = read_columns(
        Judgment.objects.filter(rows.counting()).order_by("pk"),
        {"pk": ColumnType.WHOLE, "revision_id": ColumnType.WHOLE},
    )
    place, known = places(table.array("pk"), rows.judgment_pks)
    return np.where(known, table.array("revision_id")[place], -1)
