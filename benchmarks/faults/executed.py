"""The tests that execute a fault's line, from what was recorded."""

import ast
import json
import re
from collections import defaultdict
from functools import cache, cached_property
from pathlib import Path

from coverage import CoverageData

from benchmarks.faults.drawing import sources
from benchmarks.faults.places import Place, function_lines

# A process takes its context from PYTEST_CURRENT_TEST, which names the phase, too.
OF_A_PROCESS = re.compile(r" \((setup|call|teardown)\)$")
UNTRUE = "untrue.txt"
THE_DATABASE = "::django_db_setup"


class Recorded:
    """What `record` kept of a checkout's tests."""

    def __init__(self, folder: Path, checkout: Path) -> None:
        self.folder, self.checkout = folder, checkout
        self.recorded_in = Path((folder / "checkout").read_text().strip())
        self.lines = CoverageData(str(folder / "coverage.sqlite3"))
        self.lines.read()
        self.seconds: dict[str, float] = defaultdict(float)
        self.users: dict[str, set[str]] = defaultdict(set)
        failed = set()
        for line in (folder / "tests.jsonl").read_text().splitlines():
            report = json.loads(line)
            self.seconds[report["test"]] += report["seconds"]
            for fixture in report["fixtures"]:
                self.users[fixture].add(report["test"])
            if report["outcome"] == "failed":
                failed.add(report["test"])
        self.untrue: set[str] = set()  # failed without a fault, too
        if (folder / UNTRUE).exists():
            self.untrue = set((folder / UNTRUE).read_text().splitlines())
        self.reliable = self.seconds.keys() - failed - self.untrue

    def distrust(self, tests: set[str]) -> None:
        with (self.folder / UNTRUE).open("a") as file:
            file.writelines(f"{test}\n" for test in sorted(tests))
        self.untrue |= tests
        self.reliable -= tests

    def tests_of(self, path: str, place: Place) -> set[str]:
        if place.at_import:
            return self.tests_of_import(path)
        first, last = place.statement
        contexts = self.contexts(path)
        seen = set().union(*(contexts.get(line, ()) for line in range(first, last + 1)))
        tests = self.tests_in(seen)
        return self.tests_of_import(path) if seen == {""} else tests

    def tests_of_import(self, path: str) -> set[str]:
        found = self.tests_of_functions(path) | self.mirrored(path)
        return found or set().union(*map(self.tests_of_functions, self.importers(path)))

    @cache  # noqa: B019 - one record in a process
    def contexts(self, path: str) -> dict[int, list[str]]:
        return self.lines.contexts_by_lineno(str(self.recorded_in / path))

    def tests_in(self, contexts: set[str]) -> set[str]:
        tests: set[str] = set()
        for context in contexts:
            name = OF_A_PROCESS.sub("", context)
            if name.startswith("fixture:"):
                tests |= set() if name.endswith(THE_DATABASE) else self.users[name]
            else:
                tests.add(name)
        return tests & self.reliable

    def tests_of_functions(self, path: str) -> set[str]:
        contexts = self.contexts(path)
        inside = function_lines((self.checkout / path).read_text())
        return self.tests_in({each for line in inside for each in contexts.get(line, ())})

    def mirrored(self, path: str) -> set[str]:
        """The tests in the files of the folder that is named like the module's, or like the nearest above it."""
        tests = Path("tests")
        folder = next(each for each in (tests / path).parents if (self.checkout / each).is_dir())
        return {test for test in self.reliable if Path(test.partition("::")[0]).parent == folder}

    def importers(self, path: str) -> list[str]:
        return self.imported_by[".".join(Path(path).with_suffix("").parts).removesuffix(".__init__")]

    @cached_property
    def imported_by(self) -> dict[str, list[str]]:
        found = defaultdict(list)
        for path in sources(self.checkout):
            name = path.relative_to(self.checkout).as_posix()
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ImportFrom) and node.module:
                    for module in {node.module, *(f"{node.module}.{each.name}" for each in node.names)}:
                        found[module].append(name)
                elif isinstance(node, ast.Import):
                    for each in node.names:
                        found[each.name].append(name)
        return found
