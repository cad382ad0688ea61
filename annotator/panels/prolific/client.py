"""Prolific's API over HTTP. One method per thing asked for; what comes back is typed.

Every failure says whether the panel may have acted on the request (`PanelError.sent`), because that is what decides
what may be done next: what was certainly not acted on can be asked again at once, what may have been is looked up at
the panel, and a payment that may have been made waits for a person.
"""

import enum
import functools
import random
import ssl
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from annotator.panels.platforms.api import (
    BonusBatch,
    PanelStudy,
    PanelSubmission,
    PlatformClient,
    StudyAction,
    StudyDraft,
)
from annotator.panels.platforms.eligibility import Criteria, FilterRequest
from annotator.panels.platforms.errors import PanelBusy, PanelError, PanelUnreachable
from annotator.panels.prolific import answers
from annotator.panels.prolific.answers import Subscription
from annotator.panels.prolific.drafts import study_fields
from annotator.panels.prolific.eligibility import as_request
from annotator.panels.prolific.filters import KnownFilter
from annotator.panels.prolific.recruitment_filters import RecruitmentFilters
from annotator.panels.prolific.webhooks import KINDS

if TYPE_CHECKING:
    import httpx2

PAGE = 100
# A list of submissions ends; whoever gets more pages than this is being led in circles.
MOST_PAGES = 1_000
# Prolific recommends no more in one request.
BONUSES_AT_ONCE = 200
CENT = Decimal("0.01")
MAX_MESSAGE = 500
ACTIONS = {StudyAction.PUBLISH: "PUBLISH", StudyAction.PAUSE: "PAUSE", StudyAction.START: "START"}


class Repeat(enum.Enum):
    """The number of times that a request may be made."""

    # It asks, or says how things shall be: making it twice is making it once.
    FREELY = "freely"
    # Only while the panel certainly did not act: 429, or no connection.
    UNHEARD = "unheard"
    # One attempt, whatever comes of it: money.
    NEVER = "never"


@functools.cache
def _certificates() -> ssl.SSLContext:
    """Read once per process: it takes a quarter of a second, and more than most calls."""
    import httpx2

    return httpx2.create_ssl_context()


