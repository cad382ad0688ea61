"""Krippendorff's alpha of each question, at its level of measurement."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from analytics.display.blocks import Block
from analytics.display.group_plots import score_plot
from analytics.display.numbers import decimal, in_percent
from analytics.display.tables import DASH, Builder, Column, Table, caution, columns, head, interval, words
from analytics.figures import where
from analytics.figures.agreement.percentage import PercentageAgreementFigure
from analytics.figures.figure import Figure
from analytics.figures.figure_input import (
    MEASURES,
    PAIRS,
    AnswerInput,
    FigureInput,
    PairInput,
    by_cell,
    level_of,
    points_of,
    several,
)
from analytics.figures.groups import GroupView, QuestionView
from analytics.figures.quantities import Quantity
from analytics.figures.report_view import CELLS, PairView, ReportView, group_head, tag_of
from analytics.statistics.agreement.alpha import Level, agreement_by_chance, krippendorff_alpha
from analytics.statistics.agreement.alpha_sums import alpha_sums, alpha_sums_of_values
from analytics.statistics.agreement.value_alpha import alpha_of_values, chance_of_values
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.matched import QuerySums
from analytics.statistics.core.tidy import FIRST, SECOND, TIE, Ints
from analytics.statistics.entries.entry_sets import decisions
from analytics.statistics.preferences.best_picks import picks_as_values
from evaluation.facts import Fact
from evaluation.protocols import QuestionSpec

ALPHA = "Krippendorff's \N{GREEK SMALL LETTER ALPHA}"
KEY = "agreement/alpha"
# Two judgments agree by chance more often than not, and alpha is this far below the share that agrees.
UNEVEN, APART = 0.5, 0.4
PAIR_LEVELS: tuple[Level, ...] = ("nominal", "ordinal")


@dataclass(frozen=True)
class AlphaBesideChance:
    """Alpha at a level of measurement, and the share of pairs of labels that would agree by chance: None for scales."""

    level: Level
    alpha: Estimate
    by_chance: float | None


@dataclass(frozen=True)
class AlphaOfArm:
    arm: str
    alpha: Estimate


@dataclass(frozen=True)
class Alphas:
    """Alpha at every level that it is taken at; of a preference also by setting, and of the list of follow-ups."""

    levels: tuple[AlphaBesideChance, ...]
    checklist: AlphaBesideChance | None
    by_arm: tuple[AlphaOfArm, ...]


class AlphaFigure(Figure[Alphas]):
    heading = "agreement"
    place = 20
    beside = (CELLS,)
    definition = (
        "Krippendorff's alpha of every question except rankings, at its level of measurement; for a preference "
        "also as an ordinal scale with a tie in the middle, by setting, and for its checklist."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form not in ("ranking", MEASURES)

    def compute(self, given: FigureInput) -> Alphas:
        if isinstance(given, PairInput):
            return Alphas(_levels_of_pairs(given), _checklist(given), _by_arm(given))
        assert isinstance(given, AnswerInput)
        return Alphas((_of_answers(given),), None, ())

    def quantities(self, given: FigureInput) -> Iterator[Quantity]:
        """Nominal and ordinal of a preference, and nominal by setting; of other questions at their level."""
        if isinstance(given, PairInput):
            items, counts = given.items, given.votes
            for level in PAIR_LEVELS:
                sums = alpha_sums(_counts_at(given, level), items.query, level=level)
                yield Quantity(f"{ALPHA}, {level}", sums)
            for code, arm in several(items.arm, items.arms):
                rows = items.arm == code
                sums = alpha_sums(counts[rows], items.query[rows], level="nominal")
                yield Quantity(f"{ALPHA}, nominal", sums, arm)
            return
        assert isinstance(given, AnswerInput)
        own: Level = "nominal" if given.form in ("picks", "entries") else level_of(given.question)
        yield Quantity(f"{ALPHA}, {own}", _sums_of_answers(given, own))

    def facts(self, view: ReportView, group: GroupView, question: QuestionView) -> Iterator[Fact]:
        if group.key != view.leading.key and group.raters < 2:
            return
        found = self.of(group).levels[0]
        prompt = question.prompt
        estimate = found.alpha
        about = f"{prompt}{' ' if prompt.endswith(('?', '.', '!')) else ', '}{found.level}"
        if estimate.value is None:
            asked = f"{prompt}{'' if prompt.endswith(('?', '.', '!')) else ':'}"
            detail = f"{asked} {estimate.undefined}" if view.several_questions else estimate.undefined
            yield Fact(ALPHA, DASH, detail, undefined=True)
            return
        limits = interval(estimate, decimal)
        if question.form == PAIRS and len(view.questions) == 1:
            about = found.level
            detail = f"{limits}, {about}" if limits else estimate.undefined
            detail = "; ".join(filter(None, [detail, caution(estimate)]))
        else:
            detail = "; ".join(filter(None, [about, limits or estimate.undefined, caution(estimate)]))
        chance = chance_in(group, question)
        if estimate.low is not None and estimate.low <= 0:
            detail += "; agreement is not shown to be better than chance"
        by_chance = f"; {in_percent(chance)} agreement by chance" if chance is not None else ""
        yield Fact(ALPHA, decimal(estimate.value), f"{detail}{by_chance}", tag=tag_of(group))

    def intro(self, view: ReportView) -> str:
        if not any(question.form != PAIRS for question in view.asked(self.key)):
            return ""
        return (
            "Agreement beyond chance, at each question's level of measurement: 1 is perfect agreement, 0 is "
            "agreement by chance. Intervals are computed over queries."
        )

    def blocks(self, view: ReportView) -> Iterator[Block]:
        """A preference at both its levels and by setting; where there are other questions, a row for each of all."""
        yield from view.per_pair(self._of_pair)
        questions = view.asked(self.key)
        if [question.form for question in questions] == [PAIRS]:
            return
        names = columns(["Raters", "Question", "Level"], names=3)
        build = Builder(f"{ALPHA} by question.", [*names, Column(ALPHA), Column("n")])
        for group in view.groups_of_several:
            for question, found in view.answered(questions, group):
                first = self.of(found).levels[0]
                build.add(
                    group_head(group),
                    words(question.prompt),
                    words(first.level),
                    build.coefficient(first.alpha),
                    build.n(first.alpha),
                    of=where.of(group),
                )
        plot = score_plot(
            [
                (
                    question.prompt,
                    [
                        (group, self.of(records).levels[0].alpha)
                        for group in view.groups_of_several
                        if (records := view.group_in(question, group)) is not None
                    ],
                )
                for question in questions
            ],
            what=ALPHA,
            caption=f"{ALPHA} by question.",
        )
        uneven = tuple(
            sentence
            for group in view.groups_of_several
            # Preferences say so above their own table.
            for question, found in view.answered([q for q in questions if q.form != PAIRS], group)
            if (sentence := _uneven_answers(question, found))
        )
        yield Block(text=uneven, tables=(build.build(),), plot=plot)

    def _of_pair(self, view: PairView) -> Iterator[Block]:
        build = Builder(
            f"{ALPHA} of the preference; ordinal: a tie lies between the two systems.",
            columns(["Raters", "Nominal", "Ordinal", "n"]),
        )
        for group in view.groups_of_several:
            nominal, ordinal = (level_in(group, level).alpha for level in PAIR_LEVELS)
            build.add(
                group_head(group),
                build.coefficient(nominal),
                build.coefficient(ordinal),
                build.n(nominal),
                of=where.of(group),
            )
        uneven = tuple(sentence for group in view.groups_of_several if (sentence := _uneven_labels(group)))
        yield Block(ALPHA, uneven, (build.build(), *_settings(view)))

    def methods(self, view: ReportView) -> Iterable[str]:
        forms = {question.form for question in view.asked(self.key)}
        if "rated" in forms:
            yield (
                "Krippendorff's alpha is nominal for yes/no questions, ordinal for scales of up to seven points "
                "and interval for longer ones; units that only one rater rated are not included."
            )
        if "picks" in forms:
            yield "Alpha for picks is nominal, over the systems picked."
        if "entries" in forms:
            yield (
                "Alpha for decisions is nominal, over the drafted entries that two or more raters decided on."
            )


def level_in(group: GroupView, level: str) -> AlphaBesideChance:
    """A group's alpha of a preference at that level of measurement."""
    return next(each for each in AlphaFigure.of(group).levels if each.level == level)


