"""The overall rating from aspects that were rated one by one (LFQA sections 4.2 and 5.1, there W-LLM).

Weights are fitted on what people said of aspects and over all, never on the members' ratings; a query is scored by
weights that were fitted on the other folds. The score is a measure as it is computed; held to the ends of the overall
scale it is the answer to the overall question, too.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from analytics.frames.arrays import AnswersFrame
from analytics.frames.aspects import (
    aspect_ratings,
    best_point,
    fit_weights,
    folds_of_queries,
    weight_problem,
    weighted_scores,
)
from analytics.statistics.core.estimates import TidyDataError
from evaluation.models import Rater, Study
from evaluation.protocols import Kind, QuestionSpec
from evaluation.protocols.answers.measures import Measure, Subject
from evaluation.protocols.answers.parts import parts_of
from evaluation.protocols.base import Over, Spec, Stimulus
from evaluation.refusals import Refused
from judging.backends.base import StopRun, Unmeasurable
from judging.backends.derived import EQUAL, FITTED_ON_PEOPLE, FIXED, WEIGHTED, named_members
from judging.models import Judge, JudgeRun
from judging.services.derived.base import (
    Answering,
    JudgmentDerivation,
    Preparation,
    members_of,
    prepared_with,
)
from judging.services.derived.members import frame_of, without_figures

MEASURE = "weighted_overall"
# What a question may be over so that its score is a measure.
SUBJECTS = {Over.ITEM: Subject.ITEM, Over.RESPONSE: Subject.RESPONSE, Over.FOLLOW_UP: Subject.FOLLOW_UP}


class WeightedDerivation(JudgmentDerivation):
    key = WEIGHTED.key

    def problems(self, judge: Judge, spec: Spec) -> list[str]:
        overall, aspects = _scales(judge, spec)
        problems = []
        if not named_members(judge.options.get("members") or []):
            problems.append("Weighted aspects need a member that has rated them.")
        known = {question["key"] for question in spec["questions"]}
        unknown = [key for key in judge.options["aspects"] if key not in known]
        problems += [f"The study has no question {key!r}." for key in unknown]
        if problem := weight_problem(overall, aspects):
            problems.append(problem)
        elif overall is not None and overall.over not in SUBJECTS:
            problems.append(f"What {overall.key!r} is asked about has no measure.")
        fixed = judge.options["fixed"]
        if judge.options["weights"] == FIXED and not problems:
            wanted = [each.key for each in aspects]
            missing = [key for key in wanted if key not in fixed]
            extra = [key for key in fixed if key not in wanted]
            problems += [f"The fixed weights lack that of {key!r}." for key in missing]
            problems += [
                f"There is a fixed weight of {key!r}, which is none of the aspects." for key in extra
            ]
        return problems

    def questions(self, judge: Judge, spec: Spec) -> list[str]:
        overall, _ = _scales(judge, spec)
        return [overall.key] if overall else []

    def measures(self, judge: Judge, spec: Spec) -> tuple[Measure, ...]:
        overall, _ = _scales(judge, spec)
        if overall is None:
            return ()
        better = "higher" if best_point(overall) == overall.points[-1] else "lower"
        return (Measure(MEASURE, "weighted aspects", subject=SUBJECTS[overall.over], direction=better),)

    def prepare(self, judge: Judge, spec: Spec) -> Preparation:
        members = members_of(judge)
        overall, aspects = _scales(judge, spec)
        assert overall is not None
        weights = judge.options["weights"]
        about: dict[str, Any] = {
            "kind": self.key,
            "overall": overall.key,
            "aspects": [each.key for each in aspects],
            "by": weights,
        }
        if weights == FITTED_ON_PEOPLE:
            fitted, by_query = _fit(judge.study, overall, aspects)
            return prepared_with(members, {**about, **fitted}, fitted=True, by_query=by_query)
        equal = (overall.points[-1] - overall.points[0]) / len(aspects)
        given = {
            each.key: equal if weights == EQUAL else judge.options["fixed"][each.key] for each in aspects
        }
        return prepared_with(members, {**about, "weights": given}, fitted=False, by_query={})

    def answering(self, judging: JudgeRun) -> Answering:
        about, folds = judging.rater.about["derived"], judging.folds
        spec = judging.revision.spec
        questions = {each["key"]: QuestionSpec.from_json(each) for each in spec["questions"]}
        overall, aspects = questions[about["overall"]], [questions[key] for key in about["aspects"]]
        frame = _answers(judging.judge.study)
        keys = set(about["members"].values())
        present = {group.key for group in frame.groups}
        for name, key in about["members"].items():
            if key not in present:
                raise StopRun(without_figures(name))
        rated = aspect_ratings(frame, keys, overall, aspects, pooled=True)
        rows = {
            (str(frame.items.key[item]), rated.parts[part]): distances
            for item, part, distances in zip(rated.item, rated.part, rated.distances, strict=True)
        }
        by_all = np.array([about["weights"][each.key] for each in aspects])
        by_fold = [np.array([each[aspect.key] for aspect in aspects]) for each in about.get("folds", [])]
        names, low, high = " and ".join(sorted(about["members"])), overall.points[0], overall.points[-1]

        def answer(stimulus: Stimulus, key: str) -> Mapping[str, Any]:
            parts = parts_of(overall, stimulus)
            distances = np.array([rows.get((key, part), np.full(len(aspects), np.nan)) for part in parts])
            _refuse_missing(distances, parts, aspects, names)
            fold = folds.get(stimulus["query"]["key"])
            scores = weighted_scores(distances, by_all if fold is None else by_fold[fold], overall)
            given = dict(zip(parts, scores.tolist(), strict=True))
            held = {part: min(high, max(low, score)) for part, score in given.items()}
            return {
                overall.key: held[""] if parts == [""] else held,
                f"measure:{MEASURE}": given[""] if parts == [""] else given,
            }

        return answer


def _scales(judge: Judge, spec: Spec) -> tuple[QuestionSpec | None, list[QuestionSpec]]:
    """The overall question, and the aspects: those that are named, or every other scale of the same things."""
    questions = {each["key"]: QuestionSpec.from_json(each) for each in spec["questions"]}
    overall = questions.get(judge.options["overall"])
    named = judge.options["aspects"]
    if named or overall is None:
        return overall, [questions[key] for key in named if key in questions]
    return overall, [
        each
        for each in questions.values()
        if each.kind == Kind.SCALE and each.over == overall.over and each.key != overall.key
    ]


def _answers(study: Study) -> AnswersFrame:
    frame = frame_of(study).answers
    if frame is None:
        raise Refused("Nobody has rated anything in this study yet.")
    return frame


def _fit(
    study: Study, overall: QuestionSpec, aspects: Sequence[QuestionSpec]
) -> tuple[dict[str, Any], dict[str, int]]:
    frame = _answers(study)
    people = aspect_ratings(frame, {Rater.Kind.PERSON}, overall, aspects)
    try:
        found = fit_weights(people, overall, study.seed)
    except TidyDataError as reason:
        raise Refused(f"The weights can't be fitted on people. {reason}") from None
    keys = [each.key for each in aspects]

    def named(weights: Any) -> dict[str, float]:
        return dict(zip(keys, weights.tolist(), strict=True))

    fitted = {"weights": named(found.weights), "folds": [named(each) for each in found.fold_weights]}
    folds = folds_of_queries(people, found)
    return fitted, {frame.items.queries[query]: fold for query, fold in folds.items()}


def _refuse_missing(
    distances: Any, parts: Sequence[str], aspects: Sequence[QuestionSpec], names: str
) -> None:
    """Unmeasurable where an aspect was not rated, with the first that is missing."""
    if not parts:
        raise Unmeasurable("The item has nothing that is rated.")
    missing = np.argwhere(~np.isfinite(distances))
    if len(missing):
        part, aspect = missing[0]
        of = f" of {parts[part]}" if parts[part] else ""
        raise Unmeasurable(f"{names}: no rating of {aspects[aspect].key}{of}.")
