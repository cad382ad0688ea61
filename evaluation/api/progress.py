"""A study's progress, as its overview has it."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.base import StudyView
from evaluation.api.fields import time_text
from evaluation.extension import extensions
from evaluation.services.progress import progress_of


class PeopleAtSerializer(serializers.Serializer[Any]):
    step = serializers.CharField(help_text="at the door, at work, finished, ...")
    n = serializers.IntegerField()


class StudyProgressSerializer(serializers.Serializer[Any]):
    counted = serializers.BooleanField(help_text="False of a large study that no worker has counted yet.")
    at = serializers.DateTimeField(help_text="When it was counted.")
    wanted = serializers.IntegerField(help_text="Judgments of people that the items need.")
    filled = serializers.IntegerField(help_text="Of those, there are.")
    percent = serializers.IntegerField(help_text="Rounded down: 100 only once none is missing.")
    people = serializers.IntegerField(help_text="Counting judgments of people.")
    judges = serializers.IntegerField(help_text="Counting judgments of judges.")
    last_hour = serializers.IntegerField(help_text="Judgments of people in the last hour.")
    participants = PeopleAtSerializer(many=True)
    slots_free = serializers.IntegerField(
        allow_null=True,
        help_text="Those that a newcomer could get: open, or held by somebody whose time is over.",
    )
    minutes = serializers.FloatField(
        allow_null=True, help_text="The median of participants who finished; null of none."
    )
    needs = serializers.ListField(
        child=serializers.CharField(), help_text="What waits for a member, a sentence each."
    )


class StudyProgress(StudyView):
    @extend_schema(
        operation_id="get_progress",
        summary="How far a study is, and what of it waits for a member",
        tags=["studies"],
        responses=StudyProgressSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        study = self.study
        progress = progress_of(study)
        figures = progress.figures
        cautions = [each.text for own in extensions() for each in own.running_cautions(study)]
        needs = [each.text for own in extensions() for each in own.needs(study, progress) if each.shown]
        record = {
            "counted": progress.is_counted,
            "at": time_text(progress.at),
            "wanted": progress.n_wanted,
            "filled": progress.n_filled,
            "percent": progress.percent,
            "people": progress.n_people,
            "judges": progress.n_judges,
            "last_hour": figures.get("recent", 0),
            "participants": [{"step": step, "n": n} for step, n in figures.get("people", [])],
            "slots_free": figures.get("slots_free"),
            "minutes": figures.get("minutes"),
            "needs": [*cautions, *needs] if study.is_frozen else [],
        }
        return Response(record)
