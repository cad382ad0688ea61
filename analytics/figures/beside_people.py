"""A judge beside people on what both answered: the common part of the figures of the section of judges."""

from typing import NamedTuple

import numpy as np

from analytics.figures.figure_input import AnswerInput, FigureInput, PairInput
from analytics.figures.groups import QuestionView
from analytics.statistics.core.counts import count_matrix, unique_mode
from analytics.statistics.core.estimates import LeftOut
from analytics.statistics.core.resampling import SHARE, Range, divide
from analytics.statistics.core.tidy import Floats, Ints
from analytics.statistics.preferences.win_rates import item_scores
from analytics.statistics.replacement.difference import JudgeMinusPeople, judge_minus_people
from evaluation.models import Rater
from evaluation.protocols import Kind

# Of the section.
TITLE = "Judges vs people"


class CellScores(NamedTuple):
    """A cell's subject, people's scores and the judge's, their queries and range, and what has no score."""

    of: dict[str, str | None]
    people: Floats
    judge: Floats
    query: Ints
    within: Range
    left_out: tuple[LeftOut, ...] = ()


def is_single_judge(given: FigureInput) -> bool:
    """True of a judge, or a jury as one rater, whose study has people to hold it against."""
    assert isinstance(given, PairInput | AnswerInput)
    if isinstance(given, PairInput) and not given.counts.any():
        # It was asked for a checklist, or another preference, alone.
        return False
    return given.people is not None and given.group.kind == Rater.Kind.JUDGE


def side_less_people(given: PairInput, rows: Ints, side: Ints, purpose: str) -> JudgeMinusPeople:
    """The judge's score less people's of one response of each item of `rows` (n,): the first or second, by `side`."""
    assert given.people is not None
    items = given.items
    people, judge = (
        item_scores(each.group.judgments, len(items), given.terms.ties)[rows, side]
        for each in (given.people, given)
    )
    return judge_minus_people(
        people,
        judge,
        items.query[rows],
        within=SHARE,
        unit="items",
        resample=given.resample(purpose),
        tests=given.tests(purpose, 1),
    )


def label_tables(people: AnswerInput, judge: AnswerInput) -> tuple[Ints, Ints, Ints]:
    """By unit that anyone answered: people's counts of labels, the judge's label, and the query."""
    # A preference that is a tie is -1; one more keeps codes from 0.
    shift = 1 if judge.question.kind == Kind.PREFERENCE else 0
    ours, own = people.answers, judge.answers
    parts = max(len(own.parts), 1)
    units = [each.item.astype(np.int64) * parts + each.part for each in (ours, own)]
    labels = [np.round(each.value).astype(np.int64) + shift for each in (ours, own)]
    used, code = np.unique(np.concatenate(units), return_inverse=True)
    n_labels = int(max(each.max(initial=0) for each in labels)) + 1
    n = len(units[0])
    theirs = count_matrix(code[:n], labels[0], len(used), n_labels)
    counts = count_matrix(code[n:], labels[1], len(used), n_labels)
    return theirs, unique_mode(counts), judge.items.query[used // parts]


def pick_shares(given: AnswerInput) -> Floats:
    """The share of raters that picked each system's response, (items, systems); nan where nobody answered."""
    picks, items = given.answers.as_picks(), given.items
    counts = count_matrix(picks.item, picks.system, len(items), len(items.systems))
    answered = np.bincount(picks.item, minlength=len(items))[:, None]
    return divide(counts.astype(np.float64), answered.astype(np.float64))


def is_share(question: QuestionView) -> bool:
    return bool(question.form not in ("rated", "ranking") or question.kind == Kind.CHECKLIST)
