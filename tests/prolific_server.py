"""Prolific for tests: a real HTTP server on 127.0.0.1 that behaves as its public docs say, and fails on order.

    with prolific_server.serve() as prolific:
        settings.ASSAY_PROLIFIC_URL, settings.ASSAY_PROLIFIC_TOKEN = prolific.url, prolific.token
        ...
        someone = prolific.arrive(study_id, "person-1")          # what a participant does there
        prolific.complete(someone, "CODE")
        prolific.fail("POST", r"/pay/", "act_then_hang_up")      # the next such request
        assert len(prolific.sent("POST", r"/pay/")) == 1         # what was asked of it
        prolific.deliver(webhook_url, [*prolific.events, *prolific.events][::-1])   # twice, and backwards

What it knows of Prolific's rules: the token; drafts that are published, paused and started; places that only grow;
codes that are distinct; pages of 20; rejections with a category and 100 characters; approvals that may be repeated;
bonuses that are PAID AGAIN when they are paid again (`prolific.paid` has every payment made). Of a webhook's two
times, X-Timestamp says when it occurred, and the signature's own when this delivery was signed.
"""

import contextlib
import json
import re
import socket
import threading
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from annotator.platforms.prolific.signature import sign

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
REQUIRED = (
    "name", "description", "external_study_url", "prolific_id_option", "completion_codes", "total_available_places",
    "estimated_completion_time", "reward",
)  # fmt: skip
CODE_TYPES = {
    "COMPLETED", "FAILED_ATTENTION_CHECK", "FOLLOW_UP_STUDY", "GIVE_BONUS", "INCOMPATIBLE_DEVICE", "NO_CONSENT",
    "OTHER", "FIXED_SCREENOUT", "SCREENED_IN", "SCREENED_OUT",
}  # fmt: skip
CODE_ACTIONS = {"AUTOMATICALLY_APPROVE", "MANUALLY_REVIEW", "REQUEST_RETURN"}
CATEGORIES = {
    "TOO_QUICKLY", "TOO_SLOWLY", "FAILED_INSTRUCTIONS", "INCOMP_LONGITUDINAL", "FAILED_CHECK", "LOW_EFFORT",
    "MALINGERING", "NO_CODE", "BAD_CODE", "NO_DATA", "UNSUPP_DEVICE", "OTHER",
}  # fmt: skip
MANY = 1_000_000
# In the hundredth part of the currency, per hour.
LEAST_PER_HOUR = 600
TRANSITIONS = {
    ("UNPUBLISHED", "PUBLISH"): "ACTIVE",
    ("ACTIVE", "PAUSE"): "PAUSED",
    ("PAUSED", "START"): "ACTIVE",
    ("ACTIVE", "STOP"): "COMPLETED",
    ("PAUSED", "STOP"): "COMPLETED",
}
# A submission that is over without having been completed, or that was rejected, gives its place back.
FREED = ("RETURNED", "TIMED-OUT", "SCREENED OUT", "REJECTED")
EVENT_KINDS = (
    "study.status.change", "study.progress.change", "submission.status.change", "study.has_high_return_rate",
)  # fmt: skip
FILTERS: list[dict[str, Any]] = [
    {"filter_id": "approval_rate", "title": "Approval Rate", "type": "range", "min": 0, "max": 100},
    {
        "filter_id": "approval_numbers", "title": "Number of previous submissions", "type": "range",
        "min": 0, "max": 10_000,
    },
    {
        "filter_id": "fluent-languages", "title": "Fluent languages", "type": "select",
        "choices": {"4": "Arabic", "19": "English", "23": "French"},
    },
    {
        "filter_id": "first-language", "title": "First Language", "type": "select",
        "choices": {"4": "Arabic", "19": "English", "23": "French"},
    },
    {
        "filter_id": "current-country-of-residence", "title": "Current Country of Residence", "type": "select",
        "choices": {"0": "United Kingdom", "1": "United States", "38": "Canada", "77": "Germany"},
    },
    {
        "filter_id": "highest-education-level-completed", "title": "Highest education level completed",
        "type": "select",
        "choices": {
            "0": "No formal qualifications", "2": "High school diploma/A-levels", "3": "Technical/community college",
            "4": "Undergraduate degree (BA/BSc/other)", "5": "Graduate degree (MA/MSc/MPhil/other)",
            "6": "Doctorate degree (PhD/other)",
        },
    },
]  # fmt: skip


