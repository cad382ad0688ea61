"""The methods paragraph of a report, a sentence each."""

from collections.abc import Iterator, Mapping
from typing import Any

from analytics.figures.failures import Failures
from analytics.figures.registry import FIGURES
from analytics.figures.report_view import ReportView, joined
from analytics.frames.pairs import asked_in_turns
from analytics.reports import judges
from evaluation.filters import Filters, view_in_words
from evaluation.models import Study
from evaluation.protocols import Kind, QuestionSpec

# How the intervals of every figure are made.
INTERVALS = (
    "Intervals are 95 % t intervals over queries, with standard errors from leaving out one query at a time "
    "(jackknife): on the logit scale for shares and for means between the ends of a scale, as Fisher's z for "
    "correlations, alpha and kappa, on the logarithmic scale for mean times, and untransformed otherwise.",
    "Where every query lies at the same end of its range, Wilson's interval over the queries is used instead "
    "and marked as such.",
)


def methods(study: Study, view: ReportView, spec: Mapping[str, Any], failures: Failures) -> list[str]:
    counts = view.report["counts"]
    figures = sorted(
        (figure for key, figure in FIGURES.items() if key in view.figures),
        key=lambda figure: (figure.place, figure.key),
    )
    of_figures: list[str] = []
    for figure in figures:
        with failures.leaving_out(figure.key):
            of_figures += figure.methods(view)
    sentences = [
        f"Figures are based on {_n(counts['judgments'], 'judgment')} on {_n(counts['items'], 'item')} of "
        f"{_n(counts['queries'], 'query', 'queries')}; study hash {study.study_hash[:12]}.",
        *_view(view, spec),
        *INTERVALS,
        *of_figures,
        *_wordings(view, spec),
        *judges.methods(view),
    ]
    return list(dict.fromkeys(sentences))


def _n(n: int, one: str, several: str = "") -> str:
    return f"{n:,} {one if n == 1 else several or f'{one}s'}"


def _view(view: ReportView, spec: Mapping[str, Any]) -> Iterator[str]:
    """Sentences on the part of the study that the report is of; none where it is of everything."""
    chosen = view.report["parameters"].get("view")
    if not chosen or not Filters.of(chosen).is_partial:
        return
    yield f"This report is of a view of the study: {view_in_words(chosen)}. No other judgment is in a figure."
    if spec.get("stopping"):
        yield (
            "The study has a stopping rule, which is about all of its judgments: a view has no interval that holds at "
            "every look, and no test of the rule's figure."
        )


def _wordings(view: ReportView, spec: Mapping[str, Any]) -> Iterator[str]:
    """Sentences on several preferences, or on one in two wordings."""
    if len(view.pairs) > 1:
        quoted = joined([f"“{pair.prompt}”" for pair in view.pairs])
        yield f"Each preference is reported separately: {quoted}."
        return
    asked = [each for each in map(QuestionSpec.from_json, spec["questions"]) if each.kind == Kind.PREFERENCE]
    if view.pairs and len(asked) > 1 and asked_in_turns(asked):
        both = joined([f"“{question.prompt}”" for question in asked])
        yield f"The preference question has two wordings, one with and one without the context: {both}."
