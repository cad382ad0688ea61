"""One of everything that addresses of the API lead to, in a study with members of each role."""

import json

import pytest
from django.contrib.auth import get_user_model

from evaluation.models import ItemFlag, Job, StudyMember
from evaluation.services.exclusions import exclude
from evaluation.services.notes import add_note
from evaluation.services.settling import settle_item
from evaluation.services.studies.creation import PAPER_ARMS
from evaluation.services.table_maps import save_table_map
from evaluation.services.tokens import make_token
from evaluation.services.uploads import begin_upload
from judging.services.endpoints.access import create_endpoint
from judging.services.generation.product_files import import_products
from judging.services.groups.run_groups import start_runs
from judging.services.judges import heuristic_judge
from judging.services.runs.judge_runs import start_run
from judging.services.runs.work import work_on
from tests.analytics.reports.judging import fail, judge, judged_study, main_items

__all__ = ["running"]

ROLES = ("viewer", "editor", "owner")
ANSWERS = {"preference": "r1", "justification": "It names the leek, and says how long it takes."}


@pytest.fixture(scope="module")
def running(around_module):
    """A judged study with a complete run and one under way; what addresses in it are made of."""
    users = {
        name: get_user_model().objects.create_user(name, password=f"{name}-password", is_staff=True)
        for name in (*ROLES, "outsider")
    }
    users["superuser"] = get_user_model().objects.create_superuser("superuser")
    owner = users["owner"]
    study = judged_study("contrast", owner=owner, queries=1, arms=PAPER_ARMS[:1])
    for role in ROLES[:2]:
        StudyMember.objects.create(study=study, user=users[role], role=role)
    people = judge(study, raters=2)
    fail(study, people[0])
    longer = heuristic_judge(study, "longer", user=owner)
    work_on(start_run(study, longer, user=owner).pk)
    group = start_runs(
        study, [heuristic_judge(study, key, user=owner) for key in ("random", "shorter")], user=owner
    )
    endpoint = create_endpoint(user=None, name="here", base_url="http://127.0.0.1:9/v1")
    endpoint.studies.add(study)
    generation = import_products(study, product_lines_for(study), user=owner)
    item = main_items(study)[0]
    settled = settle_item(item, ANSWERS, reason="Read it.", by=owner)
    export = Job.objects.create(
        kind="export", slug=study.slug, study=study, by=owner, parameters={"format": "csv"}
    )
    return {
        "tokens": {name: make_token(user, name="script")[1] for name, user in users.items()},
        "slug": study.slug,
        "pseudonym": people[0].pseudonym,
        "filters": {"system": ["aspen"], "arm": [study.arms.first().key], "revision": "1"},
        "key": item.key,
        "judge": longer.pk,
        "group": group.pk,
        "name": endpoint.name,
        "run": start_run(study, longer, user=owner).pk,
        "generation": {"run": generation.pk, "product": generation.units.get().products.get().pk},
        "job": export.pk,
        "exclusion": exclude(study=study, rater=people[1], reason="Guessed.", by=owner).pk,
        "judgment": settled.pk,
        "upload": begin_upload(owner, name="soups.csv", size=9, sha256="0" * 64)[0].pk,
        "table_map": save_table_map(owner, name="soups", table_map={"map": 1, "columns": []})[0].pk,
        "flag": ItemFlag.objects.create(item=item, reason="reported", note="Broken.").pk,
        "note": add_note(item, text="Look at this.", by=owner).pk,
        "rater": people[0].pseudonym,
    }


def product_lines_for(study):
    query = study.queries.first().key
    yield json.dumps({"assay_products": 1, "pipeline": "responses"})
    yield json.dumps(
        {
            "query": query,
            "step": "responses",
            "unit": "aspen:without",
            "content": {"system": "aspen", "text": "Leek."},
        }
    )