class Refused(Exception):
    """The API's answer to what it does not take."""

    def __init__(self, status: int, detail: Any, title: str = "") -> None:
        super().__init__(str(detail))
        self.status = status
        self.body = {
            "error": {
                "status": status,
                "error_code": 140_000 + status,
                "title": title
                or {400: "Bad request", 401: "Unauthorised", 404: "Not found"}.get(status, "Error"),
                "detail": detail,
                "additional_information": "",
            }
        }


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
class Prolific:
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
        """A person takes a place; the id of their submission. Who has one that is not given up can't come again."""
        with self.lock:
            there = self.studies[study]
            if there["status"] != "ACTIVE":
                raise ValueError(f"The study is {there['status']}.")
            if self.places_taken(study) >= there["total_available_places"]:
                raise ValueError("There are no places left.")
            theirs = [
                s for s in self.submissions.values() if (s["study_id"], s["participant"]) == (study, person)
            ]
            if any(each["status"] not in ("RETURNED", "TIMED-OUT") for each in theirs):
                raise ValueError(f"{person} has a submission already.")
            made = submission or _new_id()
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
            return self._become(
                submission, "APPROVED" if "AUTOMATICALLY_APPROVE" in actions else "AWAITING REVIEW"
            )

    def give_back(self, submission: str) -> str:
        """The person returns the submission."""
        with self.lock:
            if self.submissions[submission]["status"] not in ("ACTIVE", "AWAITING REVIEW"):
                raise ValueError(f"The submission is {self.submissions[submission]['status']}.")
            return self._become(submission, "RETURNED")

    def time_out(self, submission: str) -> str:
        """The panel gives up waiting."""
        with self.lock:
            if self.submissions[submission]["status"] != "ACTIVE":
                raise ValueError(f"The submission is {self.submissions[submission]['status']}.")
            return self._become(submission, "TIMED-OUT")

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

    def _become(self, submission: str, status: str) -> str:
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
            self._tell_study(study)

    def _tell(self, submission: str) -> None:
        one = self.submissions[submission]
        body = {
            "resource_id": submission,
            "event_type": "submission.status.change",
            "participant_id": one["participant"],
            "status": one["status"],
        }
        self.events.append(Event(_new_id(), "submission.status.change", self.now(), body))

    def _tell_study(self, study: str) -> None:
        body = {
            "resource_id": study,
            "event_type": "study.status.change",
            "metadata": {},
            "status": self.studies[study]["status"],
        }
        self.events.append(Event(_new_id(), "study.status.change", self.now(), body))

    # --- the API: (method, pattern of the path) -> what does it ------------------------------------------------

    def act(self, asked: Asked) -> tuple[int, Any, dict[str, str]]:
        for method, pattern, name in ROUTES:
            match = re.fullmatch(pattern, asked.path)
            if match and method == asked.method:
                with self.lock:
                    answered = getattr(self, name)(asked, *match.groups())
                return answered if len(answered) == 3 else (*answered, {})
        raise Refused(404, "Not found.")

    def make_study(self, asked: Asked) -> tuple[int, Any]:
        missing = {
            name: ["This field is required."] for name in REQUIRED if asked.body.get(name) in (None, "")
        }
        if missing:
            raise Refused(400, missing)
        study = {
            "id": _new_id(), "status": "UNPUBLISHED", "internal_name": "", "filters": [], "maximum_allowed_time": None,
            "device_compatibility": [], "date_created": self.now(), **asked.body,
        }  # fmt: skip
        self._check_study(study)
        self.studies[study["id"]] = study
        return 201, self._shown_study(study)

    def all_studies(self, asked: Asked) -> tuple[int, Any]:
        return 200, {"results": [self._shown_study(each) for each in self.studies.values()]}

    def one_study(self, asked: Asked, study: str) -> tuple[int, Any]:
        return 200, self._shown_study(self._study(study))

    def change_study(self, asked: Asked, study: str) -> tuple[int, Any]:
        there = self._study(study)
        if there["status"] != "UNPUBLISHED":
            if set(asked.body) - {"internal_name", "total_available_places"}:
                raise Refused(400, "A published study can't be changed in this way.")
            if asked.body.get("total_available_places", MANY) < there["total_available_places"]:
                raise Refused(
                    400, {"total_available_places": ["The number of places can only be increased."]}
                )
            if there["status"] in ("COMPLETED", "AWAITING REVIEW"):
                there["status"] = "ACTIVE"
        changed = {**there, **asked.body}
        self._check_study(changed)
        there.update(changed)
        return 200, self._shown_study(there)

    def move_study(self, asked: Asked, study: str) -> tuple[int, Any]:
        there = self._study(study)
        action = asked.body.get("action")
        if (there["status"], action) not in TRANSITIONS:
            raise Refused(400, f"The action {action} is not possible while the study is {there['status']}.")
        there["status"] = TRANSITIONS[(there["status"], action)]
        self._tell_study(study)
        return 200, self._shown_study(there)

    def filters(self, asked: Asked) -> tuple[int, Any]:
        return 200, {"results": FILTERS}

    def all_submissions(self, asked: Asked) -> tuple[int, Any]:
        if "study" not in asked.query:
            raise Refused(400, {"study": ["This field is required."]})
        rows = [each for each in self.submissions.values() if each["study_id"] == asked.query["study"]]
        wanted = re.sub(r"[\s_-]", "", asked.query.get("status", "")).upper()
        rows = [each for each in rows if wanted in ("", re.sub(r"[\s_-]", "", each["status"]))]
        rows.sort(
            key=lambda each: each["started_at"], reverse=asked.query.get("ordering", "").startswith("-")
        )
        # A page is never larger than the server's own, whatever was asked for.
        size = min(int(asked.query.get("page_size", self.page_size)), self.page_size)
        page = int(asked.query.get("page", 1))
        if page > 1 and (page - 1) * size >= len(rows):
            raise Refused(404, "Invalid page.")
        shown = [_shown_short(each) for each in rows[(page - 1) * size : page * size]]
        return 200, {"results": shown, "meta": {"count": len(rows)}}

    def one_submission(self, asked: Asked, submission: str) -> tuple[int, Any]:
        return 200, _shown_submission(self._submission(submission))

    def move_submission(self, asked: Asked, submission: str) -> tuple[int, Any]:
        one = self._submission(submission)
        action = asked.body.get("action")
        if action == "APPROVE":
            target = "APPROVED"
        elif action == "REJECT":
            target = "REJECTED"
            self._check_rejection(asked.body)
        else:
            raise Refused(400, {"action": [f"{action} is not a valid choice."]})
        if one["status"] == target:
            return 200, _shown_submission(one)
        if one["status"] not in ("AWAITING REVIEW", "TIMED-OUT"):
            raise Refused(400, f"A submission that is {one['status']} can't become {target}.")
        if target == "REJECTED":
            one["message"], one["category"] = asked.body["message"], asked.body["rejection_category"]
        self._become(submission, target)
        return 200, _shown_submission(one)

    def ask_to_return(self, asked: Asked, submission: str) -> tuple[int, Any]:
        one = self._submission(submission)
        reasons = asked.body.get("request_return_reasons")
        if not isinstance(reasons, list) or not reasons:
            raise Refused(400, {"request_return_reasons": ["This field is required."]})
        if one["status"] not in ("ACTIVE", "AWAITING REVIEW"):
            raise Refused(400, f"A submission that is {one['status']} can't be returned.")
        self.return_requests.append((submission, reasons))
        one["return_requested"] = self.now()
        shown = {"id": submission, "status": one["status"], "participant": one["participant"]}
        return 200, {**shown, "return_requested": one["return_requested"]}

    def make_bonuses(self, asked: Asked) -> tuple[int, Any]:
        study = self._study(asked.body.get("study_id", ""))["id"]
        rows, unknown = [], []
        for line in asked.body.get("csv_bonuses", "").splitlines():
            who, _, written = line.partition(",")
            try:
                amount = Decimal(written)
            except InvalidOperation:
                raise Refused(400, {"csv_bonuses": [f"{written!r} is not an amount."]}) from None
            theirs = [
                each["id"]
                for each in self.submissions.values()
                if each["study_id"] == study and who in (each["id"], each["participant"])
            ]
            if theirs:
                rows.append((theirs[-1], amount))
            else:
                unknown.append(who)
        if unknown or not rows:
            raise Refused(400, {"csv_bonuses": [f"These took no part in the study: {', '.join(unknown)}."]})
        made = _new_id()
        self.batches[made] = {"study": study, "rows": rows, "times_paid": 0}
        cents = int(sum(amount for _, amount in rows) * 100)
        shown = {"id": made, "study": study, "amount": cents, "fees": cents / 3, "vat": 0}
        return 201, {**shown, "total_amount": cents * 4 / 3}

    def pay(self, asked: Asked, batch: str) -> tuple[int, Any]:
        if batch not in self.batches:
            raise Refused(404, "Not found.")
        self.batches[batch]["times_paid"] += 1
        for submission, amount in self.batches[batch]["rows"]:
            self.paid.append((submission, amount))
            self.submissions[submission]["bonuses"].append(int(amount * 100))
        return 202, "The bonuses will be paid."

    def event_kinds(self, asked: Asked) -> tuple[int, Any]:
        return 200, {"results": [{"event_type": kind, "description": kind} for kind in EVENT_KINDS]}

    def make_secret(self, asked: Asked) -> tuple[int, Any]:
        self.secret = _new_id()
        return 201, {"id": _new_id(), "value": self.secret, "workspace_id": asked.body["workspace_id"]}

    def all_subscriptions(self, asked: Asked) -> tuple[int, Any]:
        wanted = asked.query.get("workspace_id", "")
        return 200, {"results": [s for s in self.subscriptions.values() if wanted in ("", s["workspace_id"])]}

    def make_subscription(self, asked: Asked) -> tuple[int, Any, dict[str, str]]:
        if not str(asked.body.get("target_url", "")).startswith("https://"):
            raise Refused(400, {"target_url": ["It must use https."]})
        if asked.body.get("event_type") not in EVENT_KINDS:
            raise Refused(400, {"event_type": ["There is no such event."]})
        made = {"id": _new_id(), "is_enabled": False, **asked.body}
        self.subscriptions[made["id"]] = made
        return 201, made, {"X-Hook-Secret": f"hook-{made['id']}"}

    def confirm_subscription(self, asked: Asked, subscription: str) -> tuple[int, Any]:
        if subscription not in self.subscriptions:
            raise Refused(404, "Not found.")
        if asked.body.get("secret") != f"hook-{subscription}":
            raise Refused(400, {"secret": ["It is not the one that was sent."]})
        self.subscriptions[subscription]["is_enabled"] = True
        return 200, self.subscriptions[subscription]

    # --- its rules -------------------------------------------------------------------------------------------

    def _study(self, study: str) -> dict[str, Any]:
        if study not in self.studies:
            raise Refused(404, "Not found.")
        return self.studies[study]

    def _submission(self, submission: str) -> dict[str, Any]:
        if submission not in self.submissions:
            raise Refused(404, "Not found.")
        return self.submissions[submission]

    def _check_study(self, study: dict[str, Any]) -> None:
        wrong: dict[str, list[str]] = {}
        codes = study["completion_codes"]
        if len({each.get("code") for each in codes}) != len(codes):
            wrong["completion_codes"] = ["Every code must be used once only."]
        for each in codes:
            if each.get("code_type") not in CODE_TYPES or each.get("actor", "participant") != "participant":
                wrong["completion_codes"] = [f"{each} is not a valid code."]
            if not each.get("actions") or any(a.get("action") not in CODE_ACTIONS for a in each["actions"]):
                wrong["completion_codes"] = ["Every code needs valid actions."]
        least = LEAST_PER_HOUR * study["estimated_completion_time"]
        if not isinstance(study["reward"], int) or study["reward"] * 60 < least:
            wrong["reward"] = ["The reward per hour is below the minimum."]
        if not isinstance(study["total_available_places"], int) or study["total_available_places"] < 1:
            wrong["total_available_places"] = ["At least one place is needed."]
        if study["prolific_id_option"] not in ("question", "url_parameters", "not_required"):
            wrong["prolific_id_option"] = ["It is not a valid choice."]
        known = {each["filter_id"]: each for each in FILTERS}
        for each in study["filters"]:
            there = known.get(each.get("filter_id"))
            if there is None or not set(each.get("selected_values", ())) <= set(there.get("choices", ())):
                wrong["filters"] = [f"{each} is not a valid filter."]
        if wrong:
            raise Refused(400, wrong)

    def _check_rejection(self, body: dict[str, Any]) -> None:
        if len(body.get("message") or "") < 100:
            raise Refused(400, {"message": ["It must be at least 100 characters long."]})
        if body.get("rejection_category") not in CATEGORIES:
            raise Refused(400, {"rejection_category": ["It is not a valid choice."]})

    def _shown_study(self, study: dict[str, Any]) -> dict[str, Any]:
        taken = self.places_taken(study["id"])
        return {**study, "places_taken": taken, "number_of_submissions": taken}


