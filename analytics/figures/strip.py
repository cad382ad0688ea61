"""Facts for the strip at the top of a report."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from analytics.display.numbers import in_percent, percent
from analytics.display.tables import DASH, caution, interval
from analytics.figures.groups import GroupView
from analytics.figures.report_view import ReportView, joined, tag_of
from analytics.statistics.core.estimates import Estimate
from evaluation.facts import Fact

# Values closer together than this differ by rounding only.
SAME = 1e-9
NOT_ALONE = "others may be as good"


def estimate_fact(
    group: GroupView, name: str, found: Estimate, form: Callable[[float], str], about: str = ""
) -> Fact:
    """An estimate with its limits, and what it is about."""
    if found.value is None:
        return Fact(name, DASH, found.undefined, undefined=True)
    limits = interval(found, percent if form is in_percent else form)
    detail = "; ".join(filter(None, [about, limits or found.undefined, caution(found)]))
    return Fact(name, form(found.known), detail, tag=tag_of(group))


def leading_fact(
    view: ReportView,
    group: GroupView,
    name: str,
    found: Iterable[tuple[str, Estimate]],
    form: Callable[[float], str],
    *,
    prompt: str = "",
    lowest: bool = False,
    ahead: bool | None = None,
) -> Fact:
    """The best of (system or label, estimate), those that are as good, and whether others may be.

    `ahead` says whether tests tell it from every other; None, that no test does, so that intervals must not overlap.
    """
    ordered = sorted(found, key=lambda each: each[1].known * (1 if lowest else -1))
    best = ordered[0][1]
    alike = [key for key, each in ordered if abs(each.known - best.known) <= SAME]
    names = [view.systems.get(key, key) for key in alike]
    if len(alike) > 1:
        who = f"all {len(alike)} tied" if len(alike) == len(ordered) else f"{joined(names)} tied"
        about = ": ".join(filter(None, [who, prompt]))
        return Fact(name, form(best.known), about, tag=tag_of(group))
    if ahead is None:
        ahead = not any(_overlap(best, each) for _, each in ordered[1:])
    fact = estimate_fact(group, name, best, form, ": ".join(filter(None, [names[0], prompt])))
    return fact if ahead or len(ordered) == 1 else replace(fact, detail=f"{fact.detail}; {NOT_ALONE}")


def _overlap(one: Estimate, other: Estimate) -> bool:
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return True
    return one.low <= other.high and other.low <= one.high
