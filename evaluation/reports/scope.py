"""What every part of a pairwise report is made from, and how its rows are named."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluation import design
from evaluation.analytics.counts import count_matrix
from evaluation.analytics.estimates import plain
from evaluation.analytics.randomization import Randomization
from evaluation.analytics.resampling import ResampleSpec
from evaluation.analytics.tidy import N_LABELS, Ints, Items
from evaluation.analytics.win_rates import Ties
from evaluation.frames import Group, StudyFrame
from evaluation.models import Rater, Study
from evaluation.protocols import Question
from evaluation.reports.families import ALPHA


@dataclass(frozen=True)
class Scope:
    """What every part needs: the items, the group, its counts, and where randomness comes from.

    `asked` is how many such preferences the study asks for: families of tests are over all of them.
    """

    items: Items
    group: Group
    counts: Ints
    seed: int
    replicates: int
    baseline: str
    ties: Ties = "half"
    question: Question | None = None
    asked: int = 1

    def resample(self, purpose: str) -> ResampleSpec:
        rng = design.generator(self.seed, "report", self.group.key, purpose)
        return ResampleSpec(rng, replicates=self.replicates)

    def tests(self, purpose: str, family: int) -> Randomization:
        """How the tests of a family of so many, for each preference asked for, are drawn."""
        seed = design.derived_seed(self.seed, "test", self.group.key, purpose)
        return Randomization(seed, level=ALPHA / max(family * self.asked, 1))


def judgments_per_rater(groups: Iterable[Group]) -> dict[str, int]:
    """By pseudonym; what one rater said of one item under several preferences is one judgment."""
    groups = list(groups)
    names = sorted({name for group in groups for name in group.judgments.raters})
    place = {name: at for at, name in enumerate(names)}
    size = 1 + max((int(group.judgments.item.max(initial=0)) for group in groups), default=0)
    judged = [
        np.array([place[name] for name in group.judgments.raters])[group.judgments.rater] * size
        + group.judgments.item
        for group in groups
    ]
    times = np.bincount(np.unique(np.concatenate(judged)) // size, minlength=len(names))
    return dict(zip(names, times.tolist(), strict=True))


def scope_of(
    items: Items,
    group: Group,
    *,
    seed: int,
    replicates: int,
    baseline: str,
    ties: Ties = "half",
    question: Question | None = None,
    asked: int = 1,
) -> Scope:
    counts = count_matrix(group.judgments.item, group.judgments.label, len(items), N_LABELS)
    return Scope(items, group, counts, seed, replicates, baseline, ties, question, asked)


def scopes_of(
    study: Study, frame: StudyFrame, *, replicates: int, ties: Ties, asked: int = 1
) -> tuple[list[Scope], Scope | None]:
    """A scope per group of raters, and people's own, if there are any."""
    scopes = [
        scope_of(
            frame.items,
            group,
            seed=study.seed,
            replicates=replicates,
            baseline=study.baseline,
            ties=ties,
            question=frame.preference,
            asked=asked,
        )
        for group in frame.groups
    ]
    return scopes, next((scope for scope in scopes if scope.group.kind == Rater.Kind.PERSON), None)


def named(names: tuple[str, ...], factor: str, found: Iterable[Any], key: str = "") -> list[dict[str, Any]]:
    return [
        {factor: name, **({key: plain(each)} if key else plain(each))}
        for name, each in zip(names, found, strict=True)
    ]


def by_category(items: Items, compute: Callable[[], Iterable[Any]], key: str = "") -> list[dict[str, Any]]:
    """Nothing where the study has one category only: it would repeat the overall figure."""
    return named(items.categories, "category", compute(), key) if len(items.categories) > 1 else []
