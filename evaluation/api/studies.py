"""Studies: those that the user may see, and one with its hashes and counts."""

from collections.abc import Iterable
from typing import Any

from django.utils.text import slugify
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.base import BeginningView, StudyView
from evaluation.api.once import IDEMPOTENCY_KEY, start_once
from evaluation.api.paging import NewestFirstPagination
from evaluation.api.problems import CONFLICTS, allowed
from evaluation.api.query import (
    BodyTextField,
    PageQuery,
    StrictSerializer,
    read_body,
)
from evaluation.library.entries import begin_from_entry, find_entry
from evaluation.models import GoingBack, Language, Role, Status, Study, StudyMember
from evaluation.permissions import roles_of, studies_for
from evaluation.protocols import PROTOCOLS
from evaluation.selectors import (
    added_item_counts,
    annotate_judgment_counts,
    counting_judgments,
    left_out_counts,
    outcome_counts,
)
from evaluation.services.studies.creation import ARMS, begin_study
from evaluation.services.studies.duplication import MAX_SLUG, MAX_TITLE, free_slug
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


class NewStudySerializer(StrictSerializer):
    """A blank study of a protocol, or with `library` a study from that entry; one of the two is needed."""

    slug = serializers.SlugField(
        max_length=MAX_SLUG,
        required=False,
        help_text="Without it, one of the title or the entry that is free.",
    )
    title = BodyTextField(
        max_length=MAX_TITLE, required=False, help_text="A blank study needs one; an entry has its own."
    )
    protocol = serializers.ChoiceField(choices=list(PROTOCOLS), required=False)
    language = serializers.ChoiceField(
        choices=Language.choices, required=False, help_text="Of a blank study; English without it."
    )
    arms = serializers.ChoiceField(
        choices=[(key, label) for key, (label, _) in ARMS.items()],
        required=False,
        help_text="Of a blank study; plain without it.",
    )
    library = BodyTextField(max_length=120, required=False, help_text="Key of an entry of list_library.")
    items = serializers.BooleanField(
        required=False, help_text="From the library: with the entry's items to try; true without it."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        needed, others = (
            ((), ("protocol", "language", "arms"))
            if "library" in attrs
            else (("title", "protocol"), ("items",))
        )
        wrong = {
            name: [ErrorDetail("This field is required.", "required")] for name in needed if name not in attrs
        }
        wrong |= {
            name: [ErrorDetail("This does not go with the others.", "unknown")]
            for name in others
            if name in attrs
        }
        if wrong:
            raise ValidationError(wrong)
        return attrs


class StudyList(BeginningView):
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

    @extend_schema(
        operation_id="create_study",
        summary="Make a draft of your own: blank, or from an entry of the library of forms",
        description="A draft from a file is made by import_study.",
        tags=["studies"],
        parameters=[IDEMPOTENCY_KEY],
        request=NewStudySerializer,
        responses={201: StudySerializer, **CONFLICTS},
    )
    def post(self, request: Request) -> Response:
        wanted = read_body(NewStudySerializer, request)

        def make() -> dict[str, Any]:
            return study_brief(allowed(lambda: _begin(wanted, by=request.user)), "owner", 0)

        return start_once(request, make)

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
        study = self.study
        left_out = left_out_counts(study)
        counting = counting_judgments(study).count()
        record = own_brief(study, self.request.user, counting + sum(left_out.values()))
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


def _begin(wanted: dict[str, Any], *, by: Any) -> Study:
    if "library" in wanted:
        entry = find_entry(wanted["library"])
        return begin_from_entry(
            entry,
            slug=wanted.get("slug") or free_slug(entry.key),
            title=wanted.get("title", ""),
            owner=by,
            items=wanted.get("items", True),
        )
    given = {name: wanted[name] for name in ("language", "arms") if name in wanted}
    title = wanted["title"]
    slug = wanted.get("slug") or free_slug(slugify(title)[:MAX_SLUG] or "study")
    return begin_study(slug=slug, title=title, protocol=wanted["protocol"], by=by, **given)


def own_brief(study: Study, user: Any, judgments: int | None = None) -> dict[str, Any]:
    """The record of one study for this user; its judgments are counted where the caller has not."""
    role = study.members.filter(user=user.pk).values_list("role", flat=True).first()
    if judgments is None:
        judgments = counting_judgments(study).count() + sum(left_out_counts(study).values())
    return study_brief(study, role, judgments)


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
