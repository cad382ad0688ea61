"""The checks before a study is drafted on its platform, in sentences for whoever drafts it."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from django.conf import settings
from django.utils import timezone

from annotator.models import ParticipantOutcome as Outcome
from annotator.panels.platforms import Platform
from annotator.panels.platforms.addresses import LOOPBACK
from annotator.panels.platforms.api import PlatformAPI
from annotator.panels.services.panel_settings import panel_of, platform_to_draft
from annotator.selectors.admission import steps_in_force
from annotator.selectors.arms import people_needed
from evaluation.models import Status, Study


def needed_outcomes(study: Study) -> list[str]:
    """The outcomes that a participant of this study can come to, each of which wants a code."""
    steps = steps_in_force(study)
    attention = steps.get("attention") or {}
    can = {
        Outcome.COMPLETED: True,
        Outcome.NO_CONSENT: bool(steps.get("consent")),
        Outcome.FAILED_QUALIFICATION: bool(steps.get("qualification")),
        Outcome.FAILED_ATTENTION: attention.get("allowed_failures") is not None,
        Outcome.FULL: True,
        Outcome.WITHDRAWN: True,
    }
    return [outcome for outcome, possible in can.items() if possible]


def codes_of(study: Study) -> dict[str, str]:
    """Outcome to code, of those that have one."""
    return {outcome: str(code) for outcome, code in study.completion_codes.items() if str(code or "").strip()}


def draft_problems(study: Study) -> list[str]:
    """Every sentence that says why the study can't be drafted yet."""
    platform = platform_to_draft(study)
    if platform.api is None:
        return [f"The study is set to {platform.label}, which can't be reached from here."]
    return [
        *_state_problems(study, platform),
        *_code_problems(study, platform.api),
        *_offer_problems(study, platform.api),
        *address_problems(platform.api),
    ]


def _state_problems(study: Study, platform: Platform) -> Iterator[str]:
    panel = panel_of(study)
    if panel is not None and panel.drafted_at is not None:
        yield f"The study is already drafted on {platform.label}, as {panel.external_id}."
    if study.status not in (Status.LIVE, Status.PAUSED):
        yield f"The study is {study.get_status_display()}; launch it first, so that it has slots."
    elif people_needed(study, timezone.now()) == 0:
        yield "The study has no open slots: nobody is needed."


def _code_problems(study: Study, api: PlatformAPI) -> Iterator[str]:
    codes = codes_of(study)
    for outcome in needed_outcomes(study):
        if outcome not in codes:
            yield f"The outcome “{Outcome(outcome).label}” has no completion code."
    by_code: dict[str, list[str]] = {}
    for outcome, code in codes.items():
        by_code.setdefault(code, []).append(outcome)
    for code, outcomes in by_code.items():
        if len(outcomes) > 1:
            yield f"The code {code!r} is used for several outcomes: {', '.join(sorted(outcomes))}."
        if len(code) > api.max_code or code.split() != [code]:
            yield f"The code {code!r} must have 1 to {api.max_code} characters and no spaces."


def _offer_problems(study: Study, api: PlatformAPI) -> Iterator[str]:
    if study.pay is None or study.pay <= 0:
        yield "The study has no pay."
    elif not api.is_payable(study.pay):
        yield f"The pay of {study.pay} is not in steps of {api.smallest_amount}."
    if not study.contact.strip():
        yield "The study has no contact; participants must be able to reach you."


def address_problems(api: PlatformAPI) -> Iterator[str]:
    """Sentences on why this installation can't reach the platform, or be reached from there."""
    yield from api.setup_problems()
    if api.is_local:
        return
    parts = urlsplit(settings.ASSAY_PUBLIC_URL)
    if parts.hostname in LOOPBACK or not parts.hostname:
        yield f"ASSAY_PUBLIC_URL is {settings.ASSAY_PUBLIC_URL}, which participants can't reach."
    elif parts.scheme != "https":
        yield f"ASSAY_PUBLIC_URL is {settings.ASSAY_PUBLIC_URL}; it must use https."


def draft_warnings(study: Study) -> list[str]:
    """Sentences on what should be thought about before drafting, but does not prevent it."""
    platform = platform_to_draft(study)
    if platform.api is None:
        return []
    api, found = platform.api, []
    if study.pay:
        found.append(api.pay_warning(study.pay, study.paid_minutes, study.currency))
    found += api.draft_warnings(study)
    if lacks_second_attempt(study, api):
        found.append(f"{one_attempt(platform)} Use “Allow two attempts” on the overview.")
    if not api.webhook_secret:
        found.append("Without webhooks, returned places are free again only after the next sync.")
    return [each for each in found if each]


def lacks_second_attempt(study: Study, api: PlatformAPI) -> bool:
    """True where the platform wants a second attempt at the qualification, and the study allows one."""
    rule = steps_in_force(study).get("qualification") or {}
    return api.wants_second_attempt and bool(rule) and (rule.get("attempts") or 1) < 2


def one_attempt(platform: Platform) -> str:
    return f"The qualification allows one attempt; {platform.label} requires two at a comprehension check."
