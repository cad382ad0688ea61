"""Shares with chosen values in the denominator, such as the precision of facts that are relevant."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from analytics.display.blocks import Block
from analytics.display.group_plots import share_plot
from analytics.display.plots import DotPlot
from analytics.display.tables import Builder, columns, words
from analytics.figures.figure import Figure
from analytics.figures.figure_input import AnswerInput, FigureInput, point_records, several
from analytics.figures.groups import GroupView, QuestionView
from analytics.figures.report_view import ReportView, group_head
from analytics.frames.needs import NeedSource
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.tidy import Bools, Floats, Ints
from analytics.statistics.ratings.chosen_shares import (
    ChosenAnswers,
    ChosenShare,
    chosen_share,
    chosen_shares_by_group,
)
from evaluation.protocols import Kind, Over, QuestionSpec
from evaluation.protocols.requirements.shares import ChosenValues, NamedShare, read_shares, value_names

KEY = "ratings/chosen_shares"
KINDS_OF_SHARES = (Kind.CHOICE, Kind.SCALE, Kind.CHECKLIST)


@dataclass(frozen=True)
class SideOfShare:
    """A question with the values that are meant, and both in words."""

    question: str
    prompt: str
    values: tuple[str, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True)
class ShareOfSystem:
    """The share of answers about one system's responses, pooled and per item, and how many count."""

    system: str
    pooled: Estimate
    per_item: Estimate
    n_counted: int


@dataclass(frozen=True)
class ShareOfArm:
    """The share of answers in one setting, pooled and per item, and how many count."""

    arm: str
    pooled: Estimate
    per_item: Estimate
    n_counted: int


@dataclass(frozen=True)
class ShareAmong:
    """A share with chosen values in its denominator: over all, and by system and setting where there are several."""

    key: str
    label: str
    of: SideOfShare
    among: SideOfShare
    overall: ChosenShare
    by_system: tuple[ShareOfSystem, ...]
    by_arm: tuple[ShareOfArm, ...]


@dataclass(frozen=True)
class ChosenShares:
    """The shares that the study names of which the question's values count."""

    shares: tuple[ShareAmong, ...]


@dataclass(frozen=True)
class NamedShares:
    """The shares with chosen values in the denominator that the study names."""

    shares: tuple[NamedShare, ...]

    @classmethod
    def of(cls, source: NeedSource) -> Self:
        return cls(read_shares(source.spec.get("shares") or ()))


