"""The interface of a platform that Assay works on by its API: recruiting, decisions, bonuses, webhooks.

What crosses it is in the words of this module, whatever the platform's own are. A study's state is one of
`annotator.panels.platforms.statuses`, a submission's one of `annotator.models.PanelStatus`, an amount a Decimal in the
currency of the account there. Methods of the client raise PanelError (`annotator.panels.platforms.errors`), which says
whether the platform may have acted: what was certainly not acted on is asked again, what may have been is looked up,
and a payment that may have been made waits for a person.
"""

import enum
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from types import TracebackType
from typing import Any, ClassVar, Self

from django.core.checks import CheckMessage

from annotator.panels.platforms.eligibility import Criteria, Eligibility, FilterRequest
from evaluation.models import Study

# --- what is asked ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CompletionCode:
    """A study's code for an outcome. With a reason, whoever enters it is asked to return the submission by the
    platform; without one the submission awaits review. Nobody is approved by a code alone."""

    outcome: str
    code: str
    return_reason: str = ""


@dataclass(frozen=True)
class StudyDraft:
    """A study as it is to be drafted. `internal_name` is for researchers alone: by it a draft is found again whose
    creation got no answer."""

    name: str
    internal_name: str
    description: str
    # With the platform's own placeholders.
    address: str
    codes: tuple[CompletionCode, ...]
    places: int
    minutes: int
    pay: Decimal
    # How often one person can take it.
    visits: int = 1
    # What is set of the platform (`Platform.settings`).
    settings: Mapping[str, Any] = field(default_factory=dict)
    # Of a platform with `eligibility`.
    filters: FilterRequest | None = None


class StudyAction(enum.Enum):
    PUBLISH = "publish"
    PAUSE = "pause"
    START = "start"


# --- what is answered -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PanelStudy:
    """A study as the panel has it."""

    id: str
    internal_name: str
    status: str
    places: int
    # Code to what the panel calls its outcome (`PlatformAPI.code_type`).
    codes: Mapping[str, str]
    # Whom it takes, in the form that `Eligibility.differences` compares; empty where an answer does not say so.
    eligibility: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class PanelSubmission:
    """A submission as the panel has it."""

    id: str
    study_id: str
    participant_id: str
    status: str
    started_at: datetime | None
    completed_at: datetime | None
    code: str
    return_requested_at: datetime | None
    # What was paid on top; a list of submissions need not say.
    bonuses: tuple[Decimal, ...] = ()


@dataclass(frozen=True)
class BonusBatch:
    """Bonuses that are set up; nothing is paid yet. `amount` is their sum, without fees."""

    id: str
    amount: Decimal


@dataclass(frozen=True)
class Delivery:
    """A webhook's delivery whose signature was right. `payload` is stored, and read by `PlatformAPI.read_event`."""

    # The same of every delivery of one event.
    event_id: str
    # A hash of all that was signed: a copy has the same.
    signature_hash: str
    kind: str
    occurred_at: datetime
    signed_at: datetime
    payload: dict[str, Any]


@dataclass(frozen=True)
class ReportedEvent:
    """An event in our words: the state that a submission came to if it names one, else a study."""

    study_id: str = ""
    submission_id: str = ""
    participant_id: str = ""
    # Empty of an event that calls for nothing.
    status: str = ""
    # The panel's own word for the state.
    word: str = ""


# --- the interface ----------------------------------------------------------------------------------------------------


