"""What README and docs say can be done, can be done."""

import importlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import get_commands

from tests.config import reading

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
PAGES = [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), ROOT / "CONTRIBUTING.md"]


@pytest.mark.parametrize(
    ("page", "written"),
    [("README.md", ["contrast.parquet"]), ("docs/getting-started.md", ["my-contrast.csv"])],
)
@pytest.mark.embedded
def test_the_commands_of_a_page_run(tmp_path, migrated, page, written):
    # README's begin with nothing; who goes on to the next page has run its first command.
    if page != "README.md":
        shutil.copy(migrated, tmp_path / "assay.sqlite3")
    kept = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    text = (ROOT / page).read_text()
    commands = re.findall(r"^ *((?:[A-Z_]+=\S+ )?)\.venv/bin/python (manage\.py [^#\n]+)", text, re.MULTILINE)
    assert len(commands) >= 6
    lines = [variable + command for variable, command in commands]
    for name in written:
        lines = [line.replace(f"--out {name}", f"--out {tmp_path / name}") for line in lines]
    done = subprocess.run(
        [sys.executable, "-m", "tests.config.command_lines", *lines],
        cwd=ROOT,
        env={**kept, "ASSAY_VAR_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout[-2_000:]}{done.stderr}"
    for name in written:
        assert (tmp_path / name).stat().st_size > 0


def test_commands_that_are_named_exist():
    known = set(get_commands())
    for page in PAGES:
        for name in re.findall(r"manage\.py (\w+)", page.read_text()):
            assert name in known, f"{page.name} names the command {name}, which does not exist"


def test_make_targets_that_are_named_exist():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in PAGES:
        for name in re.findall(r"`make ([\w-]+)|^make ([\w-]+)", page.read_text(), re.MULTILINE):
            assert (name[0] or name[1]) in targets, f"{page.name} names make {name}, which does not exist"


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        said = re.sub(r"`[^`\n]*`", "", page.read_text())
        for target in re.findall(r"\]\(([^)#:]+)\)", said):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def _documented_settings():
    """{name: default as docs/settings.md shows it}; the table of the compose file's own has no defaults."""
    page = (ROOT / "docs/settings.md").read_text().partition("## Only for docker-compose.yml")[0]
    return dict(re.findall(r"^\| `([A-Z_]+\*?)` \| (.*?) \| .+ \|$", page, re.MULTILINE))


EMPTY = "\N{EN DASH}"


def _shown(default):
    """How docs/settings.md shows a literal default."""
    if isinstance(default, bool):
        return f"`{int(default)}`"
    if isinstance(default, list):
        return f"`{','.join(default)}`" if default else EMPTY
    if isinstance(default, float):
        return f"`{default:g}`"
    return EMPTY if default in ("", None) else f"`{default}`"


def test_every_setting_is_documented_and_nothing_else():
    # `ASSAY_KEY_*` is read by names that the database holds.
    assert set(_documented_settings()) == {*reading.variables(), "ASSAY_KEY_*"}


def test_documented_defaults_are_the_code_s():
    documented = _documented_settings()
    for name, default in reading.variables().items():
        if default is not reading.NO_LITERAL and name != "DATABASE_URL":
            assert documented[name] == _shown(default), name


def test_the_compose_file_s_own_variables_are_documented():
    page = (ROOT / "docs/settings.md").read_text().partition("## Only for docker-compose.yml")[2]
    assert set(re.findall(r"^\| `([A-Z_]+)` \|", page, re.MULTILINE)) == reading.COMPOSE_ONLY


def test_variables_that_are_named_exist():
    known = {*reading.variables(), *reading.COMPOSE_ONLY}
    for page in [*PAGES, ROOT / ".env.example"]:
        for name in re.findall(r"\bASSAY_[A-Z_]+[A-Z]\b", page.read_text()):
            if not name.startswith(
                (
                    "ASSAY_KEY",
                    "ASSAY_PUBLISHED_DATA",
                    "ASSAY_REQUIRE_ALL",
                    "ASSAY_CHROMIUM",
                    "ASSAY_FIREFOX",
                    "ASSAY_PICTURES",
                    "ASSAY_WRITE",
                )
            ):
                assert name in known, f"{page.name} names {name}, which nothing reads"


# --- CONTRIBUTING ---------------------------------------------------------------------------------------------------

CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
RECIPES = (
    "A protocol", "A kind of question", "A figure", "A statistic", "An export format", "A published format",
    "A judge backend", "A platform", "A setting",
)  # fmt: skip


def test_every_path_that_contributing_names_exists():
    paths = re.findall(r"`((?:[\w.-]+/)+[\w.…-]*|[\w-]+\.(?:md|py|toml|in))`", CONTRIBUTING)
    assert len(paths) > 60
    assert [path for path in paths if not list(ROOT.glob(path.replace("…", "*")))] == []


def test_every_path_that_the_architecture_names_exists():
    text = (ROOT / "docs" / "architecture.md").read_text()
    paths = re.findall(r"((?:config|evaluation|analytics|annotator|judging)/[\w./*]*)", text)
    assert len(paths) > 25
    assert [path for path in paths if not list(ROOT.glob(path))] == []


def test_every_module_that_contributing_names_has_what_it_says():
    names = re.findall(r"`((?:config|evaluation|annotator|judging)(?:\.\w+)+)", CONTRIBUTING)
    assert len(names) >= 2
    for name in names:
        module, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(module), attribute), name


@pytest.mark.parametrize("recipe", RECIPES)
def test_contributing_has_a_recipe_with_its_files(recipe):
    text = CONTRIBUTING.split(f"\n### {recipe}\n")[1].split("\n##")[0]
    steps = re.findall(r"^\d\. .*?`[\w.…-]+/[\w./…-]*`", text, re.MULTILINE | re.DOTALL)
    assert len(steps) >= 3


def test_every_rehearsal_is_of_a_recipe():
    rehearsed = {path.stem.removeprefix("test_") for path in (ROOT / "tests" / "rehearsal").glob("test_*.py")}
    named = set(re.findall(r"`tests/rehearsal/test_(\w+)\.py`", CONTRIBUTING))
    assert rehearsed - {"registry"} == named
