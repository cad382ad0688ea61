"""The judges of a report: how each was asked, what came back, and what must be said of it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evaluation.analytics.estimates import plain, undefined
from evaluation.analytics.replicates import inconsistency
from evaluation.frames import DEFAULT_RULE
from evaluation.models import Outcome, Rater, Study
from evaluation.reports.scope import Scope
from evaluation.selectors import judges_in_figures, outcomes_of_judges

BOTH = "both"
# What each rule does with several readings, as the end of a sentence.
REDUCTIONS = {
    "majority": "the most common label, a tie without a unique one",
    "mean": "the mean of the preferences, and the label on its side of one half",
    "both_ways": "a tie where the two orders of a sample differ, and samples by majority",
}
LESS_PEOPLE = (
    "Whether a judge agrees with people as they do with each other is told from the difference of the two "
    "leave-one-out agreements, item by item, by a sign-flip test over queries, corrected for the number of questions."
)
NOT_BOTH_WAYS = "Asked in one order only, so nothing can be said of consistency."
NO_VERDICT = "No sample has a preference in both orders."
WITH_PEOPLE = "which people did not: it saw more than people did"
WITHOUT_PEOPLE = "which no person is shown"


def judges(study: Study, scopes: Sequence[Scope], *further: Sequence[Scope]) -> list[dict[str, Any]]:
    """Every judge in figures, those too of which nothing could be read.

    Consistency is that of the preference that `scopes` are of; `further` are those of the study's other preferences.
    """
    by_key = _by_key(scopes)
    anywhere = [scope for each in (scopes, *further) for scope in each]
    outcomes = outcomes_of_judges(study)
    hidden = what_was_hidden(
        study, with_people=any(each.group.kind == Rater.Kind.PERSON for each in anywhere)
    )
    found = []
    for rater in judges_in_figures(study):
        inconsistent = _inconsistent(asked(rater.about), by_key.get(rater.pseudonym))
        record = describe(rater, outcomes[rater.pk], hidden, inconsistent)
        own = [scope for scope in anywhere if scope.group.key == rater.pseudonym]
        record["caveats"] += _without_verdicts(record, own)
        found.append(record)
    return found


def inconsistent_judges(study: Study, scopes: Iterable[Scope]) -> list[dict[str, Any]]:
    """How often the order decides each judge's answer to the preference that the scopes are of."""
    by_key = _by_key(scopes)
    return [
        {
            "rater": rater.pseudonym,
            "inconsistent": _inconsistent(asked(rater.about), by_key.get(rater.pseudonym)),
        }
        for rater in judges_in_figures(study)
    ]


def _by_key(scopes: Iterable[Scope]) -> dict[str, Scope]:
    return {scope.group.key: scope for scope in scopes}


def what_was_hidden(study: Study, *, with_people: bool) -> str:
    """What must be said of a judge that saw the reference. What people were shown themselves, no judge saw more of."""
    if study.show_references:
        return ""
    return WITH_PEOPLE if with_people else WITHOUT_PEOPLE


def describe(rater: Rater, outcomes: Mapping[str, int], hidden: str, inconsistent: Any) -> dict[str, Any]:
    """How a judge was asked and what came back; `inconsistent` is the estimate of how often the order decides."""
    label = rater.label or rater.pseudonym
    how = asked(rater.about)
    total = sum(outcomes.values())
    caveats = [f"{label} saw the human-written reference, {hidden}."] if how["reference"] and hidden else []
    if not total:
        caveats.append(f"{label} has judged nothing yet.")
    elif not outcomes.get(Outcome.OK):
        caveats.append(f"{label} is in no figure: nothing could be read of its {total:,} judgments.")
    return {
        "rater": rater.pseudonym,
        "label": label,
        **how,
        "judgments": total,
        "outcomes": [_outcome(outcome, outcomes.get(outcome, 0), total) for outcome in Outcome.values],
        "inconsistent": inconsistent,
        "caveats": caveats,
    }


def asked(about: Mapping[str, Any]) -> dict[str, Any]:
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
        "heuristic": bool(about.get("heuristic")),
    }


def _outcome(outcome: str, n: int, total: int) -> dict[str, Any]:
    return {"outcome": outcome, "n": n, "share": n / total if total else None}


def _inconsistent(how: Mapping[str, Any], scope: Scope | None) -> Any:
    if how["orders"] != BOTH and how["reduction"] != "both_ways":
        return plain(undefined(NOT_BOTH_WAYS, unit="samples"))
    if scope is None:
        return plain(undefined(NO_VERDICT, unit="samples"))
    readings = scope.group.readings
    labelled = readings.where(readings.label >= 0)
    query = scope.items.query[labelled.item]
    return plain(inconsistency(labelled, query, resample=scope.resample("inconsistency")).inconsistent)


def _without_verdicts(record: Mapping[str, Any], scopes: Iterable[Scope]) -> list[str]:
    """Why a judge whose judgments were read has no preferences in the figures."""
    read = next(each["n"] for each in record["outcomes"] if each["outcome"] == Outcome.OK)
    if not read or any((scope.counts > 0).any() for scope in scopes):
        return []
    label = record["label"]
    return [f"{label} was not asked which response is better; what it checked is under the follow-ups."]


def methods(records: list[dict[str, Any]]) -> list[str]:
    """Who judged, and how their readings became judgments."""
    if not records:
        return []
    sentences = who_judged(records)
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
    sentences.append(LESS_PEOPLE)
    return [*sentences, *(caveat for record in records for caveat in record["caveats"])]


def who_judged(records: list[dict[str, Any]]) -> list[str]:
    """Judges by name and, apart from them, heuristics."""
    sentences = []
    for one, several, is_heuristic in (("Judge", "Judges", False), ("Heuristic", "Heuristics", True)):
        labels = [record["label"] for record in records if record["heuristic"] == is_heuristic]
        if labels:
            named = f"{', '.join(labels[:-1])} and {labels[-1]}" if len(labels) > 1 else labels[0]
            sentences.append(f"{several if len(labels) > 1 else one}: {named}.")
    if any(record["heuristic"] for record in records):
        sentences.append(
            "A heuristic reads no response: it stands beside the judges for comparison, and is neither among the "
            "judges together nor in any finding."
        )
    return sentences


def _is_repeated(record: Mapping[str, Any]) -> bool:
    """Whether an item has several readings; where it is not known, whether a rule for them was chosen."""
    if record["orders"] == BOTH or record["reduction"] == "both_ways":
        return True
    return bool(record["reduction"] != DEFAULT_RULE if record["samples"] is None else record["samples"] > 1)
