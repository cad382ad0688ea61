"""A process on a database of its own: `make ITEMS URL` prepares a run that workers take up, `look` says how it stands;
`batch ITEMS URL` prepares one that is asked as batches, and `work` works on it.

`make ITEMS URL QUESTION` asks that question last, from the judge's answers to the others.

The tables are there already. Prints one line of JSON.
"""

import json
import sys

import django

django.setup()

from django.core.management import call_command  # noqa: E402 - needs the apps
from django.db.models import Count  # noqa: E402

from evaluation.models import Judgment, Study  # noqa: E402
from evaluation.services.studies.verification import verify_study  # noqa: E402
from judging.models import Call, CallBatch, Run  # noqa: E402
from judging.services.endpoints.access import create_endpoint  # noqa: E402
from judging.services.judges import create_judge  # noqa: E402
from judging.services.runs.judge_runs import start_run  # noqa: E402
from judging.services.runs.work import work_on  # noqa: E402
from judging.tasks import enqueue_run  # noqa: E402


def make(items, url, last="", **options):
    call_command("import_study", items, slug="survival", protocol="pairwise")
    call_command("launch", "survival", "--confirm")
    study = Study.objects.get()
    endpoint = create_endpoint(user=None, name="here", base_url=url, max_in_flight=8)
    judge = create_judge(study, name="coin", endpoint=endpoint, model="coin", **asked_last(last))
    enqueue_run(start_run(study, judge, **options))
    return {}


def asked_last(question):
    return {"one_call_per_question": True, "options": {"last_question": question}} if question else {}


def batch(items, url):
    return make(items, url, by_batch=True)


def work():
    return {"state": work_on(Run.objects.get().pk, over_limit=True).state}


def look():
    judgments = Judgment.objects.order_by().values("item").annotate(n=Count("pk"))
    return {
        "state": Run.objects.get().state,
        "items": judgments.count(),
        "most_per_item": max(row["n"] for row in judgments),
        "judgments": outcomes(Judgment),
        "calls": outcomes(Call),
        "batches": list(CallBatch.objects.values_list("calls", "collected", "state")),
        "attempts": sum(Call.objects.values_list("attempts", flat=True)),
        "verify": list(verify_study(Study.objects.get())),
    }


def outcomes(model):
    return dict(model.objects.order_by("outcome").values_list("outcome").annotate(Count("pk")))


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    found = {"make": make, "batch": batch, "work": work, "look": look}[command](*arguments)
    print(json.dumps(found))  # noqa: T201 - how processes talk
