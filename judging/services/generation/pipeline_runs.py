"""Runs of pipelines: their settings checked, their cost estimated, and the start."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from evaluation.counting import counted
from evaluation.models import Outcome, Query, Study
from evaluation.refusals import FieldsRefused, Refused
from evaluation.services.studies.rehearsals import refuse_in_rehearsal
from judging.backends.options import OptionsRefused, clean_options, missing_options
from judging.generation.pipeline import (
    Cast,
    CastRole,
    Pipeline,
    PipelineStep,
    PlacedModel,
    QueryState,
    UnitFacts,
)
from judging.generation.pipelines import PIPELINES
from judging.generation.prompts import build_request
from judging.models import GenerationUnit, PipelineRun, Run, RunState, WorkKind
from judging.prompting.expected_reply import CHARACTERS_PER_TOKEN
from judging.services.calls.costs import ZERO, cost_of
from judging.services.calls.workload import Target
from judging.services.endpoints.access import endpoint_refusals, endpoints_for, private_query_refusal
from judging.services.endpoints.prices import price_of_model
from judging.services.generation.queries import generated_queries
from judging.services.generation.states import StateReader, endpoints_of

# Queries whose prompts an estimate looks at.
SAMPLE = 20
HIGHEST_TEMPERATURE = 2.0
MOST_TOKENS = 100_000
# The settings of a role that may be chosen besides its models.
CAST_FIELDS = ("models", "temperature", "top_p", "max_tokens")


@dataclass(frozen=True, kw_only=True)
class PipelineSettings:
    """Everything that is chosen for a pipeline's run, checked."""

    pipeline: Pipeline
    options: Mapping[str, Any]
    # As they are stored.
    casts: Mapping[str, Any]
    sources: Mapping[str, int]
    seed: int
    max_queries: int | None

    def unsaved(self, study: Study) -> PipelineRun:
        """The rows of such a run, which nobody saved; an estimate reads them."""
        return PipelineRun(
            run=Run(study=study, work=WorkKind.GENERATION),
            pipeline=self.pipeline.key,
            version=self.pipeline.version,
            seed=self.seed,
            options=dict(self.options),
            casts=dict(self.casts),
            sources=dict(self.sources),
            max_queries=self.max_queries,
        )


@dataclass(frozen=True, kw_only=True)
class PipelineEstimate:
    """The size and cost of a pipeline's run: the most that it may come to, since later steps hang on earlier ones."""

    queries: int
    # By step, the calls that it takes at most.
    calls: Mapping[str, int]
    prompt_tokens: int
    completion_tokens: int
    cost: Decimal

    @property
    def total(self) -> int:
        return sum(self.calls.values())

    def sentences(self) -> list[str]:
        steps = ", ".join(f"{step}: {n:,}" for step, n in self.calls.items() if n)
        queries = counted(self.queries, "query", "queries")
        return [
            f"{queries}, at most {counted(self.total, 'call')}{f' ({steps})' if steps else ''}.",
            f"At most {self.prompt_tokens:,} tokens of prompts and {self.completion_tokens:,} of replies, "
            f"for at most {self.cost:.4f}.",
        ]


def pipeline_settings(
    study: Study,
    pipeline: str,
    *,
    models: Sequence[PlacedModel] = (),
    endpoint: str = "",
    casts: Mapping[str, Mapping[str, Any]] | None = None,
    options: Mapping[str, Any] | None = None,
    sources: Sequence[int] = (),
    seed: int | None = None,
    max_queries: int | None = None,
    user: Any = None,
) -> PipelineSettings:
    """Check what is chosen for a run of this pipeline; FieldsRefused names everything that is wrong.

    `models` play every role for which `casts` names none: all of them where a role takes several, otherwise the first.
    A model that names no endpoint is asked at `endpoint`. Endpoints of which `user` may not know are not there for
    them; None is the operator.
    """
    refuse_in_rehearsal(study, "nothing is generated for it.")
    if pipeline not in PIPELINES:
        known = ", ".join(sorted(PIPELINES))
        raise FieldsRefused({"pipeline": [f"There is no pipeline {pipeline!r}; there are: {known}."]})
    found = PIPELINES[pipeline]
    problems: dict[str, list[str]] = {}
    cleaned: dict[str, Any] = {}
    try:
        cleaned = clean_options(found.options, options or {})
    except OptionsRefused as refused:
        problems |= {key: list(sentences) for key, sentences in refused.by_key.items()}
    else:
        if missing := missing_options(found.options, cleaned):
            problems[""] = missing
    stored: dict[str, Any] = {}
    roles = {role.key for role in found.roles}
    for key in casts or {}:
        if key not in roles:
            problems[key] = [
                f"{found.label} has no role {key!r}; it has: {', '.join(sorted(roles)) or 'none'}."
            ]
    endpoints = {row.name: row.pk for row in endpoints_for(user)}
    for role in found.roles:
        try:
            stored[role.key] = _cast(role, (casts or {}).get(role.key, {}), models, endpoint, endpoints)
        except ValueError as problem:
            problems.setdefault(role.key, []).append(f"{role.label}: {problem}")
    taken, wrong = _sources(study, found, sources, needed=found.needed if problems else found.needs(cleaned))
    if wrong:
        problems["sources"] = wrong
    if max_queries is not None and max_queries <= 0:
        problems["max_queries"] = ["The number of queries must be more than zero."]
    if not study.queries.exists():
        problems.setdefault("", []).append("The study has no queries.")
    if not problems:
        reader = StateReader(PipelineRun(run=Run(study=study), casts=stored, seed=0))
        if wrong := found.problems(cleaned, reader.casts):
            problems[""] = wrong
    if problems:
        raise FieldsRefused(problems)
    return PipelineSettings(
        pipeline=found, options=cleaned, casts=stored, sources=taken,
        seed=study.seed if seed is None else seed, max_queries=max_queries,
    )  # fmt: skip


