"""A study's report as one JSON-ready dict with a versioned schema; page, text and files are made from it."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, cast

from analytics.figures.document import (
    SCHEMA,
    CountsRecord,
    FigureRecord,
    GroupRecord,
    ParametersRecord,
    RaterRecord,
    ReportRecord,
    ViewRecord,
)
from analytics.figures.failures import Failures
from analytics.figures.figure import Figure
from analytics.figures.figure_input import MEASURES, FigureInput, figure_inputs, question_record
from analytics.figures.registry import FIGURES, with_beside
from analytics.figures.report_view import ReportView
from analytics.figures.withheld import BY_LOOKS, OF_A_VIEW, concerns, withheld
from analytics.frames.needs import Need, NeedSource
from analytics.frames.rows import JURY
from analytics.frames.study import RaterGroup, StudyFrame, study_frame
from analytics.reports import judges
from analytics.reports.code_version import code_version
from analytics.reports.common import (
    LEVEL,
    REPLICATES,
    TIES,
    NothingToReport,
    Watch,
    counts_record,
    facts_of,
    no_watch,
    study_record,
    why_nothing,
)
from analytics.reports.findings import correct_tests, findings
from analytics.reports.methods.paragraph import methods_paragraph, passages_of
from analytics.reports.methods.sentences import methods
from analytics.reports.parts.codings import codings_of, codings_record
from analytics.reports.parts.contexts import contexts_record, query_counts_of
from analytics.reports.parts.queries import queries_record
from analytics.reports.parts.times import times_record
from analytics.statistics.core.estimates import plain
from analytics.statistics.preferences.win_rates import Ties
from evaluation.canonical import canonical_hash
from evaluation.extension import Coding
from evaluation.filters import EVERYTHING, Filters
from evaluation.models import Exclusion, Rater, Revision, Study
from evaluation.protocols import QuestionSpec
from evaluation.selectors import counting_judgments, outcome_counts


def build_report(
    study: Study,
    *,
    replicates: int = REPLICATES,
    ties: Ties = "half",
    filters: Filters = EVERYTHING,
    only: Collection[str] | None = None,
    defer: bool = False,
    codings: Sequence[Coding] | None = None,
    watch: Watch = no_watch,
) -> ReportRecord:
    """Every figure of the study, question by question, each group of raters by itself and judges beside people.

    `ties` says how a tie counts in expected win rates: half a win, or a win for either system. `filters` make it a
    report of a part of the judgments. `only` are the keys of the figures that are computed, if not all: their records,
    and those of the figures beside them, are the same as in the whole report. `defer` leaves the figures that may wait
    to `deferred_records`. `codings` are those of its queries and texts, if not the ones that are registered.

    Raises NothingToReport for a draft or a study without counting judgments, and Refused for the key of
    no figure.
    """
    keys: Collection[str] = FIGURES if only is None else with_beside(only)
    revision = latest_revision(study)
    # Asked before the items are read, of which there may be many.
    if not counting_judgments(study).filter(filters.judgments(study)).exists():
        raise NothingToReport(why_nothing(study, filters))
    frame = study_frame(study, filters)
    if not frame.groups:
        raise NothingToReport("No judgment has an answer that counts yet, so there is nothing to report.")
    records = judges.judges(study, frame, filters)
    source = NeedSource(study, revision.spec, filters, frame, records)
    parameters: ParametersRecord = {
        "replicates": replicates,
        "level": LEVEL,
        "seed": study.seed,
        "ties": ties,
        "version": code_version(),
    }
    if filters:
        parameters["view"] = cast(ViewRecord, filters.canonical())
    if only is not None:
        parameters["only"] = sorted(keys)
    report: ReportRecord = {
        "schema": SCHEMA,
        "study": study_record(study, revision, filters, frame.study_items.systems),
        "parameters": parameters,
        "counts": _counts(study, frame, filters),
        "raters": _raters(study, frame),
        "judges": records,
        "groups": [_group(group) for group in frame.groups],
        "times": times_record(frame.rows),
        "queries": queries_record(frame.study_items),
        "codings": codings_record(
            study, frame.study_items, codings_of(study) if codings is None else codings
        ),
        "contexts": contexts_record(study, frame.study_items, query_counts_of(study)),
        "questions": [],
        "records": [],
        "findings": [],
        "methods": [],
        "methods_paragraph": "",
    }
    deferred: set[str] = set()
    failures = Failures.of(report)
    by_question = figure_inputs(source, made_needs(source, keys), replicates=replicates, ties=ties)
    for done, (question, form, inputs) in enumerate(by_question):
        watch("computing the figures", done, len(frame.questions))
        figures = applying(question, form, keys)
        if defer and inputs:
            waiting = [figure for figure in figures if figure.deferred_as]
            deferred.update(each.key for each in waiting if any(each.is_of(given) for given in inputs))
            figures = [figure for figure in figures if not figure.deferred_as]
        report["records"] += records_of(question, inputs, figures, failures)
        if form == MEASURES:
            continue
        answered = [{"group": given.group_key, **given.counts_record} for given in inputs]
        report["questions"].append({**plain(question_record(question, form)), "groups": answered})
    order = [question.key for question in frame.questions]
    report["questions"].sort(key=lambda each: _place(each["key"], order))
    if deferred:
        report["deferred"] = sorted(deferred)
    conclude(study, revision, report, failures, filters)
    report["methods_paragraph"] = methods_paragraph(study, report, revision.spec)
    return report


def conclude(
    study: Study, revision: Revision, report: ReportRecord, failures: Failures, filters: Filters
) -> None:
    """Complete a report by all that is said of its records together: corrected tests, findings, sentences on methods.

    A figure that fails in it is left out whole, and what is said is said anew without it.
    """
    failed = -1
    while failed < len(failures):
        failed = len(failures)
        report["records"] = [each for each in report["records"] if each["figure"] not in failures]
        correct_tests(report, failures)
        view = ReportView(report)
        report["findings"] = findings(view, failures)
        report["methods"] = [*methods(study, view, revision.spec, failures), *facts_of(study, filters)]
    if failures:
        report["failed"] = failures.records()


def latest_revision(study: Study) -> Revision:
    """Raises NothingToReport for a draft."""
    revision = study.revisions.order_by("-number").first()
    if revision is None:
        raise NothingToReport("The study has not been launched, so there is nothing to report yet.")
    return revision


def made_needs(source: NeedSource, keys: Iterable[str] = FIGURES) -> dict[type[Need], Need]:
    """The needs of the figures of these keys, made of the study."""
    kinds = {kind for key in keys for kind in FIGURES[key].needs}
    return {kind: kind.of(source) for kind in kinds}


def _place(key: str, order: list[str]) -> int:
    """A question's place in the form; one that is asked of several parts has a record of each, as vote.t1 of vote."""
    known = key if key in order else key.partition(".")[0]
    return order.index(known) if known in order else -1


