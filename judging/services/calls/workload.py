"""The seam between the engine of calls and what the calls are for.

The engine creates, claims, asks, pays, retries and records calls; it knows neither judges nor pipelines. What differs
comes from the workload of a run: its subjects, its requests, the reading of its replies and what final calls make.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol

from django.db.models import Q, QuerySet
from django.utils.module_loading import import_string

from evaluation.registry import Registry
from judging.backends.base import Reply, Request
from judging.models import Call, Endpoint, Run
from judging.services.calls.call_attempts import CallAttempt, ReplyContent

SubjectField = Literal["item", "unit"]


@dataclass(frozen=True)
class NewCalls:
    """Calls to create: of each the columns in which it differs from a blank one, all with the same columns."""

    rows: Sequence[dict[str, Any]]
    # The last subject that they are of; None once every subject has its calls.
    last_subject: int | None


@dataclass(frozen=True)
class Target:
    """A model at an endpoint that calls go to; `place` is what requests call the endpoint, '' for the run's own."""

    place: str
    endpoint: Endpoint
    model: str

    def __str__(self) -> str:
        return f"{self.model} @ {self.place}" if self.place else self.model

    @property
    def key(self) -> str:
        """The key of its prices in `Run.prices`."""
        return f"{self.endpoint.pk}:{self.model}"


class Workload(Protocol):
    """The work of one run, made in the thread that works with the database: once per stay of a worker, and by acts."""

    # Where its calls go; no endpoint: `answer` answers them here.
    backend: str
    endpoint: Endpoint | None
    model: str
    # Every model that its calls go to, at this endpoint or at others that its requests name.
    targets: Sequence[Target]
    # The purpose that its calls are paid for: one of `Spending`.
    spending: str
    # The field of a call that names its subject.
    subject: SubjectField
    # False: every call is asked, whatever is known of its very request, and is no answer to others.
    uses_cache: bool

    def prepare(self) -> None:
        """Do once what must be known before any call is created and takes too long for whoever starts a run; each stay
        of a worker begins with it. StopRun where the run can't be done."""
        ...

    def create_calls(self, after: int) -> NewCalls:
        """The calls of the next batch of subjects after this one; under the run's lock, so others create others."""
        ...

    def waiting_subjects(self, after: int) -> int:
        """Count the subjects after this one, which still wait for their calls."""
        ...

    def calls_per_subject(self) -> float:
        """Calls that a subject is about to get, where none has any yet."""
        ...

    def subjects(self, calls: Collection[Call]) -> Mapping[int, Any]:
        """The material of requests, by the subject's id."""
        ...

    def refusals(self, calls: Collection[Call]) -> list[str]:
        """Why these calls may not be sent (any more), as sentences."""
        ...

    def calls_to(self, target: Target) -> Q | None:
        """The condition of the calls that go to this target, where the run's calls go to several by turns and can be
        told apart before their requests are made; None where all go to one."""
        ...

    def request(self, call: Call, subject: Any) -> Request:
        """The request of a call, from the same call always the same; StopRun if there can be none of the whole run,
        Unmeasurable if this subject has nothing to ask about: its call fails with the reason, and nothing is sent."""
        ...

    def read(self, call: Call, subject: Any, reply: Reply) -> ReplyContent:
        """Read a reply; ReplyRejected if it can't be read."""
        ...

    def answer(self, call: Call, subject: Any) -> CallAttempt:
        """Answer a call without an endpoint."""
        ...

    def write_results(self, final: Sequence[CallAttempt], calls: Mapping[int, Call], now: datetime) -> None:
        """Store what these final calls make, in the transaction that makes them final.

        `calls` holds them as they are now and, where a subject has several steps, all of the subject's.
        """
        ...

    def reopened(self) -> None:
        """Put in order calls that were just opened again to be retried, in the transaction that opened them."""
        ...

    def stored_outcomes(self, calls: QuerySet[Call]) -> Mapping[tuple[int, int], str]:
        """Outcomes, by subject and replicate, of what is stored already of these calls."""
        ...

    def next_stage(self, run: Run) -> bool:
        """Begin what follows once every call is final, under the run's lock: calls are created from the first subject
        on. False if nothing does, and the run is complete."""
        ...

    def follow_state(self, run: Run) -> None:
        """Do what follows from the run's having become complete, or having been complete."""
        ...


@dataclass(frozen=True)
class KindOfWork:
    """A kind of work that workers take: its key is the run's `work`."""

    key: str
    workload: Callable[[Run], Workload]


WORKS = ("runs.judge_workload.JUDGING", "generation.workload.GENERATION")
KINDS_OF_WORK: Registry[KindOfWork] = Registry(
    "kind of work",
    {
        "key": "the run's `work` in the database",
        "workload": "makes the workload of a run",
    },
    # By their paths, so that the engine of calls imports none of them.
    lambda: [import_string(f"judging.services.{path}") for path in WORKS],
)


def workload_of(run: Run) -> Workload:
    return KINDS_OF_WORK[run.work].workload(run)
