"""What README and docs say can be done, can be done."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from django.core.management import get_commands

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()


def test_the_readme_s_commands_run(tmp_path):
    kept = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    commands = re.findall(r"^\.venv/bin/python (manage\.py [^#\n]+)", README, re.MULTILINE)
    assert len(commands) >= 6
    for command in commands:
        line = command.replace("contrast.parquet", str(tmp_path / "contrast.parquet"))
        done = subprocess.run(
            [sys.executable, *shlex.split(line)],
            cwd=ROOT,
            env={**kept, "ASSAY_VAR_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"


def test_commands_that_are_named_exist():
    known = set(get_commands())
    for page in [ROOT / "README.md", *ROOT.glob("docs/*.md"), ROOT / "CONTRIBUTING.md"]:
        for name in re.findall(r"manage\.py (\w+)", page.read_text()):
            assert name in known, f"{page.name} names the command {name}, which does not exist"


def test_make_targets_that_are_named_exist():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in [ROOT / "README.md", *ROOT.glob("docs/*.md"), ROOT / "CONTRIBUTING.md"]:
        for name in re.findall(r"`make ([\w-]+)|^make ([\w-]+)", page.read_text(), re.MULTILINE):
            assert (name[0] or name[1]) in targets, f"{page.name} names make {name}, which does not exist"


def test_links_between_pages_lead_somewhere():
    for page in [ROOT / "README.md", *ROOT.glob("docs/*.md"), ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
