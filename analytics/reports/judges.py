"""The judges of a report: how each was asked, what came back, and what must be said of it."""

from collections.abc import Iterator, Mapping

import numpy as np

from analytics.figures.document import JudgeCostRecord, JudgeRecord, OutcomeRecord
from analytics.figures.figure_input import PAIRS
from analytics.figures.report_view import ReportView, joined
from analytics.frames.rows import DEFAULT_RULE, is_asked_both_ways, jury_of
from analytics.frames.study import StudyFrame
from analytics.statistics.core.tidy import MISSING, Bools, Judgments
from evaluation.extension import JudgingCost, extensions
from evaluation.filters import EVERYTHING as WHOLE_STUDY
from evaluation.filters import Filters
from evaluation.models import Outcome, Rater, Study
from evaluation.protocols.answers.measures import gives_only_measures
from evaluation.selectors import judge_outcome_counts, judges_in_figures

# What each rule does with several readings of a preference, as the end of a sentence.
REDUCTIONS = {
    "majority": "the most common label, or a tie if there is no unique one",
    "mean": "the mean of the preferences, with the label on its side of one half",
    "both_ways": "a tie where the two orders of a sample disagree, and the majority over samples",
}
# The same of other questions, by their form.
REDUCED = {
    "rated": "the mean for numbers, the majority for yes and no",
    "choice": "the majority for labels",
    "picks": "the majority for picks",
    "ranking": "the mean for ranks, ranked again",
    PAIRS: "the judge's own rule for preferences",
    "entries": "the majority for decisions on a drafted entry, the mean for sizes and shares of sets",
}
WITH_PEOPLE = "which people did not, so it had more information"
WITHOUT_PEOPLE = "which people are not shown"


def judges(study: Study, frame: StudyFrame, filters: Filters = WHOLE_STUDY) -> list[JudgeRecord]:
    """Every judge in figures, those too of which nothing could be read; of a view, those that it has judgments of."""
    outcomes = judge_outcome_counts(study, filters.judgments(study))
    hidden = _hidden(study, frame)
    costs = {key: cost for each in extensions() for key, cost in each.judging_costs(study).items()}
    found = []
    for rater in judges_in_figures(study):
        if gives_only_measures(rater.about):
            continue
        if filters.is_partial and not outcomes[rater.pk]:
            continue
        record = _describe(rater, outcomes[rater.pk], hidden)
        if (paid := costs.get(rater.pseudonym)) and (paid.cost or paid.tokens):
            record["cost"] = _cost(paid)
        if record["judgments"] and not _has_verdicts(frame, rater.pseudonym):
            read = next(each["n"] for each in record["outcomes"] if each["outcome"] == Outcome.OK)
            if read:
                record["caveats"].append(
                    f"{record['label']} was not asked which response is better; its checklist answers are under "
                    "Follow-ups."
                )
        found.append(record)
    return found


def _hidden(study: Study, frame: StudyFrame) -> str:
    """A caution about a judge that saw the reference; none where people were shown it too."""
    if study.show_references:
        return ""
    people = any(group.kind == Rater.Kind.PERSON for group in frame.groups)
    return WITH_PEOPLE if people else WITHOUT_PEOPLE


def _has_verdicts(frame: StudyFrame, key: str) -> bool:
    """False of a judge that was asked in a study of preferences, and never for one."""
    if frame.answers is not None or not frame.pairs:
        return True
    return any(
        key in group.judgments.raters
        and bool((group.judgments.label[_of(group.judgments, key)] != MISSING).any())
        for pairs in frame.pairs
        for group in pairs.groups
    )


def _of(judgments: Judgments, rater: str) -> Bools:
    return np.asarray(judgments.rater == judgments.raters.index(rater))


