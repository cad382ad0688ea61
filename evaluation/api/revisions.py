"""Revisions of a running study: other words, steps and skip rules for who enters from now on."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.base import StudyView
from evaluation.api.fields import AnyValueField
from evaluation.api.lifecycle import LONGEST_REASON
from evaluation.api.once import IDEMPOTENCY_KEY, start_once
from evaluation.api.parsing import ItemsJSONParser
from evaluation.api.problems import CONFLICTS, allowed
from evaluation.api.query import BodyTextField, StrictSerializer, read_body
from evaluation.dumps.imports.revision_file import revision_problems
from evaluation.refusals import Refused
from evaluation.services.studies.revision import plan_revision, revise_study
from evaluation.storable import storable_json


class NewRevisionSerializer(StrictSerializer):
    """The parts that change; texts, steps, skip rules and questions are merged by their keys."""

    spec = serializers.DictField(allow_empty=False, help_text="As in a file for manage.py revise.")
    reason = BodyTextField(max_length=LONGEST_REASON, required=False, default="")
    preview = serializers.BooleanField(default=False, help_text="Say what would change, and write nothing.")


class ChangeSerializer(serializers.Serializer[Any]):
    where = serializers.CharField(help_text="Its path in the spec.")
    old = AnyValueField(help_text="Null where there was none.")
    new = AnyValueField()


class RevisedSerializer(serializers.Serializer[Any]):
    revision = serializers.IntegerField(help_text="Its number; of a preview, that it would have.")
    spec_hash = serializers.CharField()
    changes = ChangeSerializer(many=True)


class StudyRevisions(StudyView):
    parser_classes = (ItemsJSONParser,)

    @extend_schema(
        operation_id="revise_study",
        summary="Revise a running study: other words, steps and skip rules for who enters from now on",
        description="Who is at work finishes in the revision that they entered. What can't be revised is a conflict.",
        tags=["studies"],
        parameters=[IDEMPOTENCY_KEY],
        request=NewRevisionSerializer,
        responses={200: RevisedSerializer, 201: RevisedSerializer, **CONFLICTS},
    )
    def post(self, request: Request, slug: str) -> Response:
        given = read_body(NewRevisionSerializer, request)
        changes = storable_json(given["spec"])

        def plan() -> dict[str, Any]:
            if problems := revision_problems({"spec": changes}):
                raise Refused(*problems)
            planned = plan_revision(self.study, changes)
            return {
                "revision": planned.number,
                "spec_hash": planned.spec_hash,
                "changes": [
                    {"where": each.where, "old": each.old, "new": each.new} for each in planned.changes
                ],
            }

        def revise() -> dict[str, Any]:
            record = plan()
            revise_study(study=self.study, changes=changes, by=request.user, reason=given["reason"])
            return record

        if given["preview"]:
            return Response(allowed(plan))
        return start_once(request, lambda: allowed(revise))
