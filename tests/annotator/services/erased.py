"""A search of the whole database and of the files for somebody's words and ids."""

from pathlib import Path

from django.conf import settings
from django.db import connection


def found_in_database(*needles):
    """Table and column of every cell that has one of these in it, whatever its type."""
    found = set()
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            columns = [column[0] for column in cursor.description]
            for row in cursor:
                for column, value in zip(columns, row, strict=True):
                    text = (
                        bytes(value).decode(errors="replace") if isinstance(value, memoryview) else str(value)
                    )
                    found |= {(table, column, needle) for needle in needles if needle in text}
    return found


def found_in_files(*needles):
    """The files of jobs that have one of these in them."""
    folder = Path(settings.ASSAY_JOB_FILES)
    return {
        (path.name, needle)
        for path in folder.rglob("*")
        if path.is_file()
        for needle in needles
        if needle.encode() in path.read_bytes()
    }
