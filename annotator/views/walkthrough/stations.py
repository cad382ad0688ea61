"""The stations of a walk: every page that a participant of the study can come to, in the order of their way."""

from collections.abc import Iterator
from dataclasses import dataclass

from annotator.models import ParticipantOutcome
from annotator.panels.platforms.endings import AWAY
from annotator.views.shared.texts import AWAY as AWAY_TEXTS
from annotator.views.walkthrough.walked_study import WalkedStudy

END, TURNED_AWAY, BETWEEN = "end-", "away-", "between-visits"
WAY, ENDS, DOOR = "The way", "End pages", "Turned away at the door"
OUTCOME_LABELS = {
    ParticipantOutcome.COMPLETED: "Completed",
    ParticipantOutcome.NO_CONSENT: "No consent",
    ParticipantOutcome.FAILED_QUALIFICATION: "Failed the qualification",
    ParticipantOutcome.FAILED_ATTENTION: "Failed attention checks",
    ParticipantOutcome.FULL: "Study full",
    ParticipantOutcome.WITHDRAWN: "Withdrawn",
    ParticipantOutcome.RETURNED: "Returned on the platform",
    ParticipantOutcome.TIMED_OUT: "Timed out",
}


@dataclass(frozen=True)
class Station:
    """A page of the walk. `note`: why participants of this study don't come to it, or what it lacks."""

    key: str
    label: str
    group: str = WAY
    note: str = ""


def stations_of(walked: WalkedStudy) -> list[Station]:
    ends = (Station(f"{END}{outcome}", label, ENDS) for outcome, label in OUTCOME_LABELS.items())
    away = (Station(f"{TURNED_AWAY}{reason}", str(AWAY_TEXTS[reason][0]), DOOR) for reason in AWAY)
    between = [Station(BETWEEN, "Between visits", ENDS)] if walked.study.visits > 1 else []
    return [*_way(walked), *between, *ends, *away]


def _way(walked: WalkedStudy) -> Iterator[Station]:
    steps, texts = walked.steps, walked.spec["texts"]
    consent = texts.get("consent", "").strip()
    yield Station("entry", "Entry and consent", note=_without(steps.get("consent"), consent, "consent text"))
    instructions = texts.get("instructions", "").strip()
    yield Station(
        "instructions", "Instructions", note=_without(steps.get("instructions"), instructions, "text")
    )
    practice = _without(steps.get("training"), walked.training, "practice items")
    yield Station("training", "Practice", note=practice)
    qualification = _without(steps.get("qualification"), walked.qualification, "qualification items")
    yield Station("qualification", "Qualification", note=qualification)
    checks = "no attention checks" if steps.get("attention") and not walked.checks else ""
    yield Station("items", "Items", note=checks if walked.mains else "no items")
    yield Station("waiting", "A short wait")
    yield Station("skip", "Skip an item", note="" if walked.skips_allowed else "not allowed")
    yield Station("withdraw", "Withdraw")
    yield Station("comments", "Comments", note="" if steps.get("comments") else "not a step of this study")


def _without(step: object, content: object, what: str) -> str:
    if not step:
        return "not a step of this study"
    return "" if content else f"no {what}"
