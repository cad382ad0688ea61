"""Studies of any size in seconds: rows that are copied in the database."""

from django.db import connection

from annotator.models import Slot

# Ids of the multiplied rows start here, far above those that sequences give.
FAR = 10_000_000


def multiply(row, times, first=FAR, **changes):
    """Copies of a row, with ids from `first` on; `changes` are SQL for columns, where i counts from 1."""
    table = row._meta.db_table
    changes = {"id": f"{first} + i"} | changes
    columns = {field.column: f't."{field.column}"' for field in row._meta.concrete_fields} | changes
    names, values = ", ".join(f'"{column}"' for column in columns), ", ".join(columns.values())
    numbers = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {times})"
    insert = f"INSERT INTO {table} ({names}) SELECT {values} FROM {table} t, n WHERE t.id = {row.pk}"
    with connection.cursor() as cursor:
        cursor.execute(f"{numbers} {insert}")


def multiply_slot(slot, times, first=FAR):
    """So many further items like the slot's, each on a query of its own and with one place, ranked behind it."""
    multiply(slot.query, times, first, key=f"'copy' || ({first} + i)")
    multiply(slot.item, times, first, key=f"'copy' || ({first} + i)", query_id=f"{first} + i")
    place = {"item_id": f"{first} + i", "query_id": f"{first} + i", "rank": f"{slot.rank} + i"}
    multiply(slot, times, first, **place)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def last_slots(study):
    """The last slot of every arm."""
    return [Slot.objects.filter(arm=arm).latest("rank") for arm in study.arms.order_by("position")]
