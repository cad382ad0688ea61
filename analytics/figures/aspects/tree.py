"""A decision tree of depth 3 from the aspects to the overall rating, with the importance of each aspect."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from analytics.display.blocks import Block
from analytics.display.numbers import decimal, ended, percent
from analytics.display.tables import Builder, Table, columns, count, head, words
from analytics.display.trees import Node, TreePlot
from analytics.figures.aspect_figure import AspectFigure, NamedAspect, fully_rated, named_aspects
from analytics.figures.figure_input import AnswerInput
from analytics.figures.groups import GroupView, QuestionView
from analytics.figures.report_view import ReportView, group_head, number
from analytics.frames.aspects import AspectRatings
from analytics.statistics.aspects.tree import AspectTree, TreeNode, aspect_tree
from analytics.statistics.core.estimates import TidyDataError
from evaluation.protocols import QuestionSpec

# A mark that every format keeps, where blanks would be lost.
INDENT = "\N{MIDDLE DOT} "

KEY = "aspects/tree"


@dataclass(frozen=True)
class OverallTree:
    """The tree of single ratings by one group; `undefined` says why there is none."""

    aspects: tuple[NamedAspect, ...]
    tree: AspectTree | None
    undefined: str


class TreeFigure(AspectFigure[OverallTree]):
    place = 20
    deferred_as = "decision tree of the aspects"
    definition = (
        "A decision tree of depth 3 from the aspects' ratings to the overall one: its nodes, each aspect's "
        "importance, and Pearson's correlation held out by query over repeated splits."
    )

    def record(
        self, given: AnswerInput, aspects: Sequence[QuestionSpec], rated: AspectRatings
    ) -> OverallTree:
        """LFQA Figure 8."""
        rated = fully_rated(rated)
        try:
            tree = aspect_tree(
                rated.given, rated.overall, rated.query, points=given.question.points, seed=given.terms.seed
            )
        except TidyDataError as reason:
            return OverallTree(named_aspects(aspects), None, str(reason))
        return OverallTree(named_aspects(aspects), tree, "")

    def blocks(self, view: ReportView) -> Iterator[Block]:
        for question in view.asked(self.key):
            groups = view.lead_first(question)
            made = [group for group in groups if self.of(group).tree]
            if not made:
                continue
            importances = _importances([(group, self.of(group)) for group in groups], question.prompt)
            tables = (importances, _tree(self.of(made[0]), question))
            yield Block(
                f"Decision tree for {question.prompt}",
                tables=tables,
                plot=_plot(made[0], question),
                folded=True,
            )

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "The decision tree is one of classification (Gini's impurity, at most three decisions deep, fitted by "
            "scikit-learn) on single ratings. The importance of an aspect is its share of the decrease in impurity."
        )


FIGURE = TreeFigure()


def _importances(groups: Sequence[tuple[GroupView, OverallTree]], prompt: str) -> Table:
    build = Builder(
        f"Importance of each aspect in the decision tree for {prompt}, in percent; Pearson's correlation of predicted "
        "and given levels in a fifth of the queries, mean and standard deviation over random splits.",
        columns(["Raters", *(each.prompt for each in groups[0][1].aspects), "Pearson", "SD", "n"]),
    )
    for group, found in groups:
        tree, reason = found.tree, found.undefined
        shares: Sequence[float | None] = tree.importances if tree else [None] * len(found.aspects)
        held_out = tree.held_out if tree else None
        build.add(
            group_head(group),
            *(build.number(each, percent, reason) for each in shares),
            build.number(held_out.mean if held_out else None, decimal, reason),
            build.number(held_out.standard_deviation if held_out else None, decimal, reason),
            count(tree.n) if tree else words(""),
        )
    return build.build()


def _rows(found: OverallTree) -> Iterator[tuple[TreeNode, str, str]]:
    """The nodes from the root, each with the aspect that leads there and its limit: first what is at most that."""
    assert found.tree is not None
    nodes = found.tree.nodes

    def below(at: int, aspect: str, limit: str) -> Iterator[tuple[TreeNode, str, str]]:
        node = nodes[at]
        yield node, aspect, limit
        if node.aspect is not None and node.threshold is not None and node.low and node.high:
            name, threshold = found.aspects[node.aspect].prompt, number(round(node.threshold, 3))
            yield from below(node.low, name, f"\N{LESS-THAN OR EQUAL TO} {threshold}")
            yield from below(node.high, name, f"> {threshold}")

    return below(0, "All", "")


def _tree(found: OverallTree, question: QuestionView) -> Table:
    assert found.tree is not None
    levels = [number(level) for level in found.tree.levels]
    build = Builder(
        f"The tree of {question.prompt}: decisions from the root, and how many ratings of each level arrive.",
        columns(["Node", "Predicted", *levels]),
    )
    for node, aspect, limit in _rows(found):
        label = INDENT * node.depth + f"{aspect} {limit}".strip()
        build.add(head(label), words(number(node.level)), *map(count, node.counts))
    return build.build()


def _plot(group: GroupView, question: QuestionView) -> TreePlot:
    return TreePlot(
        f"Decision tree for {question.prompt}",
        f"{ended('The tree of ' + question.prompt)} {group.label}. Beside each decision stands the commonest "
        "level of the ratings that arrive there, and its share of them, which the bar shows.",
        tuple(_node(*row) for row in _rows(TreeFigure.of(group))),
    )


def _node(node: TreeNode, aspect: str, limit: str) -> Node:
    n = sum(node.counts)
    return Node(node.depth, aspect, limit, number(node.level), max(node.counts) / n, n)
