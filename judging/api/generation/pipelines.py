"""The pipelines that there are, and the settings of a run of one."""

from collections.abc import Iterable, Mapping
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.base import StudyView
from evaluation.api.fields import AnyValueField
from evaluation.api.problems import CONFLICTS, allowed
from evaluation.api.query import (
    MAX_ID,
    BodyIntegerField,
    BodyNumberField,
    BodyTextField,
    StrictSerializer,
    read_body,
)
from evaluation.models import Study
from evaluation.refusals import FieldsRefused
from evaluation.storable import storable_json
from judging.api.judges import MAX_ITEMS
from judging.backends.options import Input, JudgeOption
from judging.generation.pipeline import CastRole, Pipeline, PlacedModel
from judging.generation.pipelines import PIPELINES
from judging.services.generation.pipeline_runs import (
    HIGHEST_TEMPERATURE,
    MOST_TOKENS,
    PipelineEstimate,
    PipelineSettings,
    estimate_pipeline,
    pipeline_settings,
)

MOST_MODELS = 50
MAX_KEY = 60
MAX_MODEL = 200


class PipelineRoleSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    about = serializers.CharField()
    least = serializers.IntegerField(help_text="So many models are needed.")
    most = serializers.IntegerField(allow_null=True, help_text="Null: any number.")
    temperature = serializers.FloatField(
        allow_null=True, help_text="Unless the run says otherwise; null: the model's own."
    )
    top_p = serializers.FloatField(
        allow_null=True, help_text="Unless the run says otherwise; null: the model's own."
    )
    max_tokens = serializers.IntegerField()


class PipelineOptionSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    about = serializers.CharField()
    kind = serializers.ChoiceField(choices=[each.value for each in Input])
    default = AnyValueField()
    choices = serializers.ListField(child=serializers.CharField(), help_text="Empty where it is free.")


class PipelineStepSerializer(serializers.Serializer[Any]):
    key = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    role = serializers.CharField(help_text="Whose models are asked; empty where nobody is.")


class PipelineSerializer(serializers.Serializer[Any]):
    key = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    about = serializers.CharField()
    version = serializers.CharField(help_text="Changes with every change of a prompt.")
    steps = PipelineStepSerializer(many=True)
    roles = PipelineRoleSerializer(many=True)
    options = PipelineOptionSerializer(many=True, help_text="Of a run.")
    takes = serializers.ListField(
        child=serializers.CharField(), help_text="The pipelines whose products it can take up."
    )
    makes = serializers.CharField(
        help_text="The protocol of the study that its products make; empty where they make none."
    )
    making = PipelineOptionSerializer(many=True, help_text="Of the study that is made.")


