"""What starts and serves loads nothing that only figures, files and models need; what is named by a path is there."""

import json
import shutil
import subprocess
import sys

import pytest

from annotator.models import ParticipantOutcome
from annotator.recruiters import recruiters
from evaluation.extension import Extension, extensions
from judging.services.calls.workload import KINDS_OF_WORK
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


def test_everything_that_an_app_names_by_its_path_is_there():
    assert {type(each).__module__ for each in extensions()} == {
        "analytics.extension", "annotator.extension", "judging.extension"
    }  # fmt: skip
    assert set(KINDS_OF_WORK) == {"judging", "generation"}
    assert type(recruiters()).__module__ == "annotator.panels.recruiters"


def test_every_method_of_an_extension_is_overridden_by_some_app():
    """One that nobody overrides is deleted."""
    names = {name for name, each in vars(Extension).items() if callable(each)}
    assert names
    assert {name for name in names if not any(name in vars(type(each)) for each in extensions())} == set()
