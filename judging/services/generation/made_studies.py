"""Studies made of products: a draft with the items that a pipeline's products make, through the dump format."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import orjson

from evaluation.canonical import canonical_hash
from evaluation.dumps.derivation import own_systems
from evaluation.dumps.imports.dump_import import import_dump
from evaluation.dumps.lines import SourceLine, parse_line
from evaluation.extension import Watch
from evaluation.models import Import, Status, Study
from evaluation.permissions import get_study_for
from evaluation.refusals import FieldsRefused, Refused
from evaluation.services.history import log_action, server_account
from evaluation.services.studies.compilation import compile_spec
from evaluation.services.studies.creation import words_in
from evaluation.services.studies.duplication import MAX_SLUG, MAX_TITLE, free_slug
from evaluation.services.studies.origin import origin_of
from judging.backends.options import OptionsRefused, clean_options
from judging.generation.pipeline import Making, Pipeline, QueryState, Record
from judging.generation.pipelines import PIPELINES
from judging.models import Run, RunState
from judging.services.generation.lost_calls import (
    KEEP,
    LEAVE_OUT,
    UNEVEN,
    UnevenQuery,
    named,
    sources_of,
    told,
    uneven_queries,
)
from judging.services.generation.queries import generated_queries
from judging.services.generation.states import StateReader


class UnevenRefused(Refused):
    """Calls failed for some of the queries, and nobody has said what is done about these."""


# The part of a study's spec that a study of its products takes over.
CARRIED = (
    "asker",
    "seed",
    "render_as",
    "show_references",
    "language",
    "texts_language",
    "single_dollars",
    "written_formulas",
)


def make_study(
    run: Run,
    options: Mapping[str, Any] | None = None,
    *,
    by: Any = None,
    slug: str = "",
    title: str = "",
    uneven: str = "",
    replace_broken: bool = False,
    watch: Watch = lambda phase, done, total: None,
    and_then: Callable[[Study], None] = lambda study: None,
) -> Study:
    """A draft with the items that a run's products make, which `by` owns, and what `and_then` does of it; all of it, or
    Refused and nothing. Without `by`, whoever runs the server asks, and nobody owns it.

    `uneven`, a key of UNEVEN, says what is done about queries for which calls were lost; '' refuses where some were.
    """
    source = ProductSource(run, options or {}, by)
    source.settle_uneven(uneven)
    name = source.pipeline.key.replace("_", "-")
    asking = by or server_account()

    def made(study: Study) -> None:
        log_action(study=run.study, by=asking, message=f"Made {study.title} of {run}.", about=[run])
        and_then(study)

    return import_dump(
        source,
        slug=slug or free_slug(f"{run.study.slug[: MAX_SLUG - 30]}-{name}"),
        title=(title or f"{run.study.title}: {source.pipeline.label.lower()}")[:MAX_TITLE],
        owner=by,
        by=asking,
        said=f"Made of {run} of {run.study.title}.",
        replace_broken=replace_broken,
        watch=watch,
        and_then=made,
    )


def left_out_of(study: Study) -> Mapping[str, int]:
    """By the reason, how many products could not be made into items of a study that was made of some."""
    found: Mapping[str, int] = Import.objects.get(created_study=study).notes["left_out"]
    return {reason: n for reason, n in found.items() if n}


def made_of_products(study: Study) -> str:
    """The draft that was made of products, and what was left out of it, as sentences."""
    notes = Import.objects.get(created_study=study).notes
    said = [f"{study.title} is a draft of {study.items.count():,} items."]
    if left_out := left_out_of(study):
        said.append(f"Left out: {', '.join(f'{n:,} {reason}' for reason, n in left_out.items())}.")
    if uneven := notes.get("uneven"):
        kept = "kept with what they have" if uneven["choice"] == KEEP else "left out"
        said.append(f"Calls failed for {named(uneven['queries'])}, which are {kept}.")
    return " ".join(said)


def check_making(run: Run, options: Mapping[str, Any], *, uneven: str = "", by: Any) -> None:
    """Refuse what can be refused before the study is made; FieldsRefused names the options that are wrong."""
    ProductSource(run, options, by).settle_uneven(uneven)


def uneven_of(run: Run, *, by: Any) -> Sequence[UnevenQuery]:
    """The queries of a complete run that lost calls, and what they would lack in the study that is made by default."""
    return ProductSource(run, {}, by).uneven


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
        self.choice = ""
        self._hashes: list[str] = []
        self._seen = 0

    @cached_property
    def uneven(self) -> Sequence[UnevenQuery]:
        return uneven_queries(self.run, self.making, self.reader)

    def settle_uneven(self, choice: str) -> None:
        """Have the queries that lost calls left out, or kept; Refused names them where nothing is chosen."""
        if choice not in ("", *UNEVEN):
            raise FieldsRefused({"uneven": [f"{choice!r} is neither of {', '.join(UNEVEN)}."]})
        if self.uneven and not choice:
            again = f"run {self.run.pk}"
            if sources := sources_of(self.uneven):
                again += f" (and run {', '.join(map(str, sources))}, whose products are then taken up by a new run)"
            raise UnevenRefused(
                f"Calls failed for {len(self.uneven):,} of {self.total:,} queries.",
                *told(self.uneven),
                f"Retry these calls of {again}, leave the queries out, or keep them with what they have.",
            )
        self.choice = choice

    def _making(self) -> Making:
        study = self.run.study
        spec = compile_spec(study)
        return Making(
            options=self.options,
            run_options=self.generating.options,
            casts=self.reader.casts,
            seed=self.generating.seed,
            spec={name: spec[name] for name in CARRIED if name in spec},
            systems=own_systems(study),
            translate=words_in(study.language),
        )

    @cached_property
    def total(self) -> int:
        """Queries: how many items they make is known once they are made."""
        return len(generated_queries(self.generating))

    def fingerprint(self) -> str:
        return canonical_hash(self._hashes)

    def notes(self) -> dict[str, Any]:
        notes: dict[str, Any] = {"left_out": dict(self.making.left_out)}
        if self.uneven:
            notes["uneven"] = {"choice": self.choice, "queries": [each.key for each in self.uneven]}
        return notes

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
        without = {each.pk for each in self.uneven} if self.choice == LEAVE_OUT else set()
        if without:
            self.making.left_out["queries for which calls failed"] = len(without)
        queries = generated_queries(self.generating)
        for state in self.reader.in_batches([pk for pk in queries if pk not in without]):
            self._seen += 1
            yield state


def _line(number: int, record: Record, *, done: int = 0) -> SourceLine:
    return parse_line(orjson.dumps(record), number, done)
