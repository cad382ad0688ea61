"""Prolific as `annotator.panels.platforms.api.PlatformAPI` has it, set up from the environment."""

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage

from annotator.panels.platforms.addresses import LOOPBACK
from annotator.panels.platforms.api import Delivery, PlatformAPI, ReportedEvent
from annotator.panels.platforms.errors import NoSecret, NotSetUp
from annotator.panels.prolific import checks, webhooks
from annotator.panels.prolific.client import BONUSES_AT_ONCE, CENT, Client
from annotator.panels.prolific.drafts import CODE_TYPES, OTHER
from annotator.panels.prolific.eligibility import ProlificEligibility
from annotator.panels.prolific.presets import fair_pay_warning
from evaluation.models import Study

# Seconds before a second attempt.
FIRST_WAIT = 1.0


class ProlificAPI(PlatformAPI):
    bonuses_at_once = BONUSES_AT_ONCE
    # It pays bonuses in the minutes after it was asked to.
    bonuses_show_within = timedelta(minutes=15)
    smallest_amount = CENT
    wants_second_attempt = True
    webhook_secret_name = "ASSAY_PROLIFIC_WEBHOOK_SECRET"  # noqa: S105 - its name
    eligibility = ProlificEligibility()

    def open(self, *, patience: float, wait: Callable[[float], None]) -> Client:
        token = settings.ASSAY_PROLIFIC_TOKEN.strip()
        if not token:
            raise NotSetUp("ASSAY_PROLIFIC_TOKEN is not set, so Prolific can't be reached from here.")
        return Client(
            token, settings.ASSAY_PROLIFIC_URL, first_wait=FIRST_WAIT, patience=patience, sleep=wait
        )

    def setup_problems(self) -> Iterator[str]:
        if not settings.ASSAY_PROLIFIC_TOKEN.strip():
            yield "ASSAY_PROLIFIC_TOKEN is not set."

    @property
    def is_local(self) -> bool:
        return urlsplit(settings.ASSAY_PROLIFIC_URL).hostname in LOOPBACK

    @property
    def webhook_secret(self) -> str:
        secret: str = settings.ASSAY_PROLIFIC_WEBHOOK_SECRET
        return secret

    def code_type(self, outcome: str) -> str:
        return CODE_TYPES.get(outcome, OTHER)

    def read_delivery(self, raw: bytes, headers: Mapping[str, str]) -> Delivery:
        if not self.webhook_secret:
            raise NoSecret(f"{self.webhook_secret_name} is not set.")
        return webhooks.read_delivery(raw, headers, self.webhook_secret)

    def read_event(self, payload: Mapping[str, Any]) -> ReportedEvent:
        return webhooks.read_event(payload)

    def pay_warning(self, pay: Decimal, minutes: int, currency: str) -> str:
        return fair_pay_warning(pay, minutes, currency)

    def draft_warnings(self, study: Study) -> Iterator[str]:
        if study.pay:
            yield (
                f"Prolific pays {study.pay:.2f} in the currency of your account there, which Assay can't "
                f"read: it must be {study.currency}."
            )

    def check_settings(self, *, deploy: bool) -> list[CheckMessage]:
        return checks.check_webhook_secret() if deploy else checks.check_url()