class PlatformClient(ABC):
    """A connection to a platform's API, to be used as a context manager."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None: ...

    # Studies.

    @abstractmethod
    def create_study(self, draft: StudyDraft) -> PanelStudy:
        """Create a draft, which nobody sees yet. Made in one attempt if the panel may have heard of it."""

    @abstractmethod
    def update_study(self, study: str, draft: StudyDraft) -> PanelStudy:
        """Replace what a draft says."""

    @abstractmethod
    def get_study(self, study: str) -> PanelStudy: ...

    @abstractmethod
    def list_studies(self) -> list[PanelStudy]:
        """All of the account, among which a draft is looked for by its internal name."""

    @abstractmethod
    def transition_study(self, study: str, action: StudyAction) -> PanelStudy:
        """Publish a draft, pause recruiting, or start it again. In doubt the study is looked up, not asked again."""

    @abstractmethod
    def set_places(self, study: str, places: int) -> PanelStudy:
        """Set the total of places of a study, published or not; it only grows."""

    def request_filters(
        self, criteria: Criteria, *, studies: Iterable[str], people: Iterable[str]
    ) -> FilterRequest:
        """The criteria in the platform's form, by what it knows now; `studies` and `people` are its ids of those to be
        kept out. Raises FilterUnknown. Of a platform with `eligibility`."""
        raise NotImplementedError

    def set_filters(self, study: str, filters: FilterRequest) -> PanelStudy:
        """Change whom a draft takes. Of a platform with `eligibility`."""
        raise NotImplementedError

    # Submissions.

    @abstractmethod
    def list_submissions(
        self, study: str, *, watch: Callable[[int, int], None] | None = None
    ) -> list[PanelSubmission]:
        """All of a study's, each once, oldest first. `watch` is told now and then how many are read, of how many."""

    @abstractmethod
    def get_submission(self, submission: str) -> PanelSubmission:
        """One submission with its bonuses; PanelError with status 404 where there is none."""

    @abstractmethod
    def approve(self, submission: str) -> PanelSubmission:
        """Approve. Like `reject`, not asked again if the panel may have acted: who asks looks the submission up."""

    @abstractmethod
    def reject(self, submission: str, *, reason: str, category: str) -> PanelSubmission:
        """Reject, with a reason for the participant and a category of `annotator.panels.money.rejections`."""

    @abstractmethod
    def request_return(self, submission: str, reason: str) -> None:
        """Ask the participant to return the submission; a second request is a second message."""

    # Bonuses.

    @abstractmethod
    def create_bonuses(self, study: str, amounts: Iterable[tuple[str, Decimal]]) -> BonusBatch:
        """Set bonuses up, by submission, at most `PlatformAPI.bonuses_at_once`; `pay_bonuses` pays them.

        Setting up is harmless. Of a platform that only pays, one at a time, the batch's id says what is to be paid.
        """

    @abstractmethod
    def pay_bonuses(self, batch: str) -> None:
        """Pay, in a single attempt; the error says what may have happened."""

    # Webhooks.

    @abstractmethod
    def create_secret(self, workspace: str) -> str:
        """A new secret for signatures, which takes the place of the workspace's last one."""

    @abstractmethod
    def subscribe(self, workspace: str, target: str) -> list[str]:
        """Have changes of studies and submissions sent to an address; the kinds of events that were not before."""


class PlatformAPI(ABC):
    """A platform's API: its limits, its rules for drafts, its connection and its webhooks."""

    # Bonuses that may be set up in one request.
    bonuses_at_once: ClassVar[int]
    # So long after it was asked to pay a bonus, a submission may not show it yet.
    bonuses_show_within: ClassVar[timedelta]
    # Every amount is a multiple of it.
    smallest_amount: ClassVar[Decimal] = Decimal("0.01")
    # Characters of a completion code.
    max_code: ClassVar[int] = 40
    # Whether participants must have a second attempt at a qualification.
    wants_second_attempt: ClassVar[bool] = False
    # The environment's variable with the secret that webhooks are signed with.
    webhook_secret_name: ClassVar[str]
    # None where everybody is taken.
    eligibility: ClassVar[Eligibility | None] = None

    @abstractmethod
    def open(self, *, patience: float, wait: Callable[[float], None]) -> PlatformClient:
        """A client, which may spend so many seconds of one call on waiting by `wait`. Raises NotSetUp."""

    @abstractmethod
    def setup_problems(self) -> Iterator[str]:
        """Sentences on what of this installation's settings the platform can't be worked on with."""

    @property
    @abstractmethod
    def is_local(self) -> bool:
        """True of an API on this machine, with which things are tried out."""

    @property
    @abstractmethod
    def webhook_secret(self) -> str:
        """The secret that webhooks are signed with; empty while there is none."""

    @abstractmethod
    def code_type(self, outcome: str) -> str:
        """The platform's word for the completion code of an outcome."""

    @abstractmethod
    def read_delivery(self, raw: bytes, headers: Mapping[str, str]) -> Delivery:
        """Verify a webhook's delivery and read it; `raw` is the body byte by byte as it came. Raises NoSecret,
        NotSigned or NotAnEvent."""

    @abstractmethod
    def read_event(self, payload: Mapping[str, Any]) -> ReportedEvent:
        """The event of a payload that `read_delivery` has read, now or when it was stored."""

    def is_payable(self, amount: Decimal) -> bool:
        """True of a finite amount above 0 that the platform can pay."""
        return amount > 0 and amount % self.smallest_amount == 0

    def pay_warning(self, pay: Decimal, minutes: int, currency: str) -> str:
        """A sentence where the pay is less than the platform asks for; otherwise nothing."""
        return ""

    def draft_warnings(self, study: Study) -> Iterator[str]:
        """Sentences on what of the platform should be thought about before drafting."""
        yield from ()

    def check_settings(self, *, deploy: bool) -> list[CheckMessage]:
        """System checks of the installation's settings; with `deploy`, those of a production alone."""
        return []
