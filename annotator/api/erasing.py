"""Erasing a participant through the API."""

from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotator.models import Participant
from annotator.services.erasing import erase_participant, plan_erasure
from evaluation.api.base import StudyView
from evaluation.api.problems import CONFLICTS, allowed
from evaluation.api.query import BodyTextField, StrictSerializer
from evaluation.permissions import get_study_for

SLOTS = {"again": True, "retired": False}


class ErasureSerializer(StrictSerializer):
    reason = BodyTextField(
        max_length=300, help_text="It stays in the study's history: don't name the person."
    )
    slots = serializers.ChoiceField(
        choices=list(SLOTS),
        required=False,
        help_text="Of a study under way, whether the slots of their judgments open again.",
    )
    dry_run = serializers.BooleanField(
        default=False, help_text="Say what it would come to, and erase nothing."
    )


class TextsField(serializers.ListField):
    child = serializers.CharField()


class ErasedSerializer(serializers.Serializer[Any]):
    done = serializers.CharField(help_text="As the study's history has it; empty of a dry run.")
    erased = TextsField(help_text="What goes, in words.")
    copies = TextsField(help_text="What goes in other studies.")
    kept = TextsField()
    mentions = TextsField(
        help_text="Where others have written a name of theirs: the words stay, at most without the name."
    )
    out_of_reach = TextsField(help_text="Exports, bundles and backups that were taken before.")
    problems = TextsField(help_text="Of a dry run: what keeps them from being erased now.")


class ParticipantErasure(StudyView):
    def authorise(self) -> None:
        self.study = get_study_for(self.request.user, self.kwargs["slug"], right="own")

    @extend_schema(
        operation_id="erase_participant",
        summary="Erase a participant with every copy of what they gave; for owners",
        tags=["raters"],
        request=ErasureSerializer,
        responses={200: ErasedSerializer, **CONFLICTS},
    )
    def post(self, request: Request, slug: str, pseudonym: str) -> Response:
        given = ErasureSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        people = Participant.objects.filter(study=self.study, rater__pseudonym=pseudonym)
        participant = people.select_related("study", "rater").first()
        if participant is None:
            raise Http404
        plan = plan_erasure(participant, by=request.user)
        slots, done = given.validated_data.get("slots"), ""
        if not given.validated_data["dry_run"]:
            done = allowed(
                lambda: erase_participant(
                    participant,
                    by=request.user,
                    reason=given.validated_data["reason"],
                    typed=pseudonym,
                    deal_again=None if slots is None else SLOTS[slots],
                )
            )
        return Response(
            {
                "done": done,
                "erased": plan.goes,
                "copies": plan.copies,
                "kept": plan.stays,
                "mentions": plan.mentions,
                "out_of_reach": plan.out_of_reach,
                "problems": plan.problems,
            }
        )