def chance_of(chance: float | None, alpha: float | None, share: float | None) -> float | None:
    """Agreement by chance, where for its sake alpha is far below the share that agrees."""
    if chance is None or alpha is None or share is None:
        return None
    return chance if chance >= UNEVEN and share - alpha >= APART else None


def chance_in(group: GroupView, question: QuestionView) -> float | None:
    """Share of pairs of answers that are the same by chance, where uneven labels make alpha low for that reason."""
    found = AlphaFigure.of(group).levels[0]
    if question.form == PAIRS:
        share = PercentageAgreementFigure.of(group).overall.with_ties.value
        return chance_of(found.by_chance, found.alpha.value, share)
    return chance_of(found.by_chance, found.alpha.value, _same(found))


def _same(found: AlphaBesideChance) -> float | None:
    """Share of pairs of raters whose answers are the same, of which alpha is what is beyond chance."""
    chance, alpha = found.by_chance, found.alpha.value
    return None if chance is None or alpha is None else float(1 - (1 - alpha) * (1 - chance))


def _uneven_labels(group: GroupView) -> str:
    """Why raters mostly agree and alpha is low all the same; nothing where it is not so."""
    share = PercentageAgreementFigure.of(group).overall.with_ties.value
    found = level_in(group, "nominal")
    chance = chance_of(found.by_chance, found.alpha.value, share)
    if chance is None or share is None:
        return ""
    return (
        f"{group.label}: agreement is {in_percent(share)}, yet alpha is {decimal(found.alpha.known)}. "
        "One label is far more common than the others, so two judgments paired at random would be the same in "
        f"{in_percent(chance)} of cases; alpha counts only agreement beyond that."
    )


