"""Shares of a study's queries: their types, those that need a context, and the follow-up questions that were kept.

ContextEval, sections 2 and 3.3. They are of a run's products as edited, without dropped ones.
"""

from collections import defaultdict
from collections.abc import Iterator
from itertools import groupby

from analytics.statistics.core.resampling import wilson_interval
from evaluation.extension import QueryCount
from evaluation.facts import Fact
from judging.generation.pipelines.contexts import PIPELINE as CONTEXTS
from judging.generation.pipelines.query_types import PIPELINE as QUERY_TYPES
from judging.generation.pipelines.query_types import TYPES
from judging.models import Run
from judging.services.generation.query_counts import contents_of, context_counts


def query_facts(run: Run) -> list[Fact]:
    """The shares of a run of contexts or of query types; none of other pipelines, and of what is not made yet."""
    if run.generating.pipeline == CONTEXTS.key:
        return list(_contexts(run))
    return list(_types(run)) if run.generating.pipeline == QUERY_TYPES.key else []


def _types(run: Run) -> Iterator[Fact]:
    """The queries of each type; of several types a query counts for each."""
    said: dict[int, set[str]] = defaultdict(set)
    for query, content in contents_of(run, "types"):
        said[query].update(content["types"])
    for each in TYPES if said else ():
        n = sum(each in types for types in said.values())
        yield Fact(each.replace("_", "-").capitalize(), f"{n:,} of {len(said):,}", _percent(n, len(said)))


def _contexts(run: Run) -> Iterator[Fact]:
    """A fact per name, whose first count it is; the others are in its detail."""
    for name, counts in groupby(context_counts(run), lambda each: each.name):
        first, *others = counts
        beside = ", ".join(f"{each.by}: {each.n:,} of {each.among:,}" for each in others)
        yield Fact(name, _value(first), " ".join(filter(None, (_detail(first), beside, first.note))))


def _value(count: QueryCount) -> str:
    return f"{count.n:,} of {count.among:,}" if count.is_share else f"{count.n / count.among:.2f}"


def _detail(count: QueryCount) -> str:
    if not count.is_share:
        return f"{count.by}, of {count.among:,} queries."
    share = _percent(count.n, count.among) if count.has_interval else f"{100 * count.n / count.among:.1f} %"
    return f"{share}; {count.by}."


def _percent(n: int, of: int) -> str:
    low, high = wilson_interval(n / of, of)
    return f"{100 * n / of:.1f} % ({100 * low:.1f} to {100 * high:.1f})"
