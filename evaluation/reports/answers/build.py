"""The report of a study of answers as one JSON-ready dict with a versioned schema: a record per question and group."""

from collections.abc import Iterable
from typing import Any

from evaluation.analytics.entry_sets import DRAFTED_ENTRIES
from evaluation.analytics.win_rates import Ties
from evaluation.answers_frame import AnswerGroup, AnswersFrame, answers_frame
from evaluation.answers_frame.entries import SIZE, decision_question, name_of
from evaluation.frames import JUDGES, StudyFrame, preference_frames
from evaluation.models import Rater, Study
from evaluation.protocols import Kind, Over, Question
from evaluation.reports.answers import against, entries, ordered, orders, pairs, rated
from evaluation.reports.answers.findings import findings
from evaluation.reports.answers.judges import judges
from evaluation.reports.answers.methods import methods
from evaluation.reports.answers.scope import AnswerScope, how_many, level_of, point_records
from evaluation.reports.common import (
    LEVEL,
    REPLICATES,
    NothingToReport,
    counts_record,
    study_record,
    why_nothing,
)
from evaluation.reports.families import correct_answers

SCHEMA = "assay-answers-report/1"
# Part of the cache's key: a change of what is computed is a new version.
CODE_VERSION = 5

Record = dict[str, Any]


def build_answers_report(
    study: Study, spec: Record, *, replicates: int = REPLICATES, ties: Ties = "half"
) -> Record:
    """Every figure of the study by question, each group of raters by itself and judges beside people.

    `ties` is for preferences between two responses, and of no effect on other kinds of question. Raises
    NothingToReport where no answer can be counted.
    """
    frame = answers_frame(study)
    if not frame.groups:
        raise NothingToReport(why_nothing(study))
    compared = "win_rates" in study.protocol_object.analyses
    kinds = dict(study.systems.values_list("key", "kind"))
    scopes = {
        question.key: [
            AnswerScope(
                frame,
                group,
                group.answers[question.key],
                tuple(kinds.get(key, "") for key in frame.items.systems),
                study.seed,
                replicates,
                DRAFTED_ENTRIES if question.kind == Kind.ENTRIES else "",
            )
            for group in frame.groups
            if len(group.answers[_answered_by(question)])
        ]
        for question in frame.questions
    }
    compared_by = preference_frames(
        study, [each.key for each in frame.questions if compared and each.kind == Kind.PREFERENCE]
    )
    report = {
        "schema": SCHEMA,
        "study": study_record(study, spec),
        "parameters": {
            "replicates": replicates,
            "level": LEVEL,
            "seed": study.seed,
            "ties": ties,
            "version": CODE_VERSION,
        },
        "counts": _counts(study, frame),
        "raters": _raters(study, frame),
        "judges": judges(study, frame),
        "groups": [_group(group) for group in frame.groups],
        "questions": orders.with_consistency(
            study,
            frame,
            (
                _pairs_record(
                    study, question, frame, compared_by[question.key], replicates=replicates, ties=ties
                )
                if question.key in compared_by
                else _question_record(question, scopes[question.key])
                for question in frame.questions
            ),
            replicates=replicates,
        ),
    }
    _settle(report)
    report["findings"] = findings(report)
    report["methods"] = methods(study, report)
    return report


def _settle(report: Record) -> None:
    """Corrects the tests of each group of raters, over all questions, and says what they support."""
    figures = [each for question in report["questions"] for each in question["groups"]]
    for group in report["groups"]:
        correct_answers([each for each in figures if each["group"] == group["key"]])
    for each in figures:
        each["best_system"] = rated.best_system(each)


def _answered_by(question: Question) -> str:
    """Whose answers say who answered it: a set may hold no entry that was drafted, and so no decision."""
    return name_of(question, SIZE) if question.kind == Kind.ENTRIES else question.key


def _counts(study: Study, frame: AnswersFrame) -> Record:
    # Each judge is a group of its own already; the group of all would count it twice.
    groups = [group for group in frame.groups if group.kind != JUDGES]
    return counts_record(
        study,
        items=len(frame.items),
        queries=len(frame.items.queries),
        judgments=sum(group.n_judgments for group in groups),
        raters=sum(len(group.raters) for group in groups),
    )


