"""Differences about the study as a whole: its places, its filters, and messages that could not be applied."""

import hashlib
from collections.abc import Iterator

from annotator.panels.platforms import statuses
from annotator.panels.reconciliation.kinds.base import Facts, Mismatch, MismatchKind
from annotator.panels.reconciliation.kinds.wording import people_count, place_count, visit_count
from evaluation.counting import counted


class OtherFilters(MismatchKind):
    """The study there asks of participants otherwise than was drafted from here."""

    key = "filters"
    title = "Eligibility differs on the panel"
    remedies = ("filters", "sync", "acknowledge")
    is_of_visits = False

    def find(self, facts: Facts) -> Iterator[Mismatch]:
        if not facts.filter_differences:
            return
        text = f"The study was changed on the panel: {'; '.join(facts.filter_differences)}."
        remedies = self.remedies if facts.panel.status == statuses.DRAFT else ("sync", "acknowledge")
        digest = hashlib.sha256(text.encode()).hexdigest()[:16]
        yield self.mismatch(text, digest, remedies=remedies, subject="study")


class OtherPlaces(MismatchKind):
    key = "places"
    title = "Places"
    remedies = ("places", "pause", "acknowledge")
    is_of_visits = False

    def find(self, facts: Facts) -> Iterator[Mismatch]:
        if facts.places is None:
            return
        needed, coming = facts.places
        state, more = f"{needed}:{coming}", needed - coming
        more_of = (
            ("more person", "more people") if facts.panel.study.visits == 1 else ("more visit", "more visits")
        )
        count = people_count if facts.panel.study.visits == 1 else visit_count
        if more > 0:
            text = (
                f"The open judgments need {counted(needed, *more_of)}, but the panel has room for "
                f"{coming}. Add {place_count(more)} there."
            )
            remedies = ("places", "acknowledge")
            yield self.mismatch(text, state, remedies=remedies, subject="study", more=more)
        elif more < 0:
            text = (
                f"The panel has room for {count(coming)}, but there is work for {needed}: beyond that, people "
                "find the study full. Pause it there when the last slot here is taken."
            )
            yield self.mismatch(text, state, remedies=("pause", "acknowledge"), subject="study")


class UnappliedEvent(MismatchKind):
    key = "event"
    title = "Events of the panel that could not be applied"
    remedies = ("sync", "acknowledge")
    is_of_visits = False

    def find(self, facts: Facts) -> Iterator[Mismatch]:
        for event in facts.unapplied_events:
            text = f"{event.kind} of {event.occurred_at:%Y-%m-%d %H:%M}: {event.problem}"
            yield self.mismatch(text, subject=event.event_id)
