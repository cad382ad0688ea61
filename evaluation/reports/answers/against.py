"""Judges beside people, question by question: how far apart, how alike in their order, and how often the same."""

from typing import Any

import numpy as np

from evaluation.analytics.against_people import judge_less_people, kappa_with_majority
from evaluation.analytics.compared import compare_means
from evaluation.analytics.concordance import tau_with
from evaluation.analytics.counts import count_matrix
from evaluation.analytics.estimates import plain
from evaluation.analytics.leave_one_out import inner_agreement, outer_agreement
from evaluation.analytics.tidy import MISSING, Ints
from evaluation.protocols import Kind
from evaluation.reports.answers.scope import AnswerScope

Record = dict[str, Any]


def against_people(scope: AnswerScope, people: AnswerScope) -> Record:
    """`compared` for numbers, `labels` for what has labels, `tau` for rankings; null where it does not apply."""
    kind = scope.question.kind
    numbers = kind in (Kind.SCALE, Kind.CHECKLIST)
    return {
        "compared": _compared(scope, people) if numbers else None,
        "labels": None if kind in (Kind.SCALE, Kind.RANKING) else _labels(scope, people),
        "tau": _tau(scope, people) if kind == Kind.RANKING else None,
    }


def _compared(scope: AnswerScope, people: AnswerScope) -> Record:
    resample = scope.resample("compared")
    return dict(plain(compare_means(people.values, scope.values, resample=resample, unit=scope.unit)))


def _tau(scope: AnswerScope, people: AnswerScope) -> Record:
    found = tau_with(people.answers.as_ranks(), scope.answers.as_ranks(), resample=scope.resample("tau"))
    return dict(plain(found))


def _labels(scope: AnswerScope, people: AnswerScope) -> Record:
    """Leave-one-out agreement with people (HREF Algorithm 1), people's own on the same, and kappa with majorities."""
    theirs, label, query = _tables(people, scope)
    labelled = label != MISSING
    inner = inner_agreement(theirs[labelled], query[labelled], resample=scope.resample("inner beside outer"))
    kappa = kappa_with_majority(theirs, label, query, resample=scope.resample("kappa with majority"))
    return {
        "inner": plain(inner),
        "judge_less_people": plain(
            judge_less_people(
                theirs,
                label,
                query,
                resample=scope.resample("judge less people"),
                tests=scope.tests("judge less people", 1),
            )
        ),
        "outer": plain(outer_agreement(theirs, label, query, resample=scope.resample("outer"))),
        "kappa": plain(kappa),
    }


def _tables(people: AnswerScope, judge: AnswerScope) -> tuple[Ints, Ints, Ints]:
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
    top = counts.max(axis=1, initial=0)
    unique = ((counts == top[:, None]).sum(axis=1) == 1) & (top > 0)
    label = np.where(unique, counts.argmax(axis=1), MISSING).astype(np.int64)
    return theirs, label, judge.items.query[used // parts]