def _raters(study: Study, frame: AnswersFrame) -> list[Record]:
    """Who judged, most judgments first; replicates of a judge count once, as in the figures."""
    labels = dict(study.raters.values_list("pseudonym", "label"))
    found = [
        {"rater": name, "label": labels[name] or name, "kind": group.kind, "judgments": n}
        for group in frame.groups
        if group.kind != JUDGES
        for name, n in zip(group.raters, group.per_rater, strict=True)
    ]
    return sorted(
        found, key=lambda rater: (rater["kind"] != Rater.Kind.PERSON, -rater["judgments"], rater["rater"])
    )


def _group(group: AnswerGroup) -> Record:
    return {
        "key": group.key,
        "label": group.label,
        "kind": group.kind,
        "heuristic": group.heuristic,
        "judgments": group.n_judgments,
        "raters": len(group.raters),
        "items": group.n_items,
    }


def _question(question: Question, form: str) -> Record:
    """What was asked. `form` says which figures there are: rated, choice, picks, ranking, pairs or entries."""
    counted = decision_question(question) if question.kind == Kind.ENTRIES else question
    return {
        "key": question.key,
        "prompt": question.prompt,
        "kind": str(question.kind),
        "form": form,
        "over": str(question.over),
        "level": level_of(question),
        "ideal": question.ideal,
        "direction": question.direction or None,
        "points": point_records(counted),
    }


def _question_record(question: Question, scopes: Iterable[AnswerScope]) -> Record:
    forms = {
        Kind.RANKING: "ranking",
        Kind.PREFERENCE: "picks",
        Kind.CHOICE: "choice",
        Kind.ENTRIES: "entries",
    }
    scopes = list(scopes)
    people = next((scope for scope in scopes if scope.group.kind == Rater.Kind.PERSON), None)
    if question.kind == Kind.ENTRIES:
        groups = [{**NOTHING, **entries.figures(scope, people)} for scope in scopes]
    else:
        groups = [{**_head(scope), **_figures(scope), **_beside(scope, people)} for scope in scopes]
    return {**_question(question, forms.get(question.kind, "rated")), "groups": groups}


def _head(scope: AnswerScope) -> Record:
    return {"group": scope.group.key, **how_many(scope.answers)}


# What a group has none of, by its question's form; every record has every key.
NOTHING: Record = {
    "alpha": None,
    "mean": None,
    "distribution": [],
    "by_system": [],
    "best_system": None,
    "above_others": [],
    "by_kind": [],
    "by_arm": [],
    "by_category": [],
    "by_part": [],
    "by_tag_group": [],
    "by_value": [],
    "values_left_out": 0,
    "picks": None,
    "ranking": None,
    "pairs": None,
    "spread": None,
    "spread_adapted": None,
    "entries": None,
    "inconsistent": None,
    "against_people": None,
}


def _figures(scope: AnswerScope) -> Record:
    if scope.question.kind == Kind.RANKING:
        return {**NOTHING, "ranking": ordered.ranking(scope)}
    if scope.question.kind == Kind.PREFERENCE:
        return {**NOTHING, "alpha": ordered.picks_alpha(scope), "picks": ordered.picks(scope)}
    by_value, left_out = rated.by_value(scope)
    return {
        **NOTHING,
        "alpha": rated.alpha(scope),
        **rated.overall(scope),
        "by_system": rated.by_system(scope),
        "above_others": rated.above_others(scope),
        **rated.by_factors(scope),
        "by_part": rated.by_part(scope),
        "by_tag_group": rated.by_tag_group(scope),
        "by_value": by_value,
        "values_left_out": left_out,
        "spread": ordered.spread(scope) if scope.question.over == Over.VALUE else None,
        "spread_adapted": ordered.adapted_spread(scope) if scope.question.over == Over.VALUE else None,
    }


def _beside(scope: AnswerScope, people: AnswerScope | None) -> Record:
    if people is None or scope is people:
        return {"against_people": None}
    return {"against_people": against.against_people(scope, people)}


def _pairs_record(
    study: Study,
    question: Question,
    frame: AnswersFrame,
    preferences: StudyFrame,
    *,
    replicates: int,
    ties: Ties,
) -> Record:
    found = pairs.pairs(study, preferences, replicates=replicates, ties=ties, asked=len(frame.questions))
    counted = {group.key: group.answers[question.key] for group in frame.groups}
    return {
        **_question(question, "pairs"),
        "groups": [
            {
                "group": record["key"],
                "answers": len(counted[record["key"]]),
                "raters": record["raters"],
                "items": record["items"],
                **NOTHING,
                "alpha": next(each["alpha"] for each in record["alpha"] if each["level"] == "nominal"),
                "pairs": record,
            }
            for record in found
            if record["items"]
        ],
    }