def applying(question: QuestionSpec, form: str, keys: Collection[str] = FIGURES) -> list[Figure]:
    """The figures that are of the question, of all or of those of these keys."""
    return [figure for key, figure in FIGURES.items() if key in keys and figure.applies(question, form)]


def records_of(
    question: QuestionSpec, inputs: Iterable[FigureInput], figures: Iterable[Figure], failures: Failures
) -> list[FigureRecord]:
    """The record of each of these figures of the question, for every group that answered it."""
    figures = list(figures)
    found: list[FigureRecord] = []
    for given in inputs:
        for figure in figures:
            with failures.leaving_out(figure.key):
                if (record := _record(figure, given)) is not None:
                    about: FigureRecord = {
                        "figure": figure.key,
                        "question": question.key,
                        "group": given.group_key,
                    }
                    found.append({**about, **record})
    return found


def _record(figure: Figure, given: FigureInput) -> Any:
    """The JSON of the figure's own record; None where there is none."""
    found = figure.compute(given) if figure.is_of(given) else None
    record = found if figure.record_type is None else plain(found)
    if record is not None and concerns(given, figure.stops_with, beside_people=figure.beside_people):
        reason = OF_A_VIEW if given.terms.is_view else BY_LOOKS
        return withheld(record, reason, parts=figure.stops_in)
    return record


def _group(group: RaterGroup) -> GroupRecord:
    found: GroupRecord = {
        "key": group.key,
        "label": group.label,
        "kind": group.kind,
        "heuristic": group.heuristic,
        "judgments": group.judgments,
        "raters": len(group.per_rater),
        "items": group.items,
    }
    return {**found, "within": group.within} if group.within else found


def _counts(study: Study, frame: StudyFrame, filters: Filters) -> CountsRecord:
    apart = frame.judges_apart
    return counts_record(
        study,
        items=frame.items,
        queries=frame.queries,
        judgments=sum(group.judgments for group in apart),
        raters=sum(len(group.per_rater) for group in apart),
        filters=filters,
    )


def _raters(study: Study, frame: StudyFrame) -> list[RaterRecord]:
    """Raters with the most judgments first; replicates of a judge count once, as in the figures."""
    labels = dict(study.raters.values_list("pseudonym", "label"))
    found: list[RaterRecord] = [
        {"rater": name, "label": labels[name] or name, "kind": _rater_kind(group), "judgments": n}
        for group in frame.judges_apart
        for name, n in group.per_rater.items()
    ]
    return sorted(
        found, key=lambda rater: (rater["kind"] != Rater.Kind.PERSON, -rater["judgments"], rater["rater"])
    )


def _rater_kind(group: RaterGroup) -> str:
    return str(Rater.Kind.JUDGE) if group.kind == JURY else group.kind


def fingerprint(
    study: Study, *, replicates: int = REPLICATES, ties: Ties = "half", filters: Filters = EVERYTHING
) -> str:
    """Everything that a report depends on, as a hash: the key under which a computed one is cached."""
    return fingerprints(study, replicates=replicates, filters=filters)[ties]


def fingerprints(
    study: Study, *, replicates: int = REPLICATES, filters: Filters = EVERYTHING
) -> dict[Ties, str]:
    """The same for every way to count a tie; what they depend on together is asked for once."""
    shared = _fingerprint(study, replicates)
    view = [filters.canonical()] if filters else []
    return {ties: canonical_hash([shared, ties, *view]) for ties in TIES}


def latest_judgment(study: Study) -> int | None:
    """The highest id of its judgments."""
    return study.judgments.order_by("-pk").values_list("pk", flat=True).first()


def _fingerprint(study: Study, replicates: int) -> str:
    return canonical_hash(
        [
            SCHEMA,
            code_version(),
            replicates,
            study.title,
            study.study_hash,
            study.status,
            study.redundancy,
            list(study.revisions.values_list("spec_hash", flat=True)),
            list(study.systems.values_list("key", "label", "kind", "family")),
            # A failure that is replaced by a judgment changes neither the number of rows nor the latest.
            outcome_counts(study),
            latest_judgment(study),
            study.corrections,
            Exclusion.objects.filter(study=study).count(),
            study.items.filter(withdrawn_at__isnull=False).count(),
            list(
                study.raters.filter(kind=Rater.Kind.JUDGE)
                .order_by("pk")
                .values_list("pk", "label", "in_figures", "about")
            ),
            facts_of(study),
            passages_of(study),
            [[coding.key, coding.by, coding.stamp] for coding in codings_of(study)],
            [[count.name, count.by, count.n, count.among, count.note] for count in query_counts_of(study)],
        ]
    )
