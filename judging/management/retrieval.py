"""The grid of nDCG at the shell (docs/pipelines/retrieval.md)."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.core.management.base import CommandParser

from analytics.statistics.core.estimates import Estimate
from evaluation.models import Study
from judging.backends.retrieval import CUTS
from judging.services.generation.retrieval_grid import retrieval_grid


def add_grid_arguments(parser: CommandParser) -> None:
    parser.add_argument(
        "--qrels", default="", metavar="FILE",
        help="hold a search for the queries, and for them with clarifying questions and answers, against relevance",
    )  # fmt: skip
    parser.add_argument("--corpus", default="", metavar="FILE", help="with --qrels: the corpus to search")
    parser.add_argument(
        "--trec", action="append", default=[], metavar="FILE", help="with --qrels: another system's run"
    )


def grid_lines(study: Study, options: Mapping[str, Any]) -> Iterator[str]:
    """The grid as a Markdown table, and what was left out."""
    rows = retrieval_grid(study, qrels=options["qrels"], corpus=options["corpus"], runs=options["trec"])
    yield f"| searched for | rankings | {' | '.join(f'nDCG@{cut}' for cut in CUTS)} |"
    yield f"| --- | ---: | {' | '.join(['---:'] * len(CUTS))} |"
    for row in rows:
        cells = [_cell(row.values[cut]) for cut in CUTS]
        yield f"| {row.searched} | {row.values[CUTS[0]].n:,} | {' | '.join(cells)} |"
    for each in rows[0].values[CUTS[0]].left_out:
        yield f"Left out: {each.n:,} {each.reason}."


def _cell(found: Estimate) -> str:
    if found.value is None:
        return found.undefined
    if found.low is None or found.high is None:
        return f"{found.value:.3f}"
    return f"{found.value:.3f} ({found.low:.3f} to {found.high:.3f})"
