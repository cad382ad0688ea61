"""Commands, each in a child of one process: what they import is imported once, which their checks and reports take
longer for than for all else.

`python -m tests.config.command_lines 'manage.py verify soups' 'NAME=value manage.py ...'` runs lines as they are typed,
one after another, and ends with the code of the first line that fails, whose words are the last that are printed.
`python -m tests.config.command_lines --serve FOLDER` does what the program FOLDER/python asks for, which it writes: in
place of a Python that would be started for each `manage.py`.
"""

import json
import os
import shlex
import socket
import sys
from importlib import import_module
from pathlib import Path

import django
from django.conf import settings
from django.core.management import execute_from_command_line

# Anything but manage.py it runs itself.
PROGRAM = """#!{python} -SE
import json, os, socket, sys
if sys.argv[1] != "manage.py":
    os.execv("{python}", ["{python}", *sys.argv[1:]])
with socket.socket(socket.AF_UNIX) as server:
    server.connect("{folder}/socket")
    socket.send_fds(server, [json.dumps(sys.argv[1:]).encode()], [0, 1, 2])
    sys.exit(int(server.recv(4)))
"""
MOST_BYTES = 65_536


def forked(words: list[str], files: tuple[int, ...] = (), **given: str) -> int:
    child = os.fork()
    if not child:
        os.environ.update(given)
        for number, file in enumerate(files):
            os.dup2(file, number)
        sys.argv = words
        execute_from_command_line(words)
        sys.stdout.flush()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def run(line: str) -> int:
    words = shlex.split(line)
    given = {}
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        given[name] = value
    return forked(words, **given)


def serve(folder: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"{folder}/socket")
        listening.listen()
        program = folder / "python"
        program.write_text(PROGRAM.format(python=sys.executable, folder=folder))
        program.chmod(0o755)
        print("ready", flush=True)  # noqa: T201 - to who waits for it
        while True:
            with listening.accept()[0] as asking:
                words, files, *_ = socket.recv_fds(asking, MOST_BYTES, 3)
                code = forked(json.loads(words), tuple(files))
                for file in files:
                    os.close(file)
                asking.send(str(code).encode())


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    for name in (settings.ROOT_URLCONF, "pandas", "pyarrow.parquet", "scipy.stats"):
        import_module(name)
    first, *others = sys.argv[1:]
    if first == "--serve":
        serve(Path(others[0]))
    for each in (first, *others):
        print(f"$ {each}", flush=True)  # noqa: T201 - which line it was
        if code := run(each):
            sys.exit(code)
