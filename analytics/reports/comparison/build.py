"""The comparison of two studies, or views, as one JSON-ready record with a versioned schema."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from analytics.figures.document import Written
from analytics.figures.failures import Failures
from analytics.figures.families import ALPHA, FamilyTest, correct
from analytics.figures.figure_input import QuestionRecord, question_record
from analytics.figures.withheld import OF_A_COMPARISON, withheld
from analytics.frames.study import RaterGroup
from analytics.reports.code_version import code_version
from analytics.reports.common import LEVEL, NothingToReport, Watch, no_watch
from analytics.reports.compared_rankings import every_ranking_compared
from analytics.reports.comparison.document import (
    NAMES,
    SCHEMA,
    ComparedNumber,
    ComparisonRecord,
    ScoresAndRankings,
    SideName,
    WithoutPartner,
)
from analytics.reports.comparison.leaderboards import leaderboard_correlations
from analytics.reports.comparison.matching import (
    MatchedQueries,
    alone,
    match_groups,
    match_queries,
    other_responses,
    why_unlike,
)
from analytics.reports.comparison.pairing import (
    Asked,
    Key,
    Paired,
    ReadSide,
    has_one_setting,
    paired_quantities,
    read_side,
)
from analytics.reports.comparison.sentences import about, counted, findings
from analytics.reports.comparison.sides import Sides
from analytics.statistics.core.estimates import Estimate, plain
from analytics.statistics.core.matched import QuerySums, matched_difference
from analytics.statistics.core.randomization import Randomization, Tested
from analytics.statistics.core.reading import read
from evaluation import design
from evaluation.protocols import QuestionSpec

SAME_JUDGMENTS = "Both views have the same judgments of it."


def build_comparison(sides: Sides, watch: Watch = no_watch) -> ComparisonRecord:
    """Every comparable quantity that both sides have, over the queries that both have; of two studies the scores of
    either against the rankings of the other, too.

    A tie counts as half a win, as in every report unless it is asked otherwise. Raises NothingToReport where a side has
    no judgments that count, or nothing is shared.
    """
    watch("reading A", 0, 3)
    a = read_side(sides.a)
    watch("reading B", 1, 3)
    b = read_side(sides.b)
    watch("comparing", 2, 3)
    queries = match_queries(sides, a.frame.study_items, b.frame.study_items)
    if not queries.matched:
        raise NothingToReport(_nothing_shared(sides, queries))
    groups, groups_a, groups_b = match_groups(a.frame.groups, b.frame.groups)
    unlike = {
        key: why_unlike(question, b.questions[key])
        for key, question in a.questions.items()
        if key in b.questions
    }
    asked = [key for key in a.questions if unlike.get(key) == ""]
    failures = Failures(a.side.study.slug)
    found, figures_alone = paired_quantities(a, b, asked, groups, failures)
    rankings = list(_scores_and_rankings(a, b))
    if not found and not rankings:
        raise NothingToReport(
            f"{a.side.title} and {b.side.title} share {counted(queries.matched, 'query')}, but no question that the "
            "same raters answered in both, and no response that one scored and the other ranked: the keys of "
            "questions, settings and systems must be the same."
        )
    responses, other_text = other_responses(sides, _matched_keys(a, queries), set(a.systems) & set(b.systems))
    comparisons = _compared(found, queries, sides)
    tested = [each for each in comparisons if each["test"]]
    tests = [FamilyTest("compared", read(Tested, each["test"])) for each in tested]
    for each, corrected in zip(tested, correct(tests), strict=True):
        each["test"] = plain(corrected)
    without: list[WithoutPartner] = [
        *_questions_alone(a, b, unlike),
        *_raters_alone("a", groups_a, "B"),
        *_raters_alone("b", groups_b, "A"),
        *alone("system", a.systems, b.systems, "{side} has no system of this key."),
        *(
            alone("setting", a.arms, b.arms, "{side} has no setting of this key.")
            if not has_one_setting(a, b)
            else ()
        ),
    ]
    record: ComparisonRecord = {
        "schema": SCHEMA,
        "parameters": {"level": LEVEL, "ties": "half", "version": code_version(), "seed": a.side.study.seed},
        "a": a.record,
        "b": b.record,
        "queries": {
            "matched": queries.matched,
            "only_a": queries.only_a,
            "only_b": queries.only_b,
            "other_text": queries.other_text,
        },
        "shared_judgments": sides.shared_judgments(),
        "responses": {"shared": responses, "other_text": other_text},
        "questions": [plain(each) for each in _questions(a, found)],
        "groups": [plain(group) for group in groups if group in [each.group for each in found]],
        "comparisons": comparisons,
        "leaderboards": list(leaderboard_correlations(a, b, asked, groups, queries)),
        "scores_and_rankings": rankings,
        "without_partner": without,
        "findings": [],
    }
    without += _figures_alone(record, a, b, figures_alone)
    without += (
        {"kind": "figure", "side": "a", "name": key, "reason": f"It failed and is left out: {error}"}
        for key, error in failures.items()
    )
    record["findings"] = list(findings(record))
    return record


def _scores_and_rankings(a: ReadSide, b: ReadSide) -> Iterator[ScoresAndRankings]:
    """Two views of one study share what they are of, so that there is nothing to hold against each other."""
    if a.side.study.pk == b.side.study.pk:
        return
    for side, scored, ranked in zip(NAMES, (a, b), (b, a), strict=True):
        both = (scored.side.study, scored.frame.answers, ranked.side.study, ranked.frame.answers)
        for each in every_ranking_compared(*both):
            yield {
                "scored": side,
                "question": {"key": each.question_key, "prompt": each.question},
                "ranking": {"key": each.ranking_key, "prompt": each.ranking},
                "scored_by": {"key": each.scored_by_key, "label": each.scored_by},
                "ranked_by": {"key": each.ranked_by_key, "label": each.ranked_by},
                "queries": each.queries,
                "responses": each.responses,
                "only_scored": each.only_scored,
                "only_ranked": each.only_ranked,
                "other_text": each.other_text,
                "tau": plain(each.found.tau),
                "linear": plain(each.found.linear),
                "quadratic": plain(each.found.quadratic),
                "of_systems": plain(each.found.of_systems),
                "systems": plain(each.systems),
            }


def _nothing_shared(sides: Sides, queries: MatchedQueries) -> str:
    names = f"{sides.a.title} and {sides.b.title}"
    if queries.other_text:
        return (
            f"{names} share no query: those of the same key ({queries.other_text:,}) have another text there."
        )
    return f"{names} share no query: the keys of their queries must be the same."


def _matched_keys(a: ReadSide, queries: MatchedQueries) -> set[str]:
    named = zip(a.frame.study_items.queries, queries.codes_a, strict=True)
    return {key for key, code in named if code >= 0}


def _compared(found: list[Paired], queries: MatchedQueries, sides: Sides) -> list[ComparedNumber]:
    seed = design.derived_seed(sides.a.study.seed, "comparison")
    tests = Randomization(seed, level=ALPHA / max(len(found), 1))
    return [_record(each, queries, tests, same_study=sides.same_study) for each in found]


def _record(
    both: Paired, queries: MatchedQueries, tests: Randomization, *, same_study: bool
) -> ComparedNumber:
    name, arm, systems = both.key
    sums = [
        replace(each.sums, query=codes[each.sums.query])
        for each, codes in ((both.a, queries.codes_a), (both.b, queries.codes_b))
    ]
    of_cell = tests.of(both.question, both.group.a, both.figure, name, arm or "", *systems)
    found = matched_difference(*sums, tests=of_cell, level=LEVEL)
    untested = both.a.untested or both.b.untested
    if same_study and _are_same(*sums):
        untested = SAME_JUDGMENTS
    return {
        "question": both.question,
        "form": both.form,
        "group": both.group.a,
        "figure": both.figure,
        "name": name,
        "arm": arm,
        "systems": list(systems),
        "share": both.a.is_share,
        "a": _shown(found.first, both.a.untested),
        "b": _shown(found.second, both.b.untested),
        "difference": _shown(found.difference, both.a.untested or both.b.untested),
        "queries": found.queries,
        "test": None if untested or found.test is None else plain(found.test),
        "untested": untested or found.untested,
    }


def _shown(estimate: Estimate, may_stop: str) -> Written:
    """A figure by which its study may stop has no interval of a fixed number of queries."""
    return dict(withheld(plain(estimate), OF_A_COMPARISON) if may_stop else plain(estimate))


def _are_same(a: QuerySums, b: QuerySums) -> bool:
    """True of two views that leave the same answers to what the figure is of."""
    return np.array_equal(a.columns, b.columns, equal_nan=True) and np.array_equal(a.query, b.query)


def _questions(a: ReadSide, found: list[Paired]) -> list[QuestionRecord]:
    asked = dict.fromkeys((each.question, each.form) for each in found)
    return [question_record(a.questions[key], key[1]) for key in asked]


def _questions_alone(a: ReadSide, b: ReadSide, unlike: dict[Asked, str]) -> Iterator[WithoutPartner]:
    named = [[_name(question) for question in each.questions.values()] for each in (a, b)]
    yield from alone("question", named[0], named[1], "{side} has no answers to a question of this key.")
    for key, reason in unlike.items():
        if reason:
            for side, read in zip(NAMES, (a, b), strict=True):
                yield {"kind": "question", "side": side, "name": _name(read.questions[key]), "reason": reason}


def _raters_alone(side: SideName, groups: Iterable[RaterGroup], other: str) -> Iterator[WithoutPartner]:
    for group in groups:
        reason = f"{other} has no raters who are known to be the same."
        yield {"kind": "raters", "side": side, "name": group.label, "reason": reason}


def _figures_alone(
    record: ComparisonRecord, a: ReadSide, b: ReadSide, found: Iterable[tuple[SideName, Key]]
) -> Iterator[WithoutPartner]:
    """Figures of systems and settings that both sides have; of others it was said that they are missing."""
    systems, arms = set(a.systems) & set(b.systems), {*(set(a.arms) & set(b.arms)), None}
    for side, (name, arm, named) in found:
        if set(named) <= systems and arm in arms:
            of = about(record, named, arm)
            other = "B" if side == "a" else "A"
            reason = f"{other} has no value of it."
            yield {
                "kind": "figure",
                "side": side,
                "name": ", ".join(filter(None, [name, of])),
                "reason": reason,
            }


def _name(question: QuestionSpec) -> str:
    return question.key or question.prompt