class Client(PlatformClient):
    """Waiting is bounded by `patience`, the seconds that one call may spend on it."""

    def __init__(
        self,
        token: str,
        base_url: str,
        *,
        timeout: float = 20.0,
        attempts: int = 5,
        first_wait: float = 1.0,
        longest_wait: float = 30.0,
        patience: float = 60.0,
        sleep: Callable[[float], None] = time.sleep,
        draw: Callable[[], float] = random.random,
    ) -> None:
        import httpx2

        self._token = token
        self._attempts = attempts
        self._first_wait = first_wait
        self._longest_wait = longest_wait
        self._patience = patience
        self._sleep = sleep
        self._draw = draw
        self._http = httpx2.Client(
            base_url=base_url.rstrip("/") + "/",
            headers={"Authorization": f"Token {token}", "Accept": "application/json"},
            timeout=timeout,
            follow_redirects=False,
            verify=_certificates(),
        )

    def close(self) -> None:
        self._http.close()

    # --- studies ---------------------------------------------------------------------------------------------

    def create_study(self, draft: StudyDraft) -> PanelStudy:
        fields = study_fields(draft)
        return answers.read_study(self._ask("POST", "studies/", Repeat.UNHEARD, json=fields))

    def update_study(self, study: str, draft: StudyDraft) -> PanelStudy:
        return self._change_study(study, study_fields(draft))

    def get_study(self, study: str) -> PanelStudy:
        return answers.read_study(self._ask("GET", f"studies/{_part(study)}/", Repeat.FREELY))

    def list_studies(self) -> list[PanelStudy]:
        return [
            answers.read_study(each) for each in answers.results(self._ask("GET", "studies/", Repeat.FREELY))
        ]

    def _change_study(self, study: str, fields: Mapping[str, Any]) -> PanelStudy:
        """Once it is published, Prolific takes little more than a higher number of places."""
        return answers.read_study(self._ask("PATCH", f"studies/{_part(study)}/", Repeat.FREELY, json=fields))

    def transition_study(self, study: str, action: StudyAction) -> PanelStudy:
        """A second one of the same is refused, so look the study up in doubt."""
        path, fields = f"studies/{_part(study)}/transition/", {"action": ACTIONS[action]}
        return answers.read_study(self._ask("POST", path, Repeat.UNHEARD, json=fields))

    def set_places(self, study: str, places: int) -> PanelStudy:
        return self._change_study(study, {"total_available_places": places})

    def request_filters(
        self, criteria: Criteria, *, studies: Iterable[str], people: Iterable[str]
    ) -> FilterRequest:
        """Prolific's list of filters is read only where something is asked for."""
        assert isinstance(criteria, RecruitmentFilters)
        known = self.list_filters() if criteria.sentences() else ()
        return as_request(criteria, known, studies, people)

    def set_filters(self, study: str, filters: FilterRequest) -> PanelStudy:
        return self._change_study(study, filters.fields)

    def list_filters(self) -> list[KnownFilter]:
        return [
            answers.read_filter(each) for each in answers.results(self._ask("GET", "filters/", Repeat.FREELY))
        ]

    # --- submissions -----------------------------------------------------------------------------------------

    def list_submissions(
        self, study: str, *, page_size: int = PAGE, watch: Callable[[int, int], None] | None = None
    ) -> list[PanelSubmission]:
        """All of a study's, oldest first, each once, however many came while the pages were read.

        `watch` is told after each page how many are read, of how many.
        """
        found: dict[str, PanelSubmission] = {}
        for page in range(1, MOST_PAGES + 1):
            # The order has new ones on the last page, not in between; it is read until a page is empty, because the
            # panel may give fewer per page than it was asked for.
            asked = {"study": study, "ordering": "started_at", "page": page, "page_size": page_size}
            try:
                answer = self._ask("GET", "submissions/", Repeat.FREELY, params=asked)
            except PanelError as error:
                if error.status == 404 and page > 1:
                    break
                raise
            results = answers.results(answer)
            found.update({each.id: each for each in (answers.read_submission(row, study) for row in results)})
            count = answers.count(answer)
            if watch is not None:
                watch(len(found), count or len(found))
            if not results or (count is not None and len(found) >= count):
                break
        return list(found.values())

    def get_submission(self, submission: str) -> PanelSubmission:
        return answers.read_submission(
            self._ask("GET", f"submissions/{_part(submission)}/", Repeat.FREELY), ""
        )

    def approve(self, submission: str) -> PanelSubmission:
        return self._decide(submission, {"action": "APPROVE"})

    def reject(self, submission: str, *, reason: str, category: str) -> PanelSubmission:
        """Reject; the categories here are Prolific's own."""
        return self._decide(
            submission, {"action": "REJECT", "message": reason, "rejection_category": category}
        )

    def _decide(self, submission: str, fields: Mapping[str, str]) -> PanelSubmission:
        path = f"submissions/{_part(submission)}/transition/"
        return answers.read_submission(self._ask("POST", path, Repeat.UNHEARD, json=fields), "")

    def request_return(self, submission: str, reason: str) -> None:
        path = f"submissions/{_part(submission)}/request-return/"
        self._ask("POST", path, Repeat.UNHEARD, json={"request_return_reasons": [reason]})

    # --- bonuses ---------------------------------------------------------------------------------------------

    def create_bonuses(self, study: str, amounts: Iterable[tuple[str, Decimal]]) -> BonusBatch:
        rows = list(amounts)
        if not rows or len(rows) > BONUSES_AT_ONCE:
            raise ValueError(f"{len(rows)} bonuses at once; 1 to {BONUSES_AT_ONCE} can be set up.")
        lines = []
        for who, amount in rows:
            if amount <= 0 or amount != amount.quantize(CENT):
                raise ValueError(
                    f"A bonus of {amount} for {who}: a positive amount with two decimals is needed."
                )
            # Plain figures: Prolific takes 30 for 30.00, and Decimal would write 1E+2.
            lines.append(f"{who},{amount.quantize(CENT):f}\n")
        fields = {"study_id": study, "csv_bonuses": "".join(lines)}
        return answers.read_batch(
            self._ask("POST", "submissions/bonus-payments/", Repeat.UNHEARD, json=fields)
        )

    def pay_bonuses(self, batch: str) -> None:
        """Pays. Asked again, Prolific pays again: so it is one attempt, and the error says what may have happened."""
        self._ask("POST", f"bulk-bonus-payments/{_part(batch)}/pay/", Repeat.NEVER)

    # --- webhooks --------------------------------------------------------------------------------------------

    def create_secret(self, workspace: str) -> str:
        answer = self._ask("POST", "hooks/secrets/", Repeat.UNHEARD, json={"workspace_id": workspace})
        return answers.text(answer, "value", required=True)

    def subscribe(self, workspace: str, target: str) -> list[str]:
        there = {
            each.kind for each in self.list_subscriptions(workspace) if each.target == target and each.enabled
        }
        made = [kind for kind in KINDS if kind not in there]
        for kind in made:
            subscription = self.create_subscription(workspace, kind, target)
            self.confirm_subscription(subscription.id, subscription.confirmation)
        return made

    def list_subscriptions(self, workspace: str) -> list[Subscription]:
        asked = {"workspace_id": workspace}
        answer = self._ask("GET", "hooks/subscriptions/", Repeat.FREELY, params=asked)
        return [answers.read_subscription(each, "") for each in answers.results(answer)]

    def create_subscription(self, workspace: str, kind: str, target: str) -> Subscription:
        fields = {"workspace_id": workspace, "event_type": kind, "target_url": target}
        response = self._send("POST", "hooks/subscriptions/", Repeat.UNHEARD, json=fields)
        return answers.read_subscription(_json(response), response.headers.get("X-Hook-Secret", ""))

    def confirm_subscription(self, subscription: str, confirmation: str) -> None:
        path = f"hooks/subscriptions/{_part(subscription)}/"
        self._ask("POST", path, Repeat.FREELY, json={"secret": confirmation})

    # --- how it is asked -------------------------------------------------------------------------------------

    def _ask(self, method: str, path: str, repeat: Repeat, **request: Any) -> Any:
        return _json(self._send(method, path, repeat, **request))

    def _send(self, method: str, path: str, repeat: Repeat, **request: Any) -> "httpx2.Response":
        """The answer, after as many attempts as the request may be made and the patience lasts."""
        waited, heard = 0.0, False
        waits = self._waits()
        while True:
            try:
                return self._try(method, path, **request)
            except PanelError as error:
                # An attempt before the last one may have been acted on, whatever the last one met.
                error.sent = heard = heard or error.sent
                pause = next(waits, None)
                if pause is None or not _may_repeat(error, repeat):
                    raise
                if isinstance(error, PanelBusy) and error.after is not None:
                    pause = max(error.after, pause)
                if waited + pause > self._patience:
                    raise
            self._sleep(pause)
            waited += pause

    def _waits(self) -> Iterator[float]:
        """Before the second attempt, the third ...: doubled each time, and drawn, so that not all come at once."""
        for number in range(self._attempts - 1):
            yield min(self._longest_wait, self._first_wait * 2**number) * (0.5 + self._draw() / 2)

    def _try(self, method: str, path: str, **request: Any) -> "httpx2.Response":
        import httpx2

        # What certainly never reached the panel: no connection to it came about.
        unsent = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError)
        try:
            response = self._http.request(method, path, **request)
        except httpx2.RequestError as error:
            sent = not isinstance(error, unsent)
            what = "gave no answer" if sent else "can't be reached"
            raise PanelUnreachable(f"Prolific {what} ({type(error).__name__}).", sent=sent) from None
        status = response.status_code
        if 200 <= status < 300:
            return response
        said = f"{self._said(response)} ({status})"
        if status == 429:
            raise PanelBusy(status, f"Prolific asks to wait: {said}", sent=False, after=_after(response))
        if status >= 500:
            raise PanelBusy(status, f"Prolific is in trouble: {said}", sent=True, after=_after(response))
        raise PanelError(status, f"Prolific refused: {said}")

    def _said(self, response: "httpx2.Response") -> str:
        """The error's own words, in which a server may quote the token that it got."""
        return _error_text(response).replace(self._token, "***")[:MAX_MESSAGE]


