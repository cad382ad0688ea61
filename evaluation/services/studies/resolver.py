"""The resolver's study: what several calibrators made of the same queries, put before one more person who settles it.

CondAmbigQA section 3.3: calibrators work by themselves, and where they differ somebody resolves. Each calibrator's set
becomes a response of a system that stands for that calibrator; the query keeps its fragments, so citations stay true.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.admin.models import ADDITION
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet

from evaluation.models import (
    Arm,
    Item,
    ItemResponse,
    Judgment,
    Query,
    Rater,
    Response,
    Role,
    Study,
    StudyMember,
    System,
)
from evaluation.protocols import Kind
from evaluation.protocols.condition_calibration import MAX_SETS
from evaluation.protocols.entries.sets import Entry, read_answers, write_set
from evaluation.refusals import Refused
from evaluation.selectors import counting_judgments, queries_of_people
from evaluation.services.answers import with_answers
from evaluation.services.history import log_action, server_account
from evaluation.services.studies.creation import create_study, write_questions_and_texts
from evaluation.turns import written_turns

FEWEST_CALIBRATORS = 2
# What carries over from the calibrators' study. Codes don't: a panel's codes are of one study there.
FIELDS = (
    "asker", "language", "texts_language", "render_as", "single_dollars", "written_formulas", "show_images",
    "show_references", "skips",
    "items_per_participant", "paid_minutes", "lease_minutes", "pay", "currency", "contact", "exact_times",
    "revisions_in_all", "revisions_per_day", "revisions_anonymous", "going_back", "groups",
    "visits", "practice_each_visit",
    "erases_withdrawn",
)  # fmt: skip
# What a query is made of, as its stimulus has it.
QUERY_FIELDS = (
    "key", "text", "category", "source", "split", "information_need", "references", "documents",
)  # fmt: skip


@dataclass(frozen=True)
class CalibratedSet:
    """One calibrator's final set for an item."""

    item: Item
    rater: Rater
    entries: Sequence[Entry]


@dataclass(frozen=True)
class ResolverStudy:
    """The draft, and what could not be taken into it: queries of fewer than two calibrators, sets beyond the most."""

    study: Study
    items: int
    sets: int
    queries_left_out: int
    sets_left_out: int

    def __str__(self) -> str:
        parts = [f"{self.study.title} is a draft. Queries: {self.items:,}, sets: {self.sets:,}."]
        if self.queries_left_out:
            parts.append(
                f"Queries left out for having fewer than two calibrators: {self.queries_left_out:,}."
            )
        if self.sets_left_out:
            parts.append(f"Sets left out beyond the {MAX_SETS} of a query: {self.sets_left_out:,}.")
        return " ".join(parts)


def calibrated_sets(study: Study) -> dict[int, list[CalibratedSet]]:
    """The sets that count, by query and in the order in which they were given.

    People's; of a study that no person has judged, the simulated raters'. Never both, and never a judge's.
    """
    judgments = (
        counting_judgments(study)
        .filter(rater__kind__in=[Rater.Kind.PERSON, Rater.Kind.SIMULATED])
        .select_related("rater", "item__arm")
        .order_by("pk")
    )
    found = list(_sets(judgments))
    kinds = {each.rater.kind for each in found}
    kind = Rater.Kind.PERSON if Rater.Kind.PERSON in kinds else Rater.Kind.SIMULATED
    by_query: dict[int, list[CalibratedSet]] = {}
    for each in found:
        if each.rater.kind == kind:
            by_query.setdefault(each.item.query_id, []).append(each)
    return by_query


def _sets(judgments: QuerySet[Judgment]) -> Iterator[CalibratedSet]:
    for judgment, answers in with_answers(judgments):
        if entries := read_answers(answers):
            yield CalibratedSet(judgment.item, judgment.rater, entries)


def derive_resolver(
    study: Study, *, slug: str, title: str = "", by: Any = None, reason: str = ""
) -> ResolverStudy:
    """A draft that can be launched at once: an item per query of two calibrators and more, judged by one person each.

    Members are those of the calibrators' study. `by` is the member who asks, None whoever runs the server. Refused
    says why there is none; nothing is half made.
    """
    revision = study.revisions.order_by("-number").first()
    if revision is None or not has_entries(revision.spec):
        raise Refused("Only a study of condition-answer-citation entries that was launched can be resolved.")
    with transaction.atomic():
        # Whoever erases somebody from the study waits, and then finds what was made of their sets.
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        return _derive(study, revision.spec, slug, title or f"{study.title}: resolving", by, reason)


