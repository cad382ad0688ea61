"""A study's progress is counted into one row, which agrees with what the report is made of."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotator.services.slots.redundancy import change_redundancy
from evaluation import tasks
from evaluation.admin.study.overview import pace_in_words
from evaluation.models import Judgment, Progress, Status, Study
from evaluation.selectors import count_items_of_people, counting_judgments
from evaluation.services import progress
from evaluation.services.exclusions import exclude, restore
from evaluation.services.progress import progress_of, refresh_progress, studies_to_count
from evaluation.services.studies.creation import PAPER_ARMS
from tests.crowd import come, hand_in, make_crowd_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return make_crowd_study("watched", queries=3, arms=PAPER_ARMS[1:2], redundancy=2)


def test_a_new_study_has_all_places_free(study: Study) -> None:
    row = progress_of(study)
    assert (row.n_wanted, row.n_filled, row.n_people, row.n_judges) == (6, 0, 0, 0)
    assert row.last_activity is None
    assert Progress.objects.get() == row


def test_people_and_judges_are_counted_apart(study: Study) -> None:
    person = come(study, "a")
    made = [hand_in(person.token).judgment for _ in range(2)]
    rater = study.raters.create(kind="judge", label="longer")
    revision = study.revisions.get()
    for item in study.items.all():
        study.judgments.create(rater=rater, item=item, revision=revision)
    row = progress_of(study)
    assert (row.n_filled, row.n_people, row.n_judges) == (2, 2, 3)
    assert row.n_people + row.n_judges == counting_judgments(study).count()
    assert row.last_activity == max(each.judged_at for each in made)
    assert row.figures["recent"] == 2


def test_the_first_hour_s_pace_is_that_of_its_minutes(study: Study) -> None:
    person = come(study, "a")
    hand_in(person.token)
    assert pace_in_words(progress_of(study)) == "1 in the last hour."
    for begun, said in ((10, "50 minutes"), (59, "4.9 hours"), (90, None)):
        Judgment.objects.update(judged_at=timezone.now() - timedelta(minutes=begun))
        row = refresh_progress(study)
        row.n_wanted, row.n_filled = 6, 1
        expected = (
            "None in the last hour." if said is None else f"1 in the last hour; at this pace {said} left."
        )
        assert pace_in_words(row) == expected


def test_an_exclusion_frees_what_it_filled_at_once(study: Study, owner: Any) -> None:
    judgment = hand_in(come(study, "a").token).judgment
    assert progress_of(study).n_filled == 1
    exclusion = exclude(study=study, judgment=judgment, reason="A slip.", by=owner)
    row = progress_of(study)
    assert (row.n_filled, row.n_people) == (0, 0)
    assert row.figures["left_out"] == {"person": {"excluded": 1}}
    restore(exclusion, by=owner)
    assert progress_of(study).n_filled == 1


def test_no_item_fills_more_than_it_needs(study: Study, owner: Any) -> None:
    for name in "ab":
        person = come(study, name)
        for _ in range(3):
            hand_in(person.token)
    change_redundancy(study, 1, by=owner, reason="Enough.")
    study.refresh_from_db()
    row = progress_of(study)
    assert (row.n_wanted, row.n_filled, row.n_people) == (3, 3, 6)
    assert row.is_full
    assert row.percent == 100


def test_a_random_part_needs_its_own_items_alone() -> None:
    study = make_crowd_study("part", queries=4, arms=PAPER_ARMS[1:2], redundancy=1, human_sample=2)
    hand_in(come(study, "a").token)
    row = progress_of(study)
    assert row.n_wanted == count_items_of_people(study) == 2
    assert row.n_filled == 1


def test_a_large_study_is_never_counted_in_a_request(study: Study, monkeypatch: Any) -> None:
    hand_in(come(study, "a").token)
    monkeypatch.setattr(progress, "SMALL", 0)
    assert not progress_of(study).is_counted
    refresh_progress(study)
    hand_in(come(study, "b").token)
    with CaptureQueriesContext(connection) as queries:
        assert progress_of(study).n_filled == 1
    assert len(queries) == 1


def test_a_fresh_row_is_read_by_few_queries(study: Study) -> None:
    hand_in(come(study, "a").token)
    progress_of(study)
    with CaptureQueriesContext(connection) as queries:
        progress_of(study)
    assert len(queries) == 5


def test_workers_count_what_is_under_way_or_has_changed(study: Study) -> None:
    hand_in(come(study, "a").token)
    assert studies_to_count() == [study]
    tasks.count_progress()
    assert studies_to_count() == []
    later = timezone.now() + timedelta(minutes=1)
    assert studies_to_count(later) == [study]
    Study.objects.filter(pk=study.pk).update(status=Status.CLOSED)
    assert studies_to_count(later) == [study]
    Progress.objects.update(at=later - timedelta(hours=2), figures={"recent": 1})
    tasks.count_progress()
    study.judgments.update(judged_at=timezone.now() - timedelta(hours=2))
    refresh_progress(study)
    assert studies_to_count(later) == []
    # Closed and unchanged, it is looked at every ten minutes, and a change is found then.
    later = timezone.now() + timedelta(minutes=11)
    assert studies_to_count(later) == []
    assert Progress.objects.get().at == later
    study.raters.create(kind="judge", label="longer")
    assert studies_to_count(later + timedelta(minutes=9)) == []
    assert studies_to_count(later + timedelta(minutes=11)) == [study]


def test_a_large_study_is_counted_less_often(study: Study) -> None:
    row = refresh_progress(study)
    Progress.objects.update(figures=row.figures | {"seconds": 30})
    assert studies_to_count(timezone.now() + timedelta(minutes=5)) == []
    assert studies_to_count(timezone.now() + timedelta(minutes=11)) == [study]
