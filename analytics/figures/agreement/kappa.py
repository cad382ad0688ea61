"""Cohen's kappa between every two raters, on a preference."""

from collections.abc import Iterable, Iterator

from analytics.display.blocks import Block
from analytics.display.kappas import COHENS_KAPPA, are_many, distribution
from analytics.display.tables import Builder, columns, head, words
from analytics.figures import where
from analytics.figures.figure import Figure
from analytics.figures.figure_input import PAIRS, FigureInput, PairInput
from analytics.figures.report_view import PairView, ReportView, tag_of
from analytics.statistics.agreement.kappa import PairwiseKappa, pairwise_kappa
from evaluation.protocols import QuestionSpec


class KappaFigure(Figure[PairwiseKappa]):
    heading = "raters"
    place = 10
    definition = "Cohen's kappa for every pair of raters, on the items both judged."

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == PAIRS

    def compute(self, given: FigureInput) -> PairwiseKappa:
        assert isinstance(given, PairInput)
        return pairwise_kappa(
            given.group.judgments,
            given.items.query,
            resample=given.resample("kappa"),
            n_labels=given.n_votes,
        )

    def blocks(self, view: ReportView) -> Iterable[Block]:
        return view.per_pair(self._of_pair)

    def _of_pair(self, view: PairView) -> Iterator[Block]:
        for group in view.groups_of_several:
            found = self.of(group)
            if not found.pairs:
                continue
            build = Builder(
                f"{COHENS_KAPPA} between two raters, on the items both judged.",
                columns(["Rater", "and", COHENS_KAPPA, "n"], names=2),
                foot=" ".join(f"Not shown: {part.n:,} {part.reason}." for part in found.left_out),
            )
            judged = [where.of_two(view.report, pair.rater_1, pair.rater_2) for pair in found.pairs]
            for pair, of in zip(found.pairs, judged, strict=True):
                build.add(
                    head(view.raters[pair.rater_1]),
                    words(view.raters[pair.rater_2]),
                    build.coefficient(pair.kappa),
                    build.n(pair.kappa),
                    of=of,
                )
            heading, pairs = view.title_for(group, "Pairs of raters"), build.build()
            tag, folded = tag_of(group), group is not view.leading
            if are_many(found.pairs):
                kappas = [(pair.kappa, of) for pair, of in zip(found.pairs, judged, strict=True)]
                rows = [((group.label,), kappas)]
                yield distribution(heading, pairs, ["Raters"], rows, tag=tag, folded=folded)
            else:
                yield Block(heading, tables=(pairs,), folded=folded, tag=tag)


FIGURE = KappaFigure()
