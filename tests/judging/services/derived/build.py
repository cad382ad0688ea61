"""Small studies of pairs in categories, judged by people and by raters whose agreement with them is known."""

from evaluation.models import Arm, Item, ItemResponse, Query, Rater, Response, System
from evaluation.protocols import AnswerValue, Kind
from evaluation.services.judgments import JudgmentInput, record_judgments
from evaluation.services.studies.creation import create_study
from evaluation.services.studies.launch import launch_study
from tests.analytics.reports.answering import new_rater
from tests.analytics.reports.judging import new_judge

OTHER = {"r1": "r2", "r2": "r1"}


def truth(at):
    """The label that people give to the item at this place."""
    return "r1" if at % 3 else "r2"


def study_in_categories(sizes, *, slug="categories", owner=None, **fields):
    """A live study with an item per query, so many of each category, in turns."""
    study = create_study(slug=slug, title=slug, protocol="pairwise", owner=owner, redundancy=3, **fields)
    arm = Arm.objects.create(study=study, key="all", label="All items")
    systems = [System.objects.create(study=study, key=key, kind="model") for key in ("aspen", "birch")]
    names = [name for name, size in sizes.items() for _ in range(size)]
    for at, name in enumerate(names):
        query = Query.objects.create(study=study, key=f"q{at:03}", text=f"Question {at}?", category=name)
        item = Item.objects.create(study=study, key=f"i{at:03}", query=query, arm=arm)
        for system in systems:
            text = f"Answer of {system.key} to {at}."
            response = Response.objects.create(query=query, system=system, key=f"{system.key}{at}", text=text)
            ItemResponse.objects.create(item=item, response=response)
    launch_study(study)
    study.refresh_from_db()
    return study


def items_of(study):
    return list(study.items.select_related("query").order_by("key"))


def say(study, rater, labels):
    """The rater's preference of each item, where it has one."""
    revision = study.revisions.get().pk
    batch = [
        JudgmentInput(
            rater_id=rater.pk,
            item_id=item.pk,
            revision_id=revision,
            answers=[AnswerValue("preference", Kind.PREFERENCE, label=label)],
        )
        for item, label in zip(items_of(study), labels, strict=True)
        if label
    ]
    record_judgments(study=study, batch=batch)
    return rater


def people(study, n=3):
    for number in range(n):
        say(study, new_rater(study, f"person {number}"), [truth(at) for at in range(len(items_of(study)))])


def right_in(study, name, *categories, silent=(), **about):
    """A judge that agrees with people in these categories and never in others; on `silent` items it says nothing."""
    labels = [
        "" if item.key in silent else truth(at) if item.query.category in categories else OTHER[truth(at)]
        for at, item in enumerate(items_of(study))
    ]
    return say(study, new_judge(study, name, **about), labels)


def said_by(study, rater):
    """{item key: label}, None where it failed."""
    rows = study.judgments.filter(rater=rater).order_by("item__key")
    return dict(rows.values_list("item__key", "answers__label"))


def imported(study, name, label, labels):
    rater = Rater.objects.create(
        study=study, kind=Rater.Kind.JUDGE, source=Rater.Source.IMPORTED, pseudonym=name, label=label
    )
    return say(study, rater, labels)
