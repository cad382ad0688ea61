"""Entry rules: the admission of people by how they fared in other studies."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotator.models import EntryRule
from annotator.services.admission.entry_rules import (
    KINDS,
    WantedRule,
    change_entry_rules,
    nameable_studies,
    rules_for_scripts,
)
from evaluation.api.base import StudyView
from evaluation.api.lifecycle import LONGEST_REASON
from evaluation.api.problems import CONFLICTS, allowed
from evaluation.api.query import BodyTextField, StrictSerializer, read_body
from evaluation.models import Study

# More are on no page either.
MOST = 200


class EntryRuleSerializer(StrictSerializer):
    """A rule on the people of another study."""

    kind = serializers.ChoiceField(
        choices=list(KINDS), help_text="With rules of admit_only, one of them has to name a person."
    )
    study = BodyTextField(max_length=80, help_text="The other one's slug; you must be its member.")
    outcome = serializers.ChoiceField(
        choices=EntryRule.Participation.choices,
        default=EntryRule.Participation.ANY,
        help_text="How they fared there.",
    )


class NewEntryRulesSerializer(StrictSerializer):
    """All rules, in place of those that you see; none: everybody may take part."""

    rules = serializers.ListField(child=EntryRuleSerializer(), max_length=MOST)
    reason = BodyTextField(max_length=LONGEST_REASON)


class EntryRulesSerializer(serializers.Serializer[Any]):
    rules = EntryRuleSerializer(many=True)
    on_other_studies = serializers.IntegerField(
        help_text="Rules on studies that you are no member of; they stay as they are."
    )
    who = serializers.CharField(help_text="All rules in words.")
    warnings = serializers.ListField(
        child=serializers.CharField(), help_text="Rules that do not do what they say, a sentence each."
    )


class StudyEntryRules(StudyView):
    @extend_schema(
        operation_id="get_entry_rules",
        summary="Who may take part, by how they fared in other studies",
        tags=["raters"],
        responses=EntryRulesSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        return Response(rules_for_scripts(self.study, request.user))

    @extend_schema(
        operation_id="set_entry_rules",
        summary="Say who may take part, by how they fared in other studies",
        description="It binds who comes from now on; who is in stays in.",
        tags=["raters"],
        request=NewEntryRulesSerializer,
        responses={200: EntryRulesSerializer, **CONFLICTS},
    )
    def put(self, request: Request, slug: str) -> Response:
        given = read_body(NewEntryRulesSerializer, request)
        others = {each.slug: each for each in nameable_studies(self.study, request.user)}
        if unknown := dict(_unknown(given["rules"], others)):
            raise ValidationError(unknown)
        wanted = [
            WantedRule(KINDS[each["kind"]], others[each["study"]], each["outcome"]) for each in given["rules"]
        ]
        allowed(lambda: change_entry_rules(self.study, wanted, by=request.user, reason=given["reason"]))
        return Response(rules_for_scripts(self.study, request.user))


def _unknown(
    rules: Sequence[Mapping[str, Any]], others: Mapping[str, Study]
) -> Iterator[tuple[str, list[ErrorDetail]]]:
    for place, rule in enumerate(rules):
        if rule["study"] not in others:
            yield (
                f"rules.{place}.study",
                [ErrorDetail("You are a member of no other study of this slug.", "unknown")],
            )
