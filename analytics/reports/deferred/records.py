"""Figures of a large study that wait until a reader opens their section: computed alone, and put into the report."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import partial

from analytics.figures.document import FailedFigure, FigureRecord, ReportRecord
from analytics.figures.failures import Failures
from analytics.figures.figure_input import figure_inputs
from analytics.figures.registry import FIGURES
from analytics.frames.needs import NeedSource
from analytics.frames.study import study_frame
from analytics.reports import judges
from analytics.reports.build import applying, conclude, latest_revision, made_needs, records_of
from analytics.reports.common import Watch, no_watch
from evaluation.filters import Filters
from evaluation.models import Study


def waiting_in(report: ReportRecord, heading: str = "") -> list[str]:
    """The keys of the figures below the heading, or below any, that are not computed yet, in the order of the page."""
    keys = (key for key in report.get("deferred", ()) if heading in ("", FIGURES[key].heading))
    return sorted(keys, key=lambda key: (FIGURES[key].place, key))


def filters_of(report: ReportRecord) -> Filters:
    """The view that the report is of."""
    return Filters.of(report["parameters"].get("view", {}))


@dataclass(frozen=True)
class DeferredRecords:
    """The records of `keys`, whose tests are corrected in the report that they complete, the place of each question
    and group in the order of a report's records, and what failed."""

    keys: frozenset[str]
    records: list[FigureRecord]
    places: dict[tuple[str, str], int]
    failed: list[FailedFigure]


def deferred_records(
    study: Study, report: ReportRecord, keys: Collection[str], watch: Watch = no_watch
) -> DeferredRecords:
    """Compute the figures of these keys, of the same judgments and by the same parameters as the report.

    Raises NothingToReport where none are left.
    """
    watch("reading judgments", 0, 1)
    filters, parameters = filters_of(report), report["parameters"]
    frame = study_frame(study, filters)
    judged = judges.judges(study, frame, filters)
    source = NeedSource(study, latest_revision(study).spec, filters, frame, judged)
    by_question = partial(
        figure_inputs,
        source,
        made_needs(source, keys),
        replicates=parameters["replicates"],
        ties=parameters["ties"],
    )
    records: list[FigureRecord] = []
    places: dict[tuple[str, str], int] = {}
    failures = Failures.of(report)
    steps, done = 0, 0
    for question, form, inputs in by_question():
        steps += len(inputs) * len(applying(question, form, keys))
        for given in inputs:
            places.setdefault((question.key, given.group_key), len(places))
    # Asked for anew: each question's arrays are let go before the next one's are made.
    for question, form, inputs in by_question():
        for figure in applying(question, form, keys):
            for given in inputs:
                watch(figure.deferred_as, done, steps)
                records += records_of(question, [given], [figure], failures)
                done += 1
    return DeferredRecords(frozenset(keys), records, places, failures.records())


def completed(study: Study, report: ReportRecord, found: DeferredRecords) -> ReportRecord:
    """The report with these records among its others, as if they had been computed with them."""
    order = {key: at for at, key in enumerate(FIGURES)}
    others = [record for record in report["records"] if record["figure"] not in found.keys]
    last = len(found.places)
    records = sorted(
        [*others, *found.records],
        key=lambda each: (found.places.get((each["question"], each["group"]), last), order[each["figure"]]),
    )
    left = [key for key in report.get("deferred", ()) if key not in found.keys]
    whole: ReportRecord = {**report, "records": records}
    whole.pop("deferred", None)
    if left:
        whole["deferred"] = left
    conclude(study, latest_revision(study), whole, Failures.of(report, found.failed), filters_of(report))
    return whole
