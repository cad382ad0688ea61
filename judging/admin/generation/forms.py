"""The forms of pipelines: models and how they are asked, options, limits; and what is made of products."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms

from evaluation.acts import slug_problem
from evaluation.models import Study
from evaluation.services.studies.duplication import MAX_SLUG, MAX_TITLE, free_slug
from judging.admin.judge_options import option_field, read_option
from judging.backends.options import Input
from judging.generation.pipeline import CastRole, Pipeline, PlacedModel
from judging.models import Endpoint, Run, RunState
from judging.services.endpoints.access import offered_endpoints
from judging.services.generation.lost_calls import UNEVEN, UnevenQuery
from judging.services.generation.pipeline_runs import PipelineSettings, pipeline_settings

ADVANCED = ("temperature", "top_p", "max_tokens")


class PipelineForm(forms.Form):
    """A run of a pipeline: its models, its options and its limits."""

    def __init__(self, study: Study, pipeline: Pipeline, user: Any, data: Any = None) -> None:
        super().__init__(data)
        self.study, self.pipeline, self.user = study, pipeline, user
        endpoints = offered_endpoints(study, user)
        if pipeline.roles:
            self.fields["endpoint"] = forms.ModelChoiceField(
                Endpoint.objects.filter(pk__in=[each.pk for each in endpoints]).order_by("name"),
                empty_label=None if len(endpoints) == 1 else "Choose one",
                help_text="Where models are asked that name no endpoint of their own.",
            )
        for role in pipeline.roles:
            self._add_role(role)
        for option in pipeline.options:
            self.fields[f"option-{option.key}"] = option_field(option, {})
        for key in pipeline.takes:
            runs = Run.objects.filter(study=study, generating__pipeline=key, state=RunState.COMPLETE)
            choices = [("", "the latest complete one"), *((run.pk, str(run)) for run in runs.order_by("-pk"))]
            self.fields[f"source-{key}"] = forms.ChoiceField(
                label=f"Run of {key.replace('_', ' ')}", choices=choices, required=False,
                help_text="Its products are taken up." if runs else "There is none yet.",
            )  # fmt: skip
        self._add_limits()

    def _add_role(self, role: CastRole) -> None:
        several = role.most is None or role.most > 1
        most = "" if role.most is None else f", at most {role.most}"
        count = f"A line each, at least {role.least}{most}." if several else ""
        self.fields[f"models-{role.key}"] = forms.CharField(
            label=role.label if several else f"{role.label}: model",
            widget=forms.Textarea(attrs={"rows": 3}) if several else forms.TextInput(),
            help_text=" ".join(filter(None, [role.help, count, "MODEL, or MODEL @ ENDPOINT."])),
        )
        self.fields[f"temperature-{role.key}"] = forms.FloatField(
            label=f"{role.label}: temperature", required=False, initial=role.temperature, min_value=0, max_value=2,
        )  # fmt: skip
        self.fields[f"top_p-{role.key}"] = forms.FloatField(
            label=f"{role.label}: top_p", required=False, initial=role.top_p, min_value=0, max_value=1,
            help_text="More than 0. Leave empty for the model's own.",
        )  # fmt: skip
        self.fields[f"max_tokens-{role.key}"] = forms.IntegerField(
            label=f"{role.label}: tokens at most", initial=role.max_tokens, min_value=1, max_value=100_000
        )

    def _add_limits(self) -> None:
        self.fields["max_queries"] = forms.IntegerField(
            label="Maximum number of queries", required=False, min_value=1,
            help_text="Drawn with the seed. Leave empty for all.",
        )  # fmt: skip
        self.fields["seed"] = forms.IntegerField(
            initial=self.study.seed, help_text="Everything that is drawn hangs on it."
        )
        self.fields["budget"] = forms.DecimalField(
            required=False, min_value=0, max_digits=12, decimal_places=4,
            help_text="The run stops when this is spent, and can be resumed with more. Leave empty for no limit.",
        )  # fmt: skip
        self.fields["in_flight"] = forms.IntegerField(
            label="Parallel calls", required=False, min_value=1, max_value=1024,
            help_text="Leave empty to use the endpoint's limit.",
        )  # fmt: skip
        if self.pipeline.roles:
            self.fields["by_batch"] = forms.BooleanField(
                label="As batches", required=False,
                help_text="For runs that can wait: each step is answered within a day, at the endpoint's batch price.",
            )  # fmt: skip

    def basic(self) -> list[Any]:
        return [self[name] for name in self.fields if not self._is_advanced(name)]

    def advanced(self) -> list[Any]:
        return [self[name] for name in self.fields if self._is_advanced(name)]

    def advanced_is_wrong(self) -> bool:
        return any(self._is_advanced(name) for name in self.errors)

    def _is_advanced(self, name: str) -> bool:
        return name.partition("-")[0] in ADVANCED or name in ("seed", "in_flight", "by_batch")

    def chosen(self) -> PipelineSettings:
        """The settings of the run; FieldsRefused names what is wrong with them."""
        data = self.cleaned_data
        endpoint = data.get("endpoint")
        return pipeline_settings(
            self.study,
            self.pipeline.key,
            endpoint=endpoint.name if endpoint else "",
            casts={
                role.key: {
                    "models": placed_models(data[f"models-{role.key}"]),
                    "temperature": data[f"temperature-{role.key}"],
                    "top_p": data[f"top_p-{role.key}"],
                    "max_tokens": data[f"max_tokens-{role.key}"],
                }
                for role in self.pipeline.roles
            },
            options={
                option.key: read_option(option, data.get(f"option-{option.key}"))
                for option in self.pipeline.options
            },
            sources=[int(data[f"source-{key}"]) for key in self.pipeline.takes if data[f"source-{key}"]],
            seed=data["seed"],
            max_queries=data["max_queries"],
            user=self.user,
        )

    def show(self, problems: Mapping[str, Any]) -> None:
        """Put the reasons of a refusal beside their fields."""
        for key, sentences in problems.items():
            names = (key, f"option-{key}", f"models-{key}", f"source-{key}")
            field = next((name for name in names if name in self.fields), None)
            for sentence in sentences:
                self.add_error(field, sentence)


def placed_models(text: str) -> list[PlacedModel]:
    """MODEL or MODEL @ ENDPOINT, a line each."""
    found = []
    for line in filter(None, map(str.strip, text.splitlines())):
        model, at, place = line.rpartition("@")
        found.append(PlacedModel(model.strip(), place.strip()) if at else PlacedModel(line))
    return found


class MakeForm(forms.Form):
    """A draft of a run's products: its names, and what the pipeline lets one choose."""

    title = forms.CharField(max_length=MAX_TITLE)
    slug = forms.SlugField(max_length=MAX_SLUG, help_text="Part of the study's addresses.")

    def __init__(
        self, study: Study, pipeline: Pipeline, data: Any = None, *, uneven: Sequence[UnevenQuery] = ()
    ) -> None:
        initial = {
            "title": f"{study.title}: {pipeline.label.lower()}"[:MAX_TITLE],
            "slug": free_slug(f"{study.slug[: MAX_SLUG - 30]}-{pipeline.key.replace('_', '-')}"),
        }
        super().__init__(data, initial=initial)
        self.making = pipeline.making
        own = {f"option-{option.key}": option_field(option, {}) for option in pipeline.making}
        self.fields = {**own, **self.fields}
        if uneven:
            self.fields["uneven"] = forms.ChoiceField(
                label="Queries for which calls failed", choices=list(UNEVEN.items()), widget=forms.RadioSelect,
            )  # fmt: skip

    def clean_slug(self) -> str:
        slug = str(self.cleaned_data["slug"])
        if taken := slug_problem(slug):
            raise forms.ValidationError(taken)
        return slug

    def chosen(self) -> dict[str, Any]:
        return {
            option.key: read_option(option, self.cleaned_data.get(f"option-{option.key}"))
            for option in self.making
            if option.input != Input.NUMBER or self.cleaned_data.get(f"option-{option.key}") is not None
        }
