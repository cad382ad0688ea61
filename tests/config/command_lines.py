"""Lines as they are typed, one after another, each in a child of this process: what they import is imported once,
which their checks and reports take longer for than for all else.

`python -m tests.config.command_lines 'manage.py verify soups' 'NAME=value manage.py ...'` ends with the code of the
first line that fails, whose words are the last that are printed.
"""

import os
import shlex
import sys
from importlib import import_module

import django
from django.conf import settings
from django.core.management import execute_from_command_line


def run(line: str) -> int:
    words = shlex.split(line)
    given = {}
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        given[name] = value
    child = os.fork()
    if not child:
        os.environ.update(given)
        sys.argv = words
        execute_from_command_line(words)
        sys.stdout.flush()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    for name in (settings.ROOT_URLCONF, "pandas", "pyarrow.parquet", "scipy.stats"):
        import_module(name)
    for each in sys.argv[1:]:
        print(f"$ {each}", flush=True)  # noqa: T201 - which line it was
        if code := run(each):
            sys.exit(code)
