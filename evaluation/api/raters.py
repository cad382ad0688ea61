"""Raters, by pseudonym. Their identity at a panel is not part of the study's data and not available here."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Count
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.base import StudyView
from evaluation.api.fields import FreeObjectField
from evaluation.api.paging import IdPagination
from evaluation.api.query import PageQuery
from evaluation.models import Judgment, Rater, Study
from evaluation.selectors import standing_exclusions


class RaterSerializer(serializers.Serializer[Any]):
    rater = serializers.CharField(help_text="A random pseudonym; of an import the name that the file gave.")
    kind = serializers.ChoiceField(choices=Rater.Kind.choices)
    source = serializers.ChoiceField(choices=Rater.Source.choices)  # type: ignore[assignment]
    label = serializers.CharField(  # type: ignore[assignment]
        help_text="The published name of an imported rater, or a judge's; often empty."
    )
    in_figures = serializers.BooleanField(
        help_text="False for a run that is a trial, unfinished or superseded."
    )
    about = FreeObjectField(help_text="Of a judge: what it was and how it was asked; empty for people.")
    judgments = serializers.IntegerField()
    excluded = serializers.CharField(
        allow_null=True, help_text="Why this rater is left out of every figure, or null."
    )


class RaterListQuery(PageQuery):
    kind = serializers.ChoiceField(required=False, choices=Rater.Kind.choices)


class RaterList(StudyView):
    copied = "raters"
    written = frozenset({"excluded"})
    query_class = RaterListQuery
    pagination_class = IdPagination

    @extend_schema(
        operation_id="list_raters",
        summary="Who judged: people, judges and simulated raters",
        tags=["raters"],
        responses=RaterSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        study = self.study
        raters = study.raters.all()
        if "kind" in self.query:
            raters = raters.filter(kind=self.query["kind"])

        def records(page: Sequence[Rater]) -> list[dict[str, Any]]:
            return rater_records(study, page)

        return self.paged(raters, records)


def rater_records(study: Study, raters: Sequence[Rater]) -> list[dict[str, Any]]:
    pks = [rater.pk for rater in raters]
    counts = dict(
        Judgment.objects.filter(rater__in=pks).order_by().values_list("rater").annotate(n=Count("pk"))
    )
    standing = standing_exclusions(study).filter(rater__in=pks)
    reasons = dict(standing.values_list("rater_id", "reason"))
    return [
        {
            "rater": rater.pseudonym,
            "kind": rater.kind,
            "source": rater.source,
            "label": rater.label,
            "in_figures": rater.in_figures,
            "about": rater.about,
            "judgments": counts.get(rater.pk, 0),
            "excluded": reasons.get(rater.pk),
        }
        for rater in raters
    ]
