"""Participants and the quality of their work. By pseudonym; what a platform knows them by, who may write is told."""

from collections.abc import Sequence
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotator.models import Participant, ParticipantOutcome, Step
from annotator.services.quality.cached_quality import cached_quality, read_reports
from annotator.services.quality.participant_records import (
    participant_records,
    participant_rows,
    quality_record,
)
from evaluation.api.base import StudyView
from evaluation.api.paging import IdPagination
from evaluation.api.query import PageQuery, QueryTextField
from evaluation.permissions import reads_ids


class ParticipantSerializer(serializers.Serializer[Any]):
    rater = serializers.CharField(help_text="Their pseudonym, as in list_raters and list_judgments.")
    platform = serializers.CharField(help_text="Where they came from.")
    external_id = serializers.CharField(
        allow_null=True, help_text="What the platform knows them by; null for viewers."
    )
    arm = serializers.CharField(
        allow_null=True, help_text="Null before one was drawn, or with an arm per item."
    )
    revision = serializers.IntegerField(help_text="The one that they entered.")
    step = serializers.ChoiceField(choices=Step.choices)
    outcome = serializers.ChoiceField(
        choices=[("", "under way"), *ParticipantOutcome.choices], help_text="Empty while they are at work."
    )
    quota = serializers.IntegerField(help_text="Items that they are asked to judge.")
    judged = serializers.IntegerField(help_text="Main items.")
    skipped = serializers.IntegerField()
    consented_on = serializers.DateField(allow_null=True)
    ended_on = serializers.DateField(allow_null=True)
    comments = serializers.CharField()
    excluded = serializers.CharField(
        allow_null=True, help_text="Why they are left out of every figure, or null."
    )
    signs = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="What of their work somebody should look at. Only with expand=signs.",
    )


class ParticipantListQuery(PageQuery):
    rater = QueryTextField(required=False, max_length=60)
    step = serializers.ChoiceField(required=False, choices=Step.choices)
    outcome = serializers.ChoiceField(required=False, choices=ParticipantOutcome.choices)
    expand = serializers.ChoiceField(required=False, choices=["signs"])


class ParticipantList(StudyView):
    copied = "participants"
    written = frozenset({"excluded", "comments"})
    query_class = ParticipantListQuery
    pagination_class = IdPagination

    @extend_schema(
        operation_id="list_participants",
        summary="Who takes part: how far they are, what they did, and how their visit ended",
        description="Of times the day alone is told.",
        tags=["raters"],
        responses=ParticipantSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        paths = {"rater": "rater__pseudonym", "step": "step", "outcome": "outcome"}
        wanted = {path: self.query[name] for name, path in paths.items() if name in self.query}
        rows = participant_rows(self.study).filter(**wanted)
        return self.paged(rows, self._records)

    def _records(self, people: Sequence[Any]) -> list[dict[str, Any]]:
        study = self.study
        return participant_records(
            study,
            people,
            with_ids=reads_ids(self.request.user, study),
            with_signs=self.query.get("expand") == "signs",
        )


class ShareSerializer(serializers.Serializer[Any]):
    k = serializers.IntegerField()
    n = serializers.IntegerField(help_text="Out of so many.")


class QualitySerializer(serializers.Serializer[Any]):
    rater = serializers.CharField(help_text="The participant's pseudonym.")
    excluded = serializers.CharField(
        help_text="Why they are left out of every figure; empty if they are not."
    )
    judged = serializers.IntegerField(help_text="Main items.")
    seconds = serializers.FloatField(allow_null=True, help_text="The median of a judgment.")
    relative_time = serializers.FloatField(
        allow_null=True, help_text="Their time as a share of what others took for the same items."
    )
    unread = ShareSerializer(help_text="Judgments that took less time than anybody can read their texts in.")
    unseen = ShareSerializer(help_text="Judgments in which a response never came into view.")
    unopened = ShareSerializer(help_text="Judgments in which a response's tab was never opened.")
    lines = ShareSerializer(help_text="Judgments with the same answer throughout.")
    first = ShareSerializer(help_text="Preferences for what was shown first.")
    attention = ShareSerializer(help_text="Attention checks that were passed.")
    skipped_checks = serializers.IntegerField()
    gold = ShareSerializer(help_text="Gold items that are right.")
    agreement = serializers.FloatField(allow_null=True, help_text="With others on the same items.")
    signs = serializers.ListField(
        child=serializers.CharField(), help_text="What somebody should look at, a sentence each."
    )


class QualityList(StudyView):
    copied = "participants' care"
    written = frozenset({"excluded"})
    query_class = PageQuery
    pagination_class = IdPagination

    @extend_schema(
        operation_id="list_quality",
        summary="Each participant's care, with signs of the contrary",
        description="Nothing of this excludes by itself.",
        tags=["raters"],
        responses=QualitySerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        study, known = self.study, dict(cached_quality(self.study))

        def records(people: Sequence[Participant]) -> list[dict[str, Any]]:
            found = [(each.pk, known[each.pk]) for each in people if each.pk in known]
            return [quality_record(each) for each in read_reports(study, found)]

        return self.paged(Participant.objects.filter(study=study), records)
