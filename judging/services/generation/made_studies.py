"""Studies made of products: a draft with the items that a pipeline's products make, through the dump format."""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

import orjson

from evaluation.canonical import canonical_hash
from evaluation.dumps.imports.checker import Watch
from evaluation.dumps.imports.dump_import import import_dump
from evaluation.dumps.lines import SourceLine, parse_line
from evaluation.models import Import, Status, Study
from evaluation.permissions import get_study_for
from evaluation.refusals import FieldsRefused, Refused
from evaluation.services.studies.compilation import compile_spec
from evaluation.services.studies.creation import words_in
from evaluation.services.studies.duplication import MAX_SLUG, MAX_TITLE, free_slug
from evaluation.services.studies.origin import origin_of
from judging.backends.options import OptionsRefused, clean_options
from judging.generation.pipeline import Making, Pipeline, QueryState, Record
from judging.generation.pipelines import PIPELINES
from judging.models import Run, RunState
from judging.services.generation.queries import generated_queries
from judging.services.generation.states import StateReader

# The part of a study's spec that a study of its products takes over.
CARRIED = ("asker", "seed", "render_as", "show_references", "language", "single_dollars")


def make_study(
    run: Run,
    options: Mapping[str, Any] | None = None,
    *,
    by: Any = None,
    slug: str = "",
    title: str = "",
    replace_broken: bool = False,
    watch: Watch = lambda phase, done, total: None,
    and_then: Callable[[Study], None] = lambda study: None,
) -> Study:
    """A draft with the items that a run's products make, which `by` owns, and what `and_then` does of it; all of it, or
    Refused and nothing."""
    source = ProductSource(run, options or {}, by)
    name = source.pipeline.key.replace("_", "-")
    return import_dump(
        source,
        slug=slug or free_slug(f"{run.study.slug[: MAX_SLUG - 30]}-{name}"),
        title=(title or f"{run.study.title}: {source.pipeline.label.lower()}")[:MAX_TITLE],
        owner=by,
        replace_broken=replace_broken,
        watch=watch,
        and_then=and_then,
    )


def left_out_of(study: Study) -> Mapping[str, int]:
    """By the reason, how many products could not be made into items of a study that was made of some."""
    found: Mapping[str, int] = Import.objects.get(created_study=study).notes["left_out"]
    return {reason: n for reason, n in found.items() if n}


def check_making(run: Run, options: Mapping[str, Any], *, by: Any) -> None:
    """Refuse what can be refused before any product is looked at; FieldsRefused names the options that are wrong."""
    ProductSource(run, options, by)


class ProductSource:
    """A run's products as a source of the dump format; asked for as often as it is read."""

    format, unit = "products-1", "record"

    def __init__(self, run: Run, options: Mapping[str, Any], by: Any) -> None:
        if by is not None:
            get_study_for(by, run.study.slug, right="write")
        self.run = run
        self.generating = run.generating
        self.pipeline: Pipeline = PIPELINES[self.generating.pipeline]
        if not self.pipeline.makes:
            raise Refused(f"No study is made of {self.pipeline.label.lower()}; other pipelines take them up.")
        if run.state != RunState.COMPLETE:
            raise Refused(f"The run is {run.state}: a study is made of a complete one.")
        try:
            self.options = clean_options(self.pipeline.making, options)
        except OptionsRefused as refused:
            raise FieldsRefused({key: list(each) for key, each in refused.by_key.items()}) from None
        self.reader = StateReader(self.generating)
        self.name = f"{self.pipeline.key} of {run.study.slug}"
        self.making = self._making()
        self._hashes: list[str] = []
        self._seen = 0

    def _making(self) -> Making:
        study = self.run.study
        spec = compile_spec(study)
        fields = ("key", "label", "family", "kind")
        return Making(
            options=self.options,
            run_options=self.generating.options,
            casts=self.reader.casts,
            seed=self.generating.seed,
            spec={name: spec[name] for name in CARRIED if name in spec},
            systems=[
                dict(zip(fields, row, strict=True))
                for row in study.systems.order_by("key").values_list(*fields)
            ],
            translate=words_in(study.language),
        )

    @cached_property
    def total(self) -> int:
        """Queries: how many items they make is known once they are made."""
        return len(generated_queries(self.generating))

    def fingerprint(self) -> str:
        return canonical_hash(self._hashes)

    def notes(self) -> dict[str, Any]:
        return {"left_out": dict(self.making.left_out)}

    def lines(self) -> Iterator[SourceLine]:
        self.making, self._hashes, self._seen = self._making(), [], 0
        study = self.run.study
        header = self.pipeline.header(self.making)
        rules = {"contact": study.contact, "currency": study.currency, **header.get("rules", {})}
        origin = origin_of(
            study, self.pipeline.key, options=dict(self.options), settings=dict(self.generating.options)
        )
        yield _line(0, {"assay": 1, **header, "rules": rules, "status": Status.DRAFT, "origin": origin})
        for number, record in enumerate(self.pipeline.records(self.making, self._states()), 1):
            self._hashes.append(canonical_hash(record))
            yield _line(number, record, done=self._seen)
        if not self._hashes:
            reasons = ", ".join(f"{n:,} {reason}" for reason, n in self.making.left_out.items() if n)
            raise Refused(f"The products make no item{f'; left out were {reasons}' if reasons else ''}.")

    def _states(self) -> Iterator[QueryState]:
        """Those of all queries that the run is over: what can't be made of some is counted."""
        for state in self.reader.in_batches(generated_queries(self.generating)):
            self._seen += 1
            yield state


def _line(number: int, record: Record, *, done: int = 0) -> SourceLine:
    return parse_line(orjson.dumps(record), number, done)
