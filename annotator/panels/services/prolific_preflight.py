"""The checks before a study is drafted on Prolific, in sentences for whoever drafts it."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from django.conf import settings
from django.utils import timezone

from annotator.models import ParticipantOutcome as Outcome
from annotator.panels.platforms import get_platform
from annotator.panels.prolific.presets import CENT, fair_pay_warning
from annotator.panels.services.panel_settings import panel_of
from annotator.selectors import people_needed, steps_in_force
from evaluation.models import Status, Study

PLATFORM = "prolific"
LOOPBACK = ("localhost", "127.0.0.1", "::1")
MAX_CODE = 40
ONE_ATTEMPT = "The qualification allows one attempt; Prolific requires two at a comprehension check."


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
    return [
        *_state_problems(study),
        *_code_problems(study),
        *_offer_problems(study),
        *address_problems(),
    ]


def _state_problems(study: Study) -> Iterator[str]:
    panel = panel_of(study)
    if panel is not None and panel.platform != PLATFORM:
        yield f"The study is set to {get_platform(panel.platform).label}, not to Prolific."
    if panel is not None and panel.drafted_at is not None:
        yield f"The study is already drafted on Prolific, as {panel.external_id}."
    if study.status not in (Status.LIVE, Status.PAUSED):
        yield f"The study is {study.get_status_display()}; launch it first, so that it has slots."
    elif people_needed(study, timezone.now()) == 0:
        yield "The study has no open slots: nobody is needed."


def _code_problems(study: Study) -> Iterator[str]:
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
        if len(code) > MAX_CODE or code.split() != [code]:
            yield f"The code {code!r} must have 1 to {MAX_CODE} characters and no spaces."


def _offer_problems(study: Study) -> Iterator[str]:
    if study.pay is None or study.pay <= 0:
        yield "The study has no pay."
    elif study.pay != study.pay.quantize(CENT):
        yield f"The pay of {study.pay} has more than two decimals."
    if not study.contact.strip():
        yield "The study has no contact; participants must be able to reach you."


def address_problems() -> Iterator[str]:
    if not settings.ASSAY_PROLIFIC_TOKEN.strip():
        yield "ASSAY_PROLIFIC_TOKEN is not set."
    # A panel on this machine is one that tries things out.
    if urlsplit(settings.ASSAY_PROLIFIC_URL).hostname in LOOPBACK:
        return
    parts = urlsplit(settings.ASSAY_PUBLIC_URL)
    if parts.hostname in LOOPBACK or not parts.hostname:
        yield f"ASSAY_PUBLIC_URL is {settings.ASSAY_PUBLIC_URL}, which participants can't reach."
    elif parts.scheme != "https":
        yield f"ASSAY_PUBLIC_URL is {settings.ASSAY_PUBLIC_URL}; it must use https."


def draft_warnings(study: Study) -> list[str]:
    """Sentences on what should be thought about before drafting, but does not prevent it."""
    found = []
    if study.pay:
        found.append(fair_pay_warning(study.pay, study.paid_minutes, study.currency))
        found.append(
            f"Prolific pays {study.pay:.2f} in the currency of your account there, which Assay can't "
            f"read: it must be {study.currency}."
        )
    rule = steps_in_force(study).get("qualification")
    if rule and (rule.get("attempts") or 1) < 2:
        found.append(f"{ONE_ATTEMPT} Use “Allow two attempts” on the workbench.")
    if not settings.ASSAY_PROLIFIC_WEBHOOK_SECRET:
        found.append("Without webhooks, returned places are free again only after the next sync.")
    return [each for each in found if each]
