"""A whole study by script, over HTTP and with nothing else: from a table to its report and its export."""

import csv
import io
import json
from urllib.parse import urljoin

import httpx2
import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model

from evaluation.models import Study
from evaluation.services.tokens import make_token
from tests.judging import endpoint

TABLE = "prompt,short answers,long answers\n" + "".join(
    f"Which soup number {n}?,Leek soup.,Leek soup: {n} litres; it simmers for an hour.\n" for n in range(1, 7)
)
RESTING = ("complete", "stopped", "paused", "cancelled")


@pytest.fixture
def worker(settings):
    """Does at once what the broker would be told."""
    settings.CELERY_TASK_ALWAYS_EAGER = True


@pytest.fixture
def model():
    with endpoint.serve() as served:
        yield served


@pytest.fixture
def token(transactional_db, settings, tmp_path, model):
    settings.ASSAY_JOB_FILES = str(tmp_path / "jobs")
    settings.ASSAY_ENDPOINTS_ALLOWED = [f"{model.url}/"]
    return make_token(get_user_model().objects.create_user("owner", is_staff=True), name="script")[1]


class Script:
    """What a script needs: a client that sends its token, and the API's address."""

    def __init__(self, http, url):
        self.http, self.root = http, urljoin(url, "/api/v1/")

    def ask(self, method, path, **request):
        answer = self.http.request(method, urljoin(self.root, path), **request)
        assert answer.is_success, answer.text
        return answer

    def get(self, path, **parameters):
        return self.ask("GET", path, params=parameters).json()

    def post(self, path, body, key=""):
        return self.ask("POST", path, json=body, headers={"Idempotency-Key": key} if key else {}).json()

    def all(self, path, **parameters):
        page = self.get(path, **parameters)
        rows = page["results"]
        while page["next"]:
            page = self.ask("GET", page["next"]).json()
            rows += page["results"]
        return rows

    def until(self, path, resting):
        found = self.get(path)
        while found["state"] not in resting:
            found = self.get(path)
        return found


@pytest.fixture
def script(live_server, worker, token):
    with httpx2.Client(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http:
        yield Script(http, live_server.url)


def test_a_study_from_its_table_to_its_export(script, model):
    study = "studies/soups/"

    # Build: the guess first, then the study by the map as it was corrected.
    guess = script.ask("POST", "imports/", files={"file": ("soups.csv", TABLE)}).json()
    assert (guess["job"], guess["n_problems"]) == (None, 0)
    columns = [
        {"column": "prompt", "as": "prompt"},
        {"column": "short answers", "as": "response", "system": "short"},
        {"column": "long answers", "as": "response", "system": "long"},
    ]
    table_map = json.dumps({**guess["map"], "protocol": "pairwise", "columns": columns})
    begun = script.ask(
        "POST",
        "imports/",
        files={"file": ("soups.csv", TABLE)},
        data={"slug": "soups", "title": "Soups", "map": table_map},
        headers={"Idempotency-Key": "soups"},
    ).json()
    made = script.until(f"jobs/{begun['job']['id']}/", ("done", "failed"))
    assert (made["state"], made["study"]) == ("done", "soups"), made
    rules = {"redundancy": 2, "pay": "2.50", "contact": "lab@example.org"}
    script.ask("PATCH", f"{study}design/", json={"spec": {"texts": {"thanks": "Bye."}}, "rules": rules})

    # Launch.
    check = script.get(f"{study}check/")
    assert check["ready"], check
    live = script.post(f"{study}launch/", {"confirm": check["needs_confirmation"]})
    assert live["study"]["status"] == "live"

    # Judge.
    script.post("endpoints/", {"name": "here", "base_url": model.url}, key="here")
    settings = {"name": "longer", "backend": "chat", "endpoint": "here", "model": "longer"}
    judge = script.post(f"{study}judges/", settings, key="longer")
    estimate = script.get(f"{study}judges/{judge['id']}/estimate/")
    assert estimate["items"] == 6
    run = script.post(f"{study}runs/", {"judge": judge["id"], "budget": "1"}, key="run")
    run = script.until(f"{study}runs/{run['id']}/", RESTING)
    assert run["state"] == "complete", run

    # Watch.
    progress = script.get(f"{study}progress/")
    assert (progress["wanted"], progress["filled"], progress["judges"]) == (12, 0, 6)
    assert sum(each["open"] for each in script.get(f"{study}slots/")["slots"]) == 12
    assert script.all(f"{study}participants/") == script.all(f"{study}quality/") == []
    judgments = script.all(f"{study}judgments/", rater=run["rater"], page_size=4)
    assert [each["outcome"] for each in judgments] == ["ok"] * 6
    script.post(f"{study}exclusions/", {"judgment": judgments[0]["id"], "reason": "A misprint."})
    assert script.get(study)["counts"]["counting"] == 5

    # Close, read and take it home.
    script.post(f"{study}close/", {"reason": "Enough."})
    report = script.get(f"{study}report/")
    assert report["schema"].startswith("assay-report/")
    export = script.post(f"{study}exports/", {"format": "csv"}, key="csv")
    assert script.until(f"jobs/{export['id']}/", ("done", "failed"))["state"] == "done"
    rows = list(csv.DictReader(io.StringIO(script.ask("GET", f"jobs/{export['id']}/file/").text)))
    assert {row["item"] for row in rows} == {each["item"] for each in judgments}

    # Each act stands once in the study's history, as if it had been done on its page.
    lines = LogEntry.objects.filter(object_id=str(Study.objects.get().pk), content_type__model="study")
    said = list(lines.order_by("pk").values_list("change_message", flat=True))
    assert [each.partition(" ")[0] for each in said] == [
        "Created", "Changed", "Launched", "Created", "Started", "Copied", "Copied", "Copied", "Excluded", "Closed.",
        "Copied", "Started", "Exported",
    ], said  # fmt: skip
