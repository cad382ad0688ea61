"""Codes of people's and of models' justifications beside each other; and of two kinds of coders."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analytics.display.blocks import Block
from analytics.display.group_plots import PlottedRaters, share_plot
from analytics.display.plots import DotPlot
from analytics.display.tables import P_COLUMNS, Builder, TableCell, columns, count, head, words
from analytics.figures.families import FamilyTest
from analytics.figures.figure import Figure
from analytics.figures.figure_input import AnswerInput, FigureInput
from analytics.figures.groups import GroupView, QuestionView
from analytics.figures.needs import SystemKinds
from analytics.figures.report_view import ReportView, group_head, tag_of
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.randomization import Tested
from analytics.statistics.core.tidy import Bools, Ints
from analytics.statistics.core.values import Values
from analytics.statistics.ratings.choices import any_of
from analytics.statistics.ratings.contrast import CodedSide, contrast
from evaluation.protocols import Kind, Over, QuestionSpec

KEY = "ratings/code_contrast"
FAMILY = "codes"
PEOPLE = PlottedRaters("person", "People")
MODELS = PlottedRaters("judge", "Models")


@dataclass(frozen=True)
class ArmContrast:
    """The shares of both sides in one setting."""

    arm: str
    first: Estimate
    second: Estimate


@dataclass(frozen=True)
class CodeOfWriters:
    """A code in texts by people (first) and by models (second), and the second less the first: paired over the queries
    and settings that both wrote on."""

    code: str
    label: str
    group_of_tags: bool
    first: Estimate
    second: Estimate
    difference: Estimate
    paired: bool
    test: Tested
    by_arm: tuple[ArmContrast, ...]


@dataclass(frozen=True)
class CodeOfCoders:
    """A code as people (first) and as the group (second) gave it to the same texts, and the second less the first."""

    code: str
    label: str
    group_of_tags: bool
    first: Estimate
    second: Estimate
    difference: Estimate
    paired: bool
    test: Tested


@dataclass(frozen=True)
class CodeContrasts:
    writers: tuple[CodeOfWriters, ...]
    coders: tuple[CodeOfCoders, ...]


class CodeContrastFigure(Figure[CodeContrasts]):
    needs = (SystemKinds,)
    heading = "tags"
    place = 20
    definition = (
        "Tags and groups of tags: their shares in texts by people and by models, overall and by setting, and in "
        "judges' coding of the texts that people coded too, with the differences tested."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == "rated" and question.kind == Kind.CHECKLIST and question.over == Over.CHOICE

    def compute(self, given: FigureInput) -> CodeContrasts | None:
        """ContextEval Figure 4 and its test; codes that one group of coders gave, and coders beside each other."""
        assert isinstance(given, AnswerInput)
        codes, kinds = _codes(given), self.need(given, SystemKinds).of_systems(given.items.systems)
        writers = tuple(
            each for code in codes if (each := _writers(given, code, len(codes), kinds)) is not None
        )
        coders = tuple(coded for code in codes if (coded := _coders(given, code, len(codes))) is not None)
        return CodeContrasts(writers, coders) if writers or coders else None

    def tests(self, record: CodeContrasts) -> Iterator[FamilyTest]:
        found: Mapping[str, Sequence[CodeOfWriters | CodeOfCoders]] = vars(record)
        for by in ("writers", "coders"):
            for each in found[by]:
                yield FamilyTest(f"{FAMILY} by {by}", each.test)

    def blocks(self, view: ReportView) -> Iterator[Block]:
        for question in view.asked(self.key):
            for group in view.lead_first(question):
                if self.of(group).writers:
                    yield _of_writers(view, group)
            yield from _of_coders(question)

    def methods(self, view: ReportView) -> Iterator[str]:
        yield (
            "Shares of tags in texts by people and by models are means over queries and settings that both wrote on, "
            "with a sign-flip test over queries; where they share too few queries (fewer than half of the smaller "
            "number), means over all, with a permutation test. P-values are corrected by Holm's method over all tags "
            "and groups of tags."
        )


FIGURE = CodeContrastFigure()


@dataclass(frozen=True, eq=False)
class _Code:
    """A tag, or the group of tags of that name (any of them), with whoever coded texts for it."""

    name: str
    label: str
    grouped: bool
    values: Values


def _codes(given: AnswerInput) -> list[_Code]:
    question, parts = given.question, given.answers.parts
    names = list(dict.fromkeys(question.groups[each] for each in question.choices if each in question.groups))
    found = []
    if names:
        of_part = [names.index(question.groups[each]) if each in question.groups else -1 for each in parts]
        grouped = any_of(given.values, np.array(of_part, dtype=np.int64)[given.values.part], len(names))
        found += [_Code(name, name, True, grouped.where(grouped.part == at)) for at, name in enumerate(names)]
    values = given.values
    return [
        *found,
        *(
            _Code(part, question.label(part) or part, False, values.where(values.part == at))
            for at, part in enumerate(parts)
        ),
    ]


def _writers(given: AnswerInput, code: _Code, family: int, kind_of: Sequence[str]) -> CodeOfWriters | None:
    values, items = code.values, given.items
    arm = items.arm[values.item].astype(np.int64)
    cell = values.query.astype(np.int64) * len(items.arms) + arm
    # A system that is not there (-1) reads the entry behind the last.
    kinds = np.array([*kind_of, ""])[values.system]
    person, model = kinds == "person", (kinds != "person") & (kinds != "")
    found = contrast(
        _side(values, cell, person),
        _side(values, cell, model),
        resample=given.resample(f"writers {code.name}"),
        tests=given.tests(f"writers {code.name}", family),
        unit="queries by setting",
    )
    if found is None:
        return None
    by_arm = _by_arm(given, code, arm, cell, person, model)
    return CodeOfWriters(code.name, code.label, code.grouped, **vars(found), by_arm=by_arm)


def _by_arm(
    given: AnswerInput, code: _Code, arm: Ints, cell: Ints, person: Bools, model: Bools
) -> tuple[ArmContrast, ...]:
    """Both sides' shares in each setting, where there are several."""
    arms = given.items.arms
    if len(arms) < 2:
        return ()
    records = []
    for at, key in enumerate(arms):
        name = f"writers {code.name} {key}"
        found = contrast(
            _side(code.values, cell, person & (arm == at)),
            _side(code.values, cell, model & (arm == at)),
            resample=given.resample(name),
            tests=given.tests(name, 1),
            unit="queries",
        )
        if found is not None:
            records.append(ArmContrast(key, found.first, found.second))
    return tuple(records)


