"""What starts and serves loads nothing that only figures, files and models need; what is named by a path is there."""

import json
import shutil
import subprocess
import sys

import pytest

from annotator import hooks as crowd
from annotator.models import ParticipantOutcome
from evaluation import hooks
from judging import hooks as work
from tests.config import site as sites
from tests.config.loaded import DOORS

# Redis: the embedded default has none. Not requests: where a developer has it, Django REST framework loads it.
HEAVY = (
    *("scipy", "pandas", "pyarrow", "openpyxl", "matplotlib", "PIL", "sklearn", "statsmodels", "evalica"),
    *(
        "krippendorff",
        "bm25s",
        "sacrebleu",
        "model2vec",
        "httpx",
        "httpx2",
        "httpcore",
        "openai",
        "aiohttp",
        "redis",
    ),
)


@pytest.fixture(scope="module")
def loaded(migrated, tmp_path_factory):
    """The modules of a fresh process with all addresses, and once it has served participants."""
    folder = tmp_path_factory.mktemp("loaded")
    shutil.copy(migrated, folder / "assay.sqlite3")
    for part in ("make", "serve"):
        done = subprocess.run(
            [sys.executable, "-m", "tests.config.loaded", part],
            cwd=sites.ROOT,
            env=sites.environment(folder, LOG_LEVEL="ERROR"),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def heavy(names):
    return sorted({name.partition(".")[0] for name in names} & set(HEAVY))


def test_a_web_process_with_all_addresses_has_loaded_nothing_that_only_figures_files_and_models_need(loaded):
    assert {"evaluation.admin", "judging.api.urls", "annotator.views", "analytics.views"} <= set(
        loaded["start"]
    )
    assert heavy(loaded["start"]) == []


def test_nor_has_one_that_served_participants_from_consent_to_the_end(loaded):
    assert loaded["ended"] == dict.fromkeys(DOORS, ParticipantOutcome.COMPLETED)
    assert heavy(loaded["served"]) == []


def test_a_command_that_asks_for_nothing_loads_neither_addresses_nor_numpy():
    shown = "import sys; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", f"import django; django.setup(); {shown}"],
        cwd=sites.ROOT,
        env=sites.environment(sites.ROOT / "var"),
        capture_output=True,
        text=True,
        check=True,
    )
    names = set(done.stdout.split())
    assert "judging.models" in names
    assert not names & {"numpy", "config.urls", "evaluation.admin", "judging.services", "analytics.reports"}
    assert heavy(names) == []


@pytest.mark.parametrize("registrations", [hooks, crowd, work], ids=lambda module: module.__name__)
def test_everything_that_an_app_registers_by_its_path_is_there(registrations):
    registries = [each for each in vars(registrations).values() if isinstance(each, hooks.HookRegistry)]
    assert sum(len(each.as_dict()) for each in registries) > 0
