"""Every operation is asked what its description allows and what it forbids: no 5xx, no answer that is not described."""

import os
from collections import Counter
from copy import deepcopy

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from hypothesis import HealthCheck, settings
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation.meta import TestPhase
from schemathesis.specs.openapi.checks import positive_data_acceptance

from config.wsgi import application
from evaluation.filters import NAMES, SAVED
from judging.models import Run
from judging.services.runs.lifecycle import pause_run
from tests import openapi
from tests.evaluation.api.test_making import MAP
from tests.evaluation.api.world import running

__all__ = ["running"]

AUDIT = os.environ.get("ASSAY_HYPOTHESIS") == "audit"
# Of each operation and kind of caller; the first phases (examples, boundaries) come on top of these.
EXAMPLES = 40 if AUDIT else 2
# Of the boundaries of an operation's parameters and body, which are some sixty, every so manieth.
BOUNDARIES = 1 if AUDIT else 8


def described(*, boundaries=True):
    """The description as it is committed, and stricter: an answer may hold nothing that is not described."""
    description = deepcopy(openapi.committed())
    for schema in description["components"]["schemas"].values():
        if "properties" in schema:
            schema.setdefault("additionalProperties", False)
    config = schemathesis.Config.from_dict(
        {
            "seed": 20,
            # Who asks is each test's to say.
            "generation": {"deterministic": True, "mode": "all", "with-security-parameters": False},
            "phases": {"coverage": {"enabled": boundaries}},
        }
    )
    loaded = schemathesis.openapi.from_dict(description, config=config)
    loaded.app = application
    return loaded


SCHEMA = described()
# Few questions for who is turned away before anything is read, and for addresses that lead nowhere; every test that has
# the boundaries works them out when it is collected, which takes seconds.
FEW = SCHEMA if AUDIT else described(boundaries=False)
FILTERS = {*NAMES, SAVED}
bounded = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    # All examples of an operation meet the same rows, some of which they change: as a real server's clients do.
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
        HealthCheck.filter_too_much,
    ],
)


@pytest.fixture(autouse=True)
def one_connection():
    """A request's end closes connections that are in a transaction, and the test's is (Django's client knows that)."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture(autouse=True)
def unlimited(settings):
    settings.ASSAY_API_READS_PER_MINUTE = settings.ASSAY_API_WRITES_PER_MINUTE = 1_000_000
    settings.ASSAY_LOGIN_FAILURES = settings.ASSAY_LOGIN_FAILURES_PER_ADDRESS = 1_000_000


@pytest.fixture
def world(db, running):
    return running


@pytest.fixture(scope="module")
def boundaries():
    """How many of each operation came up, by whether they are allowed."""
    return Counter()


def is_left_out(case, boundaries):
    """Of the allowed and of the forbidden the first is asked, and then every so manieth."""
    if case.meta.phase.name != TestPhase.COVERAGE:
        return False
    kind = case.operation.label, case.meta.generation.mode
    boundaries[kind] += 1
    return boundaries[kind] % BOUNDARIES != 1 % BOUNDARIES


@SCHEMA.parametrize()
@bounded
def test_a_member_s_requests(case, world, boundaries):
    """Addresses lead to what is there; parameters and bodies are made up."""
    if is_left_out(case, boundaries):
        return
    lead_there(case, world)
    if case.operation.path.endswith("runs/{run}/resume/"):
        ready_to_resume(world["run"])
    if isinstance(case.body, dict) and case.meta.generation.mode.is_positive:
        fit_the_body(case.operation.definition.raw["operationId"], case.body, world)
    # Schemathesis sends the file of an upload as a field, which is no file.
    excluded = [positive_data_acceptance] if case.media_type == "multipart/form-data" else []
    case.call_and_validate(
        headers={"Authorization": f"Bearer {world['tokens']['owner']}"}, excluded_checks=excluded
    )


@pytest.mark.audit
@FEW.parametrize()
@bounded
def test_made_up_addresses(case, world):
    case.call_and_validate(headers={"Authorization": f"Bearer {world['tokens']['owner']}"})


@FEW.parametrize()
@bounded
def test_requests_without_a_token(case, world):
    lead_there(case, world)
    response = case.call()
    assert response.status_code in (401, 404, 405)
    case.validate_response(response)


def lead_there(case, world):
    """The address of something real, unless this case is about an address that does not fit."""
    if not case.meta.is_negative_at(ParameterLocation.PATH):
        of_pipelines = world["generation"] if "/generation/" in case.operation.path else {}
        for name in case.path_parameters or {}:
            case.path_parameters[name] = of_pipelines.get(name) or world[name]
    if case.meta.generation.mode.is_positive and case.operation.path.endswith("/comparison/"):
        for name in [each for each in case.query or {} if each[:2] in ("a_", "b_")]:
            case.query.pop(name)
    if case.meta.generation.mode.is_positive and "/report/" in case.operation.path:
        fit_the_view(case.query, world)
        fit_the_view(case.body, world)


def fit_the_body(operation, body, world):
    """What a body names is there, and what a description can't say of its fields holds."""
    if body.get("judge") and "scores" not in body:
        body["judge"] = world["judge"]
    if "products" in body:
        body["products"] = [world["generation"]["product"]]
    if operation in ("withdraw_item", "bring_back_item", "settle_item", "write_note"):
        body["item"] = world["key"]
    if operation == "settle_item":
        # Only where a text of the form is none.
        body.setdefault("reason", "Seen.")
    if operation == "set_entry_rules":
        # A rule names a study that the member is in.
        body["rules"] = []
    if operation == "revise_study":
        body["spec"] = body.get("spec") or {"title": "Second try"}
    if operation == "save_table_map":
        body["map"] = MAP
    if operation == "write_note":
        body.pop("judgment", None)
    if operation == "exclude":
        body.pop("judgment", None)
        body["rater"] = world["rater"]
    if operation in ("create_judge", "edit_judge") and body.get("endpoint") is not None:
        body["endpoint"] = world["name"]
    if operation in ("create_endpoint", "change_endpoint"):
        body.pop("local", None)
        body.pop("open_to_all", None)
    if operation in ("import_study", "import_items"):
        body.pop("map", None)
    if operation == "create_study" and "library" in body:
        for name in ("protocol", "language", "arms"):
            body.pop(name, None)
    elif operation == "create_study":
        body.pop("items", None)
        body.setdefault("title", "Soups")
        body.setdefault("protocol", "pairwise")


def fit_the_view(given, world):
    """Filters that the study knows in place of made-up ones, which a report rightly refuses; others are left out."""
    if not isinstance(given, dict):
        return
    for name in FILTERS & given.keys():
        given.pop(name)
        if name in world["filters"]:
            given[name] = world["filters"][name]


def ready_to_resume(pk):
    run = Run.objects.get(pk=pk)
    if run.state in ("pending", "running"):
        pause_run(run)


def test_all_operations_are_asked():
    labels = {result.ok().label for result in SCHEMA.get_all_operations()}
    paths = openapi.committed()["paths"]
    assert labels == {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
