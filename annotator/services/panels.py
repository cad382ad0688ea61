"""Which platform a study's people come from, who comes by an address, and how they get back."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings as installation
from django.db import transaction

from annotator.models import Panel, Participant, PersonalLink
from annotator.platforms import CHOICES, Leave, Platform, Settings, Visit, get_platform, understood
from evaluation.models import Study

MAX_SETTING = 1_000


class PanelFixed(Exception):
    """The study is drafted on its panel: what was agreed there does not change any more."""


class PanelSettingsWrong(ValueError):
    """Carries every sentence about the settings."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__(" ".join(problems))


class LinkUnknown(Exception):
    """There is no personal link of that key in the study."""


class LinkRevoked(Exception):
    """The personal link was revoked."""


@dataclass(frozen=True)
class Arrival:
    """Somebody at a study's door: who, from which platform, and how that is set."""

    visit: Visit
    platform: Platform
    settings: Settings

    @property
    def params(self) -> dict[str, str]:
        """The visit as fields of the entry form."""
        return self.platform.visit_params(self.visit, self.settings)

    @property
    def lacks_id(self) -> bool:
        """They can't be taken in: nobody could tell who they are, nor get them back."""
        return not (self.visit.is_known or self.visit.preview) and self.platform.needs_id(self.settings)


def panel_of(study: Study) -> Panel | None:
    """The study's panel; asks nothing of the database where it was selected with the study."""
    try:
        panel: Panel = study.panel
    except Panel.DoesNotExist:
        return None
    return panel


def settings_for(study: Study, platform: str) -> Settings:
    """What is set of this platform; of one that the study is no longer set to, nothing."""
    panel = panel_of(study)
    return panel.settings if panel is not None and panel.platform == platform else {}


def read_arrival(study: Study, params: Mapping[str, str]) -> Arrival:
    """Who comes by an address with these parameters. Raises LinkUnknown or LinkRevoked."""
    personal = get_platform("personal")
    if key := personal.read_visit(params, {}).session_id:
        return Arrival(_named(study, key), personal, {})
    panel = panel_of(study)
    platform = understood(params) if panel is None else get_platform(panel.platform)
    settings = settings_for(study, platform.key)
    return Arrival(platform.read_visit(params, settings), platform, settings)


def _named(study: Study, key: str) -> Visit:
    link = PersonalLink.objects.filter(study=study, key=key).first()
    if link is None:
        raise LinkUnknown(key)
    if link.revoked_at is not None:
        raise LinkRevoked(link.label)
    return Visit("personal", link.label, session_id=link.key)


def leave_at_door(study: Study, arrival: Arrival, outcome: str) -> Leave:
    """How somebody who was not taken in gets back."""
    return arrival.platform.leave(outcome, code_for(study, outcome), arrival.visit, arrival.settings)


def leave_of(participant: Participant) -> Leave:
    """How a participant whose way has ended gets back, by the visit in which it did."""
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
    code = code_for(study, participant.outcome)
    return platform.leave(participant.outcome, code, visit, settings_for(study, platform.key))


def code_for(study: Study, outcome: str) -> str:
    return str(study.completion_codes.get(outcome) or "")


def frame_origins(study: Study) -> tuple[str, ...]:
    """Sites that may show the study's pages in a frame: its platform's; for links, the installation's as well."""
    panel = panel_of(study)
    everybody = tuple(installation.ASSAY_FRAME_ANCESTORS)
    if panel is None:
        return everybody
    own = get_platform(panel.platform).frame_ancestors(panel.settings)
    return tuple(dict.fromkeys((*everybody, *own))) if panel.platform == "link" else own


def study_address(study: Study) -> str:
    """Where participants enter; the panel's placeholders are added by `Platform.entry_address`."""
    return f"{installation.ASSAY_PUBLIC_URL}/s/{study.slug}/"


def set_panel(study: Study, platform: str, settings: Mapping[str, Any], returned: str) -> Panel:
    """Sets where the study recruits, as a whole. Raises PanelFixed, or PanelSettingsWrong with every problem."""
    cleaned = _clean(platform, settings, returned)
    with transaction.atomic():
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        panel = Panel.objects.filter(study=study).first() or Panel(study=study)
        if panel.drafted_at is not None:
            raise PanelFixed(f"{study} is drafted on its panel; where it recruits can't be changed any more.")
        panel.platform, panel.settings, panel.returned = platform, cleaned, returned
        panel.save()
    study.panel = panel
    return panel


def _clean(key: str, settings: Mapping[str, Any], returned: str) -> dict[str, str]:
    platform = next((each for each in CHOICES if each.key == key), None)
    if platform is None:
        raise PanelSettingsWrong([f"There is no platform {key!r}."])
    unknown = sorted(set(settings) - {each.name for each in platform.settings})
    problems = [f"{platform.label} has no setting {name!r}." for name in unknown]
    if returned not in Panel.Returned.values:
        problems.append(f"What becomes of returned work can't be {returned!r}.")
    cleaned = {}
    for each in platform.settings:
        value = str(settings.get(each.name) or "").strip() or each.default
        if each.required and not value:
            problems.append(f"{each.label}: this is needed.")
        if len(value) > MAX_SETTING:
            problems.append(f"{each.label}: at most {MAX_SETTING} characters.")
        if value:
            cleaned[each.name] = value
    # What is missing is said once, not again as an address that is none.
    problems = problems or platform.find_problems(cleaned)
    if problems:
        raise PanelSettingsWrong(problems)
    return cleaned


def why_codes_are_fixed(study: Study) -> str:
    """A sentence once the study is drafted on its panel, which then knows the codes; before that nothing."""
    panel = Panel.objects.filter(study=study, drafted_at__isnull=False).first()
    if panel is None:
        return ""
    return (
        f"The study is drafted on {get_platform(panel.platform).label}, which knows these codes: they stay."
    )
