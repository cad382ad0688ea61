"""The direction of imports and of foreign keys; each contract of pyproject.toml is broken here once to see it hold."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from django.apps import apps
from django.db import models
from django.test.utils import isolate_apps

ROOT = Path(__file__).resolve().parents[2]
LINTER = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
CONTRACTS = [contract["name"] for contract in LINTER["contracts"]]
# What an app's tables may point to.
INWARD = {
    "evaluation": {"evaluation", "auth"},
    "annotator": {"annotator", "evaluation", "auth"},
    "judging": {"judging", "evaluation", "auth"},
}


# --- foreign keys, which may be strings that import-linter can't see ------------------------------------------------


def outward(model):
    """The fields of a model that point where they may not."""
    relations = [field for field in model._meta.get_fields() if field.is_relation and not field.auto_created]
    return [
        f"{model.__name__}.{field.name} -> {field.related_model._meta.app_label}"
        for field in relations
        if field.related_model._meta.app_label not in INWARD[model._meta.app_label]
    ]


@pytest.mark.parametrize("app", INWARD)
def test_foreign_keys_point_inward(app):
    assert [problem for model in apps.get_app_config(app).get_models() for problem in outward(model)] == []


def test_there_are_foreign_keys_to_look_at():
    fields = [
        field for model in apps.get_app_config("annotator").get_models() for field in model._meta.fields
    ]
    assert sum(field.is_relation for field in fields) > 10


@pytest.mark.parametrize(
    ("app", "target"), [("evaluation", "annotator"), ("evaluation", "judging"), ("annotator", "judging")]
)
@pytest.mark.parametrize("field", [models.ForeignKey, models.OneToOneField, models.ManyToManyField])
def test_a_foreign_key_outward_would_be_found(app, target, field):
    with isolate_apps(app, target):
        there = type(
            "There", (models.Model,), {"__module__": "t", "Meta": type("Meta", (), {"app_label": target})}
        )
        how = {} if field is models.ManyToManyField else {"on_delete": models.CASCADE}
        fields = {"points": field(f"{target}.{there.__name__}", **how)}
        here = type(
            "Here",
            (models.Model,),
            fields | {"__module__": "t", "Meta": type("Meta", (), {"app_label": app})},
        )
        assert outward(here) == [f"Here.points -> {target}"]


# --- imports --------------------------------------------------------------------------------------------------------

# Contract to the violations of it: a file, and the import that is added to it.
PLANTS = {
    "apps: config over annotator | judging over analytics over evaluation": [
        ("evaluation/services/studies/launch.py", "import analytics.reports"),
        ("analytics/frames/arrays.py", "import judging.models"),
        ("evaluation/canonical.py", "import annotator.panels.platforms"),
        ("evaluation/services/judgments.py", "import judging"),
        ("judging/apps.py", "import annotator.models"),
        ("annotator/panels/platforms/__init__.py", "import judging"),
        ("annotator/selectors/slots.py", "import config.logs"),
    ],
    "the client knows no app and no Django": [
        ("assay_client/client.py", "import django.conf"),
        ("assay_client/study.py", "import evaluation.canonical"),
    ],
    "layers inside evaluation": [
        ("evaluation/selectors.py", "import evaluation.services"),
        ("evaluation/rendering/markdown.py", "import evaluation.extension"),
    ],
    "layers inside analytics": [
        ("analytics/statistics/core/tidy.py", "import analytics.frames"),
        ("analytics/frames/pairs.py", "import analytics.reports.build"),
        ("analytics/reports/cache.py", "import analytics.awaited"),
        ("analytics/reports/build.py", "import analytics.reproduce"),
    ],
    "layers inside annotator": [
        ("annotator/selectors/slots.py", "import annotator.services.slots.claim"),
        ("annotator/services/admission/entry.py", "from annotator.panels.services.arrivals import LinkRevoked"),
        ("annotator/services/work/leave.py", "import annotator.panels.services.submission_records"),
        ("annotator/models/crowd.py", "from annotator.panels import platforms"),
    ],
    "layers inside annotator.panels": [
        ("annotator/panels/platforms/__init__.py", "import annotator.panels.selectors"),
        ("annotator/panels/money/decisions.py", "import annotator.panels.reconciliation.cases"),
        ("annotator/panels/services/readings.py", "import annotator.panels.tasks"),
    ],
    "a platform's package is known to the registry alone": [
        ("annotator/panels/services/recruiting.py", "from annotator.panels.prolific.presets import PRESETS"),
        ("annotator/panels/platforms/base.py", "import annotator.panels.prolific.api"),
        ("annotator/management/commands/panel.py", "from annotator.panels.prolific import statuses"),
    ],
    "layers inside judging": [
        ("judging/backends/base.py", "import judging.parsing"),
        ("judging/models/run.py", "import judging.services"),
        ("judging/services/calls/leases.py", "import judging.tasks"),
    ],
    "the engine of calls knows no judge": [
        ("judging/services/calls/leases.py", "import judging.services.judges"),
        ("judging/services/runs/session.py", "from judging.services.runs import judge_workload"),
    ],
    "pure cores import no models, no Celery, no DRF": [
        ("judging/prompting/__init__.py", "from judging import models"),
        ("judging/parsing/labels.py", "import django"),
        ("evaluation/design.py", "from django.db import models"),
        ("analytics/statistics/core/counts.py", "import celery"),
        ("evaluation/protocols/answers/values.py", "import rest_framework"),
    ],
    "Celery only in tasks and config": [
        ("evaluation/services/studies/launch.py", "import celery"),
        ("annotator/services/slots/deal.py", "from celery import shared_task"),
        ("judging/services/runs/session.py", "import celery"),
        ("analytics/reports/build.py", "import celery"),
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The packages and their contracts, to break things in."""
    folder = tmp_path_factory.mktemp("packages")
    for package in LINTER["root_packages"]:
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def broken(folder):
    """The contracts that import-linter finds broken there."""
    lint = [str(Path(sys.executable).parent / "lint-imports"), "--config", "pyproject.toml"]
    done = subprocess.run(lint, cwd=folder, capture_output=True, text=True, check=False, timeout=60)
    verdicts = dict(re.findall(r"^(.+) (KEPT|BROKEN)$", done.stdout, re.MULTILINE))
    assert set(verdicts) == set(CONTRACTS), done.stdout + done.stderr
    found = {name for name, verdict in verdicts.items() if verdict == "BROKEN"}
    assert done.returncode == bool(found)
    return found


def test_every_contract_is_kept(copy):
    assert broken(copy) == set()


@pytest.mark.parametrize("contract", CONTRACTS)
def test_every_contract_has_a_planted_violation(contract):
    assert PLANTS.get(contract), "plant a violation of this contract above"


def test_no_violation_is_planted_for_a_contract_that_is_gone():
    assert set(PLANTS) <= set(CONTRACTS)


@pytest.mark.parametrize(
    ("contract", "path", "line"),
    [(name, path, line) for name, plants in PLANTS.items() for path, line in plants],
)
def test_a_planted_violation_breaks_its_contract(copy, contract, path, line):
    target = copy / path
    original = target.read_text()
    target.write_text(f"{original}\n{line}\n")
    try:
        assert contract in broken(copy)
    finally:
        target.write_text(original)
