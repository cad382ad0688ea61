"""Reports of large studies from PostgreSQL: a million judgments of pairs, with and without contexts, of rankings and of
four rated responses each, and a million rated responses.

Per form, each in a process of its own with its peak memory and its CPU, which PostgreSQL's is no part of: the report as
its page has it, then each section whose figures wait until it is opened, and all of them; then each figure by itself,
as a multiple of one call of `krippendorff.alpha`.

Usage: DATABASE_URL=postgres://... python -m benchmarks.figures [FORM ...] (creates the studies it lacks and keeps them)
"""

import json
import os
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from benchmarks.large_studies import FORMS, prepare

MEGABYTE = 1024  # ru_maxrss counts kilobytes
PARTS = ("report", "figures")
SECTION = "section:"
ALL_SECTIONS = f"{SECTION}all"
# Of the figures that take least, the rest is one line.
SHOWN_ABOVE = 0.1


def main() -> None:
    if not os.environ.get("DATABASE_URL", "").startswith("postgres"):
        sys.exit("Set DATABASE_URL to a PostgreSQL database that may be filled.")
    _setup()
    print(f"{os.cpu_count()} cores; PostgreSQL; seconds")
    for slug in [name for name in sys.argv[1:] if name in FORMS] or FORMS:
        prepare(slug)
        found = {part: run_child(slug, part) for part in PARTS}
        show(slug, found, {part: run_child(slug, part) for part in sections(found["figures"]["waiting"])})


def run_child(slug: str, part: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.figures", slug, part]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _setup() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()


def measure(slug: str, part: str) -> dict[str, Any]:
    from evaluation.models import Study

    study = Study.objects.get(slug=slug)
    started = time.process_time()
    if part.startswith(SECTION):
        found = _section(study, part.removeprefix(SECTION))
    else:
        found = {"report": _report, "figures": _figures}[part](study)
    return {
        "cpu": time.process_time() - started,
        **found,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MEGABYTE,
    }


def _report(study: Any) -> dict[str, Any]:
    from analytics.reports.build import build_report, fingerprint
    from analytics.reports.page import report_page

    started = time.process_time()
    report, seconds = timed(lambda: build_report(study, defer=True))
    return {
        "cpu": time.process_time() - started,
        "judgments": report["counts"]["judgments"],
        "seconds": seconds,
        "page": timed(lambda: report_page(report))[1],
        "fingerprint": timed(lambda: fingerprint(study))[1],
    }


def sections(waiting: list[str]) -> list[str]:
    """The parts that compute these figures: a section each, and all of them."""
    from analytics.figures.registry import FIGURES

    headings = dict.fromkeys(FIGURES[key].heading for key in waiting)
    return [*(f"{SECTION}{heading}" for heading in headings), ALL_SECTIONS]


def _section(study: Any, heading: str) -> dict[str, Any]:
    from analytics.figures.registry import FIGURES
    from analytics.reports.common import REPLICATES
    from analytics.reports.deferred.records import deferred_records

    whole = heading == ALL_SECTIONS.removeprefix(SECTION)
    keys = [key for key, each in FIGURES.items() if each.deferred_as and (whole or each.heading == heading)]
    # All that `deferred_records` reads of a report.
    report = {"parameters": {"replicates": REPLICATES, "ties": "half"}}
    return {"seconds": timed(lambda: deferred_records(study, report, keys))[1]}


def _figures(study: Any) -> dict[str, Any]:
    """Seconds of each figure over all its questions and groups of raters."""
    from analytics.figures.figure_input import figure_inputs
    from analytics.figures.registry import FIGURES
    from analytics.frames.needs import NeedSource
    from analytics.frames.study import study_frame
    from analytics.reports import judges
    from analytics.reports.build import applying, latest_revision, made_needs
    from analytics.reports.common import REPLICATES
    from evaluation.filters import EVERYTHING

    frame, loading = timed(lambda: study_frame(study))
    source = NeedSource(study, latest_revision(study).spec, EVERYTHING, frame, judges.judges(study, frame))
    seconds: Counter[str] = Counter()
    for question, form, inputs in figure_inputs(
        source, made_needs(source), replicates=REPLICATES, ties="half"
    ):
        for given in inputs:
            for figure in (each for each in applying(question, form) if each.is_of(given)):
                seconds[figure.key] += timed(lambda figure=figure, given=given: figure.compute(given))[1]
    return {
        "loading": loading,
        "figures": dict(seconds),
        "waiting": [key for key in seconds if FIGURES[key].deferred_as],
        "krippendorff": _krippendorff_once(frame),
    }


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    started = time.perf_counter()
    result = call()
    return result, time.perf_counter() - started


def _krippendorff_once(frame: Any) -> float:
    """The package on the counts of labels of people's first question, items by labels."""
    import krippendorff
    import numpy as np

    if frame.pairs:
        judged = frame.pairs[0].groups[0].judgments
        unit, value = judged.item, judged.label
    else:
        answers = next(each for each in frame.answers.groups[0].answers.values() if len(each.value))
        unit, value = answers.item * len(answers.parts) + answers.part, answers.value
    _, unit = np.unique(unit, return_inverse=True)
    values, code = np.unique(value, return_inverse=True)
    counts = np.bincount(unit * len(values) + code, minlength=(unit.max() + 1) * len(values))
    counts = counts.reshape(-1, len(values))
    counts = counts[counts.sum(axis=1) > 1]
    return timed(lambda: krippendorff.alpha(value_counts=counts, level_of_measurement="nominal"))[1]


def show(slug: str, found: dict[str, Any], opened: dict[str, Any]) -> None:
    report, parts = (found[part] for part in PARTS)
    once, known = parts["krippendorff"], parts["figures"]
    print(f"\n{slug}: {report['judgments']:,} judgments; krippendorff.alpha once takes {once:.3f}")
    print(f"{'':<46}{'seconds':>9}{'x alpha':>9}{'CPU':>7}{'peak MB':>9}")

    def line(name: str, seconds: float, whole: dict[str, Any] | None = None) -> None:
        cpu, memory = (f"{whole['cpu']:.1f}", f"{whole['memory']:,.0f}") if whole else ("", "")
        print(f"{name:<46}{seconds:>9.2f}{seconds / once:>9.1f}{cpu:>7}{memory:>9}", flush=True)

    line("report with what its page shows at once", report["seconds"], report)
    for part, section in opened.items():
        name = "all sections" if part == ALL_SECTIONS else f"section {part.removeprefix(SECTION)}"
        line(f"{name}, on opening", section["seconds"], section)
    line("page from the report", report["page"])
    line("fingerprint", report["fingerprint"])
    line("loading the frame", parts["loading"])
    for key in sorted(known, key=known.__getitem__, reverse=True):
        if known[key] >= SHOWN_ABOVE:
            line(f"{key}{' (on opening)' if key in parts['waiting'] else ''}", known[key])
    rest = [seconds for seconds in known.values() if seconds < SHOWN_ABOVE]
    line(f"{len(rest)} others", sum(rest))


if __name__ == "__main__":
    if sys.argv[2:] and (sys.argv[2] in PARTS or sys.argv[2].startswith(SECTION)):
        _setup()
        print(json.dumps(measure(*sys.argv[1:])))
    else:
        main()
