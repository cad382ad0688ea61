"""Freezing of a study's spec and items, in short batches, and the presentation order of each item's first slot."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Prefetch, QuerySet

from evaluation import design
from evaluation.canonical import canonical_hash, study_hash
from evaluation.database.compiled_queries import CompiledUpdate, field_of
from evaluation.models import Item, ItemResponse, Revision, Role, Seal, Study
from evaluation.models.item import count_responses
from evaluation.protocols import Problem
from evaluation.protocols.attributes import attributes_of, find_unknown
from evaluation.protocols.base import FORM, Kind, Over, Spec
from evaluation.protocols.requirements.questions import SHORT_TEXT
from evaluation.rendering.box import RenderBox
from evaluation.rendering.rules import RENDERER
from evaluation.selectors import queries_of_people
from evaluation.services.seals import seal_new_items
from evaluation.services.studies.compilation import (
    ResponseRenderer,
    compile_spec,
    compile_stimulus,
    response_lengths,
    systems_key,
)

FROZEN = ("stimulus", "stimulus_hash", "systems_key", "lengths")
# Each item by itself: one statement for a batch takes Django many times as long to build.
FREEZE = CompiledUpdate(
    lambda item, **frozen: (Item.objects.filter(pk=item), frozen),
    item=field_of(Item, "id"),
    **{name: field_of(Item, name) for name in FROZEN},
)


def freeze_spec(study: Study) -> Revision:
    """The study's first revision, from its rows; the one that exists if there is one."""
    existing = study.revisions.first()
    if existing is not None:
        return existing
    _name_the_least(study)
    spec = compile_spec(study)
    return Revision.objects.create(study=study, number=1, spec=spec, spec_hash=canonical_hash(spec))


def _name_the_least(study: Study) -> None:
    """Have every required text say how many characters it needs: what says nothing was frozen when that was a hint."""
    for question in study.questions.filter(kind=Kind.TEXT, required=True):
        form = question.options.get(FORM) or {}
        if "least" not in form and form.get("over", Over.ITEM) == Over.ITEM:
            question.options = {**question.options, FORM: {**form, "least": SHORT_TEXT}}
            question.save(update_fields=["options"])


def freeze_item(item: Item, spec: Spec, study: Study, render: ResponseRenderer) -> list[Problem]:
    """Set the item's stimulus (unsaved), or return the problems that keep it from being judged."""
    attributes = attributes_of(spec)
    responses = [link.response for link in item.item_responses.all()]
    contexts = [item.context, *(response.context for response in responses)]
    follow_ups = [each for context in contexts if context for each in context.follow_ups]
    if unknown := find_unknown(follow_ups, attributes):
        return unknown
    stimulus = compile_stimulus(
        arm=item.arm.key,
        query=item.query,
        context=item.context,
        clarifying_question=item.clarifying_question,
        responses=responses,
        attributes=attributes,
        render=render,
    )
    protocol = study.protocol_object
    problems = protocol.check_item(spec, stimulus)
    if item.gold is not None:
        problems += protocol.gold_problems(spec, stimulus, item.gold)
    if not problems:
        set_stimulus(item, stimulus)
    return problems


def set_stimulus(item: Item, stimulus: dict[str, object]) -> None:
    item.stimulus = stimulus
    item.stimulus_hash = canonical_hash(stimulus)
    item.systems_key = systems_key(stimulus)
    item.lengths = response_lengths(stimulus)


def select_parts(items: QuerySet[Item]) -> QuerySet[Item]:
    """Items with everything that a stimulus is made of, in a fixed number of queries."""
    # Responses come by a join: asked for by their keys, a batch's many are more than SQLite's expressions can hold.
    parts = ItemResponse.objects.select_related("response__system", "response__context")
    return items.select_related("query", "context", "arm").prefetch_related(Prefetch("item_responses", parts))


