"""The admin's lists need as many queries with many rows as with few."""

from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotator.services.slots.redundancy import change_redundancy
from evaluation.models import ItemFlag, Job
from judging.models import Call, Judge
from tests.crowd import before, come, hand_in
from tests.evaluation.admin.conftest import signed_in, work_on
from tests.judging.build import make_judge_run

pytestmark = pytest.mark.django_db
LISTS = {
    "evaluation_study": 12, "evaluation_item": 22, "evaluation_query": 12, "evaluation_context": 12,
    "evaluation_response": 12, "evaluation_rater": 12, "evaluation_judgment": 14, "evaluation_itemflag": 12,
    "evaluation_revision": 12, "evaluation_exclusion": 12, "evaluation_import": 12, "evaluation_job": 12,
    "annotator_participant": 12, "annotator_submission": 12, "annotator_assignment": 12, "annotator_slot": 12,
    "annotator_panelrecord": 12,
    "judging_judge": 12, "judging_run": 12, "judging_call": 12,
}  # fmt: skip


def more_of_everything(world: Any) -> None:
    study = world.study
    change_redundancy(study, 9)
    for n in range(6):
        participant = come(study, f"more-{n}")
        while before(participant.token) is not None:
            hand_in(participant.token)
        judge = Judge.objects.create(study=study, name=f"judge-{n}", backend="longer")
        rater = study.raters.create(kind="judge", label=f"judge {n}")
        run = make_judge_run(judge, study.revisions.get(), rater)
        for item in study.items.all():
            Call.objects.create(run=run, item=item, order="r1,r2")
        ItemFlag.objects.create(item=world.item, reason="reported", note=str(n))
        Job.objects.create(
            kind="export", slug=study.slug, study=study, state="done", parameters={"format": "csv"}
        )


def count(client: Any, address: str) -> int:
    client.get(address)  # content types and the like are read once per process
    with CaptureQueriesContext(connection) as queries:
        assert client.get(address).status_code == 200
    return len(
        [
            query
            for query in queries
            if not query["sql"].startswith(("SAVEPOINT", "RELEASE", "BEGIN", "COMMIT"))
        ]
    )


def test_lists_and_pages_cost_the_same_with_many_rows(owner: Any, settings: Any, tmp_path: Path) -> None:
    world = work_on("mine", owner)
    client = signed_in(owner)
    addresses = {
        name: reverse(f"admin:{name}_list", args=[world.study.slug])
        for name in LISTS
        if name != "evaluation_study"
    }
    addresses["evaluation_study"] = reverse("evaluation:study-list")
    addresses |= {
        "overview": reverse("admin:evaluation_study_overview", args=[world.study.slug]),
        "launch": reverse("admin:evaluation_study_launch", args=[world.study.slug]),
        "exports": reverse("admin:evaluation_study_exports", args=[world.study.slug]),
        "places": reverse("annotator:slots-section", args=[world.study.slug]),
        "participants": reverse("annotator:participants-section", args=[world.study.slug]),
        "panel": reverse("admin:evaluation_study_panel", args=[world.study.slug]),
    }
    few = {name: count(client, address) for name, address in addresses.items()}
    more_of_everything(world)
    work_on("second", owner)
    many = {name: count(client, address) for name, address in addresses.items()}
    grown = {name: (few[name], many[name]) for name in many if many[name] > few[name] + 1}
    assert grown == {}
    assert {name: n for name, n in many.items() if n > LISTS.get(name, 25)} == {}
