"""The embedded default's connections: kept between requests, one to a thread, and only to the file at the path."""

import json
import os
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(code, folder):
    """What the code prints in a process of the embedded default with an empty database, read as JSON.

    `request()` there is what Django does around a request; it returns the driver's connection and the names stored.
    """
    start = """
        import json, os, sqlite3, threading
        import django
        django.setup()
        from django.conf import settings
        from django.core import signals
        from django.db import connection, connections

        PATH = settings.DATABASES["default"]["NAME"]

        def make(path, *names):
            database = sqlite3.connect(path)
            database.execute("CREATE TABLE IF NOT EXISTS names (name text)")
            database.executemany("INSERT INTO names VALUES (?)", [[name] for name in names])
            database.commit()
            database.close()

        def request(name=None):
            signals.request_started.send(None, environ={})
            with connection.cursor() as cursor:
                if name:
                    cursor.execute("INSERT INTO names VALUES (%s)", [name])
                cursor.execute("SELECT name FROM names ORDER BY name")
                names = [row[0] for row in cursor.fetchall()]
            used = connection.connection
            signals.request_finished.send(None)
            return used, names

        make(PATH, "first")
    """
    done = subprocess.run(
        [
            sys.executable,
            "-W",
            "error::ResourceWarning",
            "-c",
            textwrap.dedent(start) + textwrap.dedent(code),
        ],
        cwd=ROOT,
        env={
            "PATH": os.environ["PATH"],
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "ASSAY_VAR_DIR": str(folder),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.embedded
def test_requests_of_one_thread_share_a_connection_and_threads_do_not(tmp_path):
    found = run(
        """
        one, two = request()[0], request("second")[0]
        others = []
        def visit():
            others.append([request()[0], request()[0]])
            connections.close_all()
        threads = [threading.Thread(target=visit) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print(json.dumps({
            "kept": one is two,
            "kept by others": [a is b for a, b in others],
            "connections": len({id(each) for each in (one, *(pair[0] for pair in others))}),
            "names": request()[1],
        }))
        connections.close_all()
        """,
        tmp_path,
    )
    assert found == {
        "kept": True,
        "kept by others": [True, True],
        "connections": 3,
        "names": ["first", "second"],
    }


@pytest.mark.embedded
@pytest.mark.parametrize("put_away", ["os.replace(PATH, PATH + '.old')", "os.remove(PATH)"])
def test_a_database_that_was_replaced_is_seen_by_the_next_request(tmp_path, put_away):
    """A restored backup, or a database begun anew: nothing is written into the file that was put away."""
    found = run(
        f"""
        PATH = str(PATH)
        request()
        for suffix in ("-wal", "-shm"):
            if os.path.exists(PATH + suffix):
                os.remove(PATH + suffix)
        {put_away}
        make(PATH, "restored")
        print(json.dumps([request("later")[1], request()[1]]))
        connections.close_all()
        """,
        tmp_path,
    )
    assert found == [["later", "restored"], ["later", "restored"]]
    with sqlite3.connect(tmp_path / "assay.sqlite3") as database:
        assert {name for (name,) in database.execute("SELECT name FROM names")} == {"restored", "later"}
    database.close()


@pytest.mark.embedded
def test_a_connection_is_given_up_after_its_time(tmp_path):
    found = run(
        """
        one = request()[0]
        connection.close_at -= settings.DATABASES["default"]["CONN_MAX_AGE"]
        print(json.dumps(request()[0] is one))
        connections.close_all()
        """,
        tmp_path,
    )
    assert found is False
