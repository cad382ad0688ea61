"""The bazaar as a platform: the ids in its addresses, its API, its filters and its news."""

import hashlib
import hmac
import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django import forms
from django.conf import settings as installation

from annotator.panels.platforms.api import Delivery, PlatformAPI, ReportedEvent
from annotator.panels.platforms.base import Departure, Platform, Setting, id_params, read_ids
from annotator.panels.platforms.eligibility import Criteria, Eligibility, FiltersInvalid, Preset
from annotator.panels.platforms.endings import LINK
from annotator.panels.platforms.errors import NoSecret, NotAnEvent, NotSetUp, NotSigned
from annotator.visit import Visit
from tests.rehearsal.bazaar.client import STALLS, TICKETS, BazaarClient
from tests.rehearsal.bazaar.server import AT_A_TIME

PARAMS = (("who", "external_id"), ("stall", "external_study_id"), ("ticket", "session_id"))
LABELS = {"tongues": "Speaks any of", "not_from": "Exclude participants of", "by": "Excluded"}


@dataclass(frozen=True, kw_only=True)
class Tongues(Criteria):
    tongues: tuple = ()
    by: str = "people"

    def as_json(self):
        return {name: list(value) for name, value in vars(self).items() if value and name != "by"}

    def with_preset(self, preset):
        return Tongues(tongues=preset.tongues, not_from=self.not_from)

    def sentences(self):
        return [f"speaks {' or '.join(self.tongues)}"] if self.tongues else []


class BazaarEligibility(Eligibility):
    labels = LABELS
    presets = {
        "caravan": Preset(
            key="caravan", label="Caravan", about="6 coins for speakers of Arabic.", currency="BZC",
            takes=Tongues(tongues=("Arabic",)), per_hour=Decimal(18), pay_per_item=Decimal(2),
        )
    }  # fmt: skip

    def read(self, given):
        unknown = [(name, "the bazaar does not ask for this.") for name in given if name not in LABELS]
        if unknown:
            raise FiltersInvalid(unknown, LABELS)
        tongues = given.get("tongues") or ()
        names = tongues.split(",") if isinstance(tongues, str) else tongues
        return Tongues(
            tongues=tuple(each.strip() for each in names), not_from=tuple(given.get("not_from") or ())
        )

    def form_fields(self):
        return {
            "tongues": forms.CharField(label=LABELS["tongues"], required=False),
            "not_from": forms.MultipleChoiceField(label=LABELS["not_from"], required=False),
            "by": forms.ChoiceField(label=LABELS["by"], choices=[("people", "by their ids")]),
        }

    def differences(self, drafted, there):
        return [] if drafted["tongues"] == there["tongues"] else ["other tongues are asked for there"]


class BazaarAPI(PlatformAPI):
    bonuses_at_once = AT_A_TIME
    bonuses_show_within = timedelta(0)
    smallest_amount = Decimal(1)
    max_code = 8
    webhook_secret_name = "ASSAY_BAZAAR_SEAL"
    eligibility = BazaarEligibility()

    def open(self, *, patience, wait):
        if not installation.ASSAY_BAZAAR_KEY:
            raise NotSetUp("ASSAY_BAZAAR_KEY is not set.")
        url, key = installation.ASSAY_BAZAAR_URL, installation.ASSAY_BAZAAR_KEY
        return BazaarClient(url, key, patience=patience, wait=wait)

    def setup_problems(self):
        if not installation.ASSAY_BAZAAR_KEY:
            yield "ASSAY_BAZAAR_KEY is not set."

    @property
    def is_local(self):
        return False

    @property
    def webhook_secret(self):
        return installation.ASSAY_BAZAAR_SEAL

    def code_type(self, outcome):
        return outcome

    def read_delivery(self, raw, headers):
        if not self.webhook_secret:
            raise NoSecret("ASSAY_BAZAAR_SEAL is not set.")
        signed = hmac.new(self.webhook_secret.encode(), raw, hashlib.sha256).hexdigest()
        if not hmac.compare_digest(signed, headers.get("Bazaar-Seal", "")):
            raise NotSigned("The seal is broken.")
        try:
            news = json.loads(raw)
            return Delivery(
                event_id=str(news["number"]),
                signature_hash=signed,
                kind=news["about"],
                occurred_at=datetime.fromisoformat(news["at"]),
                signed_at=datetime.fromisoformat(news["sealed_at"]),
                payload=news,
            )
        except (ValueError, KeyError) as wrong:
            raise NotAnEvent(str(wrong)) from None

    def read_event(self, payload):
        if payload["about"] != "ticket":
            status = STALLS.get(payload["now"], payload["now"])
            return ReportedEvent(study_id=payload["stall"], status=status, word=payload["now"])
        return ReportedEvent(
            study_id=payload["stall"],
            submission_id=payload["ticket"],
            participant_id=payload["person"],
            status=TICKETS.get(payload["now"], "unknown"),
            word=payload["now"],
        )

    def draft_warnings(self, study):
        if study.pay and study.pay < 3:
            yield "The bazaar laughs at so few coins."


class BazaarPlatform(Platform):
    key = "bazaar"
    label = "The Grand Bazaar"
    about = "People with tickets, who pass three ids."
    settings = (Setting("quarter", "Quarter", "Where the stall stands.", required=True),)
    params = tuple(name for name, _ in PARAMS)
    endings = LINK
    api = BazaarAPI()

    def needs_id(self, settings):
        return True

    def needs_code(self, outcome, settings):
        return outcome == "completed"

    def read_visit(self, params, settings):
        ids = read_ids(params, PARAMS)
        return Visit(self.key, **ids) if ids["external_id"] else Visit(self.key)

    def visit_params(self, visit, settings):
        return id_params(visit, PARAMS)

    def leave(self, outcome, code, visit, settings):
        return Departure(code=code, link=f"https://bazaar.example/back?word={code}" if code else "")

    def entry_address(self, address, settings):
        return f"{address}?who=<WHO>&stall=<STALL>&ticket=<TICKET>"
