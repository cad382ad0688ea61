"""The rules for rejections, which are Prolific's and hold at every panel; its client puts the category into the panel's
own words. A rejection takes somebody's pay and counts against them for good.

Gold and accuracy are no ground: they are for the researcher, who may leave the data out and has to pay for it.
"""

import statistics

from annotator.models import (
    Assignment,
    AssignmentState,
    Panel,
    PanelRecord,
    PanelStatus,
    Participant,
    ParticipantOutcome,
)
from annotator.selectors.visits import completed_visits
from annotator.services.work.progress import failed_checks
from evaluation.counting import counted

MIN_REASON = 100
# A study below so many minutes needs one failed attention check, a longer one two.
SHORT_MINUTES = 5
# "Exceptionally fast" is what the panel calls so many standard deviations below the mean.
TOO_FAST_DEVIATIONS = 3
CATEGORIES = {
    "FAILED_CHECK": "failed attention checks",
    "FAILED_INSTRUCTIONS": "did not follow the instructions",
    "LOW_EFFORT": "low effort",
    "MALINGERING": "made up answers",
    "TOO_QUICKLY": "too quickly",
    "TOO_SLOWLY": "too slowly",
    "NO_DATA": "no data",
    "NO_CODE": "no completion code",
    "BAD_CODE": "wrong completion code",
    "INCOMP_LONGITUDINAL": "incomplete part of a longitudinal study",
    "UNSUPP_DEVICE": "unsupported device",
    "OTHER": "other",
}


def checks_needed(panel: Panel) -> int:
    """The number of failed attention checks from which somebody can be rejected for how they worked."""
    return 1 if panel.study.paid_minutes < SHORT_MINUTES else 2


def rejection_rules(panel: Panel) -> list[str]:
    """The rules as sentences, to be read before a rejection is sent."""
    n = checks_needed(panel)
    checks = "one attention check" if n == 1 else f"{n} attention checks"
    return [
        f"The reason is sent to the participant and needs at least {MIN_REASON} characters.",
        f"A study of {panel.study.paid_minutes} minutes: only those who failed at least {checks} can "
        "be rejected for careless work.",
        "Wrong answers to gold items are never grounds for rejection: exclude the data and pay.",
        f"Too fast: at least {TOO_FAST_DEVIATIONS} standard deviations below the mean of those who completed.",
        "No data: nothing was submitted here, not even in training or qualification.",
        "No code: none was entered. Wrong code: not one of this study's. Neither applies to "
        "participants who completed the study here.",
        "Participants who failed the qualification are never rejected: ask them to return.",
    ]


def rejection_problems(record: PanelRecord, reason: str, category: str) -> list[str]:
    """Sentences that say why this record can't be rejected for this; none if it can be."""
    problems = []
    if record.status != PanelStatus.AWAITING_REVIEW:
        problems.append(
            f"It is {PanelStatus(record.status).label}; only submissions awaiting review can be rejected."
        )
    if len(reason) < MIN_REASON:
        problems.append(f"The reason has {len(reason)} characters; the panel requires at least {MIN_REASON}.")
    if category not in CATEGORIES:
        problems.append(f"{category!r} is not one of the panel's categories: {', '.join(CATEGORIES)}.")
    else:
        problems += _unfounded(record, category)
    return problems


def _unfounded(record: PanelRecord, category: str) -> list[str]:
    """Why what happened here does not bear the category out, of anybody whom the record may be about."""
    people = _participants_of(record)
    problems = [each for person in people for each in _speaks_against(record, person, category)]
    if category in ("NO_CODE", "BAD_CODE"):
        problems += _code_is_right(record, category)
    elif category != "NO_DATA" and not people:
        problems.append("Assay has no record of what they did, so there are no grounds for rejection.")
    return list(dict.fromkeys(problems))


def _participants_of(record: PanelRecord) -> list[Participant]:
    """The participant whose visit is linked to the record; while none is, all with the person's or the visit's id."""
    if record.submission is not None:
        return [record.submission.participant]
    people = Participant.objects.filter(study=record.panel.study_id, platform=record.panel.platform)
    same = people.filter(external_id=record.participant_id).exclude(external_id="")
    visitors = people.filter(submissions__external_id=record.external_id, submissions__panel_record=None)
    return [*same, *visitors.exclude(pk__in=same.values("pk"))]


def _speaks_against(record: PanelRecord, participant: Participant, category: str) -> list[str]:
    number = participant.visit_number if record.submission is None else record.submission.visit_number
    if participant.outcome == ParticipantOutcome.FAILED_QUALIFICATION:
        return [
            "They failed the qualification, which is not grounds for rejection; ask them to return instead."
        ]
    if category == "NO_DATA":
        done = Assignment.objects.filter(participant=participant, state=AssignmentState.SUBMITTED)
        n = done.filter(visit_number=number).count()
        return [f"{counted(n, 'item was', 'items were')} submitted here, so there is data."] if n else []
    if category in ("NO_CODE", "BAD_CODE"):
        complete = participant.outcome == ParticipantOutcome.COMPLETED or number < participant.visit_number
        return (
            ["They completed the study here; a wrong code is not grounds for rejection."] if complete else []
        )
    if category == "TOO_QUICKLY":
        return _not_too_quick(participant, number)
    failed, needed = failed_checks(participant, number), checks_needed(record.panel)
    if failed >= needed:
        return []
    minutes = record.panel.study.paid_minutes
    return [f"{failed} failed attention checks; a study of {minutes} minutes needs at least {needed}."]


def _code_is_right(record: PanelRecord, category: str) -> list[str]:
    """Why the panel's record does not say that the code is missing, or wrong."""
    entered = record.code.strip()
    if category == "NO_CODE":
        if entered:
            return [f"They entered the code {entered}."]
        # A webhook tells no code.
        return (
            [] if record.completed_at else ["Their code has not been read yet; refresh from the panel first."]
        )
    if not entered:
        return ["They entered no code, so it can't be wrong."]
    ours = {str(code or "").strip().casefold() for code in record.panel.study.completion_codes.values()}
    return [f"{entered} is one of the study's own codes."] if entered.casefold() in ours else []


def _not_too_quick(participant: Participant, visit_number: int) -> list[str]:
    done = completed_visits(Participant.objects.filter(study=participant.study_id))
    times = {visit: stay.duration.total_seconds() for visit, stay in done.items()}
    took = times.get((participant.pk, visit_number))
    if took is None:
        return ["Completion time is known only for participants who completed the study."]
    limit = statistics.fmean(times.values()) - TOO_FAST_DEVIATIONS * statistics.pstdev(times.values())
    if took < limit:
        return []
    return [
        f"They took {took / 60:.1f} minutes; too fast is less than {max(0.0, limit) / 60:.1f} minutes, "
        f"{TOO_FAST_DEVIATIONS} standard deviations below the mean."
    ]
