"""Answers as judgments hold them packed, made from their rows."""

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.db import connection
from django.db.models import QuerySet

from evaluation.protocols import AnswerValue
from evaluation.protocols.answers.packing import Packed, pack_answers

CHUNK = 10_000


def packed_from_rows(answers: QuerySet[Any]) -> Iterator[tuple[int, Packed]]:
    """The judgment of each of the answers, by its primary key, and its answers."""
    rows = answers.order_by("judgment_id").values_list(
        "judgment_id", "question", "kind", "part", "number", "label", "text"
    )
    for judgment, given in groupby(rows.iterator(CHUNK), key=itemgetter(0)):
        yield judgment, pack_answers(AnswerValue(*row[1:]) for row in given)


def pack_rows(answers: QuerySet[Any]) -> None:
    """Packs answers that were written past `record_judgments`, in all judgments that they are in."""
    judgments = answers.model._meta.get_field("judgment").related_model._meta.db_table
    update = f"UPDATE {judgments} SET slots = %s, labels = %s, numbers = %s WHERE id = %s"  # noqa: S608 - a table's name
    packed = ((*each, judgment) for judgment, each in packed_from_rows(answers))
    with connection.cursor() as cursor:
        while rows := [row for _, row in zip(range(CHUNK), packed, strict=False)]:
            cursor.executemany(update, rows)
