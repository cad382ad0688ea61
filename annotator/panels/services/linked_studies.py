"""Further studies on the panel whose people come to the same study here, one for a later visit each."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from annotator.models import LinkedStudy, Panel, PanelStatus
from annotator.panels.platforms import get_api, get_platform, statuses
from annotator.panels.platforms.api import PanelStudy, PlatformAPI
from annotator.panels.services.connection import open_client
from annotator.panels.services.preflight import codes_of
from annotator.panels.services.recruiting import drafted_id
from annotator.panels.services.retention.unsettled import unread_visits
from annotator.panels.visit_codes import COMPLETED, code_key, code_label, outcome_of
from evaluation.counting import counted
from evaluation.models import Study
from evaluation.refusals import Refused
from evaluation.services.history import log_action


def link_study(
    panel: Panel, external_id: str, visit_number: int, *, by: Any = None, reason: str = ""
) -> LinkedStudy:
    """Read and pay a further study there from here, too, as that of a later visit. Where that visit has no code yet,
    the code that the study there has for who completes it becomes the visit's.

    Raises Refused, NotSetUp or PanelError.
    """
    drafted_id(panel)
    external_id, label = external_id.strip(), get_platform(panel.platform).label
    if visit_number < 2:
        raise Refused("The first visit is that of the study that was drafted from here.")
    if visit_number > panel.study.visits:
        paid = counted(panel.study.visits, "visit")
        raise Refused(
            f"{paid} per participant: there is no visit {visit_number} to be paid. Raise that first."
        )
    asked = timezone.now()
    with open_client(panel.platform) as client:
        there = client.get_study(external_id)
    with transaction.atomic():
        # As codes are set: no two at once.
        study = Study.objects.select_for_update(no_key=True).get(pk=panel.study_id)
        others = Panel.objects.filter(platform=panel.platform, external_id=there.id)
        linked = LinkedStudy.objects.filter(platform=panel.platform, external_id=there.id)
        if others.exists() or linked.exists():
            raise Refused(f"{there.id} on {label} belongs to a study here already.")
        if (before := panel.linked_studies.filter(visit_number=visit_number).first()) is not None:
            raise Refused(f"Visit {visit_number} has a linked study already, {before}: unlink that first.")
        study.completion_codes = {**study.completion_codes, **_new_code(study, there, visit_number, panel)}
        study.save(update_fields=["completion_codes"])
        made = LinkedStudy.objects.create(
            panel=panel,
            platform=panel.platform,
            external_id=there.id,
            visit_number=visit_number,
            status=there.status,
            status_at=asked,
            places=there.places,
        )
        log_action(study=study, by=by, message=f"Linked {linked_sentence(made)}", reason=reason)
    panel.study.completion_codes = study.completion_codes
    return made


def unlink_study(panel: Panel, external_id: str, *, by: Any = None, reason: str = "") -> str:
    """Read and pay that study there from here no more; what it was, in a sentence. The visit keeps its code only where
    the study that was drafted from here has it, too: another one may come with the next study that is linked.

    Raises Refused, where submissions would be lost whose money is not settled or was paid; NotSetUp or PanelError.
    """
    first, label = drafted_id(panel), get_platform(panel.platform).label
    if not panel.linked_studies.filter(external_id=external_id.strip()).exists():
        raise Refused(f"{external_id.strip()!r} is not linked to this study.")
    with open_client(panel.platform) as client:
        there = client.get_study(first)
    with transaction.atomic():
        study = Study.objects.select_for_update(no_key=True).get(pk=panel.study_id)
        linked = panel.linked_studies.select_for_update().filter(external_id=external_id.strip()).first()
        if linked is None:
            raise Refused(f"{external_id.strip()!r} is not linked to this study.")
        if problems := list(_unlink_problems(linked, label)):
            raise Refused(*problems)
        said, key = linked_sentence(linked), code_key(COMPLETED, linked.visit_number)
        others = panel.linked_studies.filter(visit_number=linked.visit_number).exclude(pk=linked.pk)
        if codes_of(study).get(key) not in there.codes and not others.exists():
            study.completion_codes = {k: code for k, code in study.completion_codes.items() if k != key}
            study.save(update_fields=["completion_codes"])
        linked.delete()
        log_action(study=study, by=by, message=f"Unlinked {said}", reason=reason)
    panel.study.completion_codes = study.completion_codes
    return said


def _unlink_problems(linked: LinkedStudy, label: str) -> Iterator[str]:
    """Its records go with it, so they must be of people who left without pay, and nothing was asked about them."""
    left = Q(status__in=[PanelStatus.RETURNED, PanelStatus.TIMED_OUT], acts=None) & ~Q(bonuses__gt=0)
    if n := linked.records.exclude(left).count():
        said = counted(n, "submission", "submissions")
        yield f"{said} of {linked} on {label} would be lost, with what is owed for them or was decided."
    if n := unread_visits(linked.panel.study).filter(external_study_id=linked.external_id).count():
        said = counted(n, "visit has", "visits have")
        yield f"{said} come by {linked} and not been read from {label} yet: refresh from it first."


def linked_sentence(linked: LinkedStudy) -> str:
    state = statuses.study_label(linked.status)
    label = get_platform(linked.platform).label
    return f"Visit {linked.visit_number} on {label} ({linked.external_id}): {state}, {counted(linked.places, 'place')}."


def _new_code(study: Study, there: PanelStudy, visit_number: int, panel: Panel) -> Mapping[str, str]:
    """The visit's code, by its key, where it comes from the study there. Raises Refused where the codes there don't
    fit those here."""
    key, api = code_key(COMPLETED, visit_number), get_api(panel.platform)
    codes, label = codes_of(study), get_platform(panel.platform).label
    found: dict[str, str] = {}
    if key not in codes:
        own = [
            code
            for code, kind in there.codes.items()
            if kind == api.code_type(COMPLETED) and code not in codes.values()
        ]
        if len(own) != 1:
            raise Refused(
                f"{label} must have one code for who completes {there.id} that no other visit has; it has "
                f"{', '.join(own) or 'none'}."
            )
        found = {key: own[0]}
    if problems := list(_code_problems(codes | found, there.codes, key, api)):
        raise Refused(*(f"{there.id} on {label} {each} Correct it there first." for each in problems))
    return found


def _code_problems(
    codes: Mapping[str, str], there: Mapping[str, str], visit_key: str, api: PlatformAPI
) -> Iterator[str]:
    """The study there needs the visit's code and those of all other ends; of other visits it may have theirs."""
    for key, code in codes.items():
        is_needed = key == visit_key or outcome_of(key) != COMPLETED
        kind = there.get(code)
        if kind is None and is_needed:
            yield f"lacks the code {code} of “{code_label(key)}”."
        elif kind not in (None, api.code_type(key), api.code_type(outcome_of(key))):
            yield f"has the code {code} of “{code_label(key)}” as {kind}."
    for code in there.keys() - set(codes.values()):
        yield f"has the code {code}, which is none of this study's."
