"""Arrivals at a study's door by a platform's address, and the way back."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from django.conf import settings as installation

from annotator.models import Participant, PersonalLink
from annotator.panels.platforms import Departure, Platform, Settings, get_platform, platform_of_params
from annotator.panels.platforms.base import is_placeholder
from annotator.panels.services.panel_settings import panel_of, settings_for
from annotator.panels.visit_codes import code_key
from annotator.visit import Visit
from evaluation.models import Study

# The parameter of a study's address that says to which group of people somebody belongs, whatever the platform.
GROUP = "group"


class LinkUnknown(Exception):
    """There is no personal link of that key in the study."""


class IdIsPlaceholder(Exception):
    """The address has a placeholder in the place of the person's id. Carries the parameter's name."""


class LinkRevoked(Exception):
    """The personal link was revoked."""


@dataclass(frozen=True)
class Arrival:
    """An arrival at a study: the visit, its platform and that platform's settings."""

    visit: Visit
    platform: Platform
    settings: Settings

    @property
    def params(self) -> dict[str, str]:
        """The visit as fields of the entry form."""
        return self.platform.visit_params(self.visit, self.settings)

    @property
    def address_params(self) -> dict[str, str]:
        """The same with whatever else the address said."""
        return self.params | ({GROUP: self.visit.group} if self.visit.group else {})

    @property
    def lacks_id(self) -> bool:
        """True if they lack the id that the platform needs to recognise them and to take them back."""
        return not (self.visit.is_known or self.visit.preview) and self.platform.needs_id(self.settings)


def read_arrival(study: Study, params: Mapping[str, str]) -> Arrival:
    """The arrival by an address with these parameters. Raises LinkUnknown, LinkRevoked or IdIsPlaceholder."""
    personal = get_platform("personal")
    if key := personal.read_visit(params, {}).session_id:
        return Arrival(_named(study, key), personal, {})
    panel = panel_of(study)
    platform = platform_of_params(params) if panel is None else get_platform(panel.platform)
    settings = settings_for(study, platform.key)
    person = next(iter(platform.read_params(settings)), "")
    if is_placeholder(params.get(person, "")):
        raise IdIsPlaceholder(person)
    visit = platform.read_visit(params, settings)
    # A name that the study does not have would make a group of its own in every figure.
    group = params.get(GROUP, "")
    return Arrival(replace(visit, group=group if group in study.groups else ""), platform, settings)


def _named(study: Study, key: str) -> Visit:
    link = PersonalLink.objects.filter(study=study, key=key).first()
    if link is None:
        raise LinkUnknown(key)
    if link.revoked_at is not None:
        raise LinkRevoked(link.label)
    return Visit("personal", link.label, session_id=link.key, group=link.group)


def refuse_revoked_link(study: Study, visit: Visit) -> None:
    """Raises LinkRevoked where the link was revoked since its visitor came to the door."""
    if visit.platform != "personal":
        return
    if PersonalLink.objects.filter(study=study, key=visit.session_id, revoked_at__isnull=False).exists():
        raise LinkRevoked(visit.external_id)


def departure_at_entry(study: Study, arrival: Arrival, outcome: str) -> Departure:
    """The way back for somebody who was not taken in."""
    return arrival.platform.leave(outcome, code_for(study, outcome), arrival.visit, arrival.settings)


def departure_of(participant: Participant) -> Departure:
    """The way back for a participant whose way has ended, by the visit in which it did."""
    study, ended = participant.study, participant.submissions.filter(outcome=participant.outcome)
    latest = ended.order_by("-entered_at", "-pk").first()
    visit = Visit(
        participant.platform,
        participant.external_id,
        external_study_id=latest.external_study_id if latest else "",
        session_id=latest.external_id if latest else "",
        extra=latest.extra if latest else {},
    )
    platform = get_platform(participant.platform)
    code = code_for(study, participant.outcome, participant.visit_number)
    return platform.leave(participant.outcome, code, visit, settings_for(study, platform.key))


def code_for(study: Study, outcome: str, visit_number: int = 1) -> str:
    """The code of an outcome; of a further visit that was completed its own, where it has one."""
    codes = study.completion_codes
    return str(codes.get(code_key(outcome, visit_number)) or codes.get(outcome) or "")


def frame_origins(study: Study) -> tuple[str, ...]:
    """Sites that may show the study's pages in a frame: its platform's; for links, the installation's as well."""
    panel = panel_of(study)
    everybody = tuple(installation.ASSAY_FRAME_ANCESTORS)
    if panel is None:
        return everybody
    own = get_platform(panel.platform).frame_ancestors(panel.settings)
    return tuple(dict.fromkeys((*everybody, *own))) if panel.platform == "link" else own


def study_address(study: Study) -> str:
    """The address at which participants enter, before `Platform.entry_address` adds placeholders."""
    return f"{installation.ASSAY_PUBLIC_URL}/s/{study.slug}/"
