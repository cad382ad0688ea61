"""Stories about queries, in a process of its own: `make QUERIES URL` prepares a run, `work` works on it, `look` looks.

It forks for each line that it reads, so that the next worker is at work at once when one was killed.

Of each it prints the process's id, then what it found as JSON, if it lives to say so, and then an empty line.
"""

import json
import os
import sys

import django

if __name__ == "__main__":
    django.setup()

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import judging.backends.chat  # noqa: F401 - its client takes long to import
from evaluation.models import Study
from evaluation.services.studies.verification import verify_study
from judging.generation.pipelines import PIPELINES
from judging.models import Product, Run
from judging.services.runs.work import work_on
from tests.judging.generating import Stories, generated, make_endpoint, study_of_queries


def make(queries, url):
    texts = [{"key": f"q{n}", "text": f"Which soup can I make on day {n}?"} for n in range(int(queries))]
    with TemporaryDirectory() as folder:
        study = study_of_queries(Path(folder), texts)
    make_endpoint(SimpleNamespace(url=url), in_flight=8)
    return {"run": generated(study, "stories", models=("aspen", "birch"), work=False).pk}


def work():
    return {"state": work_on(Run.objects.get().pk, over_limit=True).state}


def look():
    run = Run.objects.get()
    return {
        "state": run.state,
        "units": Counter(run.units.values_list("step", flat=True)),
        "failed": run.units.exclude(outcome="ok").count(),
        "products": Counter(Product.objects.values_list("unit__step", flat=True)),
        "most_calls_per_unit": max(Counter(run.calls.values_list("unit", flat=True)).values()),
        "attempts": sum(run.calls.values_list("attempts", flat=True)),
        "verify": list(verify_study(Study.objects.get())),
    }


def in_child(command, *arguments):
    """Print the process's id, and have it do one thing and print what it found."""
    pid = os.fork()
    if not pid:
        with PIPELINES.registered(Stories()):
            found = {"make": make, "work": work, "look": look}[command](*arguments)
        print(json.dumps(found), flush=True)  # noqa: T201 - how processes talk
        os._exit(0)
    print(pid, flush=True)  # noqa: T201
    os.waitpid(pid, 0)
    print(flush=True)  # noqa: T201


if __name__ == "__main__":
    for line in sys.stdin:
        in_child(*line.split())
