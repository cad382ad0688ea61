"""Each method of the client asks an operation that is described, with fields that it has."""

import inspect
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest

from assay_client import Client, Study
from tests import openapi

DESCRIBED = openapi.committed()
SCHEMAS = DESCRIBED["components"]["schemas"]
PATHS = {re.sub(r"\{\w+\}", "[^/]+", path): methods for path, methods in DESCRIBED["paths"].items()}
RUN, JOB = {"id": 3, "state": "complete"}, {"id": 7, "state": "staged", "lost": False}
TABLE, SPEC = b"item,score\n", {"title": "Soups"}
# A call of each method, and the operations that it comes to.
OF_STUDY: dict[str, tuple[Callable[[Study], Any], list[str]]] = {
    "details": (lambda study: study.details(), ["get_study"]),
    "item": (lambda study: study.item("a/b"), ["get_item"]),
    "items": (lambda study: list(study.items(expand="stimulus")), ["list_items"]),
    "raters": (lambda study: list(study.raters(kind="judge")), ["list_raters"]),
    "judgments": (lambda study: list(study.judgments(outcome="ok")), ["list_judgments"]),
    "report": (lambda study: study.report(ties="win"), ["get_report"]),
    "progress": (lambda study: study.progress(), ["get_progress"]),
    "participants": (lambda study: list(study.participants(expand="signs")), ["list_participants"]),
    "quality": (lambda study: list(study.quality()), ["list_quality"]),
    "exclusions": (lambda study: list(study.exclusions(standing=True)), ["list_exclusions"]),
    "flags": (lambda study: list(study.flags()), ["list_flags"]),
    "jobs": (lambda study: list(study.jobs(state="failed")), ["list_jobs"]),
    "design": (lambda study: study.design(), ["get_design"]),
    "change_design": (lambda study: study.change_design(spec=SPEC), ["change_design"]),
    "import_items": (lambda study: study.import_items(TABLE), ["import_items"]),
    "add_queries": (lambda study: study.add_queries([{"key": "q1", "text": "Which?"}]), ["add_queries"]),
    "entry_rules": (lambda study: study.entry_rules(), ["get_entry_rules"]),
    "set_entry_rules": (lambda study: study.set_entry_rules([], "Open."), ["set_entry_rules"]),
    "check": (lambda study: study.check(), ["check_study"]),
    "launch": (lambda study: study.launch(confirm=True), ["launch_study"]),
    "pause": (lambda study: study.pause("Lunch."), ["pause_study"]),
    "resume": (lambda study: study.resume(), ["resume_study"]),
    "close": (lambda study: study.close("Done."), ["close_study"]),
    "reopen": (lambda study: study.reopen("More."), ["reopen_study"]),
    "revise": (lambda study: study.revise(SPEC, preview=True), ["revise_study"]),
    "add_items": (lambda study: study.add_items([{}], system="elm", preview=True), ["add_items"]),
    "add_items_of_file": (lambda study: study.add_items_of_file(TABLE, system="elm"), ["add_items_of_file"]),
    "confirm": (lambda study: study.confirm(JOB), ["confirm_job"]),
    "withdraw_item": (lambda study: study.withdraw_item("q1", "A misprint."), ["withdraw_item"]),
    "bring_back_item": (lambda study: study.bring_back_item("q1", "It is none."), ["bring_back_item"]),
    "resolve_flag": (lambda study: study.resolve_flag(5, "It is there."), ["resolve_flag"]),
    "set_redundancy": (lambda study: study.set_redundancy(5, "Wide intervals."), ["set_redundancy"]),
    "exclude": (lambda study: study.exclude("Guessed.", rater="fox"), ["exclude"]),
    "undo_exclusion": (lambda study: study.undo_exclusion(5, "Did not."), ["undo_exclusion"]),
    "recollect": (lambda study: study.recollect("Guessed."), ["recollect"]),
    "settle_item": (lambda study: study.settle_item("q1", {"preference": "r1"}, "Read it."), ["settle_item"]),
    "judges": (lambda study: list(study.judges()), ["list_judges"]),
    "create_judge": (lambda study: study.create_judge("longer", backend="longer"), ["create_judge"]),
    "start_run": (lambda study: study.start_run(3, budget="2"), ["start_run"]),
    "estimate_run": (lambda study: study.estimate_run(3, max_items=9), ["estimate_run"]),
    "runs": (lambda study: list(study.runs()), ["list_runs"]),
    "pause_run": (lambda study: study.pause_run(RUN), ["pause_run"]),
    "resume_run": (lambda study: study.resume_run(RUN, budget="3"), ["resume_run"]),
    "cancel_run": (lambda study: study.cancel_run(RUN), ["cancel_run"]),
    "wait_for_run": (lambda study: study.wait_for_run(RUN | {"state": "running"}), ["get_run"]),
    "import_scores": (lambda study: study.import_scores("S", [{"item": "q1"}]), ["import_scores"]),
    "import_scores_of_file": (
        lambda study: study.import_scores_of_file("S", TABLE, measure="rouge", low=0),
        ["import_scores_of_file"],
    ),
    "export": (lambda study: study.export("csv", "study.csv"), ["export_study", "get_job_file"]),
    "report_file": (lambda study: study.report_file("report.tex", "report.tex"), ["get_report_file"]),
    "bundle": (lambda study: study.bundle("study.zip"), ["show_bundle", "get_bundle"]),
}
OF_CLIENT: dict[str, tuple[Callable[[Client], Any], list[str]]] = {
    "studies": (lambda client: list(client.studies()), ["list_studies"]),
    "create_study": (lambda client: client.create_study(title="S", protocol="pairwise"), ["create_study"]),
    "import_study": (lambda client: client.import_study(TABLE, title="S"), ["import_study"]),
    "guess_map": (lambda client: client.guess_map(TABLE), ["import_study"]),
    "endpoints": (lambda client: list(client.endpoints()), ["list_endpoints"]),
    "create_endpoint": (lambda client: client.create_endpoint("here", "http://x/v1"), ["create_endpoint"]),
    "wait_for": (lambda client: client.wait_for(JOB | {"state": "queued"}), ["get_job"]),
    "restart": (lambda client: client.restart(JOB), ["restart_job"]),
}
# Those by which the others ask.
PLAIN = {
    "ask",
    "send",
    "get",
    "post",
    "put",
    "patch",
    "delete",
    "pages",
    "awaited",
    "download",
    "begin_import",
}
WHATEVER = {
    "results": [], "next": None, "slug": "soups", "study": "soups", "lost": False, "id": 7,
    "job": {**JOB, "study": "soups"}, "current": True,
}  # fmt: skip


