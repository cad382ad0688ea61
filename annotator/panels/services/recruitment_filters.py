"""Recruitment filters: set as a published study had them or one by one, and stored with the draft at the platform."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django.db import transaction

from annotator.models import Panel, Participant
from annotator.panels.platforms import Platform, get_api, get_platform, platform_apis, statuses
from annotator.panels.platforms.api import PanelStudy, PlatformClient
from annotator.panels.platforms.eligibility import (
    BY_PERSON,
    BY_STUDY,
    Criteria,
    Eligibility,
    FilterRequest,
    FiltersInvalid,
    FilterUnknown,
    Preset,
)
from annotator.panels.platforms.errors import NotSetUp, PanelError
from annotator.panels.services.connection import open_client
from annotator.panels.services.panel_settings import panel_of, panel_to_draft, platform_to_draft, set_panel
from annotator.selectors.admission import steps_in_force
from evaluation.counting import counted
from evaluation.models import Role, Study
from evaluation.refusals import Refused
from evaluation.services.history import log_action


def eligibility_of(platform: Platform) -> Eligibility | None:
    """The conditions that a platform can put on participants; None where it takes everybody, or has no API here."""
    return platform.api.eligibility if platform.api is not None else None


def filters_of(panel: Panel) -> Criteria | None:
    """The filters that are set of a panel; None where its platform has none."""
    eligibility = eligibility_of(get_platform(panel.platform))
    return eligibility.read(panel.whom) if eligibility is not None else None


def filter_sentences(panel: Panel | None) -> list[str]:
    """The filters in words; nothing where everybody is taken."""
    filters = filters_of(panel) if panel is not None else None
    return filters.sentences() if filters is not None else []


def filter_fields(study: Study) -> dict[str, Any]:
    """The study's filters by field, as `set_filters` takes them; what asks for nothing is left out."""
    panel = panel_of(study)
    filters = filters_of(panel) if panel is not None else None
    return filters.as_json() if filters is not None else {}


# --- presets ----------------------------------------------------------------------------------------------------------


def all_presets() -> dict[str, tuple[str, Preset]]:
    """By key, each with its platform's key."""
    return {
        preset.key: (key, preset)
        for key, api in platform_apis().items()
        if api.eligibility is not None
        for preset in api.eligibility.presets.values()
    }


def use_preset(study: Study, key: str, *, by: Any = None, reason: str = "") -> list[str]:
    """Set recruitment and pay of a study that is not drafted yet by a preset; return what is left to do, as sentences.

    Exclusions and devices stay: no preset says anything of them. Raises Refused, or WrongState once the study is
    drafted; then nothing is changed.
    """
    presets = all_presets()
    if key not in presets:
        raise Refused(f"There is no preset {key!r}; there are {', '.join(presets)}.")
    platform, preset = presets[key]
    with transaction.atomic():
        panel = panel_of(study)
        kept = panel.settings if panel is not None and panel.platform == platform else {}
        returned = panel.returned if panel is not None else Panel.Returned.KEEP
        panel = set_panel(study, platform, kept, returned)
        own = filters_of(panel)
        assert own is not None, "all_presets() names platforms with filters alone"
        panel.whom = own.with_preset(preset.takes).as_json()
        panel.save(update_fields=["whom"])
        study.items_per_participant = preset.items or study.items_per_participant
        study.visits = preset.visits
        study.paid_minutes = preset.minutes(study.items_per_participant, study.paid_minutes)
        study.pay = preset.pay(study.items_per_participant, study.paid_minutes)
        study.currency = preset.currency
        # An item is kept for its participant for at least the minutes that are paid.
        study.lease_minutes = max(study.lease_minutes, study.paid_minutes)
        study.save(
            update_fields=[
                "items_per_participant",
                "visits",
                "paid_minutes",
                "pay",
                "currency",
                "lease_minutes",
            ]
        )
        said = f"Recruiting as {preset.label}: {offer(study)}."
        log_action(study=study, by=by, message=said, reason=reason)
    return _left_to_do(study, platform, preset)


def offer(study: Study) -> str:
    """The pay, for how many items and minutes, and how often."""
    pay = f"{study.pay} {study.currency}" if study.pay is not None else "no pay"
    items, minutes = (
        counted(study.items_per_participant, "item"),
        counted(study.paid_minutes, "minute"),
    )
    several = f", in each of up to {study.visits} visits" if study.visits > 1 else ""
    return f"{pay} for {items} in {minutes}{several}"


def _left_to_do(study: Study, platform: str, preset: Preset) -> list[str]:
    found = [get_api(platform).pay_warning(study.pay or Decimal(0), study.paid_minutes, study.currency)]
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