def _coders(given: AnswerInput, code: _Code, family: int) -> CodeOfCoders | None:
    """People's coding and this group's, of the same texts."""
    if given.people is None:
        return None
    theirs = {each.name: each.values for each in _codes(given.people)}.get(code.name)
    if theirs is None:
        return None
    both = np.intersect1d(theirs.item, code.values.item)
    found = contrast(
        _side(theirs, theirs.item, np.isin(theirs.item, both)),
        _side(code.values, code.values.item, np.isin(code.values.item, both)),
        resample=given.resample(f"coders {code.name}"),
        tests=given.tests(f"coders {code.name}", family),
        unit="texts",
    )
    if found is None:
        return None
    return CodeOfCoders(code.name, code.label, code.grouped, **vars(found))


def _side(values: Values, cell: Ints, used: Bools) -> CodedSide:
    return CodedSide(values.value[used], cell[used], values.query[used])


def _cells(build: Builder, each: CodeOfCoders | CodeOfWriters) -> tuple[TableCell, ...]:
    return (
        build.share(each.first),
        build.share(each.second),
        build.share(each.difference),
        *build.tested(each.test),
        count(each.test.n),
    )


def _of_writers(view: ReportView, group: GroupView) -> Block:
    found = CodeContrastFigure.of(group).writers
    how = "on queries that both wrote on" if found[0].paired else "on all queries of each"
    build = Builder(
        f"Share of texts with a tag, by people and by models, {how}, in percent; difference in points, models minus "
        "people; p: test over queries.",
        columns(["Tag", "Level", "People", "Models", "Difference", *P_COLUMNS, "Queries"], names=2),
    )
    for each in found:
        build.add(head(each.label), words(_level(each)), *_cells(build, each))
    heading = view.title_for(group, "Texts by people and by models")
    return Block(
        heading,
        tables=(build.build(),),
        plot=_plot(view, found),
        tag=tag_of(group),
        anchor="texts-by-people-and-models" if group is view.leading else "",
    )


def _level(each: CodeOfWriters | CodeOfCoders) -> str:
    return "group" if each.group_of_tags else "tag"


def _plot(view: ReportView, found: Sequence[CodeOfWriters]) -> DotPlot | None:
    """Groups of tags, or tags without groups: by setting where there are several."""
    shown = [each for each in found if each.group_of_tags] or found
    rows = []
    for each in shown:
        cells: list[tuple[str, CodeOfWriters | ArmContrast]] = [
            (f"{each.label}: {view.arm(of.arm)}", of) for of in each.by_arm
        ]
        for label, of in cells or [(each.label, each)]:
            rows.append((label, [(PEOPLE, of.first), (MODELS, of.second)]))
    return share_plot(
        rows, what="Share of texts with a tag", caption="Share of texts with a tag, by who wrote them."
    )


def _of_coders(question: QuestionView) -> Iterator[Block]:
    build = Builder(
        "Share of texts with a tag, of the texts that both coded, in percent; difference in points, the other group "
        "minus people; p: sign-flip test over queries.",
        columns(["Coders", "Tag", "Level", "People", "They", "Difference", *P_COLUMNS, "Queries"], names=3),
    )
    for group in question.groups:
        for each in CodeContrastFigure.of(group).coders if CodeContrastFigure.is_in(group) else ():
            build.add(
                group_head(group),
                words(each.label),
                words(_level(each)),
                *_cells(build, each),
            )
    if build.rows:
        yield Block("Coding by people and by others", tables=(build.build(),), folded=True)