class Server:
    """Knows every operation, and answers whatever may be read of an answer."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        path = request.url.raw_path.decode().partition("?")[0]
        [methods] = [known for shape, known in PATHS.items() if re.fullmatch(shape, path)]
        operation = methods[request.method.lower()]
        self.asked.append(operation["operationId"])
        known = {each["name"] for each in operation.get("parameters", []) if each["in"] == "query"}
        assert set(request.url.params) <= known
        assert set(_sent(request)) <= set(_fields(operation))
        state = "complete" if "/runs/" in path else "done"
        return httpx2.Response(200, json=WHATEVER | {"state": state})


def _sent(request: httpx2.Request) -> Iterator[str]:
    if "multipart" in request.headers.get("Content-Type", ""):
        yield from re.findall(r'form-data; name="(\w+)"', request.content.decode())
    elif request.content:
        yield from json.loads(request.content)


def _fields(operation: dict[str, Any]) -> Iterator[str]:
    for content in operation.get("requestBody", {}).get("content", {}).values():
        name = content["schema"]["$ref"].rpartition("/")[2]
        yield from SCHEMAS[name]["properties"]


@pytest.fixture
def asked(monkeypatch: Any, tmp_path: Any) -> Iterator[tuple[Client, Server]]:
    monkeypatch.chdir(tmp_path)
    server = Server()
    transport = httpx2.MockTransport(server)
    with Client("https://assay.example.org", "assay_t", transport=transport, sleep=lambda _: None) as client:
        yield client, server


@pytest.mark.parametrize("name", OF_STUDY)
def test_a_method_of_a_study(asked: tuple[Client, Server], name: str) -> None:
    client, server = asked
    call, operations = OF_STUDY[name]
    call(client.study("soups"))
    assert server.asked == operations


@pytest.mark.parametrize("name", OF_CLIENT)
def test_a_method_of_the_client(asked: tuple[Client, Server], name: str) -> None:
    client, server = asked
    call, operations = OF_CLIENT[name]
    call(client)
    assert server.asked == operations


@pytest.mark.parametrize(
    ("of", "named"),
    [(Study, {"at", *OF_STUDY}), (Client, {"study", *PLAIN, *OF_CLIENT})],
    ids=["study", "client"],
)
def test_each_method_stands_here(of: type, named: set[str]) -> None:
    methods = {name for name, _ in inspect.getmembers(of, inspect.isfunction) if not name.startswith("_")}
    assert methods == named
