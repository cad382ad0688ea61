"""Self-preference of judges: their own model's responses beside people's judgments of the same items."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from analytics.display.blocks import Block
from analytics.display.tables import D_OF_PAIRS, P_COLUMNS, Builder, Table, columns, head, words
from analytics.figures.beside_people import TITLE, CellScores, is_share, is_single_judge, pick_shares
from analytics.figures.families import FamilyTest
from analytics.figures.figure import Figure
from analytics.figures.figure_input import PAIRS, UNITS, AnswerInput, FigureInput, PairInput
from analytics.figures.groups import GroupView, QuestionView
from analytics.figures.report_view import ReportView, joined
from analytics.frames.needs import NeedSource
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.randomization import Tested
from analytics.statistics.core.resampling import SHARE
from analytics.statistics.core.tidy import FIRST
from analytics.statistics.preferences.win_rates import item_scores
from analytics.statistics.rankings.concordance import shared_ranks
from analytics.statistics.replacement.difference import SharedScores, judge_minus_people, shared_scores
from analytics.statistics.replacement.self_preference import own_contrasts, own_scores
from evaluation.protocols import Over, QuestionSpec
from evaluation.selectors import judges_in_figures

QUERIES = "queries"
CAPTIONS = {
    PAIRS: "expected win rate of the judge's own system, in percent",
    "picks": "share of picks of the judge's own system, in percent",
    "rated": "mean of the judge's own system minus that of the others on the same query",
    "ranking": "mean rank of the other systems minus that of the judge's own on the same query",
}


@dataclass(frozen=True)
class OwnPreference:
    """The judge's minus people's preference for the judge's own `systems`: its model or, where that is none of the
    study's systems, those of its family.

    Of `people` and the `judge` the expected win rate, or share of picks, of these systems; of ratings their mean minus
    that of others, by query; of rankings the mean rank of others minus theirs. `effect` is Cohen's d of paired
    measures. The test is None where both judged nothing in common.
    """

    systems: tuple[str, ...]
    people: Estimate
    judge: Estimate
    difference: Estimate
    effect: Estimate
    test: Tested | None


@dataclass(frozen=True)
class OwnSystems:
    """By the key of a judge, those of the system that is its own model or, where that is no system, of its family.

    Both are recorded with a judge's run; where they are not, as of imports, the system that bears the name of its model
    is its own.
    """

    by_judge: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, source: NeedSource) -> Self:
        families = dict(source.study.systems.values_list("key", "family"))
        found = {}
        for rater in judges_in_figures(source.study):
            own = str(rater.about.get("own_system") or rater.about.get("model") or "")
            family = str(rater.about.get("own_family") or "")
            keys = frozenset(key for key, other in families.items() if key == own) or frozenset(
                key for key, other in families.items() if family and other == family
            )
            if keys and not rater.about.get("heuristic"):
                found[rater.pseudonym] = keys
        return cls(found)


class SelfPreferenceFigure(Figure[OwnPreference]):
    needs = (OwnSystems,)
    heading = "judges"
    across_judges = True
    place = 16
    stops_with = ("win_rate",)
    beside_people = True
    definition = (
        "Self-preference: how a judge scores responses of its own model or family compared with people on the same "
        "items, with a test: of pairs, picks, ratings and rankings, and of judges whose own system is in the study."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form in CAPTIONS

    def compute(self, given: FigureInput) -> OwnPreference | None:
        """None of a judge whose own model or family is not recorded, or has no responses here."""
        own = self.need(given, OwnSystems).by_judge.get(given.group_key, frozenset())
        if not own or not is_single_judge(given):
            return None
        scores = _of_pairs(given, own) if isinstance(given, PairInput) else _of_answers(given, own)
        if scores is None:
            return None
        found = judge_minus_people(
            scores.people,
            scores.judge,
            scores.query,
            within=scores.within,
            unit=QUERIES if given.form in ("rated", "ranking") else UNITS[Over.ITEM],
            resample=given.resample("self-preference"),
            tests=given.tests("self-preference", 1),
            left_out=scores.left_out,
        )
        return OwnPreference(tuple(sorted(own)), **vars(found))

    def tests(self, record: OwnPreference) -> Iterator[FamilyTest]:
        if record.test is not None:
            yield FamilyTest("self-preference", record.test)

    def title(self, view: ReportView) -> str:
        return TITLE

    def blocks(self, view: ReportView) -> Iterator[Block]:
        tables = [
            _table(view, question, groups)
            for question in view.judged
            if (groups := [group for group in question.groups if self.is_in(group)])
        ]
        if tables:
            yield Block("Self-preference", tables=tuple(tables))

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "Self-preference is how much more a judge favours responses of its own model (or, where that is none of "
            "the systems, of its family) than people do on the same items; of ratings, favouring is the mean of its "
            "own responses minus that of the others on the same query, and of rankings their mean rank the other way "
            "round. It is tested by a sign-flip test over queries."
        )


FIGURE = SelfPreferenceFigure()


def _of_pairs(given: PairInput, own: frozenset[str]) -> CellScores | None:
    """Scores on the items of which one response, and not both, is the judge's own."""
    assert isinstance(given.people, PairInput)
    items = given.items
    is_own = np.array([system in own for system in items.systems], dtype=bool)
    first, second = is_own[items.system_1], is_own[items.system_2]
    if not (first != second).any():
        return None
    people, judge = (
        own_scores(item_scores(each.group.judgments, len(items))[:, FIRST], first, second)
        for each in (given.people, given)
    )
    return CellScores({}, people, judge, items.query, SHARE)


