"""Judgments with their answers, page after page in the order of their ids."""

from collections.abc import Sequence
from datetime import UTC
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.base import StudyView
from evaluation.api.fields import FreeObjectField
from evaluation.api.paging import IdPagination
from evaluation.api.query import MAX_ID, PageQuery, QueryIntegerField, QueryTextField
from evaluation.models import Outcome, Rater, Role, Study
from evaluation.selectors import standing_exclusions
from evaluation.services.answers import answers_by_judgment

# Read as values: a page of a thousand rows is no thousand objects.
COLUMNS = (
    "pk", "item__key", "item__arm__key", "item__role", "rater__pseudonym", "rater__kind", "rater_id",
    "revision__number", "replicate", "outcome", "shown", "surplus", "duration_ms", "visible_ms", "judged_at", "trace",
)  # fmt: skip
ANSWER_COLUMNS = ("question", "part", "kind", "number", "label", "text")


class AnswerSerializer(serializers.Serializer[Any]):
    question = serializers.CharField()
    part = serializers.CharField(help_text="Of the stimulus: r2, f3, f3.r2; empty for the whole.")
    kind = serializers.CharField(
        help_text="Of the question: preference, scale, checklist, ranking, choice, text or entries."
    )
    number = serializers.FloatField(allow_null=True)
    label = serializers.CharField(allow_null=True)  # type: ignore[assignment]
    text = serializers.CharField(allow_null=True)


class ExcludedSerializer(serializers.Serializer[Any]):
    scope = serializers.ChoiceField(choices=["rater", "judgment"])
    reason = serializers.CharField()


class JudgmentSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    item = serializers.CharField()
    arm = serializers.CharField()
    role = serializers.ChoiceField(choices=Role.choices, help_text="The item's.")
    rater = serializers.CharField()
    rater_kind = serializers.ChoiceField(choices=Rater.Kind.choices)
    revision = serializers.IntegerField()
    replicate = serializers.IntegerField(
        help_text="0 for people, the attempt in training, order x sample for judges."
    )
    outcome = serializers.ChoiceField(choices=Outcome.choices)
    shown = serializers.ListField(
        child=serializers.CharField(),
        help_text="The presented order as canonical parts; empty where it is unknown.",
    )
    surplus = serializers.BooleanField(help_text="Came too late: kept, not in the report.")
    duration_ms = serializers.IntegerField(allow_null=True)
    visible_ms = serializers.IntegerField(allow_null=True)
    day = serializers.DateField(allow_null=True, help_text="In UTC.")
    judged_at = serializers.DateTimeField(
        allow_null=True, help_text="Null unless the study permits exact times."
    )
    excluded = ExcludedSerializer(
        many=True, help_text="Standing exclusions of the rater and of this judgment."
    )
    answers = AnswerSerializer(many=True, help_text="Only where the outcome is ok.")
    trace = FreeObjectField(help_text="Ranking moves, edits, a judge's unreadable reply.")


class JudgmentListQuery(PageQuery):
    rater = QueryTextField(required=False, max_length=60, help_text="A pseudonym.")
    item = QueryTextField(required=False, max_length=120, help_text="An item's key.")
    kind = serializers.ChoiceField(required=False, choices=Rater.Kind.choices, help_text="Of the rater.")
    outcome = serializers.ChoiceField(required=False, choices=Outcome.choices)
    since = QueryIntegerField(
        required=False, min_value=0, max_value=MAX_ID, help_text="Only judgments with a greater id than this."
    )


class JudgmentList(StudyView):
    copied = "judgments"
    written = frozenset({"excluded", "answers", "trace"})
    query_class = JudgmentListQuery
    pagination_class = IdPagination

    @extend_schema(
        operation_id="list_judgments",
        summary="A study's judgments with their answers, in the order of their ids",
        description="A failure that is replaced keeps its id. Of judgments that are written at the same moment, one "
        "with a smaller id may appear a little after one with a greater: who follows a live study asks again from "
        "some ids before the last.",
        tags=["judgments"],
        responses=JudgmentSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        study = self.study

        def records(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
            return judgment_records(study, rows)

        return self.paged(study.judgments.filter(**self._wanted(study)).values(*COLUMNS), records)

    def _wanted(self, study: Study) -> dict[str, Any]:
        """Filter by raters and items together with their study, with which their indexes begin."""
        paths = {
            "rater": "rater__pseudonym", "item": "item__key", "kind": "rater__kind", "outcome": "outcome",
            "since": "pk__gt",
        }  # fmt: skip
        wanted: dict[str, Any] = {
            path: self.query[name] for name, path in paths.items() if name in self.query
        }
        if "rater" in self.query:
            wanted["rater__study"] = study
        if "item" in self.query:
            wanted["item__study"] = study
        return wanted


def judgment_records(study: Study, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Records of judgments, in three queries however many rows."""
    if not rows:
        return []
    pks = [row["pk"] for row in rows]
    answers = _answers(pks)
    standing = standing_exclusions(study)
    excluded = {
        "rater": dict(
            standing.filter(rater__in={row["rater_id"] for row in rows}).values_list("rater_id", "reason")
        ),
        "judgment": dict(standing.filter(judgment__in=pks).values_list("judgment_id", "reason")),
    }
    return [
        {
            "id": row["pk"],
            "item": row["item__key"],
            "arm": row["item__arm__key"],
            "role": row["item__role"],
            "rater": row["rater__pseudonym"],
            "rater_kind": row["rater__kind"],
            "revision": row["revision__number"],
            "replicate": row["replicate"],
            "outcome": row["outcome"],
            "shown": row["shown"].split(",") if row["shown"] else [],
            "surplus": row["surplus"],
            "duration_ms": row["duration_ms"],
            "visible_ms": row["visible_ms"],
            **_when(row["judged_at"], study.exact_times),
            "excluded": [
                {"scope": scope, "reason": reasons[row[key]]}
                for (scope, reasons), key in zip(excluded.items(), ("rater_id", "pk"), strict=True)
                if row[key] in reasons
            ],
            "answers": answers.get(row["pk"], []),
            "trace": row["trace"],
        }
        for row in rows
    ]


def _answers(pks: Sequence[int]) -> dict[int, list[dict[str, Any]]]:
    return {
        pk: [{name: getattr(each, name) for name in ANSWER_COLUMNS} for each in given]
        for pk, given in answers_by_judgment(pks).items()
    }


def _when(moment: Any, exact: bool) -> dict[str, str | None]:
    """The day in place of the exact time, as in exports."""
    moment = moment and moment.astimezone(UTC)
    return {
        "day": moment and moment.date().isoformat(),
        "judged_at": moment.isoformat() if moment and exact else None,
    }
