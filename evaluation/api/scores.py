"""Scores from outside: numbers that a script has computed, as a judge's measures."""

from collections.abc import Iterator, Mapping
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.acts import begin_scores
from evaluation.api.base import StudyView
from evaluation.api.jobs import JobSerializer
from evaluation.api.making.files import SentFileSerializer, begin_job_of_file
from evaluation.api.once import IDEMPOTENCY_KEY
from evaluation.api.problems import CONFLICTS, Conflict
from evaluation.api.query import BodyNumberField, BodyTextField, StrictSerializer, read_body
from evaluation.dumps.imports.scores import take_scores
from evaluation.dumps.problems import Problems
from evaluation.models import Job
from evaluation.protocols.answers.measures import MAX_LABEL, Subject
from evaluation.protocols.base import DIRECTIONS
from evaluation.refusals import Refused, WrongState


class MeasureSerializer(StrictSerializer):
    name = BodyTextField(help_text="Letters, digits, -, _ and ., at most 50.")
    label = BodyTextField(required=False, max_length=MAX_LABEL)  # type: ignore[assignment]
    subject = serializers.ChoiceField(choices=list(Subject), default=Subject.RESPONSE)
    low = BodyNumberField(allow_null=True, default=None)
    high = BodyNumberField(allow_null=True, default=None)
    direction = serializers.ChoiceField(
        choices=[*DIRECTIONS, ""], default=DIRECTIONS[0], help_text="The better end; empty where neither is."
    )


class ScoreSerializer(StrictSerializer):
    item = BodyTextField(help_text="The item's key.")
    system = BodyTextField(required=False, help_text="Of the response that is scored.")
    response = BodyTextField(required=False, help_text="Its key, instead of the system.")
    part = BodyTextField(required=False, help_text="Anything else: f1, f2.r1; e2 of the named response.")
    name = BodyTextField(help_text="The measure's.")
    score = BodyNumberField()


class ScoresSerializer(StrictSerializer):
    judge = BodyTextField(help_text="The name under which figures show who gave the scores.")
    measures = MeasureSerializer(
        many=True, default=list, help_text="Those that are not declared: higher is better."
    )
    scores = ScoreSerializer(many=True)


class ScoresFileSerializer(SentFileSerializer):
    """A table of scores, a row for each: item, system or response, part, name, score."""

    judge = BodyTextField(max_length=120, help_text="The name under which figures show who gave the scores.")
    name = BodyTextField(
        required=False, max_length=50, help_text="The measure's, where the table has no such column."
    )
    direction = serializers.ChoiceField(
        choices=[*DIRECTIONS, ""], default=DIRECTIONS[0], help_text="The better end; empty where neither is."
    )
    low = serializers.FloatField(required=False, help_text="The least that a score can be.")
    high = serializers.FloatField(required=False, help_text="The most that a score can be.")

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        given = super().validate(given)
        if "low" in given and "high" in given and not given["low"] < given["high"]:
            raise ValidationError(
                {"high": [ErrorDetail("The greatest score must be above the least.", "invalid")]}
            )
        return given


class ImportedMeasureSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    subject = serializers.ChoiceField(choices=list(Subject))
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    direction = serializers.ChoiceField(choices=[*DIRECTIONS, ""])


class ImportedScoresSerializer(serializers.Serializer[Any]):
    rater = serializers.CharField()
    judge = serializers.CharField()
    measures = ImportedMeasureSerializer(many=True)
    items = serializers.IntegerField()


class ScoreList(StudyView):
    @extend_schema(
        operation_id="import_scores",
        summary="Import scores as a judge's measures",
        description="All or nothing. What does not fit the study is a conflict, which names scores by their places.",
        tags=["judgments"],
        request=ScoresSerializer,
        responses={201: ImportedScoresSerializer, **CONFLICTS},
    )
    def post(self, request: Request, slug: str) -> Response:
        given = ScoresSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        data = given.validated_data

        def read(problems: Problems) -> Iterator[tuple[str, Mapping[str, Any]]]:
            yield from ((f"score {number}", each) for number, each in enumerate(data["scores"], 1))

        try:
            rater = take_scores(
                self.study,
                read,
                judge=data["judge"],
                file_name="a request",
                declared=[dict(each) for each in data["measures"]],
                by=request.user,
            )
        except WrongState as wrong:
            raise Conflict(str(wrong), code="wrong_state") from None
        except Refused as refused:
            raise Conflict(str(refused), code="refused") from None
        assert rater.dump is not None
        notes = rater.dump.notes
        record = {
            "rater": rater.pseudonym,
            "judge": rater.label,
            "measures": rater.about["measures"],
            "items": notes["items"],
        }
        return Response(ImportedScoresSerializer(record).data, status=status.HTTP_201_CREATED)


class ScoreFileList(StudyView):
    parser_classes = (MultiPartParser,)

    @extend_schema(
        operation_id="import_scores_of_file",
        summary="Have a worker import a file of scores as a judge's measures",
        description="All or nothing: the job names every row that does not fit the study.",
        tags=["judgments"],
        parameters=[IDEMPOTENCY_KEY],
        request={"multipart/form-data": ScoresFileSerializer},
        responses={202: JobSerializer, **CONFLICTS},
    )
    def post(self, request: Request, slug: str) -> Response:
        given = read_body(ScoresFileSerializer, request)
        of_job = {name: given.get(name) for name in ("judge", "direction", "low", "high")}

        def begin(kept: str, name: str) -> Job:
            about = {**of_job, "name": given.get("name", "")}
            return begin_scores(self.study, kept=kept, name=name, about=about, by=request.user)

        return begin_job_of_file(request, given, begin)
