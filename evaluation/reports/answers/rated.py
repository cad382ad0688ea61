"""Ratings, checklists and choices: means and shares, over all, by system, by part and by what else tells apart."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from evaluation.analytics.choices import any_of, yes_shares_by_group
from evaluation.analytics.estimates import plain
from evaluation.analytics.scales import (
    Distribution,
    MeanValue,
    above_every_other,
    distribution,
    distributions_by_group,
    mean_value,
    means_by_group,
)
from evaluation.analytics.tidy import Ints
from evaluation.analytics.value_alpha import alpha_of_values
from evaluation.analytics.values import Values
from evaluation.answers_frame import values_of
from evaluation.protocols import Kind, Over
from evaluation.reports.answers.scope import (
    AnswerScope,
    distribution_records,
    level_of,
    points_of,
    several,
)
from evaluation.reports.families import is_supported

# Of attributes that hardly two queries share there are too many values for a table.
MAX_VALUES = 200

Record = dict[str, Any]


def alpha(scope: AnswerScope) -> Record:
    """Krippendorff's alpha at the question's level of measurement."""
    question = scope.question
    found = alpha_of_values(
        scope.values,
        level=level_of(question),
        resample=scope.resample("alpha"),
        points=points_of(question),
        unit=scope.unit,
    )
    return dict(plain(found))


def overall(scope: AnswerScope) -> Record:
    """The mean (of a checklist, the share of yes) and how often each value was given."""
    spread_out = distribution(
        scope.values, points_of(scope.question), resample=scope.resample("distribution"), unit="answers"
    )
    found = None
    if scope.question.kind != Kind.CHOICE:
        found = plain(mean_value(scope.values, resample=scope.resample("mean"), share=scope.is_yes_or_no))
    return {"mean": found, "distribution": distribution_records(scope.question, spread_out)}


def by_system(scope: AnswerScope) -> list[Record]:
    """Mean and distribution of each system's responses; nothing where answers are about no response."""
    codes = scope.values.system
    names = [(code, name) for code, name in enumerate(scope.items.systems) if (codes == code).any()]
    if not names:
        return []
    distributions = distributions_by_group(
        scope.values,
        points_of(scope.question),
        codes,
        len(scope.items.systems),
        resample=scope.resample("distribution by system"),
        unit="answers",
    )
    means = _means(scope, codes, len(scope.items.systems), "by system")
    return [
        {
            "system": name,
            **(_mean_record(means[code]) if means else _no_mean(distributions[code])),
            "distribution": distribution_records(scope.question, distributions[code]),
        }
        for code, name in names
    ]


def above_others(scope: AnswerScope) -> list[Record]:
    """Of each system, whether it is rated above every other; nothing where there is one, or more is not better."""
    question, values = scope.question, scope.values
    systems = several(values.system, scope.items.systems)
    if not systems or not question.more_is_better:
        return []
    codes = [code for code, _ in systems]
    found = above_every_other(values, values.system, codes, scope.tests("ratings", len(codes)))
    return [{"system": name, "test": plain(test)} for (_, name), test in zip(systems, found, strict=True)]


def best_system(figures: Record) -> Record | None:
    """The system rated above every other beyond chance, from a question's figures whose tests have been corrected."""
    if not figures["above_others"]:
        return None
    means = {each["system"]: each["mean"]["value"] for each in figures["by_system"]}
    best, following = sorted(means, key=lambda system: -means[system])[:2]
    (test,) = (each["test"] for each in figures["above_others"] if each["system"] == best)
    if not is_supported(test) or means[best] <= means[following]:
        return None
    return {
        "system": best,
        "mean": means[best],
        "next": following,
        "next_mean": means[following],
        "n": test["n"],
        "tests": test["tests"],
        "p_value": test["p_corrected"],
    }


def by_factors(scope: AnswerScope) -> Record:
    """By kind of system, setting and category, each only where there are several."""
    if scope.question.kind == Kind.CHOICE:
        return {"by_kind": [], "by_arm": [], "by_category": []}
    values, items = scope.values, scope.items
    kinds = tuple(sorted(set(scope.kinds)))
    # A system that is not there (-1) reads the entry behind the last.
    kind_of = np.array([*(kinds.index(kind) for kind in scope.kinds), -1], dtype=np.int64)
    factors = {
        "kind": (kind_of[values.system], kinds),
        "arm": (items.arm[values.item], items.arms),
        "category": (items.category[values.item], items.categories),
    }
    return {
        f"by_{factor}": [{factor: name, **_mean_record(means[code])} for code, name in several(codes, names)]
        for factor, (codes, names) in factors.items()
        for means in [_means(scope, codes, len(names), f"by {factor}")]
    }


