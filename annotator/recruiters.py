"""Recruiters' say in what the crowd's services do, which don't import them."""

from collections.abc import Iterable
from functools import cache

from django.utils.module_loading import import_string

from annotator.models import Participant
from annotator.visit import Visit
from evaluation.models import Study

# By its path, so that nothing below imports it.
RECRUITERS = "annotator.panels.recruiters.PanelRecruiters"


class Recruiters:
    """Nobody recruits: everybody is let in as they come. `annotator.panels` overrides it."""

    def admit(self, study: Study, visit: Visit) -> None:
        """Somebody is about to be taken in or recognised; the study is locked. Raises to refuse it."""

    def allows_reentry(self, participant: Participant, visit: Visit) -> bool:
        """True where a visit of somebody whose last one was returned or timed out goes on with their work."""
        return False

    def is_completion_unpaid(self, participant: Participant) -> bool:
        """True where no submission in which somebody completed their present visit is paid, nor will be."""
        return False

    def unknown_reason(self, study: Study, other: Study) -> str:
        """The reason why people of the other study, which a list names, are unknown in this one, or nothing."""
        return ""

    def unsettled(self, participant: Participant) -> Iterable[str]:
        """Sentences on what of a participant's visits is not settled, not paid, or can't be erased."""
        return ()

    def names(self, participant: Participant) -> Iterable[str]:
        """Names of a participant's visits that the platform alone has given."""
        return ()

    def erase(self, participant: Participant) -> None:
        """Delete what a platform has said of a participant, but for amounts and days."""


@cache
def recruiters() -> Recruiters:
    found: Recruiters = import_string(RECRUITERS)()
    return found
