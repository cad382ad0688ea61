"""What happens at the tests' own Prolific besides its API: its people, and the webhooks that tell of them."""

import json
import re
import threading
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from annotator.panels.prolific.signature import sign

FAULTS = {
    "429": "asks to wait (`429=2`: Retry-After 2 seconds; `429=date`: as a date) and does nothing",
    "500": "any status from 500: an error before anything is done",
    "400": "any status from 400: a refusal",
    "hang_up": "closes the connection before anything is done",
    "act_then_hang_up": "does what it is asked, and closes the connection instead of saying so",
    "act_then_500": "does what it is asked, and answers with an error",
    "act_then_wait": "does what it is asked, and says so after so many seconds (`act_then_wait=60`)",
    "act_then_garbage": "does what it is asked, and answers with what is no JSON",
    "slow": "answers after so many seconds (`slow=0.5`)",
}
# A submission that is over without having been completed, or that was rejected, gives its place back.
FREED = ("RETURNED", "TIMED-OUT", "SCREENED OUT", "REJECTED")


@dataclass(frozen=True)
class Asked:
    """A request that came, whatever became of it."""

    method: str
    path: str
    query: dict[str, str]
    body: Any


@dataclass(frozen=True)
class Event:
    """One occurrence as webhooks tell of it; every delivery of it has the same id."""

    id: str
    kind: str
    at: datetime
    body: dict[str, Any]


@dataclass
class Fault:
    method: str
    path: re.Pattern[str]
    what: str
    times: int