def _describe(rater: Rater, outcomes: Mapping[str, int], hidden: str) -> JudgeRecord:
    label = rater.label or rater.pseudonym
    about = rater.about
    total = sum(outcomes.values())
    source = str(about.get("reference_from", ""))
    caveats = (
        [f"{label} saw the human-written reference, {hidden}."]
        if about.get("reference") and hidden and not source
        else []
    )
    if source:
        caveats.append(f"{label} was given the responses of {source} as the reference.")
    if not total:
        caveats.append(f"{label} has judged nothing yet.")
    elif not outcomes.get(Outcome.OK):
        unread = f"none of its {total:,} judgments could" if total > 1 else "its only judgment could not"
        caveats.append(f"{label} is not in the report: {unread} be read.")
    jury, combination = jury_of(about)
    found: JudgeRecord = {
        "rater": rater.pseudonym,
        "label": label,
        "judge": str(about.get("judge", "")),
        "version": about.get("version"),
        "model": str(about.get("model", "")),
        "reference": bool(about.get("reference")),
        "reference_from": source,
        "orders": str(about.get("orders", "")),
        "samples": about.get("samples"),
        "reduction": about.get("reduction") or DEFAULT_RULE,
        "questions": list(about.get("questions") or []),
        "purpose": str(about.get("purpose", "")),
        "heuristic": bool(about.get("heuristic")),
        "judgments": total,
        "outcomes": [_outcome(outcome, outcomes.get(outcome, 0), total) for outcome in Outcome.values],
        "caveats": caveats,
    }
    if isinstance(reader := about.get("reader"), int):
        found["reader"] = reader
    return {**found, "jury": about["jury"] | {"combination": combination}} if jury else found


def _cost(paid: JudgingCost) -> JudgeCostRecord:
    cost = float(paid.cost)
    return {
        "cost": cost,
        "tokens": paid.tokens,
        "judgments": paid.judgments,
        "per_judgment": cost / paid.judgments if paid.judgments else None,
    }


def _outcome(outcome: str, n: int, total: int) -> OutcomeRecord:
    return {"outcome": outcome, "n": n, "share": n / total if total else None}


def methods(view: ReportView) -> Iterator[str]:
    """Judges by name, and how their readings became answers."""
    if not view.judges:
        return
    yield from _named(view.judges)
    yield from _juries(view.judges)
    readers = sorted({str(judge["reader"]) for judge in view.judges if "reader" in judge})
    if readers:
        yield f"Replies were read by version {joined(readers)} of Assay's reader."
    forms = {question.form for question in view.questions}
    if PAIRS in forms:
        for rule, meaning in REDUCTIONS.items():
            those = [
                judge["label"] for judge in view.judges if judge["reduction"] == rule and _is_repeated(judge)
            ]
            if those:
                yield f"Several readings of an item by {', '.join(those)} are combined into one: {meaning}."
    if forms - {PAIRS}:
        rules = "; ".join(meaning for form, meaning in REDUCED.items() if form in forms)
        yield f"Several readings of an item by one judge are combined into one: {rules}."
    for judge in view.judges:
        yield from judge["caveats"]


def _juries(judges: list[JudgeRecord]) -> Iterator[str]:
    """Juries with their members, and how each is one rater."""
    members: dict[str, list[JudgeRecord]] = {}
    for judge in judges:
        if "jury" in judge:
            members.setdefault(judge["jury"]["name"], []).append(judge)
    for name, found in members.items():
        if len(found) < 2:
            continue
        yield (
            f"Jury {name}: {joined([judge['label'] for judge in found])}. Its members form a group of their own; "
            "next to people and other judges the jury is one rater, with its preferences combined by "
            f"{found[0]['jury']['combination']}, its numbers and ranks by their mean, and other labels by "
            "majority."
        )


def _named(judges: list[JudgeRecord]) -> Iterator[str]:
    """Judges and, apart from them, heuristics."""
    for one, several, is_heuristic in (("Judge", "Judges", False), ("Heuristic", "Heuristics", True)):
        labels = [judge["label"] for judge in judges if judge["heuristic"] == is_heuristic]
        if labels:
            yield f"{several if len(labels) > 1 else one}: {joined(labels)}."
    if any(judge["heuristic"] for judge in judges):
        yield (
            "A heuristic does not read responses: it is shown next to the judges for comparison, is not pooled "
            "with them, and is in no finding."
        )


def _is_repeated(judge: JudgeRecord) -> bool:
    """True where an item has several readings; where it is not known, where a rule for them was chosen."""
    if is_asked_both_ways(judge):
        return True
    return bool(judge["reduction"] != DEFAULT_RULE if judge["samples"] is None else judge["samples"] > 1)
