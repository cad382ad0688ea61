"""Items that were read aside, put into a study that is under way: compared with what is there, counted, moved."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from math import ceil
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Count, F, Max, Q

from evaluation.counting import counted
from evaluation.models import Context, Item, ItemResponse, Query, Response, Revision, Role, Study
from evaluation.refusals import Refused
from evaluation.services.studies.compilation import query_content
from evaluation.services.studies.drafts import merge_rows
from evaluation.services.studies.items import lock_running, open_items

# Of a text in a preview.
SHOWN = 300


@dataclass(frozen=True, kw_only=True)
class Addition:
    """The items that would come into a study, and what that takes. `first` is the first one's frozen form."""

    items: int
    others: int
    queries: int
    new_queries: int
    new_systems: tuple[str, ...]
    new_responses: int
    places: int
    participants: int
    pay: Decimal | None
    currency: str
    first: dict[str, Any]
    notes: tuple[str, ...] = ()

    def sentences(self) -> list[str]:
        """The counts, each in a sentence."""
        found = [
            f"{counted(self.items, 'item')} on {counted(self.queries, 'query', 'queries')}. "
            f"New queries: {self.new_queries:,}.",
            f"New systems: {', '.join(self.new_systems) or 'none'}. New responses: {self.new_responses:,}.",
            f"Places for people: {self.places:,}, for about {counted(self.participants, 'participant')}.",
        ]
        if self.others:
            found.insert(1, f"Items for training, qualification and checks: {self.others:,}.")
        if self.pay is not None:
            found.append(f"Pay for that work: {self.pay:,.2f} {self.currency}.")
        return [*found, *self.notes]

    def preview(self) -> dict[str, Any]:
        """The counts in sentences, and the beginning of the first item, as JSON that a page can show."""
        query, responses = self.first.get("query", {}), self.first.get("responses", [])
        return {
            "sentences": self.sentences(),
            "query": query.get("text", "")[:SHOWN],
            "responses": [[each["system"], each["text"][:SHOWN]] for each in responses],
        }

    def done(self, revision: int) -> str:
        """A sentence for the history, once it is done."""
        return f"Added {counted(self.items + self.others, 'item')} as revision {revision}."


def count_addition(study: Study, incoming: Study, notes: Iterable[str] = ()) -> Addition:
    """The counts of frozen items that were read aside."""
    main = Count("pk", filter=Q(role=Role.MAIN))
    n = Item.objects.filter(study=incoming).aggregate(
        main=main, total=Count("pk"), queries=Count("query", distinct=True)
    )
    known = study.queries.values("key")
    there = set(study.systems.values_list("key", flat=True))
    places = n["main"] * study.redundancy
    visits = ceil(places / study.items_per_participant)
    first = Item.objects.filter(study=incoming).order_by("position", "pk")[0]
    return Addition(
        items=n["main"],
        others=n["total"] - n["main"],
        queries=n["queries"],
        new_queries=Query.objects.filter(study=incoming).exclude(key__in=known).count(),
        new_systems=tuple(
            key for key in sorted(incoming.systems.values_list("key", flat=True)) if key not in there
        ),
        new_responses=_count_new_responses(study, incoming),
        places=places,
        participants=ceil(visits / study.visits),
        pay=None if study.pay is None else study.pay * visits,
        currency=study.currency,
        first=first.stimulus or {},
        notes=tuple(notes),
    )


def _count_new_responses(study: Study, incoming: Study) -> int:
    there = {(query, key) for query, key, *_ in _responses(study, incoming)}
    return sum((query, key) not in there for query, key, *_ in _responses(incoming, incoming))


# --- what is there already -------------------------------------------------------------------------------------------


def addition_conflicts(study: Study, incoming: Study) -> Iterator[str]:
    """A sentence for each thing that the study has already, under the same key and with another content."""
    taken = study.items.filter(key__in=Item.objects.filter(study=incoming).values("key"))
    for key in taken.order_by("key").values_list("key", flat=True):
        yield f"Item {key}: the study has an item of that key, and items never change."
    new = {each.key: each for each in Query.objects.filter(study=incoming)}
    for query in study.queries.filter(key__in=Query.objects.filter(study=incoming).values("key")):
        theirs = query_content(new[query.key])
        differing = [name for name, value in query_content(query).items() if value != theirs[name]]
        if differing:
            yield f"Query {query.key}: its {', '.join(differing)} differs from the study's."
    yield from _differences("Context", _contexts(study, incoming), _contexts(incoming, incoming))
    yield from _differences("Response", _responses(study, incoming), _responses(incoming, incoming))