def _cast(
    role: CastRole,
    given: Mapping[str, Any],
    models: Sequence[PlacedModel],
    endpoint: str,
    endpoints: Mapping[str, int],
) -> dict[str, Any]:
    """A role's cast as it is stored; ValueError with a sentence where it can't be."""
    if unknown := [name for name in given if name not in CAST_FIELDS]:
        raise ValueError(f"there is no setting {unknown[0]!r}; there are: {', '.join(CAST_FIELDS)}.")
    chosen = list(given.get("models") or models)
    if role.most is not None:
        # Models that are named for all roles serve as many as each has room for.
        if given.get("models") and len(chosen) > role.most:
            raise ValueError(f"{len(chosen)} models are named, and {role.most} at most can be.")
        chosen = chosen[: role.most]
    if not given.get("models") and chosen:
        # Of several that are needed and not named, the same model plays them all.
        chosen += [chosen[-1]] * (role.least - len(chosen))
    if len(chosen) < role.least:
        few = "a model is needed." if role.least == 1 else f"{role.least} models are needed."
        raise ValueError(few)
    found = []
    for each in chosen:
        name = each.place or endpoint
        if name not in endpoints:
            raise ValueError(
                f"there is no endpoint {name!r}." if name else f"{each.model} is at no endpoint."
            )
        if not each.model.strip():
            raise ValueError("a model needs a name.")
        found.append({"endpoint": endpoints[name], "model": each.model.strip()})
    temperature = given.get("temperature", role.temperature)
    if temperature is not None and not 0 <= temperature <= HIGHEST_TEMPERATURE:
        raise ValueError(f"a temperature is from 0 to {HIGHEST_TEMPERATURE:g}.")
    max_tokens = given.get("max_tokens") or role.max_tokens
    if not 1 <= max_tokens <= MOST_TOKENS:
        raise ValueError(f"the limit of tokens is from 1 to {MOST_TOKENS:,}.")
    top_p = given.get("top_p", role.top_p)
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError("top_p is more than 0 and at most 1.")
    return {"models": found, "temperature": temperature, "top_p": top_p, "max_tokens": int(max_tokens)}


def _sources(
    study: Study, pipeline: Pipeline, runs: Sequence[int], *, needed: Sequence[str]
) -> tuple[dict[str, int], list[str]]:
    """The earlier runs to take from: those named, otherwise the latest complete one of each pipeline."""
    found: dict[str, int] = {}
    problems = []
    for pk in runs:
        row = PipelineRun.objects.filter(run=pk, run__study=study).select_related("run").first()
        if row is None:
            problems.append(f"The study has no pipeline's run {pk}.")
        elif row.pipeline not in pipeline.takes:
            problems.append(
                f"Run {pk} is of {row.pipeline}, which {pipeline.label.lower()} does not take from."
            )
        elif row.run.state != RunState.COMPLETE:
            problems.append(f"Run {pk} is {row.run.state}, and not complete.")
        else:
            found[row.pipeline] = pk
    for key in pipeline.takes:
        if key not in found:
            complete = PipelineRun.objects.filter(
                run__study=study, run__state=RunState.COMPLETE, pipeline=key
            ).order_by("-run")
            latest = complete.values_list("run", flat=True).first()
            if latest is not None:
                found[key] = latest
            elif key in needed:
                problems.append(f"A complete run of {key} is needed first.")
    return found, problems


def pipeline_refusals(study: Study, settings: PipelineSettings) -> list[str]:
    """Why the study's queries may not be sent to these endpoints, as sentences."""
    generating = settings.unsaved(study)
    private = set(study.queries.filter(split=Query.Split.PRIVATE).values_list("pk", flat=True))
    if private:
        private &= set(generated_queries(generating))
    refused = []
    for endpoint in StateReader(generating).endpoints.values():
        refused += endpoint_refusals(endpoint, study)
        refused += filter(None, [private_query_refusal(endpoint, len(private))])
    return list(dict.fromkeys(refused))


