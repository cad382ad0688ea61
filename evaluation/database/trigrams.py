"""Indexes by which PostgreSQL finds parts of words (pg_trgm). SQLite reads the texts, and so does PostgreSQL where the
extension is not there and may not be made by the role of the database."""

from typing import Any

from django.db import DatabaseError, connections, transaction

# Table and column of what is searched; as `evaluation.explorer.search` compares it.
SEARCHED = (
    ("evaluation_query", "text"),
    ("evaluation_response", "text"),
    ("evaluation_answertext", "text"),
    ("evaluation_item", "key"),
    ("evaluation_item", "clarifying_question"),
)


def make_trigram_indexes(*, using: str, **kwargs: Any) -> None:
    """After migrations: those that are not there yet."""
    connection = connections[using]
    if connection.vendor != "postgresql" or not _has_tables(connection) or not _has_extension(connection):
        return
    with connection.cursor() as cursor:
        for table, column in SEARCHED:
            cursor.execute(
                f"CREATE INDEX IF NOT EXISTS {table}_{column}_words ON {table} "
                f"USING gin (lower({column}::text) gin_trgm_ops)"
            )


def _has_tables(connection: Any) -> bool:
    with connection.cursor() as cursor:
        return {table for table, _ in SEARCHED} <= set(connection.introspection.table_names(cursor))


def _has_extension(connection: Any) -> bool:
    try:
        with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
            cursor.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
    except DatabaseError:
        return False
    return True
