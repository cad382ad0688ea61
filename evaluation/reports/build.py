"""A study's report as one JSON-ready dict with a versioned schema; text, page and files are made from it."""

from typing import Any, get_args

from evaluation import hooks
from evaluation.analytics.win_rates import Ties
from evaluation.canonical import canonical_hash
from evaluation.frames import JUDGES, StudyFrame, pairwise_frame
from evaluation.models import Exclusion, Rater, Study
from evaluation.reports import judges, sections
from evaluation.reports.findings import findings
from evaluation.selectors import counting_judgments, judgments_left_out, outcomes, standing_exclusions

SCHEMA = "assay-report/1"
# Part of the cache's key: a change of what is computed is a new version.
CODE_VERSION = 2
REPLICATES = 1_000


# How a tie counts in expected win rates.
TIES: tuple[Ties, ...] = get_args(Ties)
TIES_COUNT: dict[Ties, str] = {
    "half": "An expected win rate counts a tie as half a win.",
    "win": "An expected win rate counts a tie as a win, so that the rates of two systems may add up to more than one.",
}


class NothingToReport(Exception):
    """There is no counting judgment yet."""


def build_report(study: Study, *, replicates: int = REPLICATES, ties: Ties = "half") -> dict[str, Any]:
    """Every figure of the study, each group of raters by itself and judges beside people.

    `ties` says how a tie counts in expected win rates: half a win, or a win for either system. Raises NothingToReport
    for a draft or a study without counting judgments.
    """
    revision = study.revisions.order_by("-number").first()
    if revision is None:
        raise NothingToReport("The study has not been launched; there is nothing to report yet.")
    # Asked before the items are read, of which there may be many.
    if not counting_judgments(study).exists():
        raise NothingToReport(_why_nothing(study))
    frame = pairwise_frame(study)
    if not frame.groups:
        raise NothingToReport("No judgment has a preference yet; there is nothing to report.")
    scopes = [
        sections.scope_of(
            frame.items, group, seed=study.seed, replicates=replicates, baseline=study.baseline, ties=ties
        )
        for group in frame.groups
    ]
    people = next((scope for scope in scopes if scope.group.kind == Rater.Kind.PERSON), None)
    report = {
        "schema": SCHEMA,
        "study": _study(study, revision.spec),
        "parameters": {
            "replicates": replicates,
            "level": 0.95,
            "seed": study.seed,
            "ties": ties,
            "version": CODE_VERSION,
        },
        "counts": _counts(study, frame),
        "raters": _raters(study, frame),
        "judges": judges.judges(study, scopes),
        "groups": [_group(scope, people) for scope in scopes],
    }
    report["findings"] = findings(report)
    report["methods"] = _methods(study, report)
    return report


def _why_nothing(study: Study) -> str:
    """Whether nobody has judged, or nothing of what was judged counts."""
    left_out = judgments_left_out(study)
    if not left_out:
        return "Nobody has judged an item yet; there is nothing to report."
    parts = ", ".join(f"{n:,} {reason.replace('_', ' ')}" for reason, n in sorted(left_out.items()))
    return f"No judgment counts yet ({parts}); there is nothing to report."


def _study(study: Study, spec: dict[str, Any]) -> dict[str, Any]:
    return {
        "slug": study.slug,
        "title": study.title,
        "protocol": study.protocol,
        "status": study.status,
        "study_hash": study.study_hash,
        "revisions": list(study.revisions.values("number", "spec_hash")),
        "redundancy": study.redundancy,
        "baseline": study.baseline,
        "simulated": study.simulated,
        "arms": [{"key": arm["key"], "label": arm["label"]} for arm in spec["arms"]],
        "systems": [
            {"key": key, "label": label or key} for key, label in study.systems.values_list("key", "label")
        ],
    }


def _counts(study: Study, frame: StudyFrame) -> dict[str, Any]:
    # Each judge is a group of its own already; the group of all would count it twice.
    groups = [group for group in frame.groups if group.kind != JUDGES]
    return {
        "items": len(frame.items),
        "queries": len(frame.items.queries),
        "judgments": sum(len(group.readings.label) for group in groups),
        "raters": sum(len(group.judgments.raters) for group in groups),
        "left_out": [{"reason": reason, "n": n} for reason, n in sorted(judgments_left_out(study).items())],
        "excluded_raters": standing_exclusions(study).filter(rater__isnull=False).count(),
    }


def _raters(study: Study, frame: StudyFrame) -> list[dict[str, Any]]:
    """Who judged, most judgments first; replicates of a judge count once, as in the figures."""
    labels = dict(study.raters.values_list("pseudonym", "label"))
    found = [
        {"rater": name, "label": labels[name] or name, "kind": group.kind, "judgments": int(n)}
        for group in frame.groups
        if group.kind != JUDGES
        for name, n in zip(group.judgments.raters, sections.judgments_per_rater(group), strict=True)
    ]
    return sorted(
        found, key=lambda rater: (rater["kind"] != Rater.Kind.PERSON, -rater["judgments"], rater["rater"])
    )


def _group(scope: sections.Scope, people: sections.Scope | None) -> dict[str, Any]:
    """Every group has every figure; one that a group can't have says why it is undefined."""
    group = scope.group
    return {
        "key": group.key,
        "label": group.label,
        "kind": group.kind,
        "judgments": len(group.readings.label),
        "raters": len(group.judgments.raters),
        "items": int((scope.counts.sum(axis=1) > 0).sum()),
        "agreement": sections.agreement(scope),
        "leave_one_out": sections.leave_one_out(scope),
        "alpha": sections.alpha(scope),
        "alpha_by_arm": sections.alpha_by_arm(scope),
        "kappa": sections.kappa(scope),
        "win_rates": sections.win_rates(scope),
        "flips": sections.flips(scope),
        "bradley_terry": sections.strengths(scope),
        "bias": sections.bias(scope),
        "follow_ups": sections.follow_ups(scope),
        "against_people": None
        if people is None or scope is people
        else sections.against_people(scope, people),
    }


def _methods(study: Study, report: dict[str, Any]) -> list[str]:
    counts, parameters = report["counts"], report["parameters"]
    sentences = [
        f"Figures are of {counts['judgments']:,} judgments on {counts['items']:,} items of "
        f"{counts['queries']:,} queries; study hash {study.study_hash[:12]}.",
        f"Intervals are 95 % percentile intervals from {parameters['replicates']:,} bootstrap replicates over "
        f"queries (over items for alpha and for kappa between raters), seed {parameters['seed']}.",
        "A share of nothing or of everything has no bootstrap interval; Wilson's over the queries stands there, and "
        "says so.",
        "Agreement is the share of an item's judgments equal to its most common label, averaged over items; "
        "without ties, items whose only most common label is a tie are left out.",
        "Leave-one-out agreement takes the exact expectation where several labels are equally common.",
        "A majority is more than half of an item's judgments, and a tie can win it; win rates by majority leave "
        "out items without one.",
        TIES_COUNT[parameters["ties"]],
    ]
    return [*sentences, *judges.methods(report["judges"]), *_facts(study)]


def _facts(study: Study) -> list[str]:
    return [sentence for fact in hooks.methods_facts for sentence in fact(study)]


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
            replicates,
            study.title,
            study.study_hash,
            study.status,
            study.redundancy,
            list(study.revisions.values_list("spec_hash", flat=True)),
            list(study.systems.values_list("key", "label")),
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
            _facts(study),
        ]
    )
