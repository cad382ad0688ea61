"""Studies: those that the user may see, and one with its hashes and counts."""

from collections.abc import Iterable
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.base import ApiView, StudyView
from evaluation.api.paging import NewestFirstPagination
from evaluation.api.query import PageQuery, StrictSerializer
from evaluation.models import GoingBack, Language, Role, Status, Study, StudyMember
from evaluation.permissions import roles_of, studies_for
from evaluation.selectors import (
    added_item_counts,
    annotate_judgment_counts,
    counting_judgments,
    left_out_counts,
    outcome_counts,
)
from evaluation.services.studies.revisable import set_revisable


class StudySerializer(serializers.Serializer[Any]):
    slug = serializers.CharField()
    title = serializers.CharField()
    protocol = serializers.CharField()
    status = serializers.ChoiceField(choices=Status.choices)
    role = serializers.ChoiceField(
        choices=StudyMember.Role.choices,
        allow_null=True,
        help_text="Yours; null for a superuser who is no member.",
    )
    simulated = serializers.BooleanField(help_text="Has judgments by simulated raters.")
    study_hash = serializers.CharField(help_text="Of the frozen study; empty for a draft.")
    judgments = serializers.IntegerField(help_text="Of main items, whatever became of them.")


class RevisionSerializer(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    spec_hash = serializers.CharField()
    hash = serializers.CharField(help_text="Its own: over its spec and the items that were added with it.")
    items_added = serializers.IntegerField(help_text="To the running study; of the first revision none.")


class ArmSerializer(serializers.Serializer[Any]):
    key = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    context_at_generation = serializers.BooleanField()
    context_at_judging = serializers.BooleanField()


class SystemSerializer(serializers.Serializer[Any]):
    key = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    family = serializers.CharField()
    setting = serializers.CharField(help_text="The setting in which it worked; empty without settings.")
    base = serializers.CharField(help_text="The key that it has in every setting; empty without settings.")


class LeftOutSerializer(serializers.Serializer[Any]):
    reason = serializers.CharField()
    n = serializers.IntegerField()


class CountsSerializer(serializers.Serializer[Any]):
    items = serializers.IntegerField(help_text="Main items that are not withdrawn.")
    raters = serializers.IntegerField()
    judgments = serializers.IntegerField(help_text="All that there are, of items of every role.")
    counting = serializers.IntegerField(help_text="Those that figures are made of.")
    left_out = LeftOutSerializer(many=True, help_text="Why the others on main items are not in the report.")


class StudyDetailSerializer(StudySerializer):
    redundancy = serializers.IntegerField(help_text="Judgments wanted per item.")
    baseline = serializers.CharField(help_text="Key of the baseline system; empty if there is none.")
    exact_times = serializers.BooleanField(
        help_text="Whether judgments carry exact times instead of the day."
    )
    going_back = serializers.ChoiceField(
        choices=GoingBack.choices, help_text="Which answers participants may revise until their visit ends."
    )
    language = serializers.ChoiceField(
        choices=Language.choices, help_text="Of participants' pages, around the study's own texts."
    )
    revisions = RevisionSerializer(many=True)
    arms = ArmSerializer(many=True)
    systems = SystemSerializer(many=True)
    counts = CountsSerializer()


class StudyChangesSerializer(StrictSerializer):
    going_back = serializers.ChoiceField(
        choices=GoingBack.choices, required=False, help_text="Holds from now on, also for who is at work."
    )


class StudyList(ApiView):
    query_class = PageQuery
    pagination_class = NewestFirstPagination

    @extend_schema(
        operation_id="list_studies",
        summary="The studies that you are a member of, newest first",
        tags=["studies"],
        responses=StudySerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        return self.paged(
            annotate_judgment_counts(studies_for(request.user).filter(rehearsal_of=None)), self._records
        )

    def _records(self, studies: Iterable[Study]) -> list[dict[str, Any]]:
        roles = roles_of(self.request.user)
        return [study_brief(study, roles.get(study.pk), study.n_judgments) for study in studies]  # type: ignore[attr-defined]


class StudyDetail(StudyView):
    @extend_schema(
        operation_id="get_study",
        summary="One study: hashes of its revisions, arms, systems, counts",
        tags=["studies"],
        responses=StudyDetailSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        return Response(self._detail())

    @extend_schema(
        operation_id="change_study",
        summary="Change which answers participants may revise",
        tags=["studies"],
        request=StudyChangesSerializer,
        responses=StudyDetailSerializer,
    )
    def patch(self, request: Request, slug: str) -> Response:
        changes = StudyChangesSerializer(data=request.data)
        changes.is_valid(raise_exception=True)
        if "going_back" in changes.validated_data:
            set_revisable(self.study, changes.validated_data["going_back"], by=request.user)
        return Response(self._detail())

    def _detail(self) -> dict[str, Any]:
        study, request = self.study, self.request
        role = study.members.filter(user=request.user.pk).values_list("role", flat=True).first()
        left_out = left_out_counts(study)
        counting = counting_judgments(study).count()
        record = study_brief(study, role, counting + sum(left_out.values()))
        record |= {
            "redundancy": study.redundancy,
            "baseline": study.baseline,
            "exact_times": study.exact_times,
            "going_back": study.going_back,
            "language": study.language,
            "revisions": _revisions(study),
            "arms": list(study.arms.values("key", "label", "context_at_generation", "context_at_judging")),
            "systems": list(study.systems.values("key", "label", "family", "setting", "base")),
            "counts": {
                "items": study.items.filter(role=Role.MAIN, withdrawn_at=None).count(),
                "raters": study.raters.count(),
                "judgments": sum(n for _, _, n in outcome_counts(study)),
                "counting": counting,
                "left_out": [{"reason": reason, "n": n} for reason, n in sorted(left_out.items())],
            },
        }
        return record


def _revisions(study: Study) -> list[dict[str, Any]]:
    added = added_item_counts(study)
    return [
        {
            "number": each.number,
            "spec_hash": each.spec_hash,
            "hash": each.hash,
            "items_added": added.get(each.number, 0),
        }
        for each in study.revisions.order_by("number")
    ]


def study_brief(study: Study, role: str | None, judgments: int) -> dict[str, Any]:
    return {
        "slug": study.slug,
        "title": study.title,
        "protocol": study.protocol,
        "status": study.status,
        "role": role,
        "simulated": study.simulated,
        "study_hash": study.study_hash,
        "judgments": judgments,
    }
