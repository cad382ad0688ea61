"""A live study of clarifying questions, each rated on the seven aspects: twenty-five of them unless told otherwise."""

from __future__ import annotations

from evaluation.models import Item, ItemResponse, Query, Response, Role, System
from evaluation.services.studies.creation import add_arms, create_study
from tests import factories

SYSTEMS = ("aspen", "birch", "cedar", "elder", "hazel")
ASPECTS = ("clarification", "on_topic", "specificity", "usefulness", "clarity", "complexity")
ARM = {"key": "all", "label": "All", "context_at_generation": False, "context_at_judging": False}


def make_questions_study(owner, queries=5, systems=SYSTEMS):
    """Each of the systems asks one question back on each of the queries."""
    study = create_study(slug="questions", title="Questions", protocol="question_quality", owner=owner)
    [arm] = add_arms(study, [ARM])
    made = [System.objects.create(study=study, key=key) for key in systems]
    for number in range(queries):
        query = Query.objects.create(study=study, key=f"q{number}", text=f"jaguar {number}")
        for system in made:
            text = f"Do you mean the animal number {number} of {system.key}?"
            response = Response.objects.create(query=query, system=system, key=system.key, text=text)
            item = Item.objects.create(
                study=study, key=f"q{number}-{system.key}", query=query, arm=arm, role=Role.MAIN
            )
            ItemResponse.objects.create(item=item, response=response)
    return factories.launch(study, redundancy=1, steps={})
