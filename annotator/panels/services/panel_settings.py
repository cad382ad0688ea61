"""The platform that a study's people come from, and how it is set."""

from collections.abc import Collection, Mapping
from typing import Any

from django.db import transaction

from annotator.models import Panel, ParticipantOutcome
from annotator.panels.platforms import Platform, Settings, default_platform, get_platform, offered_platforms
from annotator.panels.platforms.eligibility import FiltersInvalid
from annotator.panels.visit_codes import (
    COMPLETED,
    code_label,
    further_keys,
    is_of_further_visit,
    new_code,
)
from evaluation.extension import Duplication
from evaluation.models import Study
from evaluation.refusals import Refused, WrongState
from evaluation.services.history import log_action
from evaluation.services.studies.rehearsals import refuse_in_rehearsal

MAX_SETTING = 1_000


def panel_of(study: Study) -> Panel | None:
    """The study's panel; asks nothing of the database where it was selected with the study."""
    try:
        panel: Panel = study.panel
    except Panel.DoesNotExist:
        return None
    return panel


def platform_to_draft(study: Study) -> Platform:
    """The platform at which the study is drafted: the one that it is set to, or the default one."""
    panel = panel_of(study)
    return default_platform() if panel is None else get_platform(panel.platform)


def panel_to_draft(study: Study) -> Panel:
    """The study's panel; a study without one is set to the default platform."""
    return panel_of(study) or set_panel(study, default_platform().key, {}, Panel.Returned.KEEP)


def settings_for(study: Study, platform: str) -> Settings:
    """The study's settings of this platform; of one that it is no longer set to, nothing."""
    panel = panel_of(study)
    return panel.settings if panel is not None and panel.platform == platform else {}


def set_panel(study: Study, platform: str, settings: Mapping[str, Any], returned: str) -> Panel:
    """Set where the study recruits, as a whole. Raises WrongState, or Refused with every problem."""
    refuse_in_rehearsal(study, "it recruits nobody.")
    cleaned = _clean(platform, settings, returned)
    with transaction.atomic():
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        panel = Panel.objects.filter(study=study).first() or Panel(study=study)
        if panel.drafted_at is not None:
            raise WrongState(f"{study} is drafted on its panel, so its platform can no longer be changed.")
        if panel.platform != platform and not _reads_filters(get_platform(platform), panel.whom):
            panel.whom = {}
        panel.platform, panel.settings, panel.returned = platform, cleaned, returned
        panel.save()
    study.panel = panel
    return panel


def _reads_filters(platform: Platform, stored: Mapping[str, Any]) -> bool:
    """False of filters that were set for another platform and mean nothing at this one."""
    if platform.api is None or platform.api.eligibility is None:
        return True
    try:
        platform.api.eligibility.read(stored)
    except FiltersInvalid:
        return False
    return True


def _clean(key: str, settings: Mapping[str, Any], returned: str) -> dict[str, str]:
    platform = next((each for each in offered_platforms() if each.key == key), None)
    if platform is None:
        raise Refused(f"There is no platform {key!r}.")
    unknown = sorted(set(settings) - {each.name for each in platform.settings})
    problems = [f"{platform.label} has no setting {name!r}." for name in unknown]
    if returned not in Panel.Returned.values:
        problems.append(f"There is no rule {returned!r} for returned work.")
    cleaned = {}
    for each in platform.settings:
        value = str(settings.get(each.name) or "").strip() or each.default
        if each.required and not value:
            problems.append(f"{each.label}: this field is required.")
        if len(value) > MAX_SETTING:
            problems.append(f"{each.label}: at most {MAX_SETTING} characters.")
        if value:
            cleaned[each.name] = value
    # What is missing is said once, not again as an address that is none.
    problems = problems or platform.find_problems(cleaned)
    if problems:
        raise Refused(*problems)
    return cleaned


def set_codes(study: Study, codes: Mapping[str, str], *, by: Any = None) -> None:
    """Set the completion codes, by outcome; an outcome that is left out has none, and a further visit a new one.

    Raises WrongState once the study's panel knows them.
    """
    with transaction.atomic():
        # Locked, because a panel that is being told the codes at this moment must not be told others.
        locked = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        if (panel := Panel.objects.filter(study=study, drafted_at__isnull=False).first()) is not None:
            label = get_platform(panel.platform).label
            raise WrongState(f"The study is drafted on {label}, so its codes can no longer be changed.")
        others = {
            key: code
            for key, code in locked.completion_codes.items()
            if key not in ParticipantOutcome.values and not is_of_further_visit(key)
        }
        made = {key: new_code() for key in further_keys(locked)} if codes.get(COMPLETED) else {}
        locked.completion_codes = others | made | dict(codes)
        locked.save(update_fields=["completion_codes"])
        said = ", ".join(code_label(key) for key in made | dict(codes)) or "none"
        log_action(study=study, by=by, message=f"Completion codes of: {said}.")
    study.completion_codes = locked.completion_codes


def unknown_reason(study: Study, other: Study) -> str:
    """The reason for which people of the other study are unknown in this one; empty where they are known."""
    there, here = panel_of(other), panel_of(study)
    set_to = {panel.platform if panel is not None else "" for panel in (there, here)}
    default = default_platform()
    if "" in set_to and set_to <= {"", default.key}:
        return f"without a platform, only visitors with {default.label}'s ids are recognised"
    for panel in (there, here):
        platform = get_platform(panel.platform if panel is not None else "link")
        if why := platform.unknown_people_reason(panel.settings if panel is not None else {}):
            return why
    if len(set_to) == 1:
        return ""
    labels = [get_platform(panel.platform).label for panel in (there, here) if panel is not None]
    return f"it recruits from {labels[0]} and this study from {labels[1]}, which use different ids"


def copy_panel(duplication: Duplication) -> Collection[str]:
    """Set the copy to the same platform. Settings that name this one study there are as its codes are, and its
    filters belong to eligibility; what there was to copy."""
    panel = Panel.objects.filter(study=duplication.source).first()
    if panel is None or "platform" not in duplication.along:
        return ()
    own = {each.name for each in get_platform(panel.platform).settings if each.of_one_study}
    with_codes = "codes" in duplication.along
    filters = panel.whom if "eligibility" in duplication.along else {}
    Panel.objects.create(
        study=duplication.copy,
        platform=panel.platform,
        settings={name: value for name, value in panel.settings.items() if with_codes or name not in own},
        returned=panel.returned,
        whom=filters,
    )
    came = {"platform"}
    if filters:
        came.add("eligibility")
    if with_codes and own & panel.settings.keys():
        came.add("codes")
    return came
