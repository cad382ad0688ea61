"""Recruitment filters: set as a published study had them or one by one, and stored with the draft on Prolific."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from django.db import transaction

from annotator.models import Panel, Participant
from annotator.panels.prolific import statuses
from annotator.panels.prolific.answers import KnownFilter, PanelStudy
from annotator.panels.prolific.errors import PanelError
from annotator.panels.prolific.filters import FilterUnknown, as_filters, as_stored, differences
from annotator.panels.prolific.presets import PRESETS, Preset, fair_pay_warning
from annotator.panels.prolific.recruitment_filters import (
    BY_PERSON,
    BY_STUDY,
    CHOICES,
    FiltersInvalid,
    RecruitmentFilters,
    read_filters,
)
from annotator.panels.services.connection import NotSetUp, open_client
from annotator.panels.services.panel_settings import panel_of, set_panel
from annotator.panels.services.prolific_preflight import PLATFORM
from annotator.selectors import steps_in_force
from evaluation.models import Role, Study
from evaluation.refusals import Refused

# The names of fields by filter, so that what Prolific does not know is said beside its field.
FIELDS = {filter_id: name for name, filter_id in CHOICES.items()} | {
    "approval_rate": "approval_rate",
    "approval_numbers": "least",
    "previous_studies_blocklist": "not_from",
    "custom_blocklist": "not_from",
}


@dataclass(frozen=True)
class FilterRequest:
    """The filters as the panel takes them, and as they are stored here to be compared."""

    filters: list[dict[str, Any]]
    devices: list[str]
    kept: dict[str, Any]


def filters_of(panel: Panel | None) -> RecruitmentFilters:
    return read_filters(panel.whom if panel is not None else {})


# --- presets ----------------------------------------------------------------------------------------------------------


def use_preset(study: Study, key: str) -> list[str]:
    """Set recruitment and pay of a study that is not drafted yet by a preset; return what is left to do, as sentences.

    Exclusions and devices stay: no preset says anything of them. Raises Refused, or WrongState once the study is
    drafted; then nothing is changed.
    """
    if key not in PRESETS:
        raise Refused(f"There is no preset {key!r}; there are {', '.join(PRESETS)}.")
    preset = PRESETS[key]
    with transaction.atomic():
        panel = panel_of(study)
        kept = panel.settings if panel is not None and panel.platform == PLATFORM else {}
        returned = panel.returned if panel is not None else Panel.Returned.KEEP
        panel = set_panel(study, PLATFORM, kept, returned)
        own = filters_of(panel)
        takes = replace(preset.takes, not_from=own.not_from, by=own.by, devices=own.devices)
        panel.whom = takes.as_json()
        panel.save(update_fields=["whom"])
        study.items_per_participant = preset.items or study.items_per_participant
        study.paid_minutes = preset.minutes(study.items_per_participant, study.paid_minutes)
        study.pay = preset.pay(study.items_per_participant, study.paid_minutes)
        study.currency = preset.currency
        # An item is kept for its participant for at least the minutes that are paid.
        study.lease_minutes = max(study.lease_minutes, study.paid_minutes)
        study.save(
            update_fields=["items_per_participant", "paid_minutes", "pay", "currency", "lease_minutes"]
        )
    return _left_to_do(study, preset)


def _left_to_do(study: Study, preset: Preset) -> list[str]:
    found = [fair_pay_warning(study.pay or Decimal(0), study.paid_minutes, study.currency)]
    if preset.qualification is not None:
        right, of = preset.qualification
        rule = steps_in_force(study).get("qualification") or {}
        items = study.items.filter(role=Role.QUALIFICATION, withdrawn_at=None).count()
        if (rule.get("pass_mark"), items) != (right, of):
            found.append(
                f"{preset.label} requires {right} of {of} right in a qualification; this study does not."
            )
    return [each for each in found if each]


# --- setting it -------------------------------------------------------------------------------------------------------


def set_filters(study: Study, given: Mapping[str, Any]) -> list[str]:
    """Set the study's filters, by what Prolific lists now; a draft that nobody sees yet is changed there as well.

    Sentences on what could not be checked. Raises FiltersInvalid with what is wrong by field, Refused once it is
    published, and of a draft PanelError or NotSetUp; then nothing is changed.
    """
    filters = read_filters(given)
    panel = panel_of(study) or set_panel(study, PLATFORM, {}, Panel.Returned.KEEP)
    _check_open(panel)
    if wrong := _kept_out_problems(study, filters):
        raise FiltersInvalid([("not_from", sentence) for sentence in wrong])
    try:
        asked, there = _ask_there(panel, filters)
    except FilterUnknown as unknown:
        raise FiltersInvalid([(FIELDS[unknown.filter_id], str(unknown))]) from None
    except (NotSetUp, PanelError) as why:
        if panel.drafted_at is not None:
            raise
        _keep(panel, whom=filters.as_json())
        return [f"These names are checked against Prolific's list when the study is drafted: {why}"]
    drafted = {} if there is None else {"drafted": asked.kept, "there": filters_there(there)}
    _keep(panel, whom=filters.as_json(), **drafted)
    return []


def _keep(panel: Panel, **fields: Any) -> None:
    if not Panel.objects.filter(pk=panel.pk, drafted_at=panel.drafted_at).update(**fields):
        raise Refused("The study was drafted in the meantime; reload the page first.")
    panel.refresh_from_db()


def _check_open(panel: Panel) -> None:
    if panel.platform != PLATFORM:
        raise Refused("The study's platform is not Prolific.")
    if panel.drafted_at is not None and panel.status != statuses.DRAFT:
        raise Refused("The study is published on Prolific, so its filters can no longer be changed.")


def _kept_out_problems(study: Study, filters: RecruitmentFilters) -> list[str]:
    known = {each.slug: each for each in Study.objects.visible().filter(slug__in=filters.not_from)}
    missing = [f"There is no study {slug!r}." for slug in filters.not_from if slug not in known]
    own = [
        f"{slug!r} is this study: its participants can't be excluded."
        for slug in filters.not_from
        if slug == study.slug
    ]
    if filters.by == BY_STUDY:
        drafted = _ids_there(filters)
        own += [
            f"{known[slug].title} was never drafted on Prolific, so Prolific can't exclude its "
            "participants: exclude them by their ids."
            for slug in filters.not_from
            if slug in known and slug != study.slug and slug not in drafted
        ]
    return missing + own


def _ask_there(panel: Panel, filters: RecruitmentFilters) -> tuple[FilterRequest, PanelStudy | None]:
    """The conditions in Prolific's form, and the draft there if there is one, which now has them."""
    with open_client() as client:
        asked = request_filters(panel, filters, client.list_filters())
        if panel.drafted_at is None:
            return asked, None
        fields = {"filters": asked.filters, "device_compatibility": asked.devices}
        return asked, client.update_study(panel.external_id, fields)


