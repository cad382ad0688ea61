"""Made-up work over generation units, in a process of its own: `make DUMP URL UNITS`, `work`, `look`.

Each unit gets one line of text, in a table of its own that would take a second one. Prints one line of JSON.
"""

import json
import sys

import django

if __name__ == "__main__":
    django.setup()

from django.core.management import call_command
from django.db import connection
from django.db.models import Count

from evaluation.models import Study
from judging.backends.base import Request
from judging.models import Call, Endpoint, GenerationUnit, Run
from judging.parsing.rejection import ReplyRejected
from judging.services.calls.workload import KINDS_OF_WORK, KindOfWork, NewCalls, ReplyContent, Target
from judging.services.endpoints.access import create_endpoint
from judging.services.runs.work import work_on
from tests.judging.build import ABLE

BATCH = 50


class Lines:
    """One line per unit of generation."""

    backend, model, subject, uses_cache = "chat", "coin", "unit", True
    spending = "generation"

    def __init__(self, run):
        self.run = run
        self.endpoint = Endpoint.objects.get(name="here")
        self.targets = [Target("", self.endpoint, self.model)]

    def prepare(self):
        return

    def create_calls(self, after):
        units = list(self.run.units.filter(pk__gt=after).order_by("pk").values_list("pk", flat=True)[:BATCH])
        rows = [{"unit_id": pk, "replicate": 0} for pk in units]
        return NewCalls(rows, units[-1] if len(units) == BATCH else None)

    def waiting_subjects(self, after):
        return self.run.units.filter(pk__gt=after).count()

    def calls_per_subject(self):
        return 1.0

    def calls_to(self, target):
        return None

    def subjects(self, calls):
        return {
            each.pk: each for each in GenerationUnit.objects.filter(pk__in={call.unit_id for call in calls})
        }

    def refusals(self, calls):
        return []

    def request(self, call, subject):
        message = {"role": "user", "content": f"Write line {subject.key}."}
        return Request(model=self.model, messages=[message], parameters={"max_tokens": 100})

    def read(self, call, subject, reply):
        if not reply.text.strip():
            raise ReplyRejected("unparsed", "No line came.")
        return ReplyContent({"line": reply.text}, product=f"{subject.key}: {reply.text}")

    def write_results(self, final, calls, now):
        with connection.cursor() as cursor:
            for each in final:
                if each.outcome == "ok":
                    values = [each.call.unit_id, each.product]
                    cursor.execute("INSERT INTO rehearsal_line (unit, text) VALUES (%s, %s)", values)

    def reopened(self):
        return

    def stored_outcomes(self, calls):
        return {}

    def next_stage(self, run):
        return False

    def follow_state(self, run):
        self.run.refresh_from_db()


LINES = KindOfWork("lines", Lines)


def make_run(study, units, in_flight=None):
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE rehearsal_line (unit bigint, text text)")
    run = Run.objects.create(study=study, work=LINES.key, in_flight=in_flight)
    query = study.queries.order_by("pk").first()
    GenerationUnit.objects.bulk_create(
        [GenerationUnit(run=run, query=query, step="line", key=str(number)) for number in range(units)]
    )
    return run


def lines():
    with connection.cursor() as cursor:
        cursor.execute("SELECT unit, text FROM rehearsal_line ORDER BY unit")
        return cursor.fetchall()


def make(dump, url, units):
    call_command("import_study", dump, slug="lines", protocol="pairwise")
    endpoint = create_endpoint(user=None, name="here", base_url=url, max_in_flight=8)
    endpoint.capabilities = {"coin": dict(ABLE)}
    endpoint.save()
    return {"run": make_run(Study.objects.get(), int(units)).pk}


def work():
    return {"state": work_on(Run.objects.get().pk, over_limit=True).state}


def look():
    calls = Call.objects.order_by("outcome").values_list("outcome").annotate(Count("pk"))
    return {"state": Run.objects.get().state, "calls": dict(calls), "units": [unit for unit, _ in lines()]}


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    with KINDS_OF_WORK.registered(LINES):
        found = {"make": make, "work": work, "look": look}[command](*arguments)
    print(json.dumps(found))  # noqa: T201 - how processes talk
