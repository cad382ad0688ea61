"""The test of a judge on queries that were kept for it: its fit beside a person's own, its biases, and the verdict."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from analytics.figures.beside_people import is_single_judge, side_less_people
from analytics.figures.figure_input import (
    UNITS,
    AnswerInput,
    FigureInput,
    PairInput,
    figure_inputs,
    level_of,
)
from analytics.figures.replacement.alternative_annotator import shared_answers
from analytics.figures.replacement.source_bias import FIGURE as SOURCE_BIAS
from analytics.frames.arrays import response_places
from analytics.frames.needs import NeedSource
from analytics.frames.study import study_frame
from analytics.reports.build import made_needs
from analytics.reports.common import REPLICATES, TIES
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.randomization import Tested
from analytics.statistics.core.tidy import FIRST, SECOND, Floats, Ints
from analytics.statistics.core.values import unit_means
from analytics.statistics.preferences.bias import position_bias
from analytics.statistics.preferences.win_rates import item_scores
from analytics.statistics.replacement.alternative_annotator import alternative_annotator
from analytics.statistics.replacement.difference import shared_scores
from analytics.statistics.replacement.prediction_powered import LEAST_LABELLED, Spread, labels_worth
from analytics.statistics.replacement.source_bias import source_bias
from analytics.statistics.replacement.verdict import (
    LEVEL,
    BiasKind,
    Claim,
    JudgeBias,
    PartFit,
    counted_biases,
    fits_with_people,
    held_back,
    judge_parts,
)
from evaluation.filters import Filters
from evaluation.models import Rater, Study
from evaluation.protocols import Kind, Over, QuestionSpec

TESTABLE = (Kind.PREFERENCE, Kind.SCALE, Kind.CHOICE)
BIAS_TITLES: Mapping[BiasKind, str] = {
    "position": "Prefers the response shown first, beyond one half",
    "length": "Favours the longer response more than people do",
    "source": "Favours text by models more than people do",
}


@dataclass(frozen=True)
class JudgeTest:
    """One judge on the queries of one half, in answers to one question.

    `parts` are all queries and then its categories. `winning_rate` and `passes` are of the alternative-annotator test,
    `why_untested` says why it could not be made. `correlation` is that of its scores with people's means, within pairs
    or systems, and `worth` the number of queries judged by people alone that are as precise as `labelled` beside a
    judge of `queries`, None of labels without an order. `claim` is that of all queries, as in `parts`.
    """

    rater: str
    question: str
    # True of a scale: then biases are in its points.
    numbers: bool
    epsilon: float
    # Below which a corrected p supports its claim.
    level: float
    parts: tuple[PartFit, ...]
    biases: tuple[JudgeBias, ...]
    winning_rate: float | None
    passes: bool | None
    people: int
    why_untested: str
    correlation: float | None
    worth: float | None
    labelled: int
    queries: int
    claim: Claim | None


def testable_questions(study: Study) -> list[QuestionSpec]:
    """The questions by which a judge can be held against people, in the order of the form."""
    revision = study.revisions.order_by("-number").first()
    if revision is None:
        return []
    asked = map(QuestionSpec.from_json, revision.spec["questions"])
    # One that is asked of each turn is several.
    return [
        each for each in asked if each.kind in TESTABLE and each.over not in (Over.TURN, Over.TURN_RESPONSE)
    ]


def judge_tests(
    study: Study,
    raters: Iterable[Rater],
    question: str,
    queries: Collection[str],
    *,
    labelled: int,
    judged: int,
) -> list[JudgeTest]:
    """The tests of these raters of judges, wherever they are, on the queries of these keys; those of a rater that has
    answered nothing that people have are left out.

    `labelled` queries are people's in all, of `judged` that the judge will judge.
    """
    people = study.raters.filter(kind=Rater.Kind.PERSON).values_list("pk", flat=True)
    wanted = {rater.pseudonym: rater.pk for rater in raters}
    filters = Filters(queries=tuple(sorted(queries)))
    frame = study_frame(study, filters, [*people, *wanted.values()])
    revision = study.revisions.order_by("-number")[0]
    source = NeedSource(study, revision.spec, filters, frame, judges=())
    found = []
    for asked, _, inputs in figure_inputs(
        source, made_needs(source, [SOURCE_BIAS.key]), replicates=REPLICATES, ties=TIES[0]
    ):
        if asked.key == question:
            tested = [each for each in inputs if each.group_key in wanted and is_single_judge(each)]
            found += [_test(each, study.epsilon, labelled, judged) for each in tested]
    return found


def _test(given: FigureInput, epsilon: float, labelled: int, judged: int) -> JudgeTest:
    assert isinstance(given, PairInput | AnswerInput)
    numbers = not isinstance(given, PairInput) and level_of(given.question) != "nominal"
    width = None if not isinstance(given, AnswerInput) or not numbers else given.ends[1] - given.ends[0]
    unit = given.unit if isinstance(given, AnswerInput) else UNITS[Over.ITEM]
    answers, _ = shared_answers(given)
    fits = fits_with_people(answers, width=width)
    category, categories = _categories(given, answers.judge, answers.unit)
    parts = judge_parts(
        fits,
        category,
        categories,
        epsilon=epsilon,
        unit=unit,
        resample=given.resample("judge test"),
        tests=given.tests("judge test", 1),
    )
    alternative = alternative_annotator(
        answers,
        epsilon=epsilon,
        numbers=numbers,
        unit=unit,
        resample=given.resample("alternative annotator"),
    )
    biases = counted_biases(_biases(given), epsilon * (width or 1.0))
    parts = held_back(parts, biases)
    spread = _spread(given, numbers)
    return JudgeTest(
        rater=given.group_key,
        question=given.question.key,
        numbers=numbers,
        epsilon=epsilon,
        level=LEVEL,
        parts=parts,
        biases=biases,
        winning_rate=alternative.winning_rate,
        passes=alternative.passes,
        people=len(alternative.annotators),
        why_untested=alternative.advantage.undefined if alternative.passes is None else "",
        correlation=None if spread is None else _correlation(spread),
        worth=None
        if spread is None or not LEAST_LABELLED <= labelled < judged - 1
        else labels_worth(spread, labelled, judged),
        labelled=labelled,
        queries=judged,
        claim=parts[0].claim,
    )


def _categories(given: PairInput | AnswerInput, judge: Floats, unit: Ints) -> tuple[Ints, tuple[str, ...]]:
    """The code of each used unit's category (see `fits_with_people`), and their names."""
    items = given.items
    parts = 1 if isinstance(given, PairInput) else max(len(given.answers.parts), 1)
    used = np.isfinite(judge) & (np.bincount(unit, minlength=len(judge)) > 1)
    return np.repeat(items.category, parts)[used], tuple(each or "no category" for each in items.categories)


