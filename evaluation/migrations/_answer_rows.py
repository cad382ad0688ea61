"""Answers as the version before stored them, a row each, to where they are stored now."""

from itertools import groupby
from operator import itemgetter
from typing import Any

from django.db import connections, transaction

from evaluation.protocols import AnswerValue
from evaluation.protocols.answers.layout import array_of, layout_of

CHUNK = 5_000
# Those that were not brought over, or that the version before has written or revised since: it packs answers into
# `answered` whenever it writes them.
WAITING = """
SELECT id FROM evaluation_judgment
WHERE id > %s AND outcome = 'ok' AND (answer_layout_id IS NULL OR answered IS NOT NULL) ORDER BY id LIMIT %s
"""
ANSWERS = """
SELECT judgment_id, question, kind, part, number, label, text FROM evaluation_answer
WHERE judgment_id BETWEEN %s AND %s ORDER BY judgment_id, id
"""
STORE = "UPDATE evaluation_judgment SET answer_layout_id = %s, answer_values = %s, answered = NULL WHERE id = %s"


def bring_over(apps: Any, schema_editor: Any) -> None:
    """All that wait, some at a time and each time in a transaction of its own."""
    last: int | None = 0
    while last is not None:
        last = _bring_over_some(apps, schema_editor.connection.alias, last)


def bring_over_the_rest(apps: Any, schema_editor: Any) -> None:
    """In one transaction with what takes the old rows away, and with nobody writing meanwhile."""
    connection = schema_editor.connection
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("LOCK TABLE evaluation_judgment IN SHARE ROW EXCLUSIVE MODE")
    bring_over(apps, schema_editor)
    # Tables with foreign keys that are still to be checked can't be altered.
    connection.check_constraints()


def _bring_over_some(apps: Any, alias: str, after: int) -> int | None:
    """The last judgment that was brought over; None if none waits after that one."""
    layouts = apps.get_model("evaluation", "AnswerLayout").objects.using(alias)
    texts = apps.get_model("evaluation", "AnswerText").objects.using(alias)
    connection = connections[alias]
    locked = " FOR NO KEY UPDATE" if connection.vendor == "postgresql" else ""
    with transaction.atomic(alias), connection.cursor() as cursor:
        cursor.execute(WAITING + locked, [after, CHUNK])
        waiting = [pk for (pk,) in cursor.fetchall()]
        if not waiting:
            return None
        cursor.execute(ANSWERS, [waiting[0], waiting[-1]])
        known, stored, used, written = set(waiting), [], {}, []
        for pk, rows in groupby(cursor.fetchall(), key=itemgetter(0)):
            if pk not in known:
                continue
            answers = [AnswerValue(*row[1:]) for row in rows]
            layout = layout_of(answers)
            used[layout.key] = layout
            stored.append((layout.key, array_of(answers), pk))
            written += [
                texts.model(judgment_id=pk, question=each.question, part=each.part, text=each.text)
                for each in answers
                if each.text is not None
            ]
        layouts.bulk_create(
            [layouts.model(pk=key, places=used[key].as_json()) for key in sorted(used)], ignore_conflicts=True
        )
        texts.filter(judgment__gte=waiting[0], judgment__lte=waiting[-1], judgment__in=waiting).delete()
        texts.bulk_create(written)
        cursor.executemany(STORE, stored)
    return waiting[-1]
