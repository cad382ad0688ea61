"""States of queries and units for tests of pipelines, without a database and asking nobody."""

from dataclasses import replace

from judging.backends.options import clean_options
from judging.generation.pipeline import (
    Cast,
    GivenResponse,
    KeptProduct,
    Making,
    PlacedModel,
    QueryState,
    SourceQuery,
    UnitFacts,
)

SOUP = SourceQuery(key="soup", text="Which soup can I make tonight?")
THREE = ("aspen", "birch", "cedar")


def casts_of(pipeline, *, models=("aspen",), **by_role):
    """Each role's models, as many of those for all as it takes where none are named for it."""
    return {
        role.key: Cast(
            tuple(PlacedModel(name, "here") for name in by_role.get(role.key, models[: role.most])),
            role.temperature,
            role.max_tokens,
        )
        for role in pipeline.roles
    }


def state_of(pipeline, *made, sources=None, options=None, casts=None, models=("aspen",), seed=1, **query):
    """A query at a step of the pipeline's run, with what was made of it; `query` has its own fields."""
    return QueryState(
        query=replace(SOUP, **query),
        seed=seed,
        options=clean_options(pipeline.options, options or {}),
        casts=casts or casts_of(pipeline, models=models),
        made=made,
        sources=sources or {},
    )


def kept(step, content, *, key="", number=1, about=None, product=0):
    return KeptProduct(step=step, key=key, number=number, content=content, about=about or {}, product=product)


def given(system, key, text, *, answers=()):
    return GivenResponse(system, key, text, answers=answers)


def with_products(state, *made):
    return replace(state, made=[*state.made, *made])


def unit_of(state, planned):
    """A planned unit as its prompt is made of it."""
    return UnitFacts(state.query, planned.key, planned.about, state.options)


def making_of(pipeline, *, options=None, run_options=None, casts=None, systems=()):
    return Making(
        options=clean_options(pipeline.making, options or {}),
        run_options=clean_options(pipeline.options, run_options or {}),
        casts=casts or casts_of(pipeline),
        seed=1,
        spec={},
        systems=list(systems),
    )
