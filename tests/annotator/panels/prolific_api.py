"""The API of the tests' own Prolific, with its rules; `prolific_server` serves it, and says how it is used."""

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from tests.annotator.panels import prolific_filters
from tests.annotator.panels.prolific_account import Account, Asked, new_id

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
EVENT_KINDS = (
    "study.status.change", "study.progress.change", "submission.status.change", "study.has_high_return_rate",
)  # fmt: skip


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


@dataclass
class Prolific(Account):
    """The account as its API shows and changes it: (method, pattern of the path) -> what does it, see ROUTES."""

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
            "id": new_id(), "status": "UNPUBLISHED", "internal_name": "", "filters": [], "maximum_allowed_time": None,
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
        self.tell_study(study)
        return 200, self._shown_study(there)

    def filters(self, asked: Asked) -> tuple[int, Any]:
        return 200, {"results": prolific_filters.FILTERS}

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
        self.become(submission, target)
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
        made = new_id()
        self.batches[made] = {"study": study, "rows": rows, "times_paid": 0}
        cents = int(sum(amount for _, amount in rows) * 100) + self.rounds_up
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

    def make_secret(self, asked: Asked) -> tuple[int, Any]:
        self.secret = new_id()
        return 201, {"id": new_id(), "value": self.secret, "workspace_id": asked.body["workspace_id"]}

    def all_subscriptions(self, asked: Asked) -> tuple[int, Any]:
        wanted = asked.query.get("workspace_id", "")
        return 200, {"results": [s for s in self.subscriptions.values() if wanted in ("", s["workspace_id"])]}

    def make_subscription(self, asked: Asked) -> tuple[int, Any, dict[str, str]]:
        if not str(asked.body.get("target_url", "")).startswith("https://"):
            raise Refused(400, {"target_url": ["It must use https."]})
        if asked.body.get("event_type") not in EVENT_KINDS:
            raise Refused(400, {"event_type": ["There is no such event."]})
        made = {"id": new_id(), "is_enabled": False, **asked.body}
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
        if found := prolific_filters.find_wrong(study["filters"], self.studies):
            wrong["filters"] = found
        if not set(study["device_compatibility"]) <= prolific_filters.DEVICES:
            wrong["device_compatibility"] = ["It is not a valid choice."]
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
    ("POST", r"/hooks/secrets/", "make_secret"),
    ("GET", r"/hooks/subscriptions/", "all_subscriptions"),
    ("POST", r"/hooks/subscriptions/", "make_subscription"),
    ("POST", r"/hooks/subscriptions/([^/]+)/", "confirm_subscription"),
)


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
