"""Answers as judgments hold them packed, made from their rows."""

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter

from django.db import connection, transaction
from django.db.models import F, QuerySet

from evaluation.models import Answer, Judgment, Study
from evaluation.protocols import AnswerValue
from evaluation.protocols.answers.packing import Packed, pack_answers

CHUNK = 10_000


def packed_from_rows(answers: QuerySet[Answer]) -> Iterator[tuple[int, Packed]]:
    """The judgment of each of the answers, by its primary key, and its answers."""
    rows = answers.order_by("judgment_id").values_list(
        "judgment_id", "question", "kind", "part", "number", "label", "text"
    )
    for judgment, given in groupby(rows.iterator(CHUNK), key=itemgetter(0)):
        yield judgment, pack_answers(AnswerValue(*row[1:]) for row in given)


def pack_rows(judgments: QuerySet[Judgment]) -> int:
    """Packs the answers of judgments anew, some at a time, so that people can go on; how many had any."""
    written, last = 0, 0
    update = f"UPDATE {Judgment._meta.db_table} SET answered = %s, labels = %s, numbers = %s WHERE id = %s"  # noqa: S608
    while True:
        with transaction.atomic():
            # Nobody can revise them between reading and writing.
            locked = judgments.filter(pk__gt=last).order_by("pk").select_for_update(no_key=True)
            pks = list(locked.values_list("pk", flat=True)[:CHUNK])
            if not pks:
                return written
            last, known = pks[-1], set(pks)
            found = packed_from_rows(Answer.objects.filter(judgment__gte=pks[0], judgment__lte=last))
            rows = [(*packed, judgment) for judgment, packed in found if judgment in known]
            with connection.cursor() as cursor:
                cursor.executemany(update, rows)
            written += len(rows)


def repack_answers(study: Study) -> int:
    """Packs all answers of a study anew; reports that were computed before are known to be old."""
    packed = pack_rows(study.judgments.all())
    Study.objects.filter(pk=study.pk).update(corrections=F("corrections") + 1)
    return packed
