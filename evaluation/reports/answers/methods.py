"""How the figures of an answers report are made, a sentence each."""

from typing import Any

from evaluation.models import Study
from evaluation.reports.common import INTERVALS, LENGTH_RULE, MAJORITY_RULE, TIES_COUNT, facts_of
from evaluation.reports.judges import LESS_PEOPLE, who_judged

Record = dict[str, Any]
REPEATED = {
    "rated": "the mean of numbers, the majority of yes and no",
    "choice": "the majority of labels",
    "picks": "the majority of picks",
    "ranking": "the mean of ranks, ranked anew",
    "pairs": "by the judge's own rule for preferences",
    "entries": "the majority of decisions about a drafted entry, the means of sizes and shares of sets",
}


def methods(study: Study, report: Record) -> list[str]:
    counts = report["counts"]
    forms = {question["form"] for question in report["questions"]}
    sentences = [
        f"Figures are of {counts['judgments']:,} judgments on {counts['items']:,} items of "
        f"{counts['queries']:,} queries; study hash {study.study_hash[:12]}.",
        *INTERVALS,
        *(sentence for form, sentence in _sentences(report) if form in forms),
    ]
    return [*sentences, *_judges(report, forms), *facts_of(study)]


def _sentences(report: Record) -> list[tuple[str, str]]:
    """What is to be said where there are questions of a form."""
    figures = [group for question in report["questions"] for group in question["groups"]]
    spread, adapted, in_groups = (
        any(group[key] for group in figures) for key in ("spread", "spread_adapted", "by_tag_group")
    )
    values = [
        ("rated", "Every rating weighs the same in a mean; it is not the mean of the raters' means."),
        (
            "rated",
            "Krippendorff's alpha is nominal for yes and no, ordinal for scales of up to seven points and interval "
            "for longer ones; what only one rater rated is left out of it.",
        ),
        (
            "picks",
            "A system's share of best picks is over the items that have a response of it. Alpha of the picks is "
            "nominal, over the systems picked.",
        ),
        (
            "ranking",
            "Kendall's W is taken per item, over the raters who ranked the same responses, corrected for ties, and "
            "averaged over items; tau-b over pairs of raters likewise.",
        ),
        (
            "ranking",
            "Friedman's test is over queries, whose systems are ranked by their mean ranks; pairs of systems are "
            "Nemenyi's.",
        ),
        ("pairs", MAJORITY_RULE),
        (
            "entries",
            "Decisions about drafted entries are read from where settled entries came from: accepted is what is there "
            "unchanged and alone, rejected what is nowhere. Alpha of the decisions is nominal, over drafted entries "
            "that two raters or more decided about.",
        ),
        ("pairs", TIES_COUNT[report["parameters"]["ties"]]),
        ("pairs", LENGTH_RULE),
    ]
    if spread:
        sentence = (
            "The spread is the largest rating that one rater gives to an attribute's values less the smallest; that of "
            "means is taken after averaging over raters, and counted under the nearest difference."
        )
        values.append(("rated", sentence))
    if adapted:
        sentence = (
            "The spread over adapted responses is taken over the items of one query, attribute, system and setting, of "
            "which each has a response written for one value; several responses for one value are averaged first."
        )
        values.append(("rated", sentence))
    if in_groups:
        values.append(("rated", "A judgment counts for a group of tags if it has any of them."))
    return values


def _judges(report: Record, forms: set[str]) -> list[str]:
    records = report["judges"]
    if not records:
        return []
    rules = [meaning for form, meaning in REPEATED.items() if form in forms]
    return [
        *who_judged(records),
        f"Several readings of an item by one judge count as one: {'; '.join(rules)}.",
        *([LESS_PEOPLE] if forms & {"rated", "choice", "picks", "pairs", "entries"} else []),
        *(caveat for record in records for caveat in record["caveats"]),
    ]
