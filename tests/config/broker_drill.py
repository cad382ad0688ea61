"""A process on a database of its own, beside a Redis that comes and goes.

`make` prepares studies; `begin` is the web server: an export, an import, a launch, a run, a report by page and by API,
asked for in requests. Prints one line of JSON.
"""

import io
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import django

django.setup()

from django.contrib.auth import get_user_model  # noqa: E402 - needs the apps
from django.core.files.uploadedfile import SimpleUploadedFile  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.test import Client  # noqa: E402
from django.urls import reverse  # noqa: E402

from evaluation.models import Study  # noqa: E402
from evaluation.services.tokens import make_token  # noqa: E402
from judging.models import Endpoint, Judge  # noqa: E402
from judging.services.endpoints.access import create_endpoint  # noqa: E402
from judging.services.judges import heuristic_judge  # noqa: E402
from tests import factories  # noqa: E402
from tests.analytics.reports.judging import judge, judged_study  # noqa: E402
from tests.evaluation.dumps import build  # noqa: E402

HOST = {"SERVER_NAME": "127.0.0.1"}


def make():
    owner = get_user_model().objects.create_superuser("owner", password="owner-password")
    study = judged_study("judged", owner=owner, queries=4)
    judge(study, raters=2)
    heuristic_judge(study, "longer")
    for slug in ("by-page", "by-command"):
        factories.make_study(slug, owner=owner, queries=2)
    create_endpoint(user=owner, name="here", base_url="http://127.0.0.1:9/v1")
    return {"token": make_token(owner, name="drill")[1]}


def begin(token):
    client = Client(**HOST)
    client.force_login(get_user_model().objects.get(is_active=True))
    study, draft = Study.objects.get(slug="judged"), Study.objects.get(slug="by-page")
    told = {}
    with TemporaryDirectory() as folder:
        records = build.write(Path(folder) / "x", build.header(), build.item(1), build.item(2)).read_bytes()
    file = SimpleUploadedFile("soups.jsonl", records)
    asked = {
        "export": ("admin:evaluation_study_exports", [study.slug], {"format": "csv"}),
        "import": ("admin:evaluation_study_from_file", [], {"file": file, "slug": "soups", "title": "Soups"}),
        "launch": ("admin:evaluation_study_launch", [draft.slug], {"confirmed": "1"}),
    }
    for kind, (name, ids, form) in asked.items():
        answer = client.post(reverse(name, args=ids), form)
        assert answer.status_code == 302, answer.content.decode()
        told[kind] = said(client.get(answer["Location"]))
    told["command"] = by_command()
    [asked_judge] = Judge.objects.all()
    answer = client.post(
        reverse("admin:judging_judge_start", args=[asked_judge.pk]), {"start": "1", "purpose": "main"}
    )
    assert answer.status_code == 302, answer.content.decode()
    told["run"] = said(client.get(answer["Location"]))
    told["report"] = said(client.get(reverse("analytics:study-report", args=["judged"])))
    bearer = {"Authorization": f"Bearer {token}"}
    told["api"] = client.get("/api/v1/studies/judged/report/", headers=bearer).json()
    test = reverse("admin:judging_endpoint_test", args=[Endpoint.objects.get().pk])
    assert client.post(test, {"model": "x"}).status_code == 302
    told["connection"] = said(client.get(test))
    assert client.login(username="owner", password="owner-password")
    return told


def said(answer):
    assert answer.status_code == 200, answer.content.decode()
    return " ".join(answer.content.decode().replace("&#x27;", "'").split())


def by_command():
    out = io.StringIO()
    call_command("launch", "by-command", "--background", "--confirm", stdout=out)
    return out.getvalue()


COMMANDS = {"make": make, "begin": begin}

if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    found = COMMANDS[command](*arguments)
    print(json.dumps(found))  # noqa: T201 - how processes talk
