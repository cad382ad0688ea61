"""The crowd on a study's overview: people by step, their minutes, and what needs a researcher."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from statistics import median
from typing import Any

from django.core.cache import cache
from django.db.models import Count, Q, Sum
from django.urls import reverse
from django.utils import timezone

from annotator.models import ErasedVisit, Participant, ParticipantOutcome, Slot, SlotState, Step
from annotator.selectors.slots import lapsed_slots
from annotator.selectors.visits import completed_visits, count_completed_visits
from evaluation.counting import counted
from evaluation.extension import Concern
from evaluation.models import ItemFlag, Progress, Status, Study
from evaluation.selectors import excluded_q, standing_exclusions

# Of the reports of participants (`services.work.problem_reports`).
REPORTED = "reported"
STEPS = {
    "at the door": (Step.INSTRUCTIONS, Step.TRAINING, Step.QUALIFICATION),
    "at work": (Step.ITEMS, Step.COMMENTS),
}
ENDINGS = {
    "finished": (ParticipantOutcome.COMPLETED,),
    "returned": (ParticipantOutcome.RETURNED,),
    "timed out": (ParticipantOutcome.TIMED_OUT,),
    "refused": (
        ParticipantOutcome.NO_CONSENT,
        ParticipantOutcome.FAILED_QUALIFICATION,
        ParticipantOutcome.FAILED_ATTENTION,
        ParticipantOutcome.FULL,
    ),
    "withdrawn": (ParticipantOutcome.WITHDRAWN,),
}


def crowd_figures(study: Study) -> dict[str, Any]:
    people = Participant.objects.filter(study=study)
    rows = people.order_by().values_list("step", "outcome").annotate(n=Count("pk"))
    by_step: dict[str, int] = dict.fromkeys([*STEPS, *ENDINGS], 0)
    for step, outcome, n in rows:
        of, key = (ENDINGS, outcome) if outcome else (STEPS, step)
        by_step[next(label for label, keys in of.items() if key in keys)] += n
    minutes = [stay.duration.total_seconds() / 60 for stay in completed_visits(people).values()]
    erased = ErasedVisit.objects.filter(study=study).aggregate(pay=Sum("pay"))["pay"] or 0
    spent = None if study.pay is None else study.pay * count_completed_visits(people) + erased
    return {
        "recruits": Slot.objects.filter(study=study).exists(),
        # As a newcomer finds them: what others hold, and are still in time for, is not free.
        "slots_free": Slot.objects.filter(
            Q(state=SlotState.OPEN) | lapsed_slots(timezone.now()), study=study
        ).count(),
        "people": list(map(list, by_step.items())),
        "minutes": round(median(minutes), 1) if minutes else None,
        "spent_people": None if spent is None else str(spent),
        "to_replace": _count_to_replace(study),
    }


def _count_to_replace(study: Study) -> int:
    """The filled slots whose judgments are excluded and that have no replacement yet."""
    if not standing_exclusions(study).exists():
        return 0
    filled = Slot.objects.filter(
        study=study, state=SlotState.FILLED, item__withdrawn_at=None, replaced_by=None
    )
    return filled.filter(excluded_q(study, "holder__judgment__")).count()


def crowd_needs(study: Study, progress: Progress) -> Iterator[Concern]:
    if progress.is_full and not progress.is_simulated and study.status in (Status.LIVE, Status.PAUSED):
        free = progress.figures.get("slots_free", 0)
        said = (
            f"{counted(free, 'slot is', 'slots are')} open, since some came otherwise than from participants here"
            if free
            else "newcomers read “All places are taken”"
        )
        yield Concern(
            f"All {progress.n_wanted:,} judgments needed are in, and the study is not closed: {said}.",
            "Close the study",
            reverse("admin:evaluation_study_close", args=[study.slug]),
            news="full",
        )
    yield from _over_budget(study, progress.figures)
    reported = ItemFlag.objects.filter(item__study=study, reason=REPORTED).count()
    if reported:
        said = counted(reported, "problem was", "problems were")
        yield Concern(
            f"{said} reported by participants.",
            "Read and resolve",
            f"{reverse('admin:evaluation_itemflag_list', args=[study.slug])}",
        )
    if n := Participant.objects.filter(study=study, erasure_asked_at__isnull=False).count():
        said = counted(n, "participant has withdrawn and asked", "participants have withdrawn and asked")
        yield Concern(
            f"{said} to be erased, which is done once their submissions are settled.",
            "Look at them",
            reverse("admin:annotator_participant_list", args=[study.slug]),
            right="view",
        )
    yield from _exclusions(study, progress.figures)
    yield from _careless(study)


def _over_budget(study: Study, figures: Mapping[str, Any]) -> Iterator[Concern]:
    spent, budget = Decimal(figures.get("spent_people") or 0), study.people_budget
    if budget is not None and spent > budget:
        label, name = ("Pause the study", "pause") if study.status == Status.LIVE else ("Change it", "change")
        yield Concern(
            f"People have cost {spent:,.2f} {study.currency}, more than their budget of {budget:,.2f}.",
            label,
            reverse(f"admin:evaluation_study_{name}", args=[study.slug]),
            news=f"people budget {budget}",
        )


def _exclusions(study: Study, figures: Mapping[str, Any]) -> Iterator[Concern]:
    n = figures.get("to_replace", 0)
    if not n:
        return
    cost = ""
    if study.pay is not None:
        amount = (Decimal(n) * study.pay / study.items_per_participant).quantize(Decimal("0.01"))
        cost = f", about {amount:,} {study.currency}"
    yield Concern(
        f"{counted(n, 'excluded judgment leaves its slot', 'excluded judgments leave their slots')} without one that "
        "counts.",
        f"Re-collect {n:,}{cost}",
        reverse("admin:evaluation_study_replace", args=[study.slug]),
    )


def _careless(study: Study) -> Iterator[Concern]:
    """By the figures of the page of quality, as it was last computed: computing them takes all judgments."""
    _, found = cache.get(f"quality:{study.pk}", ("", []))
    n = sum(bool(figures["signs"]) for _, figures in found)
    if n:
        yield Concern(
            f"{counted(n, 'participant shows', 'participants show')} signs of careless work.",
            "Look at quality",
            reverse("admin:evaluation_study_quality", args=[study.slug]),
            right="view",
        )
