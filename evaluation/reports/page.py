"""From a report dict to what is read: the one view model of page, file and Markdown."""

from typing import Any

from evaluation.reports import page_agreement, page_judges, page_raters, page_rates
from evaluation.reports.numbers import decimal, in_percent, percent
from evaluation.reports.subject import SIMULATED, Record, Subject, tag_of
from evaluation.reports.tables import DASH, interval
from evaluation.reports.view import Fact, Page, Section

PLURALS = {
    "person": ("person", "people"),
    "judge": ("judge", "judges"),
    "judges": ("judge", "judges"),
    SIMULATED: ("simulated rater", "simulated raters"),
}
# Reasons that are no adjective, as they stand after a number.
LEFT_OUT = {"run not in figures": "of runs not in figures", "withdrawn item": "of withdrawn items"}


def report_page(report: Record) -> Page:
    """The report in words, tables and plots."""
    subject = Subject(report)
    return Page(
        title=report["study"]["title"],
        status=report["study"]["status"],
        facts=(_judgments(subject), _agreement(subject), _alpha(subject), _left_out(subject)),
        findings=tuple(_anchored(finding, subject) for finding in report["findings"]),
        sections=tuple(section for section in _sections(subject) if section is not None),
        notice=_notice(subject),
    )


def _sections(subject: Subject) -> list[Section | None]:
    return [
        page_rates.win_rates(subject),
        page_rates.flips(subject),
        page_rates.strengths(subject),
        page_agreement.agreement(subject),
        page_judges.judges(subject),
        page_raters.bias(subject),
        page_raters.follow_ups(subject),
        page_raters.raters(subject),
        page_raters.methods(subject),
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
    parts = [f"{leading['items']:,} items", _raters(leading)]
    parts += [
        f"{group['judgments']:,} by {_raters(group)}" for group in subject.voices if group is not leading
    ]
    return Fact("Judgments", f"{leading['judgments']:,}", ", ".join(parts), tag=tag_of(leading))


def _raters(group: Record) -> str:
    one, many = PLURALS[group["kind"]]
    return f"{group['raters']:,} {one if group['raters'] == 1 else many}"


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


def _left_out(subject: Subject) -> Fact:
    counts = subject.report["counts"]
    parts = []
    if counts["excluded_raters"]:
        n = counts["excluded_raters"]
        parts.append(f"{n:,} rater{'s' if n != 1 else ''} excluded")
    parts += [
        f"{part['n']:,} {LEFT_OUT.get(part['reason'], part['reason'].replace('_', ' '))}"
        for part in counts["left_out"]
        if part["reason"] != "excluded" or not counts["excluded_raters"]
    ]
    total = sum(part["n"] for part in counts["left_out"])
    return Fact("Left out", f"{total:,}", ", ".join(parts) or "every judgment counts")


def _notice(subject: Subject) -> str:
    """Simulated raters must not be taken for people."""
    kinds = {group["kind"] for group in subject.groups}
    if SIMULATED not in kinds:
        return ""
    if subject.leading["kind"] == SIMULATED:
        return (
            "Simulated: a program drew these judgments to try the study out. Nobody has judged anything yet."
        )
    return "Some judgments are by simulated raters. They are marked as such and never pooled with those of people."
