"""The composite judge: each item by the member that its category has (HREF section 2.2).

Chosen on people it is cross-fitted: an item of one fold by the member that agreed best with people in the others. The
map that is chosen on all folds is what another study can use; what it is said to reach is the cross-fitted agreement.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from analytics.frames.pairs import PairFrame, PairGroup, asked_in_turns
from analytics.frames.rows import VOTES
from analytics.statistics.agreement.leave_one_out import item_outer
from analytics.statistics.core.counts import count_matrix, unique_mode
from analytics.statistics.core.estimates import TidyDataError
from analytics.statistics.core.tidy import MISSING, N_VOTES, Floats, Ints
from analytics.statistics.judges.composite import ChosenAgreement, composite
from evaluation.models import Rater, Study
from evaluation.protocols import Kind, Over, QuestionSpec
from evaluation.protocols.base import Spec, Stimulus
from evaluation.protocols.kinds.preference import sign_label
from evaluation.refusals import Refused
from judging.backends.base import StopRun, Unmeasurable
from judging.backends.derived import CHOSEN_ON_PEOPLE, COMPOSITE, MAP_OF_HREF, named_members
from judging.models import Judge, JudgeRun
from judging.services.derived.base import (
    Answering,
    JudgmentDerivation,
    Preparation,
    members_of,
    prepared_with,
)
from judging.services.derived.members import Member, frame_of, refuse_fitted, without_figures

N_FOLDS = 5
FORMAT = "assay-composite-map/1"
LABELS = tuple(VOTES)


class CompositeDerivation(JudgmentDerivation):
    key = COMPOSITE.key

    def problems(self, judge: Judge, spec: Spec) -> list[str]:
        if not judge.study.compares_pairs:
            return [
                "A composite takes over preferences between two responses, which this study does not ask for."
            ]
        preferences, known = _preferences(spec), named_members(judge.options.get("members") or [])
        chosen = _chosen(judge, preferences)
        problems = []
        if not preferences:
            problems.append("The study asks for no preference between two responses.")
        elif len(chosen) > 1 and not asked_in_turns(chosen):
            keys = ", ".join(each.key for each in chosen)
            problems.append(f"A composite is of one preference: name one of {keys} under questions.")
        if not known:
            problems.append("A composite needs members.")
        elif judge.options["chosen"] == CHOSEN_ON_PEOPLE:
            if len(known) < 2:
                problems.append("A composite that is chosen on people needs two members or more.")
        else:
            given = _given_map(judge)
            if not given:
                problems.append("A composite by a map needs the map.")
            wanted = {*given.get("categories", {}).values(), *([given["otherwise"]] if given else [])}
            missing = sorted(wanted - set(known))
            if missing:
                problems.append(
                    f"The map names {', '.join(map(repr, missing))}, of which the members have none."
                )
        return problems

    def questions(self, judge: Judge, spec: Spec) -> list[str]:
        return [each.key for each in _chosen(judge, _preferences(spec))]

    def prepare(self, judge: Judge, spec: Spec) -> Preparation:
        members = members_of(judge)
        about: dict[str, Any] = {
            "kind": self.key,
            "chosen": judge.options["chosen"],
            "questions": self.questions(judge, spec),
        }
        if judge.options["chosen"] != CHOSEN_ON_PEOPLE:
            return prepared_with(members, {**about, **_given_map(judge)}, fitted=False, by_query={})
        refuse_fitted(members)
        least_judged = int(judge.options["least_judged"])
        found, by_query = _choose(judge.study, members, about["questions"], least_judged)
        return prepared_with(members, {**about, **found}, fitted=True, by_query=by_query)

    def answering(self, judging: JudgeRun) -> Answering:
        about = judging.rater.about["derived"]
        frame = _frame(judging.judge.study, about["questions"])
        place = {key: at for at, key in enumerate(frame.items.key.tolist())}
        given = {name: _said(frame, name, key) for name, key in about["members"].items()}
        folds: Mapping[str, int] = judging.folds
        asked = set(about["questions"])
        study, spec = judging.judge.study, judging.revision.spec

        def answer(stimulus: Stimulus, key: str) -> Mapping[str, Any]:
            category = stimulus["query"].get("category") or ""
            name = _member_of(about, category, folds.get(stimulus["query"]["key"]))
            labels, numbers = given[name]
            at = place.get(key)
            if at is None or labels[at] == MISSING:
                raise Unmeasurable(
                    f"{name}, the member of category {category or 'none'!r}, has no verdict on it."
                )
            found = {
                question.key: _value(question, int(labels[at]), float(numbers[at]))
                for question in study.protocol_object.questions(spec, stimulus)
                if question.key in asked
            }
            if not found:
                raise Unmeasurable("The item does not ask for this preference.")
            return found

        return answer


def latest_map(judge: Judge) -> dict[str, Any] | None:
    """The map of the judge's latest complete main run, of whatever version; None without one."""
    runs = JudgeRun.objects.filter(
        judge__study=judge.study_id,
        judge__name=judge.name,
        judge__backend=COMPOSITE.key,
        rater__in_figures=True,
    )
    judging = runs.select_related("judge__study", "rater").order_by("-pk").first()
    return None if judging is None else composite_map(judging)


