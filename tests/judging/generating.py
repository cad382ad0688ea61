"""Studies of queries and runs of pipelines for tests, at the tests' endpoint."""

import json

from evaluation.dumps.imports.dump_import import import_dump
from evaluation.dumps.lines import FileSource
from judging.generation.pipeline import CastRole, Pipeline, PipelineStep, PlacedModel, Planned
from judging.generation.prompts import about_material
from judging.models import Endpoint, Run
from judging.services.endpoints.access import create_endpoint
from judging.services.generation.pipeline_runs import pipeline_settings, start_pipeline
from judging.services.runs.work import work_on
from tests.judging.build import ABLE


def study_of_queries(path, queries, *, slug="queries", protocol="pairwise", **header):
    """A draft that holds these queries and no items."""
    arm = {"key": "all", "label": "All", "context_at_generation": False, "context_at_judging": False}
    spec = {"protocol": protocol, "arms": [arm], **header.pop("spec", {})}
    line = {"assay": 1, "spec": spec, "queries": queries, "status": "draft", **header}
    file = path / f"{slug}.jsonl"
    file.write_text(json.dumps(line) + "\n")
    return import_dump(FileSource(file), slug=slug)


def make_endpoint(served, name="here", *, models=("aspen", "birch", "cedar"), in_flight=16, **fields):
    """An endpoint whose models are known; their names say how it behaves."""
    found = Endpoint.objects.filter(name=name).first() or create_endpoint(
        user=None, name=name, base_url=served.url, max_in_flight=in_flight, timeout_seconds=5, open_to_all=True,
        **fields,
    )  # fmt: skip
    found.capabilities |= {model: dict(ABLE) for model in models}
    found.save()
    return found


def chosen(*names, at="here"):
    return [PlacedModel(name, at) for name in names]


def generated(study, pipeline, *, models=("aspen",), budget=None, in_flight=None, work=True, **settings):
    """A run of the pipeline, worked on to its end."""
    found = pipeline_settings(study, pipeline, models=chosen(*models), **settings)
    run = start_pipeline(study, found, budget=budget, in_flight=in_flight)
    if work:
        work_on(run.pk)
    return Run.objects.select_related("generating", "study").get(pk=run.pk)


def contents(run, step):
    """The contents of a step's kept products by the key of their query, in the order in which they were made."""
    found = {}
    for unit in (
        run.units.filter(step=step).order_by("pk").prefetch_related("products").select_related("query")
    ):
        for product in unit.products.all():
            if product.dropped_at is None:
                found.setdefault(unit.query.key, []).append(product.edited or product.content)
    return found


TITLES = {
    "type": "object",
    "properties": {"titles": {"type": "array", "minItems": 2, "items": {"type": "string", "minLength": 1}}},
    "required": ["titles"],
    "additionalProperties": False,
}


class Titles(PipelineStep):
    key, label, role = "titles", "Titles", "writer"

    def plan(self, state):
        return [Planned(key=str(n), model=model) for n, model in enumerate(state.models("writer"))]

    def prompt(self, asked):
        return about_material("Write two titles.", [("Query", asked.query.text)], schema=TITLES)

    def read(self, asked, reply):
        return [{"title": title} for title in reply["titles"]]


class Choice(PipelineStep):
    key, label = "choice", "Choice"

    def plan(self, state):
        made = state.products("titles")
        if made:
            drawn = made[int(state.draw("choice").integers(len(made)))]
            yield Planned(products=[drawn.content])


class Story(PipelineStep):
    key, label, role = "story", "Story", "writer"

    def plan(self, state):
        for each in state.products("choice"):
            yield Planned(about=each.content, model=state.models("writer")[0])

    def prompt(self, asked):
        return about_material("Write a story.", [("Title", asked.about["title"])])

    def read(self, asked, reply):
        return [{"story": reply}]


class Stories(Pipeline):
    key, label, about = "stories", "Stories", "Stories about queries."
    roles = (CastRole(key="writer", label="Writer", most=None, temperature=0.5),)
    steps = (Titles(), Choice(), Story())
