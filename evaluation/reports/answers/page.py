"""From an answers report to what is read: the same view model as the pairwise page's."""

from collections.abc import Callable, Iterator
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
from evaluation.reports.answers.subject import AnswersSubject
from evaluation.reports.numbers import decimal, in_percent, percent
from evaluation.reports.page_agreement import ALPHA
from evaluation.reports.page_facts import judgments, left_out, notice
from evaluation.reports.subject import Record, tag_of
from evaluation.reports.tables import DASH, interval
from evaluation.reports.view import Fact, Page, Section, Summary

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
        facts=(*_facts(subject, subject.leading), left_out(report)),
        findings=tuple(_anchored(finding) for finding in report["findings"]),
        sections=(
            *sections,
            Section("raters", "Raters", "Raters", (raters,), intro),
            page_raters.methods(report),
        ),
        notice=notice(subject.groups, subject.leading),
        leading=subject.leading["label"],
        others=tuple(
            Summary(group["label"], _facts(subject, group))
            for group in subject.voices
            if group is not subject.leading
        ),
    )


def _anchored(finding: dict[str, Any]) -> dict[str, Any]:
    return {**finding, "anchor": ANCHORS.get(finding["kind"]) or f"question-{finding['question']}"}


def _facts(subject: AnswersSubject, group: Record) -> tuple[Fact, ...]:
    """A group's strip. A single rater has no agreement of its own."""
    found = [
        judgments(group),
        _agreement(subject, group) if group is subject.leading or group["raters"] > 1 else None,
        _summary(subject, group),
    ]
    return tuple(fact for fact in found if fact is not None)


def _answered(subject: AnswersSubject, group: Record) -> Iterator[tuple[Record, Record]]:
    """The questions with the group's figures; the leading group is stood in for where it was not asked."""
    for question in subject.questions:
        figures = subject.lead(question) if group is subject.leading else subject.figures(question, group)
        if figures is not None:
            yield question, figures


def _agreement(subject: AnswersSubject, group: Record) -> Fact | None:
    """That of the group's first question; of rankings it is Kendall's W."""
    question, figures = next(_answered(subject, group), (None, None))
    if question is None or figures is None:
        return None
    is_ranking = question["form"] == "ranking"
    found = figures["ranking"]["w"] if is_ranking else figures["alpha"]
    name = page_agreement.W if is_ranking else ALPHA
    about = "" if is_ranking else f"{question['prompt']}, {question['level']}"
    return _fact(subject, figures, name, found, decimal, about)


def _summary(subject: AnswersSubject, group: Record) -> Fact | None:
    """What stands out in the first question: who leads, or how often the answer is yes."""
    for question, figures in _answered(subject, group):
        if question["form"] == "ranking" and figures["ranking"]["by_system"]:
            best = min(figures["ranking"]["by_system"], key=lambda each: each["mean_rank"]["value"])
            about = subject.systems[best["system"]]
            return _fact(subject, figures, "Best mean rank", best["mean_rank"], decimal, about)
        if question["form"] == "pairs":
            return _leading_rate(subject, figures, question)
        if question["form"] == "picks" and figures["picks"]["by_system"]:
            best = max(figures["picks"]["by_system"], key=lambda each: each["share"]["value"])
            about = subject.systems[best["system"]]
            return _fact(subject, figures, "Most often picked", best["share"], in_percent, about)
        if question["form"] == "rated":
            return _leading_mean(subject, figures, question)
    return None


def _leading_rate(subject: AnswersSubject, figures: Record, question: Record) -> Fact | None:
    rates = figures["pairs"]["win_rates"]["overall"]
    defined = [each for each in rates if each["rate"]["value"] is not None]
    if not defined:
        return None
    best = max(defined, key=lambda each: each["rate"]["value"])
    about = f"{subject.systems[best['system']]}: {question['prompt']}"
    return _fact(subject, figures, "Highest win rate", best["rate"], in_percent, about)


def _leading_mean(subject: AnswersSubject, figures: Record, question: Record) -> Fact:
    """The highest mean of a system where more is better; otherwise the mean of all, or the share of yes."""
    found = figures["mean"]["mean"]
    if figures["by_part"]:
        most = max(figures["by_part"], key=lambda each: each["mean"]["value"])
        return _fact(subject, figures, "Most frequent tag", most["mean"], in_percent, most["label"])
    if question["kind"] == "checklist":
        return _fact(subject, figures, "Share of yes", found, in_percent, question["prompt"])
    top = question["points"][-1]["value"]
    about_systems = question["over"] != "value" and len(figures["by_system"]) > 1
    if about_systems and question["ideal"] in (None, top) and question.get("direction") != "lower":
        best = max(figures["by_system"], key=lambda each: each["mean"]["value"])
        about = f"{subject.systems[best['system']]}: {question['prompt']}"
        return _fact(subject, figures, "Highest mean", best["mean"], decimal, about)
    return _fact(subject, figures, "Mean", found, decimal, question["prompt"])


def _fact(
    subject: AnswersSubject,
    figures: Record,
    name: str,
    found: Record,
    form: Callable[[float], str],
    about: str,
) -> Fact:
    if found["value"] is None:
        return Fact(name, DASH, found["undefined"], undefined=True)
    limits = interval(found, percent if form is in_percent else form)
    detail = "; ".join(filter(None, [about, limits or found["undefined"]]))
    return Fact(name, form(found["value"]), detail, tag=tag_of(subject.who(figures)))