def _derive(
    study: Study, spec: Mapping[str, Any], slug: str, title: str, by: Any, reason: str
) -> ResolverStudy:
    by_query = calibrated_sets(study)
    enough = {
        query: sets
        for query, sets in by_query.items()
        if len({each.rater.pk for each in sets}) >= FEWEST_CALIBRATORS
    }
    if not enough:
        raise Refused("No query has sets of two calibrators or more yet; there is nothing to resolve.")
    used = {query: sets[:MAX_SETS] for query, sets in enough.items()}
    derived = _draft(study, spec, slug, title)
    _fill(derived, used)
    n_sets = sum(map(len, used.values()))
    made = ResolverStudy(
        derived,
        len(used),
        n_sets,
        count_queries(study) - len(used),
        sum(map(len, enough.values())) - n_sets,
    )
    asking = by or server_account()
    log_action(study=derived, by=asking, message=f"Derived from {study.title}.", flag=ADDITION)
    said = f"Derived the resolver's study. {made}"
    log_action(study=study, by=asking, message=said, reason=reason)
    return made


def count_queries(study: Study) -> int:
    """The number of queries to be calibrated."""
    main = study.queries.filter(items__role=Role.MAIN, items__withdrawn_at=None).order_by().distinct()
    theirs = queries_of_people(study)
    return main.count() if theirs is None else len(theirs.intersection(main.values_list("pk", flat=True)))


def has_entries(spec: Mapping[str, Any]) -> bool:
    """True for the spec of a study that asks for sets of entries."""
    return any(question["kind"] == Kind.ENTRIES for question in spec["questions"])


def _draft(study: Study, spec: Mapping[str, Any], slug: str, title: str) -> Study:
    """Create the draft without items, with the texts that the latest participants read."""
    steps = {**spec["steps"], "training": False, "qualification": None, "attention": None}
    fields = {name: getattr(study, name) for name in FIELDS}
    try:
        derived = create_study(
            slug=slug, title=title[:200], protocol=study.protocol, redundancy=1, seed=study.seed, steps=steps, **fields
        )  # fmt: skip
    except ValidationError as invalid:
        raise Refused(" ".join(invalid.messages)) from None
    write_questions_and_texts(derived, spec)
    Arm.objects.bulk_create(Arm(study=derived, position=n, **arm) for n, arm in enumerate(spec["arms"]))
    StudyMember.objects.bulk_create(
        StudyMember(study=derived, user_id=user, role=role)
        for user, role in study.members.values_list("user_id", "role")
    )
    return derived


def _fill(derived: Study, by_query: Mapping[int, Sequence[CalibratedSet]]) -> None:
    arms = {arm.key: arm for arm in derived.arms.all()}
    raters = {each.rater.pk: each.rater for sets in by_query.values() for each in sets}
    kinds = {Rater.Kind.PERSON: System.Kind.PERSON, Rater.Kind.SIMULATED: System.Kind.MODEL}
    systems = {
        pk: System(study=derived, key=rater.pseudonym, kind=kinds[Rater.Kind(rater.kind)])
        for pk, rater in sorted(raters.items())
    }
    System.objects.bulk_create(systems.values())
    queries, items, responses, links = [], [], [], []
    for position, sets in enumerate(by_query.values()):
        asked = (sets[0].item.stimulus or {})["query"]
        turns = written_turns(asked.get("turns", ()))
        query = Query(study=derived, turns=turns, **{name: asked[name] for name in QUERY_FIELDS})
        item = Item(
            study=derived, key=query.key, query=query, arm=arms[sets[0].item.arm.key], position=position
        )
        queries.append(query)
        items.append(item)
        times: dict[str, int] = {}
        for each in sets:
            system = systems[each.rater.pk]
            n = times[system.key] = times.get(system.key, 0) + 1
            response = Response(
                query=query,
                system=system,
                key=system.key if n == 1 else f"{system.key}-{n}",
                text=write_set(each.entries),
            )
            responses.append(response)
            links.append(ItemResponse(item=item, response=response))
    Query.objects.bulk_create(queries)
    Item.objects.bulk_create(items)
    Response.objects.bulk_create(responses)
    ItemResponse.objects.bulk_create(links)
