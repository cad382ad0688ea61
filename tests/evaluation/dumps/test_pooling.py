"""Two collected rounds of one study pooled: the judgments of both, item by item, and what differs named."""

import pytest
from django.core.management import CommandError, call_command

from analytics.reports.build import build_report
from evaluation.dumps.pooling import pool_rounds
from evaluation.models import Query, Study
from evaluation.refusals import Refused
from evaluation.services.studies.verification import verify_study
from tests import factories
from tests.analytics.reports.answering import new_rater
from tests.analytics.reports.judging import answer, main_items, mostly_first
from tests.evaluation.dumps.build import export_bytes

pytestmark = pytest.mark.django_db
ARM = factories.PAPER_ARMS[:1]


def a_round(slug, *, queries=4, people=2, owner=None, changed=(), **fields):
    """A closed round; the queries of these keys ask something else."""
    study = factories.make_study(
        slug, owner=owner, queries=queries, arms=ARM, training=False, checks=0, **fields
    )
    for key in changed:
        Query.objects.filter(study=study, key=key).update(text="Something else?")
    factories.launch(study)
    for number in range(people):
        rater = new_rater(study, f"person {number}")
        for at, item in enumerate(main_items(study)):
            answer(study, rater, item, mostly_first(number, at), shown="r1,r2")
    return study


def test_the_same_items_have_the_judgments_of_both_rounds(owner):
    made = pool_rounds(a_round("one"), a_round("two", queries=6, people=3), by=owner, slug="both")
    assert made.status == "closed"
    assert made.items.count() == 6
    counts = sorted(item.judgments.count() for item in made.items.all())
    assert counts == [3, 3, 5, 5, 5, 5]
    assert made.groups == ["round-1", "round-2"]
    assert sorted(made.raters.values_list("group", flat=True)) == ["round-1"] * 2 + ["round-2"] * 3
    assert list(verify_study(made)) == []
    report = build_report(made, replicates=20, only=["preferences/win_rates"])
    assert {group["key"] for group in report["groups"]} >= {"person", "person-round-1", "person-round-2"}
    [said] = [each for each in report["methods"] if "two rounds" in each]
    assert "One (" in said
    assert "their forms are the same" in said
    history = made.origin["beside"]
    assert history["title"] == "Two"


def test_what_is_not_the_same_stays_apart(owner):
    made = pool_rounds(a_round("one"), a_round("two", changed=["q1"]), by=owner)
    assert made.items.count() == 5
    assert set(made.queries.values_list("key", flat=True)) == {"q0", "q1", "q1-2", "q2", "q3"}
    assert made.queries.get(key="q1-2").text == "Something else?"


def test_what_differs_is_named(owner):
    made = pool_rounds(a_round("one"), a_round("two", asker="Person Y"), by=owner)
    assert made.origin["differs"] == ["asker"]
    assert "they differ in asker" in " ".join(build_report(made, replicates=20, only=[])["methods"])


def test_what_says_how_one_round_was_drawn_is_not_said_of_both(owner):
    """Of the pool, people's queries are no random part, and no rule could have stopped it."""
    first = a_round("one", queries=6, human_sample=4)
    made = pool_rounds(first, a_round("two", queries=6), by=owner)
    assert first.human_sample == 4
    assert made.human_sample is None
    assert "human_sample" in made.origin["differs"]


def test_groups_of_people_stay_apart(owner):
    first = a_round("one")
    first.raters.filter(label="person 0").update(group="experts")
    made = pool_rounds(first, a_round("two"), by=owner)
    assert made.groups == ["experts-round-1", "round-1", "round-2"]
    assert set(made.raters.values_list("group", flat=True)) == set(made.groups)


def test_rounds_that_ask_something_else_are_not_pooled(owner):
    first, second = a_round("one"), a_round("two")
    revision = second.revisions.get()
    revision.spec["questions"] = [
        each for each in revision.spec["questions"] if each["key"] != "justification"
    ]
    type(revision).objects.filter(pk=revision.pk).update(spec=revision.spec)
    with pytest.raises(Refused, match="Only One asks the question justification"):
        pool_rounds(first, second, by=owner)
    with pytest.raises(Refused, match="with itself"):
        pool_rounds(first, first, by=owner)
    draft = factories.make_study("draft", owner=owner, queries=2)
    with pytest.raises(Refused, match="has not been launched"):
        pool_rounds(first, draft, by=owner)
    assert Study.objects.count() == 3


def test_the_rounds_stay_as_they_are(owner):
    rounds = a_round("one"), a_round("two", queries=5)
    before = [export_bytes(each) for each in rounds]
    pool_rounds(*rounds, by=owner)
    assert [export_bytes(each) for each in rounds] == before


def test_at_the_shell(owner, capsys):
    a_round("one", owner=owner)
    a_round("two", owner=owner, queries=5)
    call_command("pool_rounds", "one", "two", slug="both", by=owner.username)
    assert (
        "both is closed. One, both rounds has 5 items: their forms are the same." in capsys.readouterr().out
    )
    with pytest.raises(CommandError, match="There is no study 'three'"):
        call_command("pool_rounds", "one", "three", by=owner.username)