# --- biases ---------------------------------------------------------------------------------------------------------


def _biases(given: PairInput | AnswerInput) -> Iterator[tuple[BiasKind, Estimate, Tested | None]]:
    if isinstance(given, PairInput):
        readings = given.group.readings
        position = position_bias(
            readings.label,
            readings.first,
            given.items.query[readings.item],
            resample=given.resample("position bias"),
            tests=given.tests("position bias", 1),
        )
        yield "position", position.bias, position.test
        yield "length", *_length_of_pairs(given)
    elif level_of(given.question) != "nominal":
        yield from _length_of_texts(given)
    is_of = SOURCE_BIAS.applies(given.question, given.form) and SOURCE_BIAS.is_of(given)
    if is_of and (source := SOURCE_BIAS.compute(given)) is not None:
        yield "source", source.bias, source.test


def _length_of_pairs(given: PairInput) -> tuple[Estimate, Tested | None]:
    """The judge's score of the longer response less people's, on items whose responses differ in length."""
    items = given.items
    rows = np.flatnonzero(items.length_1 != items.length_2)
    longer = np.where(items.length_1 > items.length_2, FIRST, SECOND)[rows]
    found = side_less_people(given, rows, longer, "length bias of a judge")
    return found.difference, found.test


def _length_of_texts(given: AnswerInput) -> Iterator[tuple[BiasKind, Estimate, Tested | None]]:
    """The judge's value less people's of responses longer than their query's mean, less that of the others."""
    assert given.people is not None
    people, judge = unit_means(given.people.values), unit_means(given.values)
    unit, at, own = np.intersect1d(people.unit, judge.unit, assume_unique=True, return_indices=True)
    parts = given.answers.parts
    place = response_places(parts)[unit % max(len(parts), 1)] if parts else np.full(len(unit), -1)
    length = given.items.response_lengths(unit // max(len(parts), 1), place)
    known = np.isfinite(length)
    if not known.any():
        return
    query = people.query[at][known]
    _, code, times = np.unique(query, return_inverse=True, return_counts=True)
    mean = (np.bincount(code, length[known]) / times)[code]
    is_longer = length[known] > mean
    if not is_longer.any():
        return
    found = source_bias(
        (judge.mean[own] - people.mean[at])[known],
        is_longer,
        query,
        resample=given.resample("length bias of a judge"),
        tests=given.tests("length bias of a judge", 1),
        unit=given.unit,
    )
    yield "length", found.bias, found.test


# --- worth ----------------------------------------------------------------------------------------------------------


def _spread(given: PairInput | AnswerInput, numbers: bool) -> Spread | None:
    """Variances over queries within pairs and settings, or within systems; None of labels without an order."""
    if isinstance(given, PairInput):
        assert given.people is not None
        people, judge = (
            item_scores(each.group.judgments, len(given.items), given.terms.ties)[:, FIRST]
            for each in (given.people, given)
        )
        stratum = given.items.arm.astype(np.int64) * len(given.items.pairs) + given.items.pair
    elif numbers:
        assert given.people is not None
        shared = shared_scores(given.people.values, given.values)
        people, judge, stratum = shared.people, shared.judge, shared.system.astype(np.int64) + 1
    else:
        return None
    used = np.isfinite(people) & np.isfinite(judge)
    _, code, times = np.unique(stratum[used], return_inverse=True, return_counts=True)
    freedom = int(used.sum()) - len(times)
    if freedom < 2:
        return None
    ours, own = (each[used] - (np.bincount(code, each[used]) / times)[code] for each in (people, judge))
    return Spread(*(float((a * b).sum() / freedom) for a, b in ((ours, ours), (own, own), (ours, own))))


def _correlation(spread: Spread) -> float | None:
    product = spread.people * spread.judge
    return float(spread.both / np.sqrt(product)) if product > 0 else None
