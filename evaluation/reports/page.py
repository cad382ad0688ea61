"""From a report dict to what is read: the one view model of page, file and Markdown."""

from typing import Any

from evaluation.reports import page_agreement, page_grades, page_judges, page_raters, page_rates
from evaluation.reports.answers import SCHEMA as ANSWERS_SCHEMA
from evaluation.reports.answers.page import answers_page
from evaluation.reports.numbers import decimal, in_percent, percent
from evaluation.reports.page_facts import left_out, notice, raters_of
from evaluation.reports.subject import Record, Subject, tag_of
from evaluation.reports.tables import DASH, interval
from evaluation.reports.view import Fact, Page, Section


def report_page(report: Record) -> Page:
    """The report in words, tables and plots."""
    if report["schema"] == ANSWERS_SCHEMA:
        return answers_page(report)
    subject = Subject(report)
    return Page(
        title=report["study"]["title"],
        status=report["study"]["status"],
        facts=(_judgments(subject), _agreement(subject), _alpha(subject), left_out(subject.report)),
        findings=tuple(_anchored(finding, subject) for finding in report["findings"]),
        sections=tuple(section for section in _sections(subject) if section is not None),
        notice=notice(subject.groups, subject.leading),
    )


def _sections(subject: Subject) -> list[Section | None]:
    return [
        page_rates.win_rates(subject),
        page_grades.grades(subject),
        page_rates.flips(subject),
        page_rates.strengths(subject),
        page_agreement.agreement(subject),
        page_judges.judges(subject),
        page_raters.bias(subject),
        page_raters.follow_ups(subject),
        page_raters.raters(subject),
        page_raters.methods(subject.report),
    ]


def _anchored(finding: dict[str, Any], subject: Subject) -> dict[str, Any]:
    """The finding with the place where its figures are."""
    pair = (finding.get("system_1"), finding.get("system_2"))
    anchor = {"agreement": "agreement", "position_bias": "bias"}.get(finding["kind"], "win-rates")
    if finding["kind"] == "pair_flip" and subject.several_arms:
        anchor = f"pair-{subject.pairs.index(pair) + 1}"  # type: ignore[arg-type]  # a flip has both systems
    return {**finding, "anchor": anchor}


def _judgments(subject: Subject) -> Fact:
    """The leading group's; those of others stand beside them, because they are never added up."""
    leading = subject.leading
    parts = [f"{leading['items']:,} items", raters_of(leading)]
    parts += [
        f"{group['judgments']:,} by {raters_of(group)}" for group in subject.voices if group is not leading
    ]
    return Fact("Judgments", f"{leading['judgments']:,}", ", ".join(parts), tag=tag_of(leading))


def _agreement(subject: Subject) -> Fact:
    found = subject.leading["agreement"]["overall"]["with_ties"]
    if found["value"] is None:
        return Fact("Agreement", DASH, found["undefined"], undefined=True)
    limits = interval(found, percent)
    detail = f"95 % interval {limits}" if limits else found["undefined"]
    return Fact("Agreement", in_percent(found["value"]), detail, tag=tag_of(subject.leading))


def _alpha(subject: Subject) -> Fact:
    name = page_agreement.ALPHA
    found = next(each["alpha"] for each in subject.leading["alpha"] if each["level"] == "nominal")
    if found["value"] is None:
        return Fact(name, DASH, found["undefined"], undefined=True)
    limits = interval(found, decimal)
    detail = f"{limits}, nominal" if limits else found["undefined"]
    return Fact(name, decimal(found["value"]), detail, tag=tag_of(subject.leading))
