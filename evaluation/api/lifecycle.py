"""The life of a study: checked, launched, paused, resumed, closed, reopened, set aside."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.acts import begin_deletion, begin_launch
from evaluation.api.base import StudyView
from evaluation.api.jobs import RETRY_AFTER, JobSerializer, job_record
from evaluation.api.problems import CONFLICTS, allowed
from evaluation.api.query import BodyTextField, StrictSerializer, read_body
from evaluation.api.studies import StudySerializer, own_brief
from evaluation.services.studies.duplication import MAX_TITLE
from evaluation.services.studies.launch import (
    Weight,
    archive_study,
    close_study,
    launch_cautions,
    missing_before_launch,
    pause_study,
    reopen_study,
    resume_study,
    unarchive_study,
)

LONGEST_REASON = 300


class ReasonSerializer(StrictSerializer):
    """The reason, which stands in the study's history."""

    reason = BodyTextField(max_length=LONGEST_REASON)


class OptionalReasonSerializer(StrictSerializer):
    """The reason, which stands in the study's history; it may be left out."""

    reason = BodyTextField(max_length=LONGEST_REASON, required=False, default="")


class MissingSerializer(serializers.Serializer[Any]):
    weight = serializers.ChoiceField(
        choices=[(str(each), str(each)) for each in Weight],
        help_text="blocks: no launch; confirm: launch with confirm; consider: advice.",
    )
    text = serializers.CharField()
    field = serializers.CharField(help_text="The part of the design that it is about; empty where none is.")


class CheckSerializer(serializers.Serializer[Any]):
    ready = serializers.BooleanField(help_text="Nothing blocks a launch.")
    needs_confirmation = serializers.BooleanField(help_text="A launch needs confirm.")
    missing = MissingSerializer(many=True, help_text="The gravest first; of a launched study none.")


class StudyCheck(StudyView):
    @extend_schema(
        operation_id="check_study",
        summary="What a draft lacks for its launch",
        tags=["studies"],
        responses=CheckSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        missing = missing_before_launch(self.study, request.user)
        draft = not self.study.is_frozen
        record = {
            "ready": draft and all(each.weight != Weight.BLOCKS for each in missing),
            "needs_confirmation": draft and bool(launch_cautions(self.study)),
            "missing": [
                {"weight": str(each.weight), "text": each.advice.text, "field": each.advice.field}
                for each in missing
            ],
        }
        return Response(record)


class LaunchSerializer(StrictSerializer):
    """A launch; what it ends and what participants would lack has to be confirmed."""

    confirm = serializers.BooleanField(
        default=False, help_text="Launch although check_study says that it needs confirmation."
    )


class LaunchedSerializer(serializers.Serializer[Any]):
    study = StudySerializer()
    job = JobSerializer(allow_null=True, help_text="The worker's, of a large study; null: it is live.")


class StudyLaunch(StudyView):
    @extend_schema(
        operation_id="launch_study",
        summary="Launch a draft: freeze its items and open it to participants and judges",
        description="A large study is launched by a worker: the answer is 202 with its job.",
        tags=["studies"],
        request=LaunchSerializer,
        responses={200: LaunchedSerializer, 202: LaunchedSerializer, **CONFLICTS},
    )
    def post(self, request: Request, slug: str) -> Response:
        confirm = read_body(LaunchSerializer, request)["confirm"]
        job = allowed(lambda: begin_launch(self.study, by=request.user, confirmed=confirm))
        study = own_brief(self.study, request.user)
        if job is None:
            return Response({"study": study, "job": None})
        record = {"study": study, "job": job_record(job)}
        return Response(record, status=202, headers={"Retry-After": str(RETRY_AFTER)})


class DeletionSerializer(StrictSerializer):
    title = BodyTextField(
        max_length=MAX_TITLE,
        required=False,
        default="",
        help_text="The study's, to be sure, where it has judgments.",
    )
    reason = BodyTextField(
        max_length=LONGEST_REASON,
        required=False,
        default="",
        help_text="It stands in the line of history that stays.",
    )


class DeletedSerializer(serializers.Serializer[Any]):
    slug = serializers.CharField()
    job = JobSerializer(allow_null=True, help_text="The worker's, of a large study; null: it is gone.")


class StudyDeletion(StudyView):
    rights: ClassVar[Mapping[str, str]] = {"POST": "own"}

    @extend_schema(
        operation_id="delete_study",
        summary="Delete a draft or a closed study for good, with everything in it",
        description="Owners only; of a study that has judgments its title must be given. A large one is deleted by a "
        "worker: the answer is 202 with its job.",
        tags=["studies"],
        request=DeletionSerializer,
        responses={200: DeletedSerializer, 202: DeletedSerializer, **CONFLICTS},
    )
    def post(self, request: Request, slug: str) -> Response:
        asked = read_body(DeletionSerializer, request)
        job = allowed(lambda: begin_deletion(self.study, by=request.user, **asked))
        record = {"slug": slug, "job": None if job is None else job_record(job)}
        return Response(record, status=200 if job is None else 202)


# By the last part of the address: the act, its operation's id and summary, and what its body is.
MOVES: dict[str, tuple[Callable[..., str], str, str, type[StrictSerializer]]] = {
    "pause": (
        pause_study,
        "pause_study",
        "No new items are assigned until the study is resumed; participants can finish the item they have",
        ReasonSerializer,
    ),
    "resume": (
        resume_study,
        "resume_study",
        "Items are assigned to participants again",
        OptionalReasonSerializer,
    ),
    "close": (
        close_study,
        "close_study",
        "End a study: nobody can enter until it is reopened",
        ReasonSerializer,
    ),
    "reopen": (reopen_study, "reopen_study", "Let participants enter a closed study again", ReasonSerializer),
    "archive": (
        archive_study,
        "archive_study",
        "Set a draft or a closed study aside",
        OptionalReasonSerializer,
    ),
    "unarchive": (
        unarchive_study,
        "unarchive_study",
        "Take a study out of the archive",
        OptionalReasonSerializer,
    ),
}


def move_view(name: str) -> type[StudyView]:
    """The view of one move, by who may change the study; it stands in the study's history."""
    move, operation_id, summary, body = MOVES[name]

    class StudyMove(StudyView):
        @extend_schema(
            operation_id=operation_id,
            summary=summary,
            tags=["studies"],
            request=body,
            responses={200: StudySerializer, **CONFLICTS},
        )
        def post(self, request: Request, slug: str) -> Response:
            reason = read_body(body, request)["reason"]
            allowed(lambda: move(self.study, by=request.user, reason=reason))
            return Response(own_brief(self.study, request.user))

    return StudyMove