def batch_refusals(settings: PipelineSettings) -> list[str]:
    """Why a run with these settings can't be asked as batches, as sentences."""
    endpoints = endpoints_of(settings.casts)
    if not endpoints:
        return ["This pipeline asks no model: it can't be asked as batches."]
    if len(endpoints) > 1:
        names = ", ".join(sorted(endpoint.name for endpoint in endpoints.values()))
        return [f"As batches, all models are asked at one endpoint; these are at {names}."]
    [endpoint] = endpoints.values()
    models = [each["model"] for cast in settings.casts.values() for each in cast["models"]]
    if any(endpoint.capabilities.get(model, {}).get("batches") is False for model in models):
        return [f"The endpoint {endpoint} has no Batch API."]
    return []


def estimate_pipeline(
    study: Study, settings: PipelineSettings, *, by_batch: bool = False
) -> PipelineEstimate:
    """Queries, calls, tokens and money, at most, before anything is spent; Refused where it can't run at all."""
    refused = pipeline_refusals(study, settings) + (batch_refusals(settings) if by_batch else [])
    if refused:
        raise Refused(*refused)
    generating = settings.unsaved(study)
    queries, reader = generated_queries(generating), StateReader(generating)
    sample = reader.states(Query.objects.filter(pk__in=queries[:SAMPLE]).order_by("pk"))
    calls: dict[str, int] = {}
    prompt_tokens = completion_tokens = 0
    cost = ZERO
    for step in settings.pipeline.steps:
        if not step.role:
            continue
        cast = reader.casts[step.role]
        calls[step.key] = round(step.most_of(len(queries), settings.options, reader.casts))
        prompts = calls[step.key] * _prompt_tokens(step, sample, cast)
        replies = calls[step.key] * cast.max_tokens
        prompt_tokens, completion_tokens = prompt_tokens + round(prompts), completion_tokens + replies
        prices = [
            price_of_model(reader.endpoints[each["endpoint"]], each["model"], by_batch=by_batch)
            for each in settings.casts[step.role]["models"]
        ]
        dearest = (max(price[0] for price in prices), max(price[1] for price in prices))
        cost += cost_of(round(prompts), replies, *dearest)
    return PipelineEstimate(
        queries=len(queries), calls=calls, prompt_tokens=prompt_tokens, completion_tokens=completion_tokens,
        cost=cost,
    )  # fmt: skip


def _prompt_tokens(step: PipelineStep, sample: Sequence[QueryState], cast: Cast) -> float:
    """Tokens of a step's prompt on average: of real ones where the step can be planned already, else of its example."""
    asked = [
        UnitFacts(state.query, each.key, each.about, state.options)
        for state in sample
        for each in step.plan(state)
        if each.model is not None
    ]
    example = step.example()
    prompts = [step.prompt(each) for each in asked or ([example] if example else [])]
    requests = [
        build_request(
            prompt, cast.models[0], place="", temperature=None, max_tokens=1, seed=None, capabilities={}
        )
        for prompt in prompts
    ]
    characters = [sum(len(each["content"]) for each in request.messages) for request in requests]
    return sum(characters) / len(characters) / CHARACTERS_PER_TOKEN if characters else 0.0


def start_pipeline(
    study: Study,
    settings: PipelineSettings,
    *,
    user: Any = None,
    budget: Decimal | None = None,
    in_flight: int | None = None,
    by_batch: bool = False,
) -> Run:
    """A new run of a pipeline; their calls are created, step by step, by whoever works on it."""
    problems = pipeline_refusals(study, settings)
    problems += [
        f"The {what} must be more than zero."
        for what, value in (("budget", budget), ("number in flight", in_flight))
        if value is not None and value <= 0
    ]
    if by_batch:
        problems += batch_refusals(settings)
    if problems:
        raise Refused(*problems)
    with transaction.atomic():
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        run = Run.objects.create(
            study=study, work=WorkKind.GENERATION, budget=budget, in_flight=in_flight, by_batch=by_batch,
            created_by=user,
        )  # fmt: skip
        row = settings.unsaved(study)
        row.run = run
        row.save(force_insert=True)
        endpoints = StateReader(row).endpoints
        for cast in settings.casts.values():
            for each in cast["models"]:
                target = Target("", endpoints[each["endpoint"]], each["model"])
                prices = price_of_model(target.endpoint, target.model, by_batch=by_batch)
                run.prices[target.key] = [f"{price:f}" for price in prices]
        run.save(update_fields=["prices"])
    return run


def stuck_units(run: Run) -> QuerySet[GenerationUnit]:
    """The units that could not be made, and hold their queries up."""
    units = GenerationUnit.objects.filter(run=run, passed_over=False)
    return units.exclude(outcome__in=["", Outcome.OK])