ROUTES = (
    ("POST", r"/studies/", "make_study"),
    ("GET", r"/studies/", "all_studies"),
    ("GET", r"/studies/([^/]+)/", "one_study"),
    ("PATCH", r"/studies/([^/]+)/", "change_study"),
    ("POST", r"/studies/([^/]+)/transition/", "move_study"),
    ("GET", r"/filters/", "filters"),
    ("GET", r"/submissions/", "all_submissions"),
    ("POST", r"/submissions/bonus-payments/", "make_bonuses"),
    ("GET", r"/submissions/([^/]+)/", "one_submission"),
    ("POST", r"/submissions/([^/]+)/transition/", "move_submission"),
    ("POST", r"/submissions/([^/]+)/request-return/", "ask_to_return"),
    ("POST", r"/bulk-bonus-payments/([^/]+)/pay/", "pay"),
    ("GET", r"/hooks/event-types/", "event_kinds"),
    ("POST", r"/hooks/secrets/", "make_secret"),
    ("GET", r"/hooks/subscriptions/", "all_subscriptions"),
    ("POST", r"/hooks/subscriptions/", "make_subscription"),
    ("POST", r"/hooks/subscriptions/([^/]+)/", "confirm_subscription"),
)


def _new_id() -> str:
    """Prolific's ids have 24 hexadecimal digits."""
    return uuid.uuid4().hex[:24]