def _may_repeat(error: PanelError, repeat: Repeat) -> bool:
    if not isinstance(error, PanelBusy | PanelUnreachable) or repeat is Repeat.NEVER:
        return False
    return repeat is Repeat.FREELY or not error.sent


def _part(identifier: str) -> str:
    """An id as one part of a path; another study's or the whole list's address can't come of it."""
    if not identifier.strip(". "):
        raise PanelError(404, f"{identifier!r} is not a Prolific id.")
    return quote(identifier, safe="")


def _json(response: "httpx2.Response") -> Any:
    if not response.content.strip():
        return {}
    try:
        return response.json()
    except ValueError:
        raise answers.odd("it is not JSON") from None


def _error_text(response: "httpx2.Response") -> str:
    """The message of an error, from Prolific's envelope; a few words of whatever else it is."""
    try:
        error = response.json()["error"]
        said = (error.get("title"), error.get("detail"), error.get("additional_information"))
        parts = [_flat(each) for each in said]
    except (ValueError, KeyError, TypeError, AttributeError):
        parts = [response.text[:MAX_MESSAGE]]
    return ": ".join(" ".join(part.split()) for part in parts if part.strip()) or "no reason given"


def _flat(detail: Any) -> str:
    """A sentence from an error's detail: a text, a list of them, or lists by field."""
    if isinstance(detail, dict):
        return "; ".join(f"{name}: {_flat(each)}" for name, each in detail.items())
    if isinstance(detail, list):
        return ", ".join(_flat(each) for each in detail)
    return str(detail or "")


def _after(response: "httpx2.Response") -> float | None:
    """Retry-After, in seconds or as a date."""
    written = response.headers.get("Retry-After", "").strip()
    try:
        return max(0.0, float(written))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(written) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None
