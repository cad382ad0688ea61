"""The contexts of the study's queries: how many have one, and how many follow-up questions; and what the other apps
counted of the queries before items were made of them."""

from collections.abc import Iterable, Iterator

from analytics.figures.document import QueryCountRecord
from analytics.frames.arrays import StudyItems
from analytics.statistics.core.resampling import wilson_interval
from evaluation.extension import QueryCount, extensions
from evaluation.models import Context, Item, Role, Study

IN_ITEMS = "in the study's items"


def query_counts_of(study: Study) -> list[QueryCount]:
    """Counts of the study's queries that the other apps know."""
    return [count for each in extensions() for count in each.query_counts(study)]


def contexts_record(study: Study, items: StudyItems, counted: Iterable[QueryCount]) -> list[QueryCountRecord]:
    """A record per count; none of a study without contexts."""
    return [_record(each) for each in (*counted, *_of_items(study, items))]


def _of_items(study: Study, items: StudyItems) -> Iterator[QueryCount]:
    """Of several contexts of one query the longest counts: others are its first questions, or the same otherwise
    answered."""
    main = Item.objects.filter(study=study, role=Role.MAIN, withdrawn_at=None, context__isnull=False)
    used = Context.objects.filter(pk__in=main.values("context"), query__study=study)
    shown = set(items.queries)
    longest: dict[str, int] = {}
    for query, follow_ups in used.values_list("query__key", "follow_ups").iterator():
        if query in shown:
            longest[query] = max(longest.get(query, 0), len(follow_ups))
    if 0 < len(longest) < len(shown):
        yield QueryCount("Queries with a context", IN_ITEMS, len(longest), len(shown), has_interval=False)
    if longest:
        yield QueryCount(
            "Follow-up questions per query", IN_ITEMS, sum(longest.values()), len(longest),
            has_interval=False, is_share=False,
        )  # fmt: skip


def _record(count: QueryCount) -> QueryCountRecord:
    ratio = count.n / count.among if count.among else None
    bounded = count.is_share and count.has_interval and ratio is not None
    low, high = wilson_interval(ratio, count.among) if bounded and ratio is not None else (None, None)
    return {
        "name": count.name,
        "by": count.by,
        "n": count.n,
        "among": count.among,
        "is_share": count.is_share,
        "ratio": ratio,
        "low": low,
        "high": high,
        "note": count.note,
    }
