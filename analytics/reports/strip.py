"""The strip at the top of a report: who judged, what was left out, and what must not be taken for people's work."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from analytics.figures.aspect_figure import is_overall
from analytics.figures.document import ReportRecord
from analytics.figures.failures import Failures
from analytics.figures.figure import Figure
from analytics.figures.groups import GroupView, QuestionView
from analytics.figures.report_view import SIMULATED, ReportView, tag_of
from evaluation.facts import Fact
from evaluation.selectors import RATERS

PLURALS = {
    "person": ("person", "people"),
    "judge": ("judge", "judges"),
    "judges": ("judge", "judges"),
    "jury": ("judge", "judges"),
    SIMULATED: ("simulated rater", "simulated raters"),
}
# Reasons that are no adjective, as they stand after a number.
LEFT_OUT = {"run not in figures": "from runs not in figures", "withdrawn item": "on withdrawn items"}
# Headings whose facts are of the first question alone.
AGREEMENT = ("agreement", "judges")


def group_facts(
    view: ReportView, group: GroupView, figures: Iterable[Figure], failures: Failures
) -> tuple[Fact, ...]:
    """A group's strip: its judgments, its agreement on the first question, and what stands out.

    That is of an overall rating or, where there is none, of the first question that has something.
    """
    figures = list(figures)

    def facts(figure: Figure, records: GroupView, question: QuestionView) -> list[Fact]:
        found: list[Fact] = []
        with failures.leaving_out(figure.key):
            found += figure.facts(view, records, question)
        # What stands in place of an interval is a sentence, which something may follow.
        return [replace(each, detail=each.detail.replace(".; ", "; ")) for each in found]

    agreement: list[Fact] = []
    outstanding: list[Fact] = []
    answered = list(_answered(view, group))
    for question, records in answered[:1]:
        present = [figure for figure in figures if figure.is_in(records)]
        agreement = [
            fact
            for figure in present
            if figure.heading in AGREEMENT
            for fact in facts(figure, records, question)
        ]
    for question, records in sorted(answered, key=lambda each: not _is_overall_rating(each[0])):
        present = [figure for figure in figures if figure.is_in(records)]
        outstanding = [
            fact
            for figure in present
            if figure.heading not in AGREEMENT
            for fact in facts(figure, records, question)
        ]
        if outstanding:
            break
    return (_judgments(group), *agreement, *outstanding)


def _is_overall_rating(question: QuestionView) -> bool:
    return question.form == "rated" and is_overall(question)


def _answered(view: ReportView, group: GroupView) -> Iterator[tuple[QuestionView, GroupView]]:
    """The questions with the group's records; the leading group is stood in for where it was not asked."""
    for question in view.questions:
        found = view.lead(question) if group is view.leading else view.group_in(question, group)
        if found is not None:
            yield question, found


def _judgments(group: GroupView) -> Fact:
    """A group's own: groups stand beside each other and are never added up."""
    n, raters = group.items, group.raters
    one, many = PLURALS[group.kind]
    detail = f"{n:,} item{'s' if n != 1 else ''}, {raters:,} {one if raters == 1 else many}"
    of = group.where
    return Fact("Judgments", f"{group.judgments:,}", detail, tag=tag_of(group), pairs=of.pairs if of else ())


def left_out(report: ReportRecord) -> Fact:
    """The judgments that are not in the report, of people, judges and simulated raters apart."""
    counts = report["counts"]
    raters = {each["kind"]: each["n"] for each in counts.get("excluded_by_kind", ())}
    found: dict[str, list[str]] = {kind: [] for kind in RATERS}
    for kind, n in raters.items():
        found[kind].append(f"{n:,} rater{'s' if n != 1 else ''} excluded")
    for part in counts["left_out"]:
        reason = LEFT_OUT.get(part["reason"], part["reason"].replace("_", " "))
        for each in part["by_kind"]:
            # Those of excluded raters are said already.
            if part["reason"] != "excluded" or each["kind"] not in raters:
                found[each["kind"]].append(f"{each['n']:,} {reason}")
    said = [f"{RATERS[kind]}: {', '.join(parts)}" for kind, parts in found.items() if parts]
    total = sum(part["n"] for part in counts["left_out"])
    return Fact("Excluded", f"{total:,}", "; ".join(said) or "every judgment counts")


def notice(view: ReportView) -> str:
    """Simulated raters must not be taken for people."""
    kinds = {group.kind for group in view.groups}
    if SIMULATED not in kinds:
        return ""
    if view.leading.kind == SIMULATED:
        return (
            "Simulated: a program generated these judgments to try out the study. Nobody has judged anything "
            "yet."
        )
    return "Some judgments are by simulated raters. They are marked as such and never pooled with people's."