def by_part(scope: AnswerScope) -> list[Record]:
    """Each tag of a codebook: its share, overall and by system, and its own alpha."""
    question, values = scope.question, scope.values
    if question.over != Over.CHOICE:
        return []
    parts = scope.answers.parts
    shares = _means(scope, values.part, len(parts), "by part")
    found = []
    for code, part in enumerate(parts):
        own = values.where(values.part == code)
        agreed = alpha_of_values(
            own, level="nominal", resample=scope.resample(f"alpha {part}"), points=(0.0, 1.0), unit="items"
        )
        n = len(scope.items.systems)
        of_system = yes_shares_by_group(own, own.system, n, resample=scope.resample(f"by system {part}"))
        found.append(
            {
                "part": part,
                "label": question.label(part) or part,
                **_mean_record(shares[code]),
                "alpha": plain(agreed),
                "by_system": [
                    {"system": name, **_mean_record(of_system[at])}
                    for at, name in several(own.system, scope.items.systems)
                ],
            }
        )
    return found


def by_tag_group(scope: AnswerScope) -> list[Record]:
    """Each group of a codebook's tags: the share of judgments with any of them, overall, by setting and by system."""
    question, items = scope.question, scope.items
    if question.over != Over.CHOICE or not question.groups:
        return []
    names = list(dict.fromkeys(question.groups[each] for each in question.choices if each in question.groups))
    of_part = [
        names.index(question.groups[part]) if part in question.groups else -1 for part in scope.answers.parts
    ]
    values = any_of(scope.values, np.array(of_part, dtype=np.int64)[scope.values.part], len(names))
    shares = yes_shares_by_group(values, values.part, len(names), resample=scope.resample("by group"))
    found = []
    for code, name in enumerate(names):
        own = values.where(values.part == code)
        agreed = alpha_of_values(
            own,
            level="nominal",
            resample=scope.resample(f"alpha of group {name}"),
            points=(0.0, 1.0),
            unit="items",
        )
        factors = {"arm": (items.arm[own.item], items.arms), "system": (own.system, items.systems)}
        found.append(
            {
                "tag_group": name,
                "tags": [each for each in question.choices if question.groups.get(each) == name],
                **_mean_record(shares[code]),
                "alpha": plain(agreed),
                **{
                    f"by_{factor}": _shares_by(scope, own, codes, known, factor, f"group {name} by {factor}")
                    for factor, (codes, known) in factors.items()
                },
            }
        )
    return found


def _shares_by(
    scope: AnswerScope, values: Values, codes: Ints, names: Sequence[str], factor: str, purpose: str
) -> list[Record]:
    """Share of yes for each of several settings or systems."""
    found = yes_shares_by_group(values, codes, len(names), resample=scope.resample(purpose))
    return [{factor: name, **_mean_record(found[code])} for code, name in several(codes, names)]


def by_value(scope: AnswerScope) -> tuple[list[Record], int]:
    """Mean per value of an attribute, those rated most, and how many values there are no room for."""
    attributes = scope.frame.attributes
    if scope.question.over != Over.VALUE or attributes is None or not len(scope.answers):
        return [], 0
    _, code = values_of(attributes, scope.answers)
    times = np.bincount(code, minlength=len(attributes.values))
    shown = np.sort(np.argsort(-times, kind="stable")[:MAX_VALUES])
    shown = shown[times[shown] > 0]
    place = np.full(len(attributes.values), -1)
    place[shown] = np.arange(len(shown))
    means = _means(scope, place[code], len(shown), "by value")
    named = [attributes.values[at] for at in shown]
    records = [
        {"attribute": attributes.attributes[of], "value": text, **_mean_record(found)}
        for (of, text), found in zip(named, means, strict=True)
    ]
    # Values of one attribute stand together, in the order of its answer set.
    ordered = sorted(range(len(records)), key=lambda at: (named[at][0], shown[at]))
    return [records[at] for at in ordered], int((times > 0).sum()) - len(shown)


def _means(scope: AnswerScope, codes: Ints, n: int, purpose: str) -> Sequence[MeanValue]:
    """Nothing for a choice, whose labels have no mean."""
    if scope.question.kind == Kind.CHOICE:
        return ()
    resample = scope.resample(purpose)
    return means_by_group(scope.values, codes, n, resample=resample, share=scope.is_yes_or_no)


def _mean_record(found: MeanValue) -> Record:
    return dict(plain(found))


def _no_mean(found: Distribution) -> Record:
    return {
        "mean": None,
        "standard_deviation": None,
        "n_units": found.n_units,
        "n_queries": found.n_queries,
    }
