"""Studies for tests, made through the services that researchers' actions use."""

from collections.abc import Sequence
from typing import Any

from evaluation.models import Arm, Context, Item, ItemResponse, Query, Response, Study, System
from evaluation.services.studies.creation import PAPER_ARMS, add_arms, create_study
from evaluation.services.studies.freeze import freeze_items
from evaluation.services.studies.items import open_items
from evaluation.services.studies.launch import launch_study

NO_STEPS = {
    "consent": True,
    "instructions": False,
    "training": False,
    "qualification": None,
    "attention": None,
    "comments": False,
}


def make_study(
    slug: str = "contrast",
    *,
    owner: Any = None,
    queries: int = 4,
    arms: Any = PAPER_ARMS,
    systems: tuple[str, ...] = ("aspen", "birch"),
    items_per_query: int = 1,
    training: bool = True,
    checks: int = 1,
    follow_ups: int = 2,
    **fields: Any,
) -> Study:
    """A draft pairwise study; with several items per query, each compares the next pair of systems."""
    fields.setdefault("items_per_participant", 3)
    fields.setdefault("redundancy", 3)
    study = create_study(slug=slug, title=slug.title(), protocol="pairwise", owner=owner, **fields)
    add_arms(study, arms)
    made = [System.objects.create(study=study, key=key, family="test") for key in systems]
    pairs = [(a, b) for i, a in enumerate(made) for b in made[i + 1 :]][:items_per_query]
    asked: list[Context] = []
    items: list[tuple[Item, tuple[System, ...]]] = []

    def ask(key: str) -> Context:
        asked.append(new_context(study, key, follow_ups))
        return asked[-1]

    def add(context: Context, arm: Arm, systems: tuple[System, ...], **fields: Any) -> None:
        item = Item(study=study, query=context.query, context=context, arm=arm, **fields)
        items.append((item, systems))

    every_arm = list(study.arms.all())
    for number in range(queries):
        context = ask(f"q{number}")
        for arm in every_arm:
            for a, b in pairs:
                add(context, arm, (a, b), key=f"q{number}-{arm.key}-{a.key}-{b.key}")
    first_two = tuple(made[:2])
    if training:
        for arm in every_arm:
            gold = {"preference": ["r1"], "note": "The first response says more."}
            add(ask(f"train-{arm.key}"), arm, first_two, key=f"train-{arm.key}", role="training", gold=gold)
    for number in range(checks):
        for arm in every_arm:
            key = f"check{number}-{arm.key}"
            add(ask(key), arm, first_two, key=key, role="attention", gold={"preference": ["tie"]})
    store(asked, items)
    return study


def store(asked: Sequence[Context], items: Sequence[tuple[Item, tuple[System, ...]]]) -> None:
    """Write the contexts, their queries, and the items with a response of each system: a statement per table, where a
    row at a time took longer than the launch.
    """
    Query.objects.bulk_create(context.query for context in asked)
    Context.objects.bulk_create(asked)
    Item.objects.bulk_create(item for item, _ in items)
    responses: dict[tuple[int, str], Response] = {}
    shown = []
    for item, systems in items:
        for system in systems:
            response = new_response(item, system)
            shown.append((item, responses.setdefault((item.query.pk, response.key), response)))
    Response.objects.bulk_create(responses.values())
    ItemResponse.objects.bulk_create(ItemResponse(item=item, response=response) for item, response in shown)


def new_context(study: Study, key: str, follow_ups: int) -> Context:
    return Context(
        query=Query(study=study, key=key, text=f"What about {key}?", category="even"),
        key="c",
        follow_ups=[
            {"question": f"Follow-up {n} of {key}?", "answers": ["Yes", "No"], "answer": "Yes"}
            for n in range(1, follow_ups + 1)
        ],
    )


def new_response(item: Item, system: System) -> Response:
    """The system's to the item's query: in arms whose responses were made with the context, one of its own."""
    with_context = item.arm.context_at_generation
    return Response(
        query=item.query,
        key=f"{system.key}@c" if with_context else system.key,
        system=system,
        text=f"**{system.key}** answers {item.query.key}.",
        context=item.context if with_context else None,
    )


def make_query(study: Study, key: str, follow_ups: int = 2) -> tuple[Query, Context]:
    context = new_context(study, key, follow_ups)
    context.query.save()
    context.save()
    return context.query, context


def make_item(
    study: Study,
    query: Query,
    context: Context | None,
    arm: Arm,
    systems: list[System],
    *,
    key: str,
    role: str = "main",
    gold: Any = None,
    texts: tuple[str, ...] | None = None,
) -> Item:
    item = Item.objects.create(
        study=study, key=key, query=query, context=context, arm=arm, role=role, gold=gold
    )
    for number, system in enumerate(systems):
        response = new_response(item, system)
        if texts:
            response.text = texts[number]
        there = Response.objects.filter(query=query, key=response.key).first()
        if there is None:
            response.save()
        ItemResponse.objects.create(item=item, response=there or response)
    return item


def launch(study: Study, **rules: Any) -> Study:
    for name, value in rules.items():
        setattr(study, name, value)
    study.save()
    launch_study(study)
    study.refresh_from_db()
    return study


def admit(study: Study, *items: Item) -> None:
    """Open items that were written into a running study since launch."""
    assert freeze_items(study, study.revisions.order_by("-number")[0]) == []
    open_items(study, [item.pk for item in items])


def launched(slug: str = "contrast", **options: Any) -> Study:
    """A live study."""
    return launch(make_study(slug, **options))


def launched_pairs(slug: str, queries: int, *, why: bool = True, **options: Any) -> Study:
    """A live study of so many pairs, in one arm and without items of other roles; whether to say `why` is left to
    raters where it is not required."""
    study = make_study(slug, queries=queries, arms=PAPER_ARMS[:1], training=False, checks=0, **options)
    if not why:
        study.questions.filter(key="justification").update(required=False)
    return launch(study)