def _shown_short(one: dict[str, Any]) -> dict[str, Any]:
    """A submission in a list."""
    return {
        "id": one["id"], "participant_id": one["participant"], "status": one["status"], "started_at": one["started_at"],
        "completed_at": one["completed_at"], "study_code": one["code"], "has_siblings": False,
        "return_requested": one["return_requested"],
    }  # fmt: skip


def _shown_submission(one: dict[str, Any]) -> dict[str, Any]:
    """A submission by itself, whose fields have other names."""
    return {
        "id": one["id"], "participant": one["participant"], "study_id": one["study_id"], "status": one["status"],
        "started_at": one["started_at"], "completed_at": one["completed_at"], "entered_code": one["code"],
        "bonus_payments": one["bonuses"], "return_requested": one["return_requested"],
    }  # fmt: skip


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    prolific: Prolific
    prefix = "/api/v1"

    def log_message(self, format: str, *args: Any) -> None:
        """Tests read `requests`."""

    def do_GET(self) -> None:
        self._take()

    def do_POST(self) -> None:
        self._take()

    def do_PATCH(self) -> None:
        self._take()

    def _take(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        address = urlsplit(self.path)
        query = {name: values[-1] for name, values in parse_qs(address.query).items()}
        body = json.loads(raw) if raw else {}
        asked = Asked(self.command, address.path.removeprefix(self.prefix), query, body)
        with self.prolific.lock:
            self.prolific.requests.append(asked)
            fault = self._next_fault(asked)
        name, _, argument = fault.partition("=")
        if name == "slow":
            time.sleep(float(argument))
        elif name == "hang_up":
            return self._hang_up()
        elif name.isdigit():
            return self._refuse(int(name), argument)
        status, answer, headers = self._act(asked)
        if name == "act_then_hang_up":
            return self._hang_up()
        if name == "act_then_wait":
            self.prolific.closing.wait(float(argument))
        if name == "act_then_500":
            return self._refuse(500, "")
        if name == "act_then_garbage":
            return self._answer(status, b"<html>not what was expected")
        return self._answer(
            status, json.dumps(answer, default=lambda each: each.isoformat()).encode(), headers
        )

    def _act(self, asked: Asked) -> tuple[int, Any, dict[str, str]]:
        if self.headers.get("Authorization") != f"Token {self.prolific.token}":
            return 401, Refused(401, "Authentication credentials were not provided.").body, {}
        try:
            return self.prolific.act(asked)
        except Refused as refused:
            return refused.status, refused.body, {}

    def _next_fault(self, asked: Asked) -> str:
        for fault in self.prolific.faults:
            if fault.times and fault.method in ("", asked.method) and fault.path.search(asked.path):
                fault.times -= 1
                return fault.what
        return ""

    def _refuse(self, status: int, argument: str) -> None:
        headers = {}
        if argument == "date":
            soon = datetime.now(UTC) + timedelta(seconds=2)
            headers["Retry-After"] = soon.strftime("%a, %d %b %Y %H:%M:%S GMT")
        elif argument:
            headers["Retry-After"] = argument
        self._answer(status, json.dumps(Refused(status, "As the test wants it.").body).encode(), headers)

    def _answer(self, status: int, raw: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)

    def _hang_up(self) -> None:
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def process_request(self, request: Any, client_address: Any) -> None:
        """In a thread with a name of its own, since tests wait for the threads of the site's server."""
        threading.Thread(
            target=self.process_request_thread, args=(request, client_address), name="prolific", daemon=True
        ).start()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is what some tests are about."""


@contextlib.contextmanager
def serve(**account: Any) -> Iterator[Prolific]:
    prolific = Prolific(**account)
    server = Server(("127.0.0.1", 0), type("Bound", (Handler,), {"prolific": prolific}))
    prolific.url = f"http://127.0.0.1:{server.server_address[1]}{Handler.prefix}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield prolific
    finally:
        prolific.closing.set()
        server.shutdown()
        server.server_close()
        thread.join(10)
