"""The page on which a judge is chosen and tested, from a draft to the report."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from evaluation.models import Job
from evaluation.services.jobs import claim_job
from judging import validation_acts as acts
from judging.models import Run
from judging.services.judges import create_judge
from judging.services.runs.work import work_on
from judging.services.validation import validation_of
from tests import factories
from tests.judging.trusting import acts_in_history, run_of, study_with_people

pytestmark = pytest.mark.django_db


@pytest.fixture
def researcher(client, owner):
    owner.is_staff = True
    owner.save()
    client.force_login(owner)
    return client


def address(study):
    return reverse("admin:evaluation_study_trust", args=[study.slug])


def read(client, study):
    return client.get(address(study)).content.decode()


def do(client, study, act, **data):
    done = client.post(address(study), {"act": act, **data})
    assert done.status_code == 302, done.content.decode()
    for run in Run.objects.filter(state="pending"):
        work_on(run.pk)
    return read(client, study)


def test_from_halves_to_the_report(researcher, owner):
    study = study_with_people(owner=owner, sample=130)
    chosen, other = (create_judge(study, name=name, backend=name) for name in ("longer", "random"))
    page = read(researcher, study)
    assert "People judge a random part of 130 of 140 queries; 130 of them have judgments." in page
    page = do(researcher, study, "begin", question="preference")
    assert "65 queries to choose a judge on, 65 to test it." in page
    do(researcher, study, "try", judge=chosen.pk)
    page = do(researcher, study, "try", judge=other.pk, budget="0.5")
    assert page.count("none found") + page.count(">length<") >= 1
    assert "Choose this judge" in page
    page = do(researcher, study, "choose", judge=chosen.pk)
    assert "longer v1 was chosen among 2" in page
    page = do(researcher, study, "test")
    assert "Open the test half" in page
    page = do(researcher, study, "open")
    assert "May replace a person" in page
    page = do(researcher, study, "judge-all")
    assert "of their judgments saved" in page
    assert acts_in_history() == [
        "Halved", "Started", "Started", "Chose", "Started", "Opened", "Started",
    ]  # fmt: skip


def test_people_s_part_of_a_draft(researcher, owner):
    draft = factories.make_study("draft", owner=owner, queries=50, training=False, checks=0)
    assert "People are to judge all 50 queries" in read(researcher, draft)
    assert "People are to judge a random part of 30 of 50 queries" in do(
        researcher, draft, "part", queries="30"
    )
    refused = researcher.post(address(draft), {"act": "part", "queries": "51"})
    assert refused.status_code == 422
    assert "people can judge 1 to all of them" in refused.content.decode()
    assert "more than there are" in researcher.get(address(draft), {"width": "2"}).content.decode()


def test_what_can_not_be_done_yet_is_refused_with_its_reason(researcher, owner):
    study = study_with_people(owner=owner, queries=20)
    one = create_judge(study, name="one", backend="longer")
    for act, data, words in (
        ("try", {"judge": one.pk}, "Draw the halves first."),
        ("choose", {"judge": one.pk}, "not one of the available choices"),
        ("test", {}, "Draw the halves first."),
        ("open", {}, "Draw the halves first."),
        ("judge-all", {}, "Draw the halves first."),
        ("begin", {"question": "nothing"}, "is not one of the available choices"),
    ):
        refused = researcher.post(address(study), {"act": act, **data})
        assert refused.status_code == 422, act
        assert words in refused.content.decode(), act
    assert validation_of(study) is None
    assert researcher.post(address(study), {"act": "explode"}).status_code == 403


def test_viewers_read_and_do_nothing(client, owner, django_user_model):
    study = study_with_people(owner=owner, queries=20)
    viewer = django_user_model.objects.create_user("viewer", is_staff=True)
    study.members.create(user=viewer, role="viewer")
    client.force_login(viewer)
    assert "Draw the halves</button>" not in read(client, study)
    assert client.post(address(study), {"act": "begin", "question": "preference"}).status_code == 403
    assert validation_of(study) is None
    client.force_login(django_user_model.objects.create_user("stranger", is_staff=True))
    assert client.get(address(study)).status_code == 404


def test_a_busy_worker_is_waited_for_and_told_of(researcher, owner, busy_worker):
    study = study_with_people(owner=owner)
    one = create_judge(study, name="one", backend="longer")
    acts.begin_validation(study, "preference", by=owner)
    run_of(acts.try_variant, study, one)
    page = read(researcher, study)
    assert "The variants are being compared with people." in page
    assert Job.objects.filter(kind="validation").count() == 1
    busy_worker()
    assert "Variants on the tuning half" in read(researcher, study)


def test_the_page_changes_under_nobody_who_fills_it_in(researcher, owner, busy_worker):
    """It asks by itself whether something is under way, and is loaded anew once nothing is."""
    study = study_with_people(owner=owner, queries=20)
    one = create_judge(study, name="one", backend="longer")
    acts.begin_validation(study, "preference", by=owner)
    run = acts.try_variant(study, one, by=owner, queue=False)
    asked = researcher.get(address(study), headers={"HX-Request": "true"})
    assert (asked.status_code, asked.content) == (204, b"")
    work_on(run.pk)
    asked = researcher.get(address(study), headers={"HX-Request": "true"})
    assert asked.headers["HX-Refresh"] == "true"


def test_a_test_whose_worker_was_killed_can_be_opened_again(researcher, owner, busy_worker):
    study = study_with_people(owner=owner, queries=20)
    one = create_judge(study, name="one", backend="longer")
    acts.begin_validation(study, "preference", by=owner)
    run_of(acts.try_variant, study, one)
    acts.choose_variant(study, one, by=owner)
    run_of(acts.begin_test, study)
    claim_job(acts.open_test(study, by=owner, queue=False).pk)
    Job.objects.update(heartbeat_at=timezone.now() - timedelta(hours=1))
    assert "Open the test half</button>" in read(researcher, study)


def test_the_page_asks_little_however_many_judgments(researcher, owner, django_assert_max_num_queries):
    study = study_with_people(owner=owner)
    one = create_judge(study, name="one", backend="longer")
    acts.begin_validation(study, "preference", by=owner)
    run_of(acts.try_variant, study, one)
    read(researcher, study)
    with django_assert_max_num_queries(60):
        read(researcher, study)