class PipelineList(StudyView):
    @extend_schema(
        operation_id="list_pipelines",
        summary="The pipelines that can generate something, with their roles, options and steps",
        tags=["generation"],
        responses=PipelineSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        return Response([_record(each) for each in PIPELINES.values()])


def _record(pipeline: Pipeline) -> dict[str, Any]:
    plain = ("key", "label", "about", "version", "makes")
    return {name: getattr(pipeline, name) for name in plain} | {
        "steps": [{"key": each.key, "label": each.label, "role": each.role} for each in pipeline.steps],
        "roles": [_role(each) for each in pipeline.roles],
        "options": _options(pipeline.options),
        "takes": list(pipeline.takes),
        "making": _options(pipeline.making),
    }


def _role(role: CastRole) -> dict[str, Any]:
    plain = ("least", "most", "temperature", "top_p", "max_tokens")
    return {name: getattr(role, name) for name in plain} | {
        "name": role.key,
        "about": _sentences(role.label, role.help),
    }


def _options(options: Iterable[JudgeOption]) -> list[dict[str, Any]]:
    return [
        {
            "name": option.key,
            "about": _sentences(option.label, option.help),
            "kind": option.input.value,
            "default": option.default,
            "choices": list(option.choices or ()),
        }
        for option in options
    ]


def _sentences(label: str, help_text: str) -> str:
    return " ".join(filter(None, (f"{label}.", help_text)))


class PlacedModelSerializer(StrictSerializer):
    model = BodyTextField(max_length=MAX_MODEL)
    endpoint = BodyTextField(
        required=False, max_length=MAX_MODEL, help_text="Its name; left out: the run's endpoint."
    )


class CastSerializer(StrictSerializer):
    """The models of one role, and how they are asked; what is left out is as the pipeline has it."""

    models = serializers.ListField(
        child=PlacedModelSerializer(), required=False, min_length=1, max_length=MOST_MODELS
    )
    temperature = BodyNumberField(
        required=False, allow_null=True, min_value=0, max_value=HIGHEST_TEMPERATURE,
        help_text="Null: the model's own.",
    )  # fmt: skip
    top_p = BodyNumberField(
        required=False, allow_null=True, min_value=0, max_value=1,
        help_text="More than 0. Null: the model's own.",
    )  # fmt: skip
    max_tokens = BodyIntegerField(required=False, min_value=1, max_value=MOST_TOKENS)


class PipelineSettingsSerializer(StrictSerializer):
    """Everything that is chosen for a pipeline's run."""

    pipeline = BodyTextField(max_length=MAX_KEY, help_text="Its key.")
    endpoint = BodyTextField(
        required=False, max_length=MAX_MODEL, help_text="Where models are asked that name no endpoint."
    )
    models = serializers.ListField(
        child=PlacedModelSerializer(), required=False, max_length=MOST_MODELS,
        help_text="For every role that names none.",
    )  # fmt: skip
    roles = serializers.DictField(child=CastSerializer(), required=False, help_text="By their names.")
    options = serializers.DictField(
        required=False, help_text="By their names; the others have their defaults."
    )
    sources = serializers.ListField(
        child=BodyIntegerField(min_value=1, max_value=MAX_ID), required=False, max_length=MOST_MODELS,
        help_text="Ids of runs whose products are taken up; otherwise the latest complete one of each pipeline.",
    )  # fmt: skip
    seed = BodyIntegerField(required=False, min_value=0, max_value=MAX_ID, help_text="Otherwise the study's.")
    max_queries = BodyIntegerField(
        required=False, allow_null=True, min_value=1, max_value=MAX_ITEMS,
        help_text="Drawn by the seed; null: all.",
    )  # fmt: skip


def by_batch_field() -> serializers.BooleanField:
    return serializers.BooleanField(
        required=False,
        help_text="Ask through the endpoint's Batch API, at its price of batches: for runs whose steps can each wait a "
        "day.",
    )


class EstimatedSettingsSerializer(PipelineSettingsSerializer):
    """A run of a pipeline that is not started."""

    by_batch = by_batch_field()


class StepCallsSerializer(serializers.Serializer[Any]):
    step = serializers.CharField()
    calls = serializers.IntegerField()


class PipelineEstimateSerializer(serializers.Serializer[Any]):
    """The most that a run may come to: later steps hang on what earlier ones bring."""

    queries = serializers.IntegerField()
    calls = serializers.IntegerField()
    steps = StepCallsSerializer(many=True)
    prompt_tokens = serializers.IntegerField()
    completion_tokens = serializers.IntegerField()
    cost = serializers.CharField(help_text="As text, in the installation's currency.")


class PipelineEstimateView(StudyView):
    @extend_schema(
        operation_id="estimate_pipeline",
        summary="The most that a run of a pipeline with these settings would take, before anything is spent",
        tags=["generation"],
        request=EstimatedSettingsSerializer,
        responses={200: PipelineEstimateSerializer, **CONFLICTS},
    )
    def post(self, request: Request, slug: str) -> Response:
        wanted = read_body(EstimatedSettingsSerializer, request)
        by_batch = wanted.pop("by_batch", False)

        def estimate() -> PipelineEstimate:
            settings = settings_of(self.study, wanted, user=request.user)
            return estimate_pipeline(self.study, settings, by_batch=by_batch)

        told = allowed(estimate)
        return Response(
            {
                "queries": told.queries,
                "calls": told.total,
                "steps": [{"step": step, "calls": n} for step, n in told.calls.items()],
                "prompt_tokens": told.prompt_tokens,
                "completion_tokens": told.completion_tokens,
                "cost": f"{told.cost:f}",
            }
        )


def settings_of(study: Study, wanted: Mapping[str, Any], *, user: Any) -> PipelineSettings:
    """The settings that a body asks for; FieldsRefused names its fields."""
    casts = {
        role: cast | ({"models": _models(cast["models"])} if "models" in cast else {})
        for role, cast in wanted.get("roles", {}).items()
    }
    plain = ("endpoint", "sources", "seed", "max_queries")
    try:
        return pipeline_settings(
            study,
            wanted["pipeline"],
            models=_models(wanted.get("models", [])),
            casts=casts,
            # Texts of options may hold what no database stores.
            options=storable_json(wanted.get("options", {})),
            user=user,
            **{name: wanted[name] for name in plain if name in wanted},
        )
    except FieldsRefused as refused:
        known = PIPELINES.get(wanted["pipeline"])
        roles = {role.key for role in known.roles} if known else set()
        fields = {key: _field(key, roles | casts.keys()) for key in refused.by_field}
        raise FieldsRefused({fields[key]: each for key, each in refused.by_field.items()}) from None


def _models(given: Iterable[Mapping[str, str]]) -> list[PlacedModel]:
    return [PlacedModel(each["model"], each.get("endpoint", "")) for each in given]


def _field(key: str, roles: Iterable[str]) -> str:
    if key in ("", "pipeline", "sources", "max_queries"):
        return key
    return f"roles.{key}" if key in roles else f"options.{key}"