def _settings(view: PairView) -> Iterator[Table]:
    """Settings as rows, of the leading group."""
    if not view.several_arms:
        return
    build = Builder(f"{ALPHA} by setting, nominal.", columns(["Setting", ALPHA, "n"]))
    found = by_cell(AlphaFigure.of(view.leading).by_arm, "arm")
    for arm in view.arms:
        alpha = found[(arm,)].alpha
        build.add(
            head(view.arm(arm)),
            build.coefficient(alpha),
            build.n(alpha),
            of=where.of(view.leading, arm=arm),
        )
    yield build.build()


def _uneven_answers(question: QuestionView, group: GroupView) -> str:
    """Why raters mostly answer alike and alpha is low all the same; nothing where it is not so."""
    found = AlphaFigure.of(group).levels[0]
    same, chance = _same(found), chance_in(group, question)
    if same is None or chance is None:
        return ""
    return (
        f"{question.prompt} {group.label}: two raters give the same answer in {in_percent(same)} of cases, "
        f"yet alpha is {decimal(found.alpha.known)}. One answer is far more common than the others, so two "
        f"answers paired at random would be the same in {in_percent(chance)} of cases; alpha counts only "
        "agreement beyond that."
    )


def _levels_of_pairs(given: PairInput) -> tuple[AlphaBesideChance, ...]:
    return tuple(
        _of_counts(given, "preference", level, _counts_at(given, level), given.items.query)
        for level in PAIR_LEVELS
    )


def _counts_at(given: PairInput, level: Level) -> Ints:
    """The counts of the votes without an order, or of r1, tie and r2 in theirs: between the two responses there is one
    place, whether both are good or both are bad."""
    return given.votes if level == "nominal" else given.counts[:, [FIRST, TIE, SECOND]]


def _of_counts(given: PairInput, what: str, level: Level, counts: Ints, query: Ints) -> AlphaBesideChance:
    found = krippendorff_alpha(counts, query, level=level, resample=given.resample(f"alpha {what} {level}"))
    return AlphaBesideChance(level, found, agreement_by_chance(counts) if level == "nominal" else None)


def _checklist(given: PairInput) -> AlphaBesideChance | None:
    """Of yes and no to each follow-up and response; None without a checklist."""
    if given.check_counts is None:
        return None
    rated = given.check_counts.shape[1] * 2
    counts = given.check_counts.reshape(-1, 2)
    used = np.flatnonzero(counts[:, 0] | counts[:, 1])
    return _of_counts(given, "satisfied", "nominal", counts[used], given.items.query[used // rated])


def _by_arm(given: PairInput) -> tuple[AlphaOfArm, ...]:
    resample, items = given.resample("alpha by arm"), given.items
    return tuple(
        AlphaOfArm(
            arm, krippendorff_alpha(given.votes[rows], items.query[rows], level="nominal", resample=resample)
        )
        for cell, rows in items.cells(("arm",))
        if (arm := cell.arm) is not None
    )


def _sums_of_answers(given: AnswerInput, level: Level) -> QuerySums:
    if given.form == "picks":
        return alpha_sums_of_values(picks_as_values(given.answers.as_picks()), level=level, unit=given.unit)
    points = None if given.form == "entries" else points_of(given.question)
    return alpha_sums_of_values(given.values, level=level, points=points, unit=given.unit)


def _of_answers(given: AnswerInput) -> AlphaBesideChance:
    question = given.question
    if given.form == "picks":
        picks = picks_as_values(given.answers.as_picks())
        agreed = alpha_of_values(picks, level="nominal", resample=given.resample("alpha"))
        return AlphaBesideChance("nominal", agreed, chance_of_values(picks))
    if given.form == "entries":
        made = decisions(given.values, resample=given.resample("decisions"))
        return AlphaBesideChance("nominal", made.alpha, chance_of_values(given.values))
    level, offered = level_of(question), points_of(question)
    agreed = alpha_of_values(
        given.values, level=level, resample=given.resample("alpha"), points=offered, unit=given.unit
    )
    # Of scales there is no such share.
    by_chance = chance_of_values(given.values, points=offered) if level == "nominal" else None
    return AlphaBesideChance(level, agreed, by_chance)


FIGURE = AlphaFigure()