def _differences(what: str, own: Iterator[Any], theirs: Iterator[Any]) -> Iterator[str]:
    known = {(query, key): rest for query, key, *rest in own}
    for query, key, *rest in theirs:
        if known.get((query, key), rest) != rest:
            yield f"{what} {key} of query {query}: the study has one of that key, which differs."


def _contexts(of: Study, incoming: Study) -> Iterator[Any]:
    rows = Context.objects.filter(query__study=of, query__key__in=incoming.queries.values("key"))
    fields = ("query__key", "key", "follow_ups", "source")
    for query, key, follow_ups, source in rows.values_list(*fields).iterator():
        yield query, key, [_follow_up(each) for each in follow_ups], source


def _follow_up(each: Mapping[str, Any]) -> list[Any]:
    return [
        each.get("attribute"), each.get("question", ""), list(each.get("answers", [])), each.get("answer", "")
    ]  # fmt: skip


def _responses(of: Study, incoming: Study) -> Iterator[Any]:
    rows = Response.objects.filter(query__study=of, query__key__in=incoming.queries.values("key"))
    yield from rows.values_list("query__key", "key", "system__key", "text", "context__key").iterator()


# --- moving -----------------------------------------------------------------------------------------------------------


def move_items(study: Study, incoming: Study) -> Revision:
    """Move the frozen items of `incoming` into the study and open them; all of it or nothing."""
    with transaction.atomic():
        lock_running(study)
        if problems := list(addition_conflicts(study, incoming)):  # somebody added them meanwhile
            raise Refused(*problems)
        pks = list(
            Item.objects.filter(study=incoming).order_by("position", "pk").values_list("pk", flat=True)
        )
        top = study.items.aggregate(top=Max("position"))["top"] or 0
        merge_rows(study, incoming)
        _merge_queries(study, incoming)
        Item.objects.filter(study=incoming).update(study=study, position=F("position") + top + 1)
        return open_items(study, pks)


def _merge_queries(study: Study, incoming: Study) -> None:
    """Queries that the study has, with their contexts and responses, are used from there; the others move."""
    own = dict(study.queries.values_list("key", "pk"))
    theirs = Query.objects.filter(study=incoming)
    shared = {pk: own[key] for pk, key in theirs.values_list("pk", "key") if key in own}
    contexts = _same_rows(Context, study, incoming, shared)
    responses = _same_rows(Response, study, incoming, shared)
    items = Item.objects.filter(study=incoming)
    _repoint(items, "query_id", shared)
    _repoint(items.exclude(context=None), "context_id", contexts)
    moved = Response.objects.filter(query__study=incoming).exclude(context=None)
    _repoint(moved, "context_id", contexts)
    _repoint(ItemResponse.objects.filter(item__study=incoming), "response_id", responses)
    for model, same in ((Context, contexts), (Response, responses)):
        _repoint(model.objects.filter(query__study=incoming), "query_id", shared, leave=same)
    Query.objects.filter(study=incoming).exclude(key__in=study.queries.values("key")).update(study=study)


def _same_rows(model: Any, study: Study, incoming: Study, shared: Mapping[int, int]) -> dict[int, int]:
    """Rows of shared queries whose key the study has already there: theirs to its own."""
    own = {
        (query, key): pk
        for query, key, pk in model.objects.filter(query__study=study).values_list("query_id", "key", "pk")
    }
    rows = model.objects.filter(query__study=incoming).values_list("pk", "query_id", "key")
    return {pk: own[place] for pk, query, key in rows if (place := (shared.get(query, 0), key)) in own}


def _repoint(rows: Any, field: str, found: Mapping[int, int], leave: Mapping[int, int] | None = None) -> None:
    """Set a foreign key to the row that is used instead, but for the rows in `leave`."""
    changed = []
    for row in rows.only("pk", field):
        if (instead := found.get(getattr(row, field))) is not None and row.pk not in (leave or {}):
            setattr(row, field, instead)
            changed.append(row)
    name = field.removesuffix("_id")
    rows.model._default_manager.bulk_update(changed, [name], batch_size=settings.ASSAY_BATCH_SIZE)
