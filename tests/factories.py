"""Studies for tests, made through the services that researchers' actions use."""

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
    for number in range(queries):
        query, context = make_query(study, f"q{number}", follow_ups)
        for arm in study.arms.all():
            for a, b in pairs:
                make_item(study, query, context, arm, [a, b], key=f"q{number}-{arm.key}-{a.key}-{b.key}")
    if training:
        for arm in study.arms.all():
            query, context = make_query(study, f"train-{arm.key}", follow_ups)
            gold = {"preference": ["r1"], "note": "The first response says more."}
            make_item(
                study, query, context, arm, made[:2], key=f"train-{arm.key}", role="training", gold=gold
            )
    for number in range(checks):
        for arm in study.arms.all():
            query, context = make_query(study, f"check{number}-{arm.key}", follow_ups)
            make_item(
                study, query, context, arm, made[:2], key=f"check{number}-{arm.key}", role="attention",
                gold={"preference": ["tie"]},
            )  # fmt: skip
    return study


def make_query(study: Study, key: str, follow_ups: int = 2) -> tuple[Query, Context]:
    query = Query.objects.create(study=study, key=key, text=f"What about {key}?", category="even")
    context = Context.objects.create(
        query=query,
        key="c",
        follow_ups=[
            {"question": f"Follow-up {n} of {key}?", "answers": ["Yes", "No"], "answer": "Yes"}
            for n in range(1, follow_ups + 1)
        ],
    )
    return query, context


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
        suffix = "@c" if arm.context_at_generation else ""
        response, _ = Response.objects.get_or_create(
            query=query,
            key=f"{system.key}{suffix}",
            defaults={
                "system": system,
                "text": texts[number] if texts else f"**{system.key}** answers {query.key}.",
                "context": context if suffix else None,
            },
        )
        ItemResponse.objects.create(item=item, response=response)
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