class ChosenSharesFigure(Figure[ChosenShares]):
    needs = (NamedShares,)
    heading = "shares"
    place = 10
    definition = (
        "Shares that the study names, with chosen values in the denominator, such as precision over facts that are "
        "relevant: over all answers and per item, overall, by system and by setting."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return (
            question.kind in KINDS_OF_SHARES and question.over != Over.CHOICE and form in ("rated", "choice")
        )

    def compute(self, given: FigureInput) -> ChosenShares | None:
        """Each share stands with the question whose values count. A value between the points of a scale, such as the
        mean of a judge's samples, is none of the chosen ones."""
        assert isinstance(given, AnswerInput)
        questions = {question.key: question for question in given.frame.questions}
        shares = tuple(
            _record(given, share, questions[share.among.question])
            for share in self.need(given, NamedShares).shares
            if share.of.question == given.question.key and share.among.question in questions
        )
        return ChosenShares(shares) if shares else None

    def intro(self, view: ReportView) -> str:
        return "The shares that the study names, each with chosen values in its denominator."

    def blocks(self, view: ReportView) -> Iterator[Block]:
        for question in view.asked(self.key):
            for at, share in enumerate(self.of(question.groups[0]).shares):
                build = Builder(
                    f"{_definition(share)}, in percent: over all answers, and the mean over items of each item's "
                    "share.",
                    columns(["Raters", "Of", "Over all", "Answers", "Per item", "Items"], names=2),
                )
                for group in view.lead_first(question):
                    for of, found in _cells(view, self.of(group).shares[at]):
                        build.add(
                            group_head(group),
                            words(of),
                            build.share(found.pooled),
                            build.n(found.pooled),
                            build.share(found.per_item),
                            build.n(found.per_item),
                        )
                yield Block(share.label, tables=(build.build(),), plot=_plot(view, question, at))

    def methods(self, view: ReportView) -> Iterator[str]:
        defined = {
            share.key: f"{share.label}: {_definition(share)[:1].lower()}{_definition(share)[1:]}."
            for record in self.records(view)
            for share in record.shares
        }
        yield from defined.values()
        yield (
            "Shares with chosen values in the denominator are taken over all answers in it, each rater's answer about "
            "each thing by itself, and per item, as the mean of the shares of the items that have an answer in it."
        )


FIGURE = ChosenSharesFigure()


def _record(given: AnswerInput, share: NamedShare, among: QuestionSpec) -> ShareAmong:
    answers = _answers(given, share, among)
    resample = given.resample(f"share {share.key}")
    base = given.group.answers[among.key]

    def by(codes: Ints, names: tuple[str, ...]) -> Iterator[tuple[str, ChosenShare]]:
        if shown := several(codes, names):
            found = list(chosen_shares_by_group(answers, codes, len(names), resample=resample))
            yield from ((name, found[code]) for code, name in shown)

    by_arm = by(given.items.arm[base.item], given.items.arms)
    return ShareAmong(
        share.key,
        share.label,
        _side(share.of, given.question),
        _side(share.among, among),
        chosen_share(answers, resample=resample),
        tuple(ShareOfSystem(name, **vars(each)) for name, each in by(base.system, given.items.systems)),
        tuple(ShareOfArm(name, **vars(each)) for name, each in by_arm),
    )


def _answers(given: AnswerInput, share: NamedShare, question: QuestionSpec) -> ChosenAnswers:
    """The group's answers to the question of the denominator, beside the same raters' about the same parts."""
    among, of = given.group.answers[question.key], given.answers
    codes, others = among.codes_beside(of)
    counted = np.full(len(among), np.nan)
    _, at, beside = np.intersect1d(codes, others, assume_unique=True, return_indices=True)
    counted[at] = _has(of.value[beside], share.of, given.question)
    return ChosenAnswers(
        item=among.item,
        query=given.items.query[among.item],
        among=_has(among.value, share.among, question),
        counted=counted,
    )


def _has(value: Floats, chosen: ChosenValues, question: QuestionSpec) -> Bools:
    """True for each value that is one of the chosen; stored points may differ from them in the last bits."""
    return np.asarray(np.isin(np.round(value, 9), [round(each, 9) for each in chosen.numbers(question)]))


def _side(chosen: ChosenValues, question: QuestionSpec) -> SideOfShare:
    """A question and its chosen values, with their words; in the order of the form."""
    named = zip(value_names(question), point_records(question), strict=True)
    found = [(name, point.label or name) for name, point in named if name in chosen.values]
    names, labels = tuple(name for name, _ in found), tuple(label for _, label in found)
    return SideOfShare(chosen.question, question.prompt, names, labels)


def _cells(
    view: ReportView, share: ShareAmong
) -> Iterator[tuple[str, ChosenShare | ShareOfSystem | ShareOfArm]]:
    yield "all", share.overall
    yield from ((view.system(each.system), each) for each in share.by_system)
    yield from ((view.arm(each.arm), each) for each in share.by_arm)


def _definition(share: ShareAmong) -> str:
    return f"The share of {_told(share.of)} among {_told(share.among)}"


def _told(side: SideOfShare) -> str:
    return f"{' or '.join(f'“{label}”' for label in side.labels)} to “{side.prompt}”"


def _plot(view: ReportView, question: QuestionView, at: int) -> DotPlot | None:
    """Over all answers, by system where there are several."""
    rows: dict[str, list[tuple[GroupView, Estimate]]] = {}
    for group in view.plotted(question):
        share = ChosenSharesFigure.of(group).shares[at]
        for each in share.by_system:
            rows.setdefault(view.system(each.system), []).append((group, each.pooled))
        if not share.by_system:
            rows.setdefault(share.label, []).append((group, share.overall.pooled))
    label = ChosenSharesFigure.of(question.groups[0]).shares[at].label
    return share_plot(rows.items(), what=label, caption=f"{label}, over all answers.")