def _of_answers(given: FigureInput, own: frozenset[str]) -> CellScores | None:
    assert isinstance(given, AnswerInput)
    assert isinstance(given.people, AnswerInput)
    items = given.items
    codes = [code for code, system in enumerate(items.systems) if system in own]
    if given.form == "picks":
        rows = (items.offered[:, codes] > 0).any(axis=1)
        people, judge = (pick_shares(each)[:, codes].sum(axis=1) for each in (given.people, given))
        found = CellScores({}, people[rows], judge[rows], items.query[rows], SHARE)
        return found if rows.any() else None
    if given.form == "ranking":
        return _of_ranks(given.people, given, codes)
    both = shared_scores(given.people.values, given.values)
    is_own = np.isin(both.system, codes)
    if not is_own.any() or (both.system < 0).any():
        return None
    low, high = given.ends
    return CellScores({}, *own_contrasts(both, is_own), (low - high, high - low))


def _of_ranks(people: AnswerInput, judge: AnswerInput, own: list[int]) -> CellScores | None:
    """Ranks count from 1 for the best, so that the sign is turned: above 0 favours the judge's own."""
    both = shared_ranks(people.answers.as_ranks(), judge.answers.as_ranks())
    is_own = np.isin(both.system, own)
    if not is_own.any():
        return None
    scores = SharedScores(-both.one, -both.other, both.query, both.system)
    most = float(both.size.max() - 1)
    return CellScores({}, *own_contrasts(scores, is_own), (-most, most), both.left_out)


def _table(view: ReportView, question: QuestionView, groups: list[GroupView]) -> Table:
    write_share = is_share(question)
    build = Builder(
        f"{question.prompt or 'Preference'}: {CAPTIONS[question.form]}, by people and by the judge; "
        f"self-preference is the judge's minus people's{', in points' if write_share else ''}, with a sign-flip test "
        f"over queries. {D_OF_PAIRS}",
        columns(
            ["Judge", "Own systems", "People", "Judge's own", "Self-preference", "d", *P_COLUMNS, "n"],
            names=2,
        ),
    )
    write = build.share if write_share else build.coefficient
    for group in groups:
        found = SelfPreferenceFigure.of(group)
        build.add(
            head(group.label),
            words(joined([view.systems.get(system, system) for system in found.systems])),
            write(found.people),
            write(found.judge),
            write(found.difference),
            build.coefficient(found.effect),
            *build.tested(found.test, found.difference.undefined),
            build.n(found.difference),
        )
    return build.build()
