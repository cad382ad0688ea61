"""A process on a database of its own: `make ITEMS URL` prepares a run that workers take up, `look` says how it stands.

The tables are there already. Prints one line of JSON.
"""

import json
import sys

import django

django.setup()

from django.core.management import call_command  # noqa: E402 - needs the apps
from django.db.models import Count  # noqa: E402

from evaluation.models import Judgment, Study  # noqa: E402
from evaluation.services import verify_study  # noqa: E402
from judging.models import Call, Run  # noqa: E402
from judging.services import create_endpoint, create_judge, start_run  # noqa: E402
from judging.tasks import enqueue_run  # noqa: E402


def make(items, url):
    call_command("import_study", items, slug="survival", protocol="pairwise")
    call_command("launch", "survival", "--confirm")
    study = Study.objects.get()
    endpoint = create_endpoint(user=None, name="here", base_url=url, max_in_flight=8)
    judge = create_judge(study, name="coin", endpoint=endpoint, model="coin")
    enqueue_run(start_run(study, judge))
    return {}


def look():
    judgments = Judgment.objects.order_by().values("item").annotate(n=Count("pk"))
    return {
        "state": Run.objects.get().state,
        "items": judgments.count(),
        "most_per_item": max(row["n"] for row in judgments),
        "judgments": outcomes(Judgment),
        "calls": outcomes(Call),
        "attempts": sum(Call.objects.values_list("attempts", flat=True)),
        "verify": list(verify_study(Study.objects.get())),
    }


def outcomes(model):
    return dict(model.objects.order_by("outcome").values_list("outcome").annotate(Count("pk")))


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    found = {"make": make, "look": look}[command](*arguments)
    print(json.dumps(found))  # noqa: T201 - how processes talk
