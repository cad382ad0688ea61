"""Counts of what a pipeline of contexts found: queries that need one, and the follow-up questions that were kept.

ContextEval, sections 2 and 3.3. They are of a run's products as edited, without dropped ones.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from evaluation.extension import QueryCount
from evaluation.models import Import, Outcome, Study
from judging.generation.pipelines.contexts import PIPELINE as CONTEXTS
from judging.models import Product, Run, RunState
from judging.services.generation.made_studies import ProductSource

NEED, DRAWN, KEPT = "need", "drawn", "kept"
NEEDED, KEPT_OF_DRAWN, PER_QUERY = (
    "Queries that need a context",
    "Follow-up questions kept",
    "Follow-up questions per query",
)
RULES = {"all": "all generators say so", "any": "any generator says so"}
JURIES = {"all": "all jurors find them important", "majority": "most jurors find them important"}


def query_counts(study: Study) -> list[QueryCount]:
    """Those of the latest complete run of contexts of the study, or of the study whose products it was made of."""
    slugs = [study.slug]
    # The origin of a study that came in from elsewhere names none that is here.
    if Import.objects.filter(created_study=study, format=ProductSource.format).exists():
        slugs.append(study.origin.get("study", ""))
    runs = Run.objects.filter(
        study__slug__in=slugs, generating__pipeline=CONTEXTS.key, state=RunState.COMPLETE
    )
    run = runs.select_related("generating").order_by("pk").last()
    return [] if run is None else context_counts(run)


def context_counts(run: Run) -> list[QueryCount]:
    """Those of one run of contexts, of what is made of it so far."""
    return [*_needs(run), *_follow_ups(run)]


def contents_of(run: Run, step: str) -> Iterator[tuple[int, Any]]:
    """The query of each product of a step, and what it holds."""
    products = Product.objects.filter(unit__run=run, unit__step=step, dropped_at=None)
    for query, content, edited in products.values_list("unit__query", "content", "edited").iterator():
        yield query, content if edited is None else edited


def _needs(run: Run) -> Iterator[QueryCount]:
    """The queries that need a context, by the run's rule, and as each generator says."""
    said: dict[int, list[bool]] = defaultdict(list)
    by_generator: dict[str, Counter[bool]] = defaultdict(Counter)
    for query, content in contents_of(run, NEED):
        said[query].append(bool(content["needed"]))
        by_generator[str(content["generator"])][bool(content["needed"])] += 1
    if not said:
        return
    rule = str(run.generating.options.get("need", "all"))
    needed = sum(any(each) if rule == "any" else all(each) for each in said.values())
    yield QueryCount(NEEDED, RULES[rule], needed, len(said))
    for generator, counts in sorted(by_generator.items()):
        yield QueryCount(NEEDED, generator, counts[True], counts.total())


def _follow_ups(run: Run) -> Iterator[QueryCount]:
    """The follow-up questions that the jury kept, and how many a query has of them."""
    kept = Counter(query for query, _ in contents_of(run, KEPT))
    drawn = Counter(query for query, _ in contents_of(run, DRAWN))
    if not drawn or not run.units.filter(step=KEPT, outcome=Outcome.OK).exists():
        return
    rule = JURIES[str(run.generating.options.get("jury_rule", "all"))]
    yield QueryCount(KEPT_OF_DRAWN, rule, kept.total(), drawn.total(), has_interval=False)
    if kept:
        without = len(drawn.keys() - kept.keys())
        yield QueryCount(
            PER_QUERY, "kept", kept.total(), len(kept),
            has_interval=False, is_share=False,
            note=f"Of {len(drawn):,} queries, {without:,} had no follow-up question kept." if without else "",
        )  # fmt: skip
