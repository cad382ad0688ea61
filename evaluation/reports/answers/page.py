"""From an answers report to what is read: the same view model as the pairwise page's."""

from collections.abc import Callable
from typing import Any

from evaluation.reports import page_raters
from evaluation.reports.answers import (
    page_agreement,
    page_checks,
    page_entries,
    page_ordered,
    page_pairs,
    page_rated,
    page_values,
)
from evaluation.reports.answers.page_summary import facts_of_group
from evaluation.reports.answers.subject import AnswersSubject
from evaluation.reports.page_facts import left_out, notice
from evaluation.reports.subject import Record
from evaluation.reports.view import Page, Section, Summary

SECTIONS: tuple[Callable[[AnswersSubject], Section | None], ...] = (
    page_entries.entries,
    page_ordered.picks,
    page_ordered.rankings,
    page_pairs.win_rates,
    page_pairs.grades,
    page_values.values,
    page_rated.ratings,
    page_checks.tags,
    page_checks.checks,
    page_checks.choices,
    page_agreement.agreement,
    page_agreement.judges,
    page_pairs.bias,
)
# More of them are opened by who wants them.
MOST_RATERS = 12
# Where the figures of a finding stand.
ANCHORS = {"picked": "best-picks", "ranked": "rankings", "winner": "win-rates", "too_few": "methods"}


def answers_page(report: Record) -> Page:
    """The report in words, tables and plots."""
    subject = AnswersSubject(report)
    sections = [section for make in SECTIONS if (section := make(subject)) is not None]
    raters = page_raters.who_judged(report, folded=len(report["raters"]) > MOST_RATERS)
    intro = "Raters go by pseudonyms; imported ones by the name they were published under."
    return Page(
        title=report["study"]["title"],
        status=report["study"]["status"],
        facts=(*facts_of_group(subject, subject.leading), left_out(report)),
        findings=tuple(_anchored(finding) for finding in report["findings"]),
        sections=(
            *sections,
            Section("raters", "Raters", "Raters", (raters,), intro),
            page_raters.methods(report),
        ),
        notice=notice(subject.groups, subject.leading),
        leading=subject.leading["label"],
        others=tuple(
            Summary(group["label"], facts_of_group(subject, group))
            for group in subject.voices
            if group is not subject.leading
        ),
    )


def _anchored(finding: dict[str, Any]) -> dict[str, Any]:
    return {**finding, "anchor": ANCHORS.get(finding["kind"]) or f"question-{finding['question']}"}
