"""Several visits of one person on the pages of a study's design, its launch and its people."""

import re

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotator.models import Participant
from annotator.services.admission.entry import enter
from annotator.visit import Visit
from evaluation.admin.study.launch_design import study_design
from evaluation.dumps.exports.study_export import export_to
from evaluation.models import Study
from evaluation.services.studies.creation import PAPER_ARMS
from tests import factories
from tests.annotator.conftest import text
from tests.crowd import before, hand_in, make_crowd_study
from tests.evaluation.admin.conftest import signed_in

pytestmark = pytest.mark.django_db


def draft(owner, **fields):
    """Twelve items with three judgments each, two items for each visit."""
    return factories.make_study(
        "often", owner=owner, queries=12, arms=PAPER_ARMS[1:2], training=False, checks=0, items_per_participant=2,
        pay="1.50", **fields,
    )  # fmt: skip


@pytest.mark.parametrize(("visits", "people"), [(1, 18), (3, 6), (6, 3), (50, 3)])
def test_the_design_counts_people_and_paid_visits(owner, visits, people):
    study = draft(owner, visits=visits)
    found = study_design(study)
    assert (found.participants, found.visits) == (people, 18)
    assert found.pay(study) == 27


def test_the_launch_page_multiplies_pay_by_visits(owner):
    draft(owner, visits=3)
    page = text(signed_in(owner).get(reverse("admin:evaluation_study_launch", args=["often"])))
    assert re.search(r"Pay: 18 visits . 1\.50 GBP = 27\.00 GBP", page)
    assert "Each can come up to 3 times" in page


def test_the_launch_page_of_a_study_that_is_done_once_says_nothing_of_visits(owner):
    draft(owner)
    page = text(signed_in(owner).get(reverse("admin:evaluation_study_launch", args=["often"])))
    assert re.search(r"Pay: 18 participants . 1\.50 GBP", page)
    assert "visits" not in page


def test_the_people_s_pages_show_visits(owner):
    study = make_crowd_study(
        "often", owner=owner, queries=6, arms=PAPER_ARMS[1:2], items_per_participant=2, visits=3
    )
    for session in ("v1", "v2"):
        ann = enter(study, Visit("prolific", "ann", "there", session))
        while session == "v1" and before(ann.token):
            hand_in(ann.token)
    hand_in(ann.token)
    client = signed_in(owner)
    listed = text(client.get(reverse("admin:annotator_participant_list", args=["often"])))
    assert "1 of 2 in visit 2, 3 in all" in listed
    page = text(client.get(reverse("admin:annotator_participant_page", args=["often", ann.pk])))
    assert "Visit 2 of 3" in page
    assert "(visit 1, 2 judged in 0.0 minutes)" in page
    assert "under way (visit 2, 1 judged)" in page
    assert Participant.objects.count() == 1


def test_visits_travel_with_a_study(owner, tmp_path):
    study, path = draft(owner), tmp_path / "study.jsonl"
    export_to(study, format="jsonl", path=str(path))
    assert b'"visits"' not in path.read_bytes()
    study.visits = 4
    study.save()
    export_to(study, format="jsonl", path=str(path))
    call_command("import_study", str(path), "--slug", "again", "--owner", owner.username)
    assert Study.objects.get(slug="again").visits == 4
