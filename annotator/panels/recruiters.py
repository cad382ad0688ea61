"""Panels as the crowd's recruiters."""

from collections.abc import Iterable

from annotator.models import Participant
from annotator.panels.selectors import allows_reentry, is_completion_unpaid
from annotator.panels.services.arrivals import refuse_revoked_link
from annotator.panels.services.erased.visits import erase_visits, names_there, unsettled_visits
from annotator.panels.services.panel_settings import unknown_reason
from annotator.recruiters import Recruiters
from annotator.visit import Visit
from evaluation.models import Study


class PanelRecruiters(Recruiters):
    def admit(self, study: Study, visit: Visit) -> None:
        refuse_revoked_link(study, visit)

    def allows_reentry(self, participant: Participant, visit: Visit) -> bool:
        return allows_reentry(participant, visit)

    def is_completion_unpaid(self, participant: Participant) -> bool:
        return is_completion_unpaid(participant)

    def unknown_reason(self, study: Study, other: Study) -> str:
        return unknown_reason(study, other)

    def unsettled(self, participant: Participant) -> Iterable[str]:
        return unsettled_visits(participant)

    def names(self, participant: Participant) -> Iterable[str]:
        return names_there(participant)

    def erase(self, participant: Participant) -> None:
        erase_visits(participant)
