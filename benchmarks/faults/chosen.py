"""Which of a checkout's tests are asked about a fault: files of tests, the nearest to its module first."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from benchmarks.faults.drawing import sources

NOT_ASKED = ("browser", "llm", "latex")


class Tests:
    def __init__(self, checkout: Path) -> None:
        self.checkout = checkout

    def about(self, path: str) -> list[str]:
        """Those named like the module, those that import it, those of the folder that mirrors its own, the goldens of
        reports for what computes them, and those that import what imports it; the smaller ones first."""
        module = module_of(path)
        files = self.importing(module)
        named = {file for file in self.files if Path(file).stem == f"test_{Path(path).stem}"}
        folder = next(each for each in (Path("tests") / path).parents if (self.checkout / each).is_dir())
        mirrored = {file for file in self.files if Path(file).parent == folder}
        goldens = {file for file in self.files if path.startswith("analytics/") and "goldens" in file}
        above = {file for each in self.imported_by[module] for file in self.importing(module_of(each))}
        levels = (named & (files | mirrored), files, mirrored, goldens, named, above)
        return list(dict.fromkeys(file for level in levels for file in sorted(level, key=self.size)))

    def size(self, file: str) -> tuple[int, str]:
        return (self.checkout / file).stat().st_size, file

    def importing(self, module: str) -> set[str]:
        return set(self.imported_by[module]) & self.files

    @cached_property
    def files(self) -> set[str]:
        tests = self.checkout / "tests"
        return {
            each.relative_to(self.checkout).as_posix()
            for each in tests.rglob("test_*.py")
            if each.relative_to(tests).parts[0] not in NOT_ASKED
        }

    @cached_property
    def imported_by(self) -> dict[str, list[str]]:
        found = defaultdict(list)
        paths = [path.relative_to(self.checkout).as_posix() for path in sources(self.checkout)]
        for name in (*paths, *sorted(self.files)):
            for module in imported((self.checkout / name).read_text()):
                found[module].append(name)
        return found


def module_of(path: str) -> str:
    return ".".join(Path(path).with_suffix("").parts).removesuffix(".__init__")


def imported(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
        elif isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
