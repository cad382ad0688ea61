"""A study's report as one JSON-ready dict with a versioned schema; page, text and files are made from it."""

from typing import Any

from analytics.figures.figure_input import MEASURES, FigureInput, Terms, figure_inputs, question_record
from analytics.figures.registry import FIGURES
from analytics.figures.report_view import ReportView
from analytics.frames.rows import JURY
from analytics.frames.study import RaterGroup, StudyFrame, study_frame
from analytics.reports import judges
from analytics.reports.code_version import code_version
from analytics.reports.common import (
    LEVEL,
    REPLICATES,
    TIES,
    NothingToReport,
    counts_record,
    facts_of,
    study_record,
    why_nothing,
)
from analytics.reports.findings import correct_tests, findings
from analytics.reports.methods.paragraph import methods_paragraph, passages_of
from analytics.reports.methods.sentences import methods
from analytics.reports.times import times_record
from analytics.statistics.preferences.win_rates import Ties
from evaluation.canonical import canonical_hash
from evaluation.models import Exclusion, Rater, Study
from evaluation.protocols import QuestionSpec
from evaluation.selectors import counting_judgments, judges_in_figures, outcome_counts
from evaluation.stopping import StoppingRule

SCHEMA = "assay-report/2"

Record = dict[str, Any]


def build_report(study: Study, *, replicates: int = REPLICATES, ties: Ties = "half") -> Record:
    """Every figure of the study, question by question, each group of raters by itself and judges beside people.

    `ties` says how a tie counts in expected win rates: half a win, or a win for either system. Raises NothingToReport
    for a draft or a study without counting judgments.
    """
    revision = study.revisions.order_by("-number").first()
    if revision is None:
        raise NothingToReport("The study has not been launched, so there is nothing to report yet.")
    # Asked before the items are read, of which there may be many.
    if not counting_judgments(study).exists():
        raise NothingToReport(why_nothing(study))
    frame = study_frame(study)
    if not frame.groups:
        raise NothingToReport("No judgment has an answer that counts yet, so there is nothing to report.")
    records = judges.judges(study, frame)
    derived = {
        rater.pseudonym: rater.about["derived"]
        for rater in judges_in_figures(study)
        if "derived" in rater.about
    }
    both = frozenset(each["rater"] for each in records if judges.is_asked_both_ways(each))

    def terms(asked: int) -> Terms:
        return Terms(
            study.seed,
            replicates,
            ties,
            study.baseline,
            asked,
            both,
            derived,
            conditions=judges.prompt_conditions(study),
            epsilon=study.epsilon,
            own_systems=judges.own_systems(study),
            stopping=StoppingRule.of(revision.spec.get("stopping") or {}),
            redundancy=study.redundancy,
        )

    report: Record = {
        "schema": SCHEMA,
        "study": study_record(study, revision),
        "parameters": {
            "replicates": replicates,
            "level": LEVEL,
            "seed": study.seed,
            "ties": ties,
            "version": code_version(),
        },
        "counts": _counts(study, frame),
        "raters": _raters(study, frame),
        "judges": records,
        "groups": [_group(group) for group in frame.groups],
        "times": times_record(study),
        "questions": [],
        "records": [],
    }
    for question, form, inputs in figure_inputs(frame, terms):
        report["records"] += _records(question, form, inputs)
        if form == MEASURES:
            continue
        answered = [{"group": given.group_key, **given.counts_record} for given in inputs]
        report["questions"].append({**question_record(question, form), "groups": answered})
    order = [question.key for question in frame.questions]
    report["questions"].sort(key=lambda each: _place(each["key"], order))
    correct_tests(report["records"])
    report["findings"] = []
    report["methods"] = []
    view = ReportView(report)
    report["findings"] = findings(view)
    report["methods"] = [*methods(study, view, revision.spec), *facts_of(study)]
    report["methods_paragraph"] = methods_paragraph(study, report, revision.spec)
    return report


def _place(key: str, order: list[str]) -> int:
    """A question's place in the form; one that is asked of several parts has a record of each, as vote.t1 of vote."""
    known = key if key in order else key.partition(".")[0]
    return order.index(known) if known in order else -1


def _records(question: QuestionSpec, form: str, inputs: list[FigureInput]) -> list[Record]:
    """The record of every figure that applies to the question, for every group that answered it."""
    figures = [figure for figure in FIGURES.values() if figure.applies(question, form)]
    return [
        {"figure": figure.key, "question": question.key, "group": given.group_key, **record}
        for given in inputs
        for figure in figures
        if (record := figure.compute(given)) is not None
    ]


def _group(group: RaterGroup) -> Record:
    return {
        "key": group.key,
        "label": group.label,
        "kind": group.kind,
        "heuristic": group.heuristic,
        **({"within": group.within} if group.within else {}),
        "judgments": group.judgments,
        "raters": len(group.per_rater),
        "items": group.items,
    }


def _counts(study: Study, frame: StudyFrame) -> Record:
    apart = frame.judges_apart
    return counts_record(
        study,
        items=frame.items,
        queries=frame.queries,
        judgments=sum(group.judgments for group in apart),
        raters=sum(len(group.per_rater) for group in apart),
    )


def _raters(study: Study, frame: StudyFrame) -> list[Record]:
    """Raters with the most judgments first; replicates of a judge count once, as in the figures."""
    labels = dict(study.raters.values_list("pseudonym", "label"))
    found = [
        {"rater": name, "label": labels[name] or name, "kind": _rater_kind(group), "judgments": n}
        for group in frame.judges_apart
        for name, n in group.per_rater.items()
    ]
    return sorted(
        found, key=lambda rater: (rater["kind"] != Rater.Kind.PERSON, -rater["judgments"], rater["rater"])
    )


def _rater_kind(group: RaterGroup) -> str:
    return str(Rater.Kind.JUDGE) if group.kind == JURY else group.kind


def fingerprint(study: Study, *, replicates: int = REPLICATES, ties: Ties = "half") -> str:
    """Everything that a report depends on, as a hash: the key under which a computed one is cached."""
    return fingerprints(study, replicates=replicates)[ties]


def fingerprints(study: Study, *, replicates: int = REPLICATES) -> dict[Ties, str]:
    """The same for every way to count a tie; what they depend on together is asked for once."""
    shared = _fingerprint(study, replicates)
    return {ties: canonical_hash([shared, ties]) for ties in TIES}


def _fingerprint(study: Study, replicates: int) -> str:
    latest = study.judgments.order_by("-pk").values_list("pk", flat=True).first()
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
            latest,
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
        ]
    )
