"""No folder of the crowd has more modules than one takes in at a glance."""

from pathlib import Path

import pytest

import annotator

MOST = 15
ROOT = Path(annotator.__file__).parent
# Folders of compiled modules come and go, and each process that collects tests has to find the same.
LEFT_OUT = {"migrations", "__pycache__"}
FOLDERS = [each for each in (ROOT, *ROOT.rglob("*")) if each.is_dir() and LEFT_OUT.isdisjoint(each.parts)]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(ROOT.parent)))
def test_a_folder_has_few_modules(folder):
    modules = [each.name for each in folder.glob("*.py") if each.name != "__init__.py"]
    assert len(modules) <= MOST, sorted(modules)


def test_a_service_of_the_recruiters_is_short():
    long = {
        str(each.relative_to(ROOT)): lines
        for part in ("services", "money", "reconciliation")
        for each in (ROOT / "panels" / part).rglob("*.py")
        if (lines := each.read_text().count("\n")) > 250
    }
    assert long == {}