@dataclass
class Account:
    """The account: its studies and whatever happened in them. The server works on it under `lock`."""

    token: str = "a-token-of-the-tests"
    secret: str = "a-secret-of-the-tests"
    page_size: int = 20
    # Whether webhooks tell the time to the second only.
    whole_seconds: bool = False
    url: str = ""
    studies: dict[str, dict[str, Any]] = field(default_factory=dict)
    submissions: dict[str, dict[str, Any]] = field(default_factory=dict)
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    # Every bonus paid, in order: (submission, amount). A batch paid twice is here twice.
    paid: list[tuple[str, Decimal]] = field(default_factory=list)
    return_requests: list[tuple[str, list[str]]] = field(default_factory=list)
    subscriptions: dict[str, dict[str, Any]] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    requests: list[Asked] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    # Cents that it sets up beyond what was asked for.
    rounds_up: int = 0
    # The panel's clock runs this far ahead of ours.
    ahead: timedelta = timedelta()
    lock: threading.RLock = field(default_factory=threading.RLock)
    # Whoever is kept waiting is let go when the server ends.
    closing: threading.Event = field(default_factory=threading.Event)

    # --- for tests: what went on -----------------------------------------------------------------------------

    def sent(self, method: str = "", path: str = "") -> list[Asked]:
        """The requests of a method, whose path a pattern is found in."""
        with self.lock:
            return [a for a in self.requests if method in ("", a.method) and re.search(path, a.path)]

    def fail(self, method: str, path: str, what: str, times: int = 1) -> None:
        """The next requests of a method to a path fail (see FAULTS), in the order in which that was said."""
        if not re.fullmatch(r"[45]\d\d(=.+)?|" + "|".join(f"{name}(=.+)?" for name in FAULTS), what):
            raise ValueError(f"{what!r} is no fault; there are {', '.join(FAULTS)}")
        self.faults.append(Fault(method, re.compile(path), what, times))

    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    # --- for tests: what participants do there ---------------------------------------------------------------

    def arrive(self, study: str, person: str, *, submission: str = "") -> str:
        """A person takes a place; the id of their submission. Who has as many as the study allows one person, or one
        that is still open, can't come again; those that were given up don't count."""
        with self.lock:
            there = self.studies[study]
            if there["status"] != "ACTIVE":
                raise ValueError(f"The study is {there['status']}.")
            if self.places_taken(study) >= there["total_available_places"]:
                raise ValueError("There are no places left.")
            theirs = [
                s for s in self.submissions.values() if (s["study_id"], s["participant"]) == (study, person)
            ]
            standing = [each for each in theirs if each["status"] not in ("RETURNED", "TIMED-OUT")]
            allowed = there.get("submissions_config", {}).get("max_submissions_per_participant", 1)
            if len(standing) >= allowed or any(each["status"] == "ACTIVE" for each in standing):
                raise ValueError(f"{person} has a submission already.")
            made = submission or new_id()
            self.submissions[made] = {
                "id": made, "study_id": study, "participant": person, "status": "ACTIVE", "started_at": self.now(),
                "completed_at": None, "code": None, "return_requested": None, "message": "", "category": "",
                "bonuses": [],
            }  # fmt: skip
            self._tell(made)
            return made

    def address(self, submission: str) -> str:
        """Where the person is sent, the placeholders filled in."""
        one = self.submissions[submission]
        address = self.studies[one["study_id"]]["external_study_url"]
        known = {"PROLIFIC_PID": one["participant"], "STUDY_ID": one["study_id"], "SESSION_ID": submission}
        for name, value in known.items():
            address = address.replace("{{%" + name + "%}}", value)
        return str(address)

    def complete(self, submission: str, code: str) -> str:
        """The person comes back with a code, which says what happens next; the new status."""
        with self.lock:
            one = self.submissions[submission]
            if one["status"] not in ("ACTIVE", "TIMED-OUT"):
                raise ValueError(f"The submission is {one['status']}.")
            one["code"], one["completed_at"] = code, self.now()
            known = {each["code"]: each for each in self.studies[one["study_id"]]["completion_codes"]}
            actions = {each["action"] for each in known.get(code, {}).get("actions", ())}
            if "REQUEST_RETURN" in actions:
                one["return_requested"] = self.now()
            return self.become(
                submission, "APPROVED" if "AUTOMATICALLY_APPROVE" in actions else "AWAITING REVIEW"
            )

    def give_back(self, submission: str) -> str:
        """The person returns the submission."""
        with self.lock:
            if self.submissions[submission]["status"] not in ("ACTIVE", "AWAITING REVIEW"):
                raise ValueError(f"The submission is {self.submissions[submission]['status']}.")
            return self.become(submission, "RETURNED")

    def time_out(self, submission: str) -> str:
        """The panel gives up waiting."""
        with self.lock:
            if self.submissions[submission]["status"] != "ACTIVE":
                raise ValueError(f"The submission is {self.submissions[submission]['status']}.")
            return self.become(submission, "TIMED-OUT")

    def places_taken(self, study: str) -> int:
        theirs = [each for each in self.submissions.values() if each["study_id"] == study]
        return sum(each["status"] not in FREED for each in theirs)

    # --- webhooks --------------------------------------------------------------------------------------------

    def deliver(
        self, target: str, events: Iterable[Event] | None = None, *, secret: str | None = None
    ) -> list[int]:
        """Posts these events, as often and in the order in which they are given; the statuses of the answers."""
        return [
            self.post(target, event, secret=secret)
            for event in list(self.events if events is None else events)
        ]

    def post(self, target: str, event: Event, *, secret: str | None = None) -> int:
        """One delivery. The headers tell when it occurred, and are signed anew."""
        # With blanks and in an order that a parser would not write again.
        raw = json.dumps(event.body, indent=1).encode()
        request = urllib.request.Request(
            target, data=raw, headers=self.headers(event, raw, secret), method="POST"
        )
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(
                request, timeout=30
            ) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            with error:
                return error.code

    def headers(self, event: Event, raw: bytes, secret: str | None = None) -> dict[str, str]:
        signed_at = str(int(time.time()))
        return {
            "Content-Type": "application/json",
            "X-Event-ID": event.id,
            "X-Timestamp": f"{event.at.timestamp():.{0 if self.whole_seconds else 6}f}",
            "X-Prolific-Request-Timestamp": signed_at,
            "X-Prolific-Request-Signature": sign(raw, signed_at, self.secret if secret is None else secret),
        }

    def become(self, submission: str, status: str) -> str:
        self.submissions[submission]["status"] = status
        self._tell(submission)
        self._settle(self.submissions[submission]["study_id"])
        return status

    def _settle(self, study: str) -> None:
        """A study whose places are all taken and done with waits for its review; one that got a place back goes on."""
        there = self.studies[study]
        at_it = any(s["study_id"] == study and s["status"] == "ACTIVE" for s in self.submissions.values())
        full = not at_it and self.places_taken(study) >= there["total_available_places"]
        before, after = ("ACTIVE", "AWAITING REVIEW") if full else ("AWAITING REVIEW", "ACTIVE")
        if there["status"] == before:
            there["status"] = after
            self.tell_study(study)

    def _tell(self, submission: str) -> None:
        one = self.submissions[submission]
        body = {
            "resource_id": submission,
            "event_type": "submission.status.change",
            "participant_id": one["participant"],
            "status": one["status"],
        }
        self.events.append(Event(new_id(), "submission.status.change", self.now(), body))

    def tell_study(self, study: str) -> None:
        body = {
            "resource_id": study,
            "event_type": "study.status.change",
            "metadata": {},
            "status": self.studies[study]["status"],
        }
        self.events.append(Event(new_id(), "study.status.change", self.now(), body))


def new_id() -> str:
    """Prolific's ids have 24 hexadecimal digits."""
    return uuid.uuid4().hex[:24]
