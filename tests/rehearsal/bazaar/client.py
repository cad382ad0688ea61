"""The client of the bazaar's API, as a platform's package has one."""

from datetime import datetime
from decimal import Decimal

from annotator.panels.platforms import statuses
from annotator.panels.platforms.api import (
    BonusBatch,
    PanelStudy,
    PanelSubmission,
    PlatformClient,
    StudyAction,
)
from annotator.panels.platforms.eligibility import FilterRequest, FilterUnknown
from annotator.panels.platforms.errors import PanelBusy, PanelError, PanelUnreachable
from tests.rehearsal.bazaar.server import SERVERS

STALLS = {
    "packed": statuses.DRAFT,
    "open": statuses.ACTIVE,
    "shut": statuses.PAUSED,
    "over": statuses.COMPLETED,
}
TICKETS = {
    "inside": "active",
    "handed_in": "awaiting_review",
    "paid": "approved",
    "thrown_out": "rejected",
    "left": "returned",
    "expired": "timed_out",
}
VERBS = {StudyAction.PUBLISH: "open", StudyAction.START: "open", StudyAction.PAUSE: "shut"}
TONGUES = ("Arabic", "French")


class BazaarClient(PlatformClient):
    def __init__(self, url, key, *, patience, wait):
        self.server, self.key, self.patience, self.wait = SERVERS.get(url), key, patience, wait

    def close(self):
        self.server = None

    # --- studies ---

    def create_study(self, draft):
        return _study(self._ask("POST", "/stalls", _stall(draft)))

    def update_study(self, study, draft):
        return _study(self._ask("PUT", f"/stalls/{study}", _stall(draft)))

    def get_study(self, study):
        return _study(self._ask("GET", f"/stalls/{study}"))

    def list_studies(self):
        return [_study(each) for each in self._list("/stalls")]

    def transition_study(self, study, action):
        return _study(self._ask("POST", f"/stalls/{study}/{VERBS[action]}"))

    def set_places(self, study, places):
        return _study(self._ask("PUT", f"/stalls/{study}", {"seats": places}))

    def request_filters(self, criteria, *, studies, people):
        for each in criteria.tongues:
            if each not in TONGUES:
                raise FilterUnknown("tongues", f"Nobody at the bazaar speaks {each!r}.")
        wanted = {"tongues": list(criteria.tongues), "not_people": sorted(people)}
        return FilterRequest(wanted, {"tongues": wanted["tongues"]})

    def set_filters(self, study, filters):
        there = self._ask("GET", f"/stalls/{study}")
        return _study(self._ask("PUT", f"/stalls/{study}", {**there, "takes": filters.fields}))

    # --- submissions ---

    def list_submissions(self, study, *, watch=None):
        found = []
        for each in self._list(f"/stalls/{study}/tickets"):
            found.append(_submission(each))
            if watch is not None:
                watch(len(found), len(found))
        return found

    def get_submission(self, submission):
        return _submission(self._ask("GET", f"/tickets/{submission}"))

    def approve(self, submission):
        return _submission(self._ask("POST", f"/tickets/{submission}/pay", {}))

    def reject(self, submission, *, reason, category):
        note = f"{category.lower()}: {reason}"
        return _submission(self._ask("POST", f"/tickets/{submission}/throw_out", {"note": note}))

    def request_return(self, submission, reason):
        self._ask("POST", f"/tickets/{submission}/ask_back", {"note": reason})

    # --- bonuses ---

    def create_bonuses(self, study, amounts):
        tips = [{"ticket": ticket, "coins": int(amount)} for ticket, amount in amounts]
        made = self._ask("POST", f"/stalls/{study}/purses", {"tips": tips})
        return BonusBatch(made["purse"], Decimal(made["coins"]))

    def pay_bonuses(self, batch):
        self._ask("POST", f"/purses/{batch}/pay")

    # --- webhooks ---

    def create_secret(self, workspace):
        return self._ask("POST", "/seals", {"quarter": workspace})["seal"]

    def subscribe(self, workspace, target):
        return ["news"] if self._ask("POST", "/runners", {"quarter": workspace, "to": target})["new"] else []

    # --- how it is asked ---

    def _list(self, path):
        rest = "0"
        while rest is not None:
            page = self._ask("GET", path, {"rest": rest})
            yield from page["rows"]
            rest = page["rest"]

    def _ask(self, method, path, body=None):
        """Once more after the seconds that it asks for, if the patience lasts so long."""
        try:
            return self._try(method, path, body)
        except PanelBusy as busy:
            if busy.after > self.patience:
                raise
            self.wait(busy.after)
        return self._try(method, path, body)

    def _try(self, method, path, body):
        if self.server is None:
            raise PanelUnreachable("The bazaar can't be found.", sent=False)
        answer = self.server.answer(method, path, body, self.key)
        if answer is None:
            raise PanelUnreachable("The bazaar fell silent.", sent=True)
        status, said = answer
        if status == 420:
            raise PanelBusy(status, said["no"], sent=False, after=said["come_back"])
        if status != 200:
            raise PanelError(422 if status == 409 else status, f"The bazaar refused: {said['no']}")
        return said


def _stall(draft):
    words = {each.code: {"for": each.outcome, "ask_back": each.return_reason} for each in draft.codes}
    return {
        "title": draft.name, "memo": draft.internal_name, "cry": draft.description, "link": draft.address,
        "words": words, "seats": draft.places, "minutes": draft.minutes, "coins": int(draft.pay),
        "quarter": draft.settings["quarter"], "takes": draft.filters.fields,
    }  # fmt: skip


def _study(stall):
    return PanelStudy(
        id=stall["stall"],
        internal_name=stall["memo"],
        status=STALLS[stall["state"]],
        places=stall["seats"],
        codes={word: each["for"] for word, each in stall["words"].items()},
        eligibility={"tongues": stall["takes"]["tongues"]},
    )


def _submission(ticket):
    return PanelSubmission(
        id=ticket["ticket"],
        study_id=ticket["stall"],
        participant_id=ticket["person"],
        status=TICKETS.get(ticket["state"], "unknown"),
        started_at=_moment(ticket["begun"]),
        completed_at=_moment(ticket["done"]),
        code=ticket["word"],
        return_requested_at=_moment(ticket["asked_back"]),
        bonuses=tuple(Decimal(coins) for coins in ticket["tips"] or ()),
    )


def _moment(written):
    return datetime.fromisoformat(written) if written else None
