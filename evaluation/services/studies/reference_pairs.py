"""Pairs of a system's response with the human-written reference, which then is a response like any other.

HREF section 3.2 compares models with people's responses directly. A draft gets a system that stands for people, a
response of it to every query that has a reference, and a pair of it with each response that the arm's items have.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from evaluation.counting import counted
from evaluation.models import Item, ItemResponse, Query, Response, Role, Study, System
from evaluation.refusals import Refused
from evaluation.services.history import log_action, server_account
from evaluation.services.studies.drafts import lock_draft

KEY, LABEL = "reference", "Human-written reference"


@dataclass(frozen=True)
class ReferencePairs:
    """Pairs that were added to a draft, and queries that have none, because they have no reference."""

    items: int
    queries: int
    without_reference: int

    def __str__(self) -> str:
        queries = counted(self.queries, "query", "queries")
        text = f"{counted(self.items, 'pair')} with the human-written reference of {queries}."
        return text + (
            f" Queries without a reference, and so without such a pair: {self.without_reference:,}."
            if self.without_reference
            else ""
        )


def can_pair_references(study: Study) -> bool:
    """True of a draft whose items are pairs and of whose queries one has a reference."""
    if study.is_frozen or not study.compares_pairs:
        return False
    return Query.objects.filter(study=study).exclude(references=[]).exists()


def add_reference_pairs(
    study: Study, *, systems: Sequence[str] = (), by: Any = None, reason: str = ""
) -> ReferencePairs:
    """Add to a draft the pairs of these systems, or of all, with the first reference of each query.

    Refused where the items are no pairs, a system is unknown, or such pairs are there already. `by` is the member who
    asks, None whoever runs the server.
    """
    with transaction.atomic():
        study = lock_draft(study)
        problems = _problems(study, systems)
        if problems:
            raise Refused(*problems)
        people = System.objects.create(study=study, key=KEY, label=LABEL, kind=System.Kind.PERSON)
        texts = {query.pk: reference_text(query) for query in Query.objects.filter(study=study)}
        given = {pk: text for pk, text in texts.items() if text}
        references = {
            pk: Response(query_id=pk, system=people, key=KEY, text=text) for pk, text in given.items()
        }
        Response.objects.bulk_create(references.values())
        items = _pairs(study, references, set(systems))
        if not items:
            raise Refused("No query that has a reference has an item to take a response from.")
        added = ReferencePairs(items, len(given), len(texts) - len(given))
        log_action(study=study, by=by or server_account(), message=f"Added {added}", reason=reason)
    return added


def reference_text(query: Query) -> str:
    """The first of a query's references that says something; empty if there is none."""
    for each in query.references:
        text = str(each.get("text") or "") if isinstance(each, dict) else str(each)
        if text.strip():
            return text
    return ""


def _problems(study: Study, systems: Sequence[str]) -> list[str]:
    if not study.compares_pairs:
        return [f"The items of {study.title} are no pairs."]
    known = set(System.objects.filter(study=study).values_list("key", flat=True))
    problems = [f"The study has no system {key!r}." for key in systems if key not in known]
    if KEY in known:
        problems.append(f"The study already has a system {KEY!r}.")
    return problems


def _pairs(study: Study, references: dict[int, Response], systems: set[str]) -> int:
    """A pair for each (arm, query, context, response) of the study's main items."""
    items: list[Item] = []
    links: list[ItemResponse] = []
    seen = set()
    rows = ItemResponse.objects.filter(item__study=study, item__role=Role.MAIN, item__query__in=references)
    position = Item.objects.filter(study=study).count()
    for each in rows.select_related("item__arm", "item__query", "response__system").order_by(
        "item", "response"
    ):
        item, response = each.item, each.response
        place = (item.arm_id, item.context_id, response.pk)
        if place in seen or (systems and response.system.key not in systems):
            continue
        seen.add(place)
        pair = Item(
            study=study,
            key=f"{item.query.key}-{item.arm.key}-{response.key}-{KEY}"[:108] + f"-{len(items)}",
            query=item.query,
            context_id=item.context_id,
            clarifying_question=item.clarifying_question,
            clarifying_source=item.clarifying_source,
            arm=item.arm,
            position=position + len(items),
        )
        items.append(pair)
        links += [
            ItemResponse(item=pair, response=response),
            ItemResponse(item=pair, response=references[item.query_id]),
        ]
    Item.objects.bulk_create(items)
    ItemResponse.objects.bulk_create(links)
    return len(items)
