"""Shares of a study's queries: their types, those that need a context, and the follow-up questions that were kept.

ContextEval, sections 2 and 3.3. They are of a run's products as edited, without dropped ones.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from analytics.statistics.core.resampling import wilson_interval
from evaluation.facts import Fact
from evaluation.models import Outcome
from judging.generation.pipelines.contexts import PIPELINE as CONTEXTS
from judging.generation.pipelines.query_types import PIPELINE as QUERY_TYPES
from judging.generation.pipelines.query_types import TYPES
from judging.models import Product, Run

NEED, DRAWN, KEPT = "need", "drawn", "kept"
RULES = {"all": "all generators say so", "any": "any generator says so"}


def query_facts(run: Run) -> list[Fact]:
    """The shares of a run of contexts or of query types; none of other pipelines, and of what is not made yet."""
    if run.generating.pipeline == CONTEXTS.key:
        return [*_needs(run), *_follow_ups(run)]
    return list(_types(run)) if run.generating.pipeline == QUERY_TYPES.key else []


def _types(run: Run) -> Iterator[Fact]:
    """The queries of each type; of several types a query counts for each."""
    said: dict[int, set[str]] = defaultdict(set)
    for query, content in _contents(run, "types"):
        said[query].update(content["types"])
    for each in TYPES if said else ():
        n = sum(each in types for types in said.values())
        yield Fact(each.replace("_", "-").capitalize(), f"{n:,} of {len(said):,}", _percent(n, len(said)))


def _needs(run: Run) -> Iterator[Fact]:
    """The queries that need a context, by the run's rule, and as each generator says."""
    said: dict[int, list[bool]] = defaultdict(list)
    by_generator: dict[str, Counter[bool]] = defaultdict(Counter)
    for query, content in _contents(run, NEED):
        said[query].append(bool(content["needed"]))
        by_generator[str(content["generator"])][bool(content["needed"])] += 1
    if not said:
        return
    rule = str(run.generating.options.get("need", "all"))
    needed = sum(any(each) if rule == "any" else all(each) for each in said.values())
    each = ", ".join(
        f"{generator}: {counts[True]:,} of {counts.total():,}"
        for generator, counts in sorted(by_generator.items())
    )
    yield Fact(
        "Queries that need a context",
        f"{needed:,} of {len(said):,}",
        f"{_percent(needed, len(said))}; {RULES[rule]}. {each}",
    )


def _follow_ups(run: Run) -> Iterator[Fact]:
    """The follow-up questions that the jury kept, and how many a query has of them."""
    kept = Counter(query for query, _ in _contents(run, KEPT))
    drawn = Counter(query for query, _ in _contents(run, DRAWN))
    if not drawn or not run.units.filter(step=KEPT, outcome=Outcome.OK).exists():
        return
    yield Fact(
        "Follow-up questions kept",
        f"{kept.total():,} of {drawn.total():,}",
        f"{100 * kept.total() / drawn.total():.1f} % of those drawn, of {len(drawn):,} queries",
    )
    if kept:
        without = len(drawn.keys() - kept.keys())
        yield Fact(
            "Follow-up questions per query",
            f"{kept.total() / len(kept):.2f}",
            f"kept, of {len(kept):,} queries; {without:,} had none kept",
        )


def _contents(run: Run, step: str) -> Iterator[tuple[int, Any]]:
    products = Product.objects.filter(unit__run=run, unit__step=step, dropped_at=None)
    for query, content, edited in products.values_list("unit__query", "content", "edited").iterator():
        yield query, content if edited is None else edited


def _percent(n: int, of: int) -> str:
    low, high = wilson_interval(n / of, of)
    return f"{100 * n / of:.1f} % ({100 * low:.1f} to {100 * high:.1f})"
