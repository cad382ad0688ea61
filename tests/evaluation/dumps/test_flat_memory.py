"""Checking, writing and exporting hold a batch, not the study: four times the lines must not take more memory."""

import gc
import io
import tracemalloc

import pytest

from evaluation.dumps.exports import answer_table
from evaluation.dumps.exports.study_export import export_study
from evaluation.dumps.imports.checker import DumpChecker
from evaluation.dumps.imports.dump_import import import_dump
from evaluation.dumps.lines import FileSource
from evaluation.services.studies import compilation
from tests.evaluation.dumps.build import header, item, judgment, write

pytestmark = pytest.mark.django_db
FEW, MANY = 100, 400
# Small hashes per line, and what the study's hash and orders need per item.
BYTES_PER_LINE = 700


def dump(folder, lines, frozen=True):
    judgments = [judgment(rater) for rater in ("ada", "bo", "cy")] if frozen else []
    text = "A soup of leek and potato. " * 40
    return write(
        folder / f"{lines}.jsonl",
        header(),
        *[item(n, judgments=judgments, clarifying_question=f"{n} {text}") for n in range(lines)],
    )


def peak(work) -> int:
    """The most that was held at once; cycles are collected often, so that it does not hang on the collector's mood.

    It need not walk what was there before each time, nor put off collecting because there was much: that goes by what
    the last full collection found. What was there stays frozen: most of it is what the test run has imported.
    """
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.collect()
    gc.set_threshold(200, 5, 2)
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        gc.set_threshold(*before)


def assert_flat(few, many, lines):
    assert many - few < BYTES_PER_LINE * lines, f"{few:,} bytes grew to {many:,}"


def check(path):
    DumpChecker(FileSource(path), slug="s", protocol="", title="", render=lambda text, rules: text).run(
        lambda phase, done, total: None
    )


class Sink(io.RawIOBase):
    def writable(self):
        return True

    def write(self, data):
        return len(data)


def test_checking(tmp_path):
    check(dump(tmp_path, 50))  # loads the schemas
    paths = [dump(tmp_path, lines, frozen=False) for lines in (300, 1200)]
    few, many = (peak(lambda path=path: check(path)) for path in paths)
    assert_flat(few, many, 900)


@pytest.fixture(scope="module")
def studies(around_module, tmp_path_factory):
    """By their lines."""
    folder = tmp_path_factory.mktemp("dumps")
    return {lines: import_dump(FileSource(dump(folder, lines)), slug=f"of-{lines}") for lines in (FEW, MANY)}


@pytest.mark.parametrize("format", ["jsonl", "csv", "xlsx", "parquet"])
def test_exporting(format, studies, settings, monkeypatch):
    settings.ASSAY_BATCH_SIZE = 20
    monkeypatch.setattr(answer_table, "ROWS_PER_GROUP", 60)
    export_study(studies[FEW], format=format, out=Sink())
    few, many = (peak(lambda n=n: export_study(studies[n], format=format, out=Sink())) for n in (FEW, MANY))
    assert_flat(few, many, MANY - FEW)


def test_importing(tmp_path, settings, monkeypatch):
    settings.ASSAY_BATCH_SIZE = 20
    monkeypatch.setattr(compilation, "MOST_CACHED", 50)
    import_dump(FileSource(dump(tmp_path, 25)), slug="warm")
    paths = {lines: dump(tmp_path, lines) for lines in (FEW, MANY)}
    few, many = (peak(lambda n=n: import_dump(FileSource(paths[n]), slug=f"s{n}")) for n in (FEW, MANY))
    assert_flat(few, many, MANY - FEW)