def composite_map(judging: JudgeRun) -> dict[str, Any]:
    """The portable map of a run, which another composite takes as its map: members by category, and their agreement."""
    about = judging.rater.about["derived"]
    return {
        "format": FORMAT,
        "study": judging.judge.study.slug,
        "judge": str(judging.judge),
        "questions": about["questions"],
        "members": sorted(about["members"]),
        "categories": about["categories"],
        "otherwise": about["otherwise"],
        "least_judged": about.get("least_judged"),
        "agreement": about.get("agreement"),
    }


def _preferences(spec: Spec) -> list[QuestionSpec]:
    questions = [QuestionSpec.from_json(each) for each in spec["questions"]]
    return [each for each in questions if each.kind == Kind.PREFERENCE and each.over == Over.ITEM]


def _chosen(judge: Judge, preferences: Sequence[QuestionSpec]) -> list[QuestionSpec]:
    return [each for each in preferences if not judge.questions or each.key in judge.questions]


def _given_map(judge: Judge) -> dict[str, Any]:
    return href_map() if judge.options["chosen"] == MAP_OF_HREF else dict(judge.options["map"])


@cache
def href_map() -> dict[str, Any]:
    """The map that HREF published, by roles that a composite's members are given."""
    shipped = json.loads(Path(__file__).with_name("href_map.json").read_text("utf-8"))
    return {name: shipped[name] for name in ("categories", "otherwise")}


def _frame(study: Study, questions: Sequence[str]) -> PairFrame:
    """The preference as reports read it; Refused where nobody has answered it."""
    for frame in frame_of(study).pairs:
        if frame.preference is not None and frame.preference.key in questions:
            return frame
    raise Refused("No judge has answered this preference yet.")


def _group(frame: PairFrame, key: str) -> PairGroup | None:
    return next((each for each in frame.groups if each.key == key), None)


def _said(frame: PairFrame, name: str, key: str) -> tuple[Ints, Floats]:
    """A member's one label of each item, and beside it its grade or probability, nan where it gave none."""
    group = _group(frame, key)
    if group is None:
        raise StopRun(without_figures(name))
    numbers = np.full(len(frame.items), np.nan)
    if group.grades is not None:
        numbers[group.grades.item] = group.grades.grade
    else:
        numbers[group.judgments.item] = group.judgments.number
    return _labels(frame, group), numbers


def _counts(frame: PairFrame, group: PairGroup) -> Ints:
    return count_matrix(group.judgments.item, group.judgments.vote, len(frame.items), N_VOTES)


def _labels(frame: PairFrame, group: PairGroup) -> Ints:
    return unique_mode(_counts(frame, group))


def _choose(
    study: Study, members: Sequence[Member], questions: Sequence[str], least_judged: int
) -> tuple[dict[str, Any], dict[str, int]]:
    """The maps of all folds and of everything, and the fold of each query."""
    frame = _frame(study, questions)
    people = _group(frame, Rater.Kind.PERSON)
    if people is None:
        raise Refused("No person has judged yet, so no member can be chosen by agreement with people.")
    groups = [(each, _group(frame, each.key)) for each in members]
    silent = [each.label for each, group in groups if group is None]
    if silent:
        raise Refused(f"Of this preference {', '.join(silent)} has said nothing.")
    counts, items = _counts(frame, people), frame.items
    agreement = np.column_stack([item_outer(counts, _labels(frame, group)) for _, group in groups if group])
    try:
        found = composite(
            agreement,
            items.category,
            query=items.query,
            seed=study.seed,
            n_folds=N_FOLDS,
            least_judged=least_judged,
        )
    except TidyDataError as reason:
        raise Refused(str(reason)) from None
    names = [each.name for each in members]
    categories = [items.categories[code] for code in found.categories]
    chosen = {
        "categories": _map(categories, found.choice, names),
        "otherwise": names[found.best_overall],
        "by_default": [
            each for each, default in zip(categories, found.takes_best_overall, strict=True) if default
        ],
        "least_judged": least_judged,
        "folds": [_map(categories, each, names) for each in found.fold_choice],
        "agreement": {
            "cross_fitted": _agreement(found.cross_fitted),
            "of_map": _agreement(found.of_map),
            "in_sample": _agreement(found.in_sample),
        },
    }
    fold = dict(zip(items.query.tolist(), found.fold.tolist(), strict=True))
    return chosen, {items.queries[query]: int(each) for query, each in fold.items()}


def _map(categories: Sequence[str], choice: Sequence[int], names: Sequence[str]) -> dict[str, str]:
    return {category: names[at] for category, at in zip(categories, choice, strict=True) if at >= 0}


def _agreement(found: ChosenAgreement) -> dict[str, Any]:
    return {"value": found.value, "n": found.n, "n_left_out": found.n_left_out}


def _member_of(about: Mapping[str, Any], category: str, fold: int | None) -> str:
    """Of a query that no choice was made on, the member of the map for everything."""
    chosen = about["categories"] if fold is None else about["folds"][fold]
    return str(chosen.get(category, about["otherwise"]))


def _value(question: QuestionSpec, label: int, number: float) -> Any:
    if question.grades:
        # A reading without a grade is a label alone; a mean of grades decides by its sign.
        return {"label": sign_label(number), "number": number} if np.isfinite(number) else LABELS[label]
    return {"label": LABELS[label], "number": number if np.isfinite(number) else None}
