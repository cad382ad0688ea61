"""Passages of a report's methods paragraph on recruitment: from where and when, by which filters, and for what pay."""

from collections.abc import Collection
from datetime import date

from django.db.models import Count, Max, Min, Q
from django.utils import timezone

from annotator.models import Panel, ParticipantOutcome
from annotator.panels.platforms import PLATFORMS
from annotator.panels.platforms.eligibility import FiltersInvalid
from annotator.panels.services.recruitment_filters import filter_sentences
from annotator.selectors.methods_passages import people_at_work
from evaluation.models import Study

# How a sentence says that people came by a link; platforms are named.
BY_LINK = {"link": "by a link", "personal": "by personal links"}


def methods_passages(study: Study) -> dict[str, str]:
    """Sentences on who was recruited and what they were paid; nothing where nobody came to this installation."""
    came = people_at_work(study).aggregate(n=Count("pk"), first=Min("created_at"), last=Max("created_at"))
    if not came["n"]:
        return {}
    platforms = people_at_work(study).order_by("platform").values_list("platform").annotate(n=Count("pk"))
    done = Q(outcome=ParticipantOutcome.COMPLETED) | Q(visit_number__gt=1)
    completed = people_at_work(study).filter(done).count()
    n = came["n"]
    who = "One participant" if n == 1 else f"{n:,} participants"
    how = _listed([_from(key, count, several=len(platforms) > 1) for key, count in platforms])
    when = _when(timezone.localdate(came["first"]), timezone.localdate(came["last"]))
    what = "the study" if study.visits == 1 else "a visit"
    sentences = [
        f"{who}, recruited {how}, came {when} and judged at least one item; {completed:,} completed {what}."
    ]
    sentences += _filters(study, {key for key, _ in platforms})
    return {"recruitment": " ".join(sentences), **_pay(study)}


def _from(key: str, n: int, *, several: bool) -> str:
    label = PLATFORMS[key].label if key in PLATFORMS else key
    name = BY_LINK.get(key, f"on {label}")
    return f"{name} ({n:,})" if several else name


def _when(first: date, last: date) -> str:
    if first == last:
        return f"on {_day(first)}"
    return f"from {_day(first)} to {_day(last)}"


def _day(day: date) -> str:
    return f"{day.day} {day:%B} {day.year}"


def _filters(study: Study, platforms: Collection[str]) -> list[str]:
    """The filters as they are set here, where people came from there; those that are stored but can't be meant any more
    are not told."""
    panel = Panel.objects.filter(study=study, platform__in=platforms).first()
    try:
        said = filter_sentences(panel)
    except FiltersInvalid:
        return []
    return [f"Recruitment was limited to people who met these conditions: {'; '.join(said)}."] if said else []


def _pay(study: Study) -> dict[str, str]:
    if study.pay is None:
        return {}
    each = " a visit" if study.visits > 1 else ""
    hourly = float(study.pay) * 60 / study.paid_minutes
    return {
        "pay": f"Participants were paid {study.pay:.2f} {study.currency}{each} for an estimated {study.paid_minutes:,} "
        f"minutes ({hourly:.2f} {study.currency} an hour)."
    }


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
