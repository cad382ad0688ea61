"""From a report dict to what is read: the one view model of page, file and Markdown."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from evaluation.reports import page_agreement, page_grades, page_judges, page_raters, page_rates
from evaluation.reports.answers import SCHEMA as ANSWERS_SCHEMA
from evaluation.reports.answers.page import answers_page
from evaluation.reports.numbers import NBSP, decimal, in_percent, percent
from evaluation.reports.page_facts import judgments, left_out, notice
from evaluation.reports.several import preferences_of
from evaluation.reports.subject import Record, Subject, tag_of
from evaluation.reports.tables import DASH, interval
from evaluation.reports.view import Fact, Page, Section, Summary, merged

# Where the figures of a finding stand.
ANCHORS = {"agreement": "agreement", "position_bias": "bias", "margin_change": "flips", "too_few": "methods"}


def report_page(report: Record) -> Page:
    """The report in words, tables and plots."""
    if report["schema"] == ANSWERS_SCHEMA:
        return answers_page(report)
    subjects = [Subject(each) for each in preferences_of(report)]
    subject = subjects[0]
    return Page(
        title=report["study"]["title"],
        status=report["study"]["status"],
        facts=(*_facts(subject, subject.leading), left_out(subject.report)),
        findings=tuple(_anchored(finding, subjects) for finding in report["findings"]),
        sections=(*_sections(subjects), page_raters.methods(report)),
        notice=notice(subject.groups, subject.leading),
        leading=subject.leading["label"],
        others=tuple(
            Summary(group["label"], _facts(subject, group))
            for group in subject.voices
            if group is not subject.leading
        ),
    )


MAKERS: tuple[Callable[[Subject], Section | None], ...] = (
    page_rates.win_rates,
    page_grades.grades,
    page_rates.flips,
    page_rates.strengths,
    page_agreement.agreement,
    page_judges.judges,
    page_raters.bias,
    page_raters.follow_ups,
    page_raters.raters,
)


def _sections(subjects: Sequence[Subject]) -> Iterator[Section]:
    """Each of them once, with the figures of every preference that has such."""
    for make in MAKERS:
        made = [
            (subject.prompt, subject.key, section)
            for subject in subjects
            if (section := make(subject)) is not None
        ]
        if made:
            yield merged(made)


def _anchored(finding: dict[str, Any], subjects: Sequence[Subject]) -> dict[str, Any]:
    """The finding with the place where its figures are."""
    own = {subject.key: subject for subject in subjects}
    subject = own.get(finding.get("question", ""), subjects[0])
    pair = (finding.get("system_1"), finding.get("system_2"))
    anchor = ANCHORS.get(finding["kind"], "win-rates")
    if finding["kind"] == "pair_flip" and subject.several_arms:
        anchor = f"pair-{subject.pairs.index(pair) + 1}"  # type: ignore[arg-type]  # a flip has both systems
        anchor = anchor if subject is subjects[0] else f"{subject.key}-{anchor}"
    return {**finding, "anchor": anchor}


def _facts(subject: Subject, group: Record) -> tuple[Fact, ...]:
    """A group's strip; a single rater can't agree with itself, so people are what it is held against."""
    facts = [judgments(group)]
    if group is subject.leading or group["raters"] > 1:
        facts += [_agreement(subject, group), _alpha(subject, group)]
    beside = group["against_people"]
    if beside is not None:
        facts.append(_share(subject, group, "Agreement with people", beside["outer"]))
    return tuple(facts)


def _agreement(subject: Subject, group: Record) -> Fact:
    return _share(subject, group, "Agreement", group["agreement"]["overall"]["with_ties"])


def _share(subject: Subject, group: Record, name: str, found: Record) -> Fact:
    if found["value"] is None:
        return Fact(name, DASH, _of(subject, found["undefined"]), undefined=True)
    limits = interval(found, percent)
    detail = f"95{NBSP}% interval {limits}" if limits else found["undefined"]
    return Fact(name, in_percent(found["value"]), _of(subject, detail), tag=tag_of(group))


def _alpha(subject: Subject, group: Record) -> Fact:
    name = page_agreement.ALPHA
    found = next(each["alpha"] for each in group["alpha"] if each["level"] == "nominal")
    if found["value"] is None:
        return Fact(name, DASH, _of(subject, found["undefined"]), undefined=True)
    limits = interval(found, decimal)
    detail = f"{limits}, nominal" if limits else found["undefined"]
    chance = page_agreement.chance_agreement(group)
    if chance is not None:
        detail += f"; {in_percent(chance)} would agree by chance"
    return Fact(name, decimal(found["value"]), _of(subject, detail), tag=tag_of(group))


def _of(subject: Subject, detail: str) -> str:
    """The detail of a figure of one of several preferences, with that preference's name."""
    return f"{subject.prompt} {detail}".strip()