def freeze_items(
    study: Study, revision: Revision, *, on_batch: Callable[[int], None] = lambda done: None
) -> list[tuple[str, Problem]]:
    """Freeze every item that is not yet frozen, in short transactions; return (item key, problem) pairs."""
    problems: list[tuple[str, Problem]] = []
    done = 0
    with RenderBox(settings.ASSAY_RENDER_SECONDS) as box:
        render = ResponseRenderer(revision.spec, box.render, _renderer_of(revision.study))
        for batch in _batches(study):
            ready = []
            for item in batch:
                wrong = freeze_item(item, revision.spec, study, render)
                problems += [(item.key, problem) for problem in wrong]
                if not wrong:
                    ready.append(item)
            with transaction.atomic():
                for item in ready:
                    FREEZE.run(item=item.pk, **{name: getattr(item, name) for name in FROZEN})
                seal_new_items(study, [item.pk for item in ready])
            done += len(batch)
            on_batch(done)
    return problems


def _renderer_of(study: Study) -> str:
    """The version that froze the study's first item: what is added to a running study looks as the rest of it does."""
    frozen = Item.objects.filter(study=study).exclude(stimulus_hash="").order_by("pk")
    return frozen.values_list("stimulus__renderer", flat=True).first() or RENDERER


def seal_items(study: Study) -> None:
    """Seal every frozen item that has no seal yet, in short transactions."""
    sealed = Seal.objects.filter(study=study, kind=Seal.Kind.ITEM, row=OuterRef("pk"))
    last = 0
    while True:
        unsealed = Item.objects.filter(~Exists(sealed), study=study, pk__gt=last).exclude(stimulus_hash="")
        batch = list(unsealed.order_by("pk").values_list("pk", flat=True)[: settings.ASSAY_BATCH_SIZE])
        if not batch:
            return
        last = batch[-1]
        with transaction.atomic():
            seal_new_items(study, batch)


def _batches(study: Study) -> Iterator[Sequence[Item]]:
    last = 0
    while True:
        unfrozen = Item.objects.filter(study=study, stimulus_hash="", pk__gt=last).order_by("pk")
        batch = list(select_parts(unfrozen)[: settings.ASSAY_BATCH_SIZE])
        if not batch:
            return
        last = batch[-1].pk
        yield batch


def assign_orders(study: Study) -> None:
    """Give every frozen item without one the presentation order of its first slot (see `design`)."""
    frozen = Item.objects.filter(study=study, role=Role.MAIN).exclude(stimulus_hash="")
    theirs = queries_of_people(study)

    def stratum(arm: str, systems: str, query: int) -> tuple[str, ...]:
        # Items that people don't judge are balanced by themselves, or those that they do judge would not be.
        return (arm, systems) if theirs is None or query in theirs else (arm, systems, "judges alone")

    ordered = frozen.exclude(start_order=None).order_by().values_list("arm__key", "systems_key", "query")
    already: Counter[Any] = Counter(stratum(*row) for row in ordered.iterator())
    # Sorted here and not by the database, whose collation would decide which item gets which order.
    unordered = frozen.filter(start_order=None).order_by()
    new = sorted(unordered.values_list("key", "pk", "arm__key", "systems_key", "query", "lengths"))
    strata = [stratum(*row[2:5]) for row in new]
    rows = {each: design.n_orders(count_responses(row[5])) for each, row in zip(strata, new, strict=True)}
    starts = design.starting_orders(strata, study.seed, already, rows)
    for start in sorted(set(starts.tolist())):
        chosen = [row[1] for row, each in zip(new, starts, strict=True) if each == start]
        for at in range(0, len(chosen), settings.ASSAY_BATCH_SIZE):
            Item.objects.filter(pk__in=chosen[at : at + settings.ASSAY_BATCH_SIZE]).update(start_order=start)


def hash_added_items(study: Study, number: int) -> str:
    """The hash over the keys and stimuli of the items that came in with this revision; empty for those of the launch,
    which the study's hash covers, and where none did."""
    items = Item.objects.filter(study=study, revision_number=number).order_by()
    pairs = sorted(items.values_list("key", "stimulus_hash")) if number > 1 else []
    return canonical_hash([list(pair) for pair in pairs]) if pairs else ""


def compute_study_hash(study: Study) -> str:
    """The hash that covers the specs of all revisions and all frozen items."""
    items = Item.objects.filter(study=study).exclude(stimulus_hash="").order_by("key")
    # Sorted here and not by the database, whose collation is nobody's contract.
    pairs = sorted(items.values_list("key", "stimulus_hash"))
    return study_hash(study.revisions.order_by("number").values_list("spec_hash", flat=True), pairs)
