"""A study's report as one JSON-ready dict with a versioned schema; text, page and files are made from it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from evaluation.analytics.win_rates import Ties
from evaluation.canonical import canonical_hash
from evaluation.frames import JUDGES, Group, StudyFrame, pairwise_frames
from evaluation.models import Exclusion, Rater, Study
from evaluation.reports import answers, judges
from evaluation.reports.common import (
    INTERVALS,
    LENGTH_RULE,
    MAJORITY_RULE,
    REPLICATES,
    TIES,
    TIES_COUNT,
    NothingToReport,
    counts_record,
    facts_of,
    study_record,
    why_nothing,
)
from evaluation.reports.families import correct_pairwise
from evaluation.reports.findings import findings
from evaluation.reports.scope import Scope, judgments_per_rater, scopes_of
from evaluation.reports.sections import group_record
from evaluation.reports.several import named, preference_record, preferences_of, wordings
from evaluation.selectors import counting_judgments, outcomes

SCHEMA = "assay-report/1"
# Part of the cache's key: a change of what is computed is a new version.
CODE_VERSION = 7
__all__ = [
    "CODE_VERSION",
    "REPLICATES",
    "SCHEMA",
    "TIES",
    "TIES_COUNT",
    "NothingToReport",
    "build_report",
    "fingerprint",
    "fingerprints",
]


def build_report(study: Study, *, replicates: int = REPLICATES, ties: Ties = "half") -> dict[str, Any]:
    """Every figure of the study, each group of raters by itself and judges beside people.

    `ties` says how a tie counts in expected win rates: half a win, or a win for either system. A protocol whose report
    is of answers has its own, with a schema of its own (see `evaluation.reports.answers`). Raises NothingToReport
    for a draft or a study without counting judgments.
    """
    revision = study.revisions.order_by("-number").first()
    if revision is None:
        raise NothingToReport("The study has not been launched; there is nothing to report yet.")
    # Asked before the items are read, of which there may be many.
    if not counting_judgments(study).exists():
        raise NothingToReport(why_nothing(study))
    if "answers" in study.protocol_object.analyses:
        return answers.build_answers_report(study, revision.spec, replicates=replicates, ties=ties)
    frames = pairwise_frames(study)
    if not frames[0].groups:
        raise NothingToReport("No judgment has a preference yet; there is nothing to report.")
    (first, people), *others = [
        scopes_of(study, frame, replicates=replicates, ties=ties, asked=len(frames)) for frame in frames
    ]
    report: dict[str, Any] = {
        "schema": SCHEMA,
        "study": study_record(study, revision.spec),
        "parameters": {
            "replicates": replicates,
            "level": 0.95,
            "seed": study.seed,
            "ties": ties,
            "version": CODE_VERSION,
        },
        "counts": _counts(study, frames),
        "raters": _raters(study, frames),
        "judges": judges.judges(study, first, *(scopes for scopes, _ in others)),
        "preference": preference_record(frames[0].preference),
        "groups": [group_record(scope, people) for scope in first],
        "further_preferences": [
            _further(study, frame, *found) for frame, found in zip(frames[1:], others, strict=True)
        ],
    }
    _correct(report)
    report["findings"] = [
        named(finding, each) for each in preferences_of(report) for finding in findings(each)
    ]
    report["methods"] = _methods(study, report, revision.spec)
    return report


def _correct(report: dict[str, Any]) -> None:
    """Corrects the tests of each group of raters, over all preferences that the study asks for."""
    groups = [group for each in preferences_of(report) for group in each["groups"]]
    for key in dict.fromkeys(group["key"] for group in groups):
        correct_pairwise([group for group in groups if group["key"] == key])


def _further(study: Study, frame: StudyFrame, scopes: list[Scope], people: Scope | None) -> dict[str, Any]:
    return {
        **(preference_record(frame.preference) or {}),
        "groups": [group_record(scope, people) for scope in scopes],
        "inconsistent": judges.inconsistent_judges(study, scopes),
    }


def _counts(study: Study, frames: Sequence[StudyFrame]) -> dict[str, Any]:
    groups = _single_groups(frames)
    read = np.concatenate([group.read for group in groups])
    items = frames[0].items
    return counts_record(
        study,
        items=len(items),
        queries=len(items.queries),
        # A judgment may have several preferences.
        judgments=len(np.unique(read)) if len(frames) > 1 else len(read),
        raters=len({name for group in groups for name in group.judgments.raters}),
    )


def _single_groups(frames: Sequence[StudyFrame]) -> list[Group]:
    """Each judge is a group of its own already; the group of all would count it twice."""
    return [group for frame in frames for group in frame.groups if group.kind != JUDGES]


def _raters(study: Study, frames: Sequence[StudyFrame]) -> list[dict[str, Any]]:
    """Who judged, most judgments first; replicates of a judge count once, as in the figures."""
    labels = dict(study.raters.values_list("pseudonym", "label"))
    groups = _single_groups(frames)
    kinds = {name: group.kind for group in groups for name in group.judgments.raters}
    found = [
        {"rater": name, "label": labels[name] or name, "kind": kinds[name], "judgments": n}
        for name, n in judgments_per_rater(groups).items()
    ]
    return sorted(
        found, key=lambda rater: (rater["kind"] != Rater.Kind.PERSON, -rater["judgments"], rater["rater"])
    )


def _methods(study: Study, report: dict[str, Any], spec: dict[str, Any]) -> list[str]:
    counts, parameters = report["counts"], report["parameters"]
    sentences = [
        f"Figures are of {counts['judgments']:,} judgments on {counts['items']:,} items of "
        f"{counts['queries']:,} queries; study hash {study.study_hash[:12]}.",
        *INTERVALS,
        "Agreement is the share of an item's judgments equal to its most common label, averaged over items; "
        "without ties, items whose only most common label is a tie are left out.",
        "Leave-one-out agreement takes the exact expectation where several labels are equally common.",
        MAJORITY_RULE,
        TIES_COUNT[parameters["ties"]],
        LENGTH_RULE,
    ]
    if any(group["follow_ups"] for group in report["groups"]):
        sentences.append(
            "Two responses differ in satisfied follow-ups where the mean over raters of those satisfied by one less "
            "those by the other is 1 or more, either way (ContextEval, Table 5); by majority, where the numbers of "
            "follow-ups differ that more than half of an item's raters find satisfied."
        )
    if any(fit["strengths"] for group in report["groups"] for fit in group["bradley_terry"]):
        sentences.append(
            "Bradley-Terry strengths take each judgment as a comparison and a tie as half a win, with standard errors "
            f"robust to dependence within a query; intervals of ranks are percentiles of {parameters['replicates']:,} "
            f"bootstrap replicates over queries, seed {parameters['seed']}."
        )
    return [*sentences, *wordings(report, spec), *judges.methods(report["judges"]), *facts_of(study)]


def fingerprint(study: Study, *, replicates: int = REPLICATES, ties: Ties = "half") -> str:
    """Everything that a report depends on, as a hash: the key under which a computed one is kept."""
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
            CODE_VERSION,
            answers.SCHEMA,
            answers.CODE_VERSION,
            replicates,
            study.title,
            study.study_hash,
            study.status,
            study.redundancy,
            list(study.revisions.values_list("spec_hash", flat=True)),
            list(study.systems.values_list("key", "label", "kind")),
            # A failure that is replaced by a judgment changes neither the number of rows nor the latest.
            outcomes(study),
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
        ]
    )
