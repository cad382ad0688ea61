"""Panels as the crowd's recruiters."""

from annotator.models import Participant
from annotator.panels.selectors import allows_reentry, is_completion_unpaid
from annotator.panels.services.arrivals import refuse_revoked_link
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