# --- what is asked there ----------------------------------------------------------------------------------------------


def request_filters(panel: Panel, asked: RecruitmentFilters, known: Iterable[KnownFilter]) -> FilterRequest:
    """The conditions as Prolific takes them. Raises FilterUnknown."""
    listed = {each.id: each for each in known}
    ids = tuple(_ids_there(asked).values()) if asked.by == BY_STUDY else ()
    wanted = asked.wanted(ids, _people(asked) if asked.by == BY_PERSON else ())
    filters = as_filters(wanted, listed.values())
    kept = {
        "filters": as_stored(filters),
        "devices": list(asked.devices),
        "said": {each.id: each.said for each in wanted},
        "limits": {each.id: [listed[each.id].lowest, listed[each.id].highest] for each in wanted},
    }
    return FilterRequest(filters, list(asked.devices), kept)


def _ids_there(filters: RecruitmentFilters) -> dict[str, str]:
    """Slug to the panel's id, of the studies that are kept out and were drafted there."""
    drafted = Panel.objects.filter(platform=PLATFORM, study__slug__in=filters.not_from).exclude(
        external_id=""
    )
    return dict(drafted.order_by("pk").values_list("study__slug", "external_id"))


def _people(filters: RecruitmentFilters) -> tuple[str, ...]:
    came = Participant.objects.filter(platform=PLATFORM, study__slug__in=filters.not_from)
    ids = came.exclude(external_id="").order_by("external_id").values_list("external_id", flat=True)
    return tuple(ids.distinct())


def filters_there(there: PanelStudy) -> dict[str, Any]:
    """The filters of the study there; nothing where the answer does not say them."""
    if there.filters is None:
        return {}
    return {"filters": as_stored(there.filters), "devices": list(there.devices or ())}


def filter_differences(panel: Panel) -> list[str]:
    """The differences between the filters there and those that were drafted from here, as last read; no queries."""
    if "filters" not in panel.drafted or "filters" not in panel.there:
        return []
    ours, there = panel.drafted, panel.there
    found = differences(ours["filters"], there["filters"], said=ours["said"], limits=ours["limits"])
    if there["devices"] and set(ours["devices"]) != set(there["devices"]):
        found.append(f"it allows {', '.join(there['devices'])} there")
    return found
