"""The pipelines: a module each, with an instance named PIPELINE, which is found here."""

from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

from evaluation.registry import Registry
from judging.generation.pipeline import Pipeline

# What `--set` takes for every pipeline.
TAKEN = ("endpoint",)


def _shared_keys(pipeline: Pipeline) -> Iterator[str]:
    """Roles, options and choices of the study that is made are set side by side, by their keys."""
    options = [option.key for option in (*pipeline.options, *pipeline.making)]
    keys = Counter([*TAKEN, *(role.key for role in pipeline.roles), *options])
    steps = Counter(step.key for step in pipeline.steps)
    yield from (f"a key of its own for each {key!r} that is set" for key, n in keys.items() if n > 1)
    yield from (f"a key of its own for each step {key!r}" for key, n in steps.items() if n > 1)


PIPELINES: Registry[Pipeline] = Registry(
    "pipeline",
    {
        "key": "its name in commands and addresses",
        "label": "its name on pages",
        "about": "what it makes, in a sentence or two",
        "steps": "its steps, in their order",
    },
    lambda: [import_module(f"{__name__}.{info.name}").PIPELINE for info in iter_modules(__path__)],
    check=_shared_keys,
)
