"""The ordinary migrations that the squashed ones replace, and what tables a database has."""

from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

SQUASHED = {key: each for key, each in MigrationLoader(None).disk_migrations.items() if each.replaces}
# As 9892c8b3 left its databases.
FIRST = [each.replaces[0] for each in SQUASHED.values()]
MIDDLE = ("evaluation", "0046_study_progress")
OURS = ("evaluation_", "annotator_", "judging_", "login_failures")
POSTGRESQL = (
    "SELECT table_name, column_name, data_type, character_maximum_length, numeric_precision, numeric_scale, "
    "is_nullable, column_default, is_identity FROM information_schema.columns WHERE table_schema = 'public'",
    "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint "
    "WHERE connamespace = 'public'::regnamespace",
    "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
)


def executor_of_ordinary():
    """Of them alone, whether or not the squashed ones could be used."""
    recorder = MigrationRecorder(connection)
    for key in SQUASHED:
        recorder.record_unapplied(*key)
    executor = MigrationExecutor(connection)
    executor.loader = MigrationLoader(connection, replace_migrations=False)
    return executor


def in_order(apps):
    """All of them, and as early as they can come those of the apps that are named first."""
    graph = MigrationLoader(None, replace_migrations=False).graph
    found = {}
    for app in apps:
        [squashed] = (each for each in SQUASHED.values() if each.app_label == app)
        for key in graph.forwards_plan(squashed.replaces[-1]):
            if key[0] in apps:
                found[tuple(key)] = True
    return list(found)


def tables():
    """Every column, constraint and index of ours, whatever their order."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            found = []
            for statement in POSTGRESQL:
                cursor.execute(statement)
                found += [list(row) for row in cursor.fetchall()]
        else:
            cursor.execute("SELECT tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL")
            found = [[name, part] for name, sql in cursor.fetchall() for part in parts(sql)]
    return [row for row in found if row[0].startswith(OURS)]


def parts(sql):
    """What stands between the commas of a table's parentheses; another statement whole."""
    if not sql.startswith("CREATE TABLE"):
        return [sql]
    head, _, body = sql.partition("(")
    found, depth, quoted = [""], 0, False
    for sign in body.rpartition(")")[0]:
        quoted ^= sign == "'"
        depth += 0 if quoted else (sign == "(") - (sign == ")")
        if sign == "," and not depth and not quoted:
            found.append("")
        else:
            found[-1] += sign
    return [head.strip(), *map(str.strip, found)]


def make_stepwise():
    """Migrates an empty database by them, with a stop in between."""
    executor_of_ordinary().migrate(FIRST)
    call_command("migrate", *MIDDLE, verbosity=0)
    call_command("migrate", verbosity=0)
