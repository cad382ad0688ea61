"""The judges of a report: how each was asked, what came back, and what must be said of it."""

from collections.abc import Iterable, Mapping
from typing import Any

from evaluation.analytics.estimates import plain, undefined
from evaluation.analytics.replicates import inconsistency
from evaluation.frames import DEFAULT_RULE
from evaluation.models import Outcome, Rater, Study
from evaluation.reports.sections import Scope
from evaluation.selectors import judges_in_figures, outcomes_of_judges

BOTH = "both"
# What each rule does with several readings, as the end of a sentence.
REDUCTIONS = {
    "majority": "the most common label, a tie without a unique one",
    "mean": "the mean of the preferences, and the label on its side of one half",
    "both_ways": "a tie where the two orders of a sample differ, and samples by majority",
}
NOT_BOTH_WAYS = "Asked in one order only, so nothing can be said of consistency."
NO_VERDICT = "No sample has a preference in both orders."
WITH_PEOPLE = "which people did not: it saw more than people did"
WITHOUT_PEOPLE = "which no person is shown"


def judges(study: Study, scopes: Iterable[Scope]) -> list[dict[str, Any]]:
    """Every judge in figures, those too of which nothing could be read."""
    by_key = {scope.group.key: scope for scope in scopes}
    outcomes = outcomes_of_judges(study)
    # What people were shown themselves, no judge saw more of.
    hidden = "" if study.show_references else WITH_PEOPLE if Rater.Kind.PERSON in by_key else WITHOUT_PEOPLE
    return [
        _judge(rater, outcomes[rater.pk], by_key.get(rater.pseudonym), hidden)
        for rater in judges_in_figures(study)
    ]


def _judge(rater: Rater, outcomes: Mapping[str, int], scope: Scope | None, hidden: str) -> dict[str, Any]:
    label = rater.label or rater.pseudonym
    asked = _asked(rater.about)
    total = sum(outcomes.values())
    caveats = [f"{label} saw the human-written reference, {hidden}."] if asked["reference"] and hidden else []
    return {
        "rater": rater.pseudonym,
        "label": label,
        **asked,
        "judgments": total,
        "outcomes": [_outcome(outcome, outcomes.get(outcome, 0), total) for outcome in Outcome.values],
        "inconsistent": _inconsistent(asked, scope),
        "caveats": [*caveats, *_without_verdicts(label, total, outcomes.get(Outcome.OK, 0), scope)],
    }


def _asked(about: Mapping[str, Any]) -> dict[str, Any]:
    """How a judge was asked, as far as it is known."""
    return {
        "judge": str(about.get("judge", "")),
        "version": about.get("version"),
        "model": str(about.get("model", "")),
        "reference": bool(about.get("reference")),
        "orders": str(about.get("orders", "")),
        "samples": about.get("samples"),
        "reduction": about.get("reduction") or DEFAULT_RULE,
        "questions": list(about.get("questions") or []),
        "purpose": str(about.get("purpose", "")),
    }


def _outcome(outcome: str, n: int, total: int) -> dict[str, Any]:
    return {"outcome": outcome, "n": n, "share": n / total if total else None}


def _inconsistent(asked: Mapping[str, Any], scope: Scope | None) -> Any:
    if asked["orders"] != BOTH and asked["reduction"] != "both_ways":
        return plain(undefined(NOT_BOTH_WAYS, unit="samples"))
    if scope is None:
        return plain(undefined(NO_VERDICT, unit="samples"))
    readings = scope.group.readings
    labelled = readings.where(readings.label >= 0)
    query = scope.items.query[labelled.item]
    return plain(inconsistency(labelled, query, resample=scope.resample("inconsistency")).inconsistent)


def _without_verdicts(label: str, total: int, read: int, scope: Scope | None) -> list[str]:
    """Why a judge has no preferences in the figures, if it has none."""
    if not total:
        return [f"{label} has judged nothing yet."]
    if not read:
        return [f"{label} is in no figure: nothing could be read of its {total:,} judgments."]
    if scope is None or not (scope.counts > 0).any():
        return [f"{label} was not asked which response is better; what it checked is under the follow-ups."]
    return []


def methods(records: list[dict[str, Any]]) -> list[str]:
    """Who judged, and how their readings became judgments."""
    if not records:
        return []
    labels = [record["label"] for record in records]
    named = f"{', '.join(labels[:-1])} and {labels[-1]}" if len(labels) > 1 else labels[0]
    sentences = [f"Judges: {named}." if len(labels) > 1 else f"Judge: {named}."]
    for rule, meaning in REDUCTIONS.items():
        those = [
            record["label"] for record in records if record["reduction"] == rule and _is_repeated(record)
        ]
        if those:
            sentences.append(f"Several readings of an item by {', '.join(those)} count as one: {meaning}.")
    sentences.append(
        "Where a judge gives probabilities, an expected win rate is their mean, and its standard error their standard "
        "deviation over the root of the number of items."
    )
    return [*sentences, *(caveat for record in records for caveat in record["caveats"])]


def _is_repeated(record: Mapping[str, Any]) -> bool:
    """Whether an item has several readings; where it is not known, whether a rule for them was chosen."""
    if record["orders"] == BOTH or record["reduction"] == "both_ways":
        return True
    return bool(record["reduction"] != DEFAULT_RULE if record["samples"] is None else record["samples"] > 1)
