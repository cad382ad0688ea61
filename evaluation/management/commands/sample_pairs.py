"""manage.py sample_pairs FILE --baseline SYSTEM --out PATH: pairs with a baseline, balanced by length."""

from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
from django.core.management.base import CommandError

from evaluation.dumps.exports.study_export import atomic_file
from evaluation.dumps.lines import FileSource
from evaluation.dumps.problems import LineInvalid, Problems
from evaluation.dumps.sampling import BaselineSampler, Record
from evaluation.dumps.schemas import schema_problems
from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.outcomes import file_facts
from evaluation.refusals import Refused


class Command(AssayCommand):
    help = (
        "Reads an Assay dump whose items hold the responses of many systems, and writes pairwise items of each with "
        "the baseline: per query half of the systems with longer responses, half with shorter ones."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--baseline", required=True, help="the key of the system that all are compared with"
        )
        parser.add_argument("--per-query", type=int, default=4, help="how many pairs a query gives (4)")
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--out", type=Path, required=True)

    def perform(self, options: dict[str, Any]) -> Outcome:
        try:
            sampler = BaselineSampler(options["baseline"], options["per_query"], options["seed"])
            lines = _records(FileSource(options["file"]))
            header = next(lines, None)
            if header is None:
                raise Refused(f"{options['file'].name} is empty.")
            with atomic_file(options["out"]) as out:
                out.write(_line(_pairwise(header, options["baseline"])))
                for item in sampler.sample(lines):
                    out.write(_line(item))
        except Refused as refused:
            raise CommandError("\n".join([*refused.problems, "Nothing was written."])) from None
        except (LineInvalid, ValueError) as invalid:
            raise CommandError(str(invalid)) from None
        for what, n in sampler.counted.items():
            self.stdout.write(f"{n:,} {what}")
        return {"counts": dict(sampler.counted), **file_facts(options["out"])}


def _pairwise(header: Record, baseline: str) -> Record:
    """The study's line for a pairwise study; its questions and texts are the protocol's."""
    spec = {name: value for name, value in header["spec"].items() if name not in ("questions", "texts")}
    return {
        **{name: value for name, value in header.items() if name in ("assay", "slug", "rules", "systems")},
        "spec": {**spec, "protocol": "pairwise", "baseline": baseline},
    }


def _records(source: FileSource) -> Iterator[Record]:
    """The study's line and the items', each of the schema's shape; Refused where one is not."""
    problems = Problems()
    for number, line in enumerate(source.lines()):
        wrong = list(line.problems) or schema_problems("item" if number else "study", line.value)
        if wrong:
            problems.add(f"line {line.number}", wrong)
        problems.raise_if_any()
        yield line.value


def _line(record: Record) -> bytes:
    return orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)