def set_filters(study: Study, given: Mapping[str, Any], *, by: Any = None, reason: str = "") -> list[str]:
    """Set the study's filters, by what its platform lists now; a draft that nobody sees yet is changed there as well.

    Sentences on what could not be checked. Raises FiltersInvalid with what is wrong by field, Refused once it is
    published, and of a draft PanelError or NotSetUp; then nothing is changed.
    """
    platform = platform_to_draft(study)
    eligibility = eligibility_of(platform)
    if eligibility is None:
        raise Refused(f"{platform.label} has no filters that could be set from here.")
    filters = eligibility.read(given)
    panel = panel_to_draft(study)
    _check_open(panel, platform)
    if wrong := _kept_out_problems(study, filters, platform):
        raise FiltersInvalid([("not_from", sentence) for sentence in wrong], eligibility.labels)
    try:
        asked, there = _ask_there(panel, filters)
    except FilterUnknown as unknown:
        raise FiltersInvalid([(unknown.field, str(unknown))], eligibility.labels) from None
    except (NotSetUp, PanelError) as why:
        if panel.drafted_at is not None:
            raise
        with transaction.atomic():
            _keep(panel, whom=filters.as_json())
            log_action(study=study, by=by, message=filters_set(panel), reason=reason)
        return [f"These names are checked against {platform.label}'s list when the study is drafted: {why}"]
    drafted = {} if there is None else {"drafted": asked.kept, "there": there.eligibility}
    with transaction.atomic():
        _keep(panel, whom=filters.as_json(), **drafted)
        log_action(study=study, by=by, message=filters_set(panel), reason=reason)
    return []


def filters_set(panel: Panel) -> str:
    said = filter_sentences(panel)
    return f"Eligibility: {'; '.join(said)}." if said else "Open to everyone."


def _keep(panel: Panel, **fields: Any) -> None:
    if not Panel.objects.filter(pk=panel.pk, drafted_at=panel.drafted_at).update(**fields):
        raise Refused("The study was drafted in the meantime; reload the page first.")
    panel.refresh_from_db()


def _check_open(panel: Panel, platform: Platform) -> None:
    if panel.drafted_at is not None and panel.status != statuses.DRAFT:
        raise Refused(f"The study is published on {platform.label}, so its filters can no longer be changed.")


def _kept_out_problems(study: Study, filters: Criteria, platform: Platform) -> list[str]:
    known = {each.slug: each for each in Study.objects.visible().filter(slug__in=filters.not_from)}
    missing = [f"There is no study {slug!r}." for slug in filters.not_from if slug not in known]
    own = [
        f"{slug!r} is this study: its participants can't be excluded."
        for slug in filters.not_from
        if slug == study.slug
    ]
    if filters.by == BY_STUDY:
        drafted, there = _ids_there(filters, platform.key), platform.label
        own += [
            f"{known[slug].title} was never drafted on {there}, so {there} can't exclude its "
            "participants: exclude them by their ids."
            for slug in filters.not_from
            if slug in known and slug != study.slug and slug not in drafted
        ]
    return missing + own


def _ask_there(panel: Panel, filters: Criteria) -> tuple[FilterRequest, PanelStudy | None]:
    """The filters in the platform's form, and the draft there if there is one, which now has them."""
    with open_client(panel.platform) as client:
        asked = request_filters(panel, filters, client)
        return asked, None if panel.drafted_at is None else client.set_filters(panel.external_id, asked)


# --- what is asked there ----------------------------------------------------------------------------------------------


def request_filters(panel: Panel, filters: Criteria, client: PlatformClient) -> FilterRequest:
    """The filters as the platform takes them. Raises FilterUnknown."""
    studies = _ids_there(filters, panel.platform).values() if filters.by == BY_STUDY else ()
    people = _people(filters, panel.platform) if filters.by == BY_PERSON else ()
    return client.request_filters(filters, studies=studies, people=people)


def _ids_there(filters: Criteria, platform: str) -> dict[str, str]:
    """Slug to the panel's id, of the studies that are kept out and were drafted there."""
    drafted = Panel.objects.filter(platform=platform, study__slug__in=filters.not_from).exclude(
        external_id=""
    )
    return dict(drafted.order_by("pk").values_list("study__slug", "external_id"))


def _people(filters: Criteria, platform: str) -> tuple[str, ...]:
    came = Participant.objects.filter(platform=platform, study__slug__in=filters.not_from)
    ids = came.exclude(external_id="").order_by("external_id").values_list("external_id", flat=True)
    return tuple(ids.distinct())


def filter_differences(panel: Panel) -> list[str]:
    """The differences between the filters there and those that were drafted from here, as last read; no queries."""
    eligibility = eligibility_of(get_platform(panel.platform))
    if eligibility is None or not panel.drafted or not panel.there:
        return []
    return eligibility.differences(panel.drafted, panel.there)
