"""Every page in every setting: both themes, both widths, both sizes of text. Prints what was found as Markdown.

python -m tests.browser.audit                                # all of it: half an hour
python -m tests.browser.audit tests/browser/test_screens.py  # of these tests alone
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
RESEARCHERS = "page-"
PARALLEL = ("-n", "auto", "--dist", "worksteal")


class Finding(NamedTuple):
    """One rule that a page breaks in a setting, with the first element that breaks it."""

    rule: str
    page: str
    setting: str
    element: str


def main(chosen: list[str]) -> int:
    with tempfile.TemporaryDirectory(prefix="assay-audit-") as folder:
        seen = Path(folder) / "seen.jsonl"
        seen.touch()
        environment = os.environ | {"ASSAY_AUDIT": str(seen)}
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "--nomigrations",
            *PARALLEL,
            *(chosen or looking_tests()),
        ]
        ended = subprocess.run(command, cwd=HERE.parent.parent, env=environment, check=False).returncode
        looks = [json.loads(line) for line in seen.read_text(encoding="utf-8").splitlines()]
    sys.stdout.write("\n" + "\n".join(report(looks)) + "\n")
    return ended or int(any(found for _, _, found in looks))


def looking_tests() -> list[str]:
    """Every test that looks at pages by settings."""
    return [
        str(path) for path in sorted(HERE.glob("test_*.py")) if "browser.looking import" in path.read_text()
    ]


def report(looks: Iterable[tuple[str, str, list[tuple[str, list[str]]]]]) -> Iterator[str]:
    """A table of how many pages were looked at in which setting, and one of what was found."""
    counts: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    findings = []
    for page, setting, found in looks:
        whose = "researchers" if page.startswith(RESEARCHERS) else "participants"
        counts[setting][whose].append(len(found))
        findings += [Finding(rule, page, setting, elements[0]) for rule, elements in found]
    yield "| Setting | Researchers' pages | with findings | Participants' screens | with findings |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for setting, by in sorted(counts.items()):
        cells = [
            str(each)
            for whose in ("researchers", "participants")
            for each in (len(by[whose]), sum(map(bool, by[whose])))
        ]
        yield f"| {setting} | {' | '.join(cells)} |"
    if findings:
        yield ""
        yield "| Rule | Page | Settings | Element |"
        yield "| --- | --- | --- | --- |"
    grouped: dict[tuple[str, str], list[Finding]] = defaultdict(list)
    for each in findings:
        grouped[each.rule, each.page].append(each)
    for (rule, page), same in sorted(grouped.items()):
        settings = ", ".join(sorted({each.setting for each in same}))
        element = same[0].element.replace("|", "\\|").replace("\n", " ")
        yield f"| {rule} | {page} | {settings} | `{element}` |"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
