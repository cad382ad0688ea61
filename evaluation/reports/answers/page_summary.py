"""What the top of an answers report says: who judged, how far they agree, and which system leads, if one does."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from evaluation.reports.answers import page_agreement
from evaluation.reports.answers.subject import AnswersSubject
from evaluation.reports.families import is_supported
from evaluation.reports.numbers import decimal, in_percent, percent
from evaluation.reports.page_agreement import ALPHA
from evaluation.reports.page_facts import judgments
from evaluation.reports.subject import Record, tag_of
from evaluation.reports.tables import DASH, interval
from evaluation.reports.view import Fact

# Values closer together than this differ by rounding only.
SAME = 1e-9
NOT_ALONE = "others may be as good"


def facts_of_group(subject: AnswersSubject, group: Record) -> tuple[Fact, ...]:
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
            return _best_rank(subject, figures)
        if question["form"] == "pairs":
            return _leading_rate(subject, figures, question)
        if question["form"] == "picks" and figures["picks"]["by_system"]:
            found = [(each["system"], each["share"]) for each in figures["picks"]["by_system"]]
            return _leading(subject, figures, "Most often picked", found, in_percent)
        if question["form"] == "rated":
            return _leading_mean(subject, figures, question)
    return None


def _best_rank(subject: AnswersSubject, figures: Record) -> Fact:
    found = [(each["system"], each["mean_rank"]) for each in figures["ranking"]["by_system"]]
    best = min(found, key=lambda each: each[1]["value"])[0]
    pairs = figures["ranking"]["friedman"]["pairs"]
    against = [pair["test"] for pair in pairs if best in (pair["system_1"], pair["system_2"])]
    ahead = bool(against) and all(map(is_supported, against))
    return _leading(subject, figures, "Best mean rank", found, decimal, lowest=True, ahead=ahead)


def _leading_rate(subject: AnswersSubject, figures: Record, question: Record) -> Fact | None:
    rates = [each for each in figures["pairs"]["win_rates"]["overall"] if each["rate"]["value"] is not None]
    if not rates:
        return None
    best = max(rates, key=lambda each: each["rate"]["value"])
    # Two systems have one test between them, and of several it is not told which two differ.
    ahead = is_supported(best["test"]) if len({each["system"] for each in rates}) == 2 else None
    found = [(each["system"], each["rate"]) for each in rates]
    name, prompt = "Highest win rate", question["prompt"]
    return _leading(subject, figures, name, found, in_percent, prompt=prompt, ahead=ahead)


def _leading_mean(subject: AnswersSubject, figures: Record, question: Record) -> Fact:
    """The highest mean of a system where more is better; otherwise the mean of all, or the share of yes."""
    found, prompt = figures["mean"]["mean"], question["prompt"]
    if figures["by_part"]:
        parts = [(each["label"], each["mean"]) for each in figures["by_part"]]
        return _leading(subject, figures, "Most frequent tag", parts, in_percent)
    if question["kind"] == "checklist":
        return _fact(subject, figures, "Share of yes", found, in_percent, prompt)
    top = question["points"][-1]["value"]
    about_systems = question["over"] != "value" and len(figures["by_system"]) > 1
    if about_systems and question["ideal"] in (None, top) and question.get("direction") != "lower":
        means = [(each["system"], each["mean"]) for each in figures["by_system"]]
        ahead = figures["best_system"] is not None
        return _leading(subject, figures, "Highest mean", means, decimal, prompt=prompt, ahead=ahead)
    return _fact(subject, figures, "Mean", found, decimal, prompt)


def _leading(
    subject: AnswersSubject,
    figures: Record,
    name: str,
    found: Iterable[tuple[str, Record]],
    form: Callable[[float], str],
    *,
    prompt: str = "",
    lowest: bool = False,
    ahead: bool | None = None,
) -> Fact:
    """The best of (system or label, estimate), whoever is as good, and whether others may be.

    `ahead` says whether tests tell it from every other; None, that no test does, so that intervals must not overlap.
    """
    ordered = sorted(found, key=lambda each: each[1]["value"] * (1 if lowest else -1))
    best = ordered[0][1]
    alike = [key for key, each in ordered if abs(each["value"] - best["value"]) <= SAME]
    names = [subject.systems.get(key, key) for key in alike]
    if len(alike) > 1:
        who = f"all {len(alike)} alike" if len(alike) == len(ordered) else f"{_and(names)} alike"
        about = ": ".join(filter(None, [who, prompt]))
        return Fact(name, form(best["value"]), about, tag=tag_of(subject.who(figures)))
    if ahead is None:
        ahead = not any(_overlap(best, each) for _, each in ordered[1:])
    about = ": ".join(filter(None, [names[0], prompt]))
    fact = _fact(subject, figures, name, best, form, about)
    return fact if ahead or len(ordered) == 1 else replace(fact, detail=f"{fact.detail}; {NOT_ALONE}")


def _overlap(one: Record, other: Record) -> bool:
    if one["low"] is None or other["low"] is None:
        return True
    return bool(one["low"] <= other["high"] and other["low"] <= one["high"])


def _and(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


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
