"""Two studies compared in the browser: from the report, with another study and with another view."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.core.management import call_command
from playwright.sync_api import expect

from evaluation.models import Study
from tests.analytics.reports.answering import answered_study, give, new_rater
from tests.analytics.reports.contexteval import write_dump
from tests.analytics.reports.judging import judge, judged_study
from tests.analytics.reports.test_comparison import won_by
from tests.browser.conftest import Visitor
from tests.browser.test_report_page import assert_sound_in_both, member, study
from tests.browser.walking import leave_by

__all__ = ["member", "study"]
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
RESPONSES = ("r1", "r2", "r3")


@pytest.fixture
def replication(study: Study, tmp_path: Path) -> Study:
    """The same items, judged by the same people and by fewer judges."""
    path = write_dump(tmp_path / "replication.jsonl", judges=2)
    call_command("import_study", str(path), slug="replication", owner="ada", verbosity=0)
    found = Study.objects.get(slug="replication")
    found.title = "A replication with fewer judges"
    found.save(update_fields=["title"])
    return found


def test_two_studies_and_two_views_are_compared(
    study: Study, replication: Study, member: Callable[..., Visitor]
) -> None:
    looking = member()
    page = looking.page
    looking.go("/studies/contexteval/report/")
    leave_by(page.get_by_role("link", name="Compare", exact=True))
    page.get_by_role("heading", name="Comparison").wait_for()
    assert_sound_in_both(looking, "comparison-choice")
    page.get_by_label("Compare Contextualized evaluations, rebuilt with").select_option("replication")
    leave_by(page.get_by_role("button", name="Compare", exact=True))
    assert page.get_by_text("queries matched by key").is_visible()
    assert page.get_by_role("columnheader", name="B less A").first.is_visible()
    page.get_by_text("Views", exact=True).click()
    page.get_by_label("Setting").nth(0).select_option(index=0)
    page.get_by_label("Setting").nth(1).select_option(index=2)
    assert_sound_in_both(looking, "comparison-views")
    leave_by(page.get_by_role("button", name="Compare these views"))
    assert page.get_by_text("setting CtxGen-CtxEval: ").is_visible()
    page.get_by_label("Compare Contextualized evaluations, rebuilt with").select_option("contexteval")
    leave_by(page.get_by_role("button", name="Compare", exact=True))
    assert page.get_by_text("or with another view of itself").is_visible()
    assert_sound_in_both(looking, "comparison-with-itself")


def rate_and_rank(owner: User) -> None:
    """One study rates the questions of three systems, and another ranks the same ones."""
    rng = np.random.default_rng(3)
    worth = np.array([0.8, 0.3, 0.0])
    scored = answered_study("question_quality", slug="scored", queries=12, owner=owner)
    for number in range(3):
        seen = 4 + 4 * worth + rng.normal(size=(12, 3))
        points = np.clip(np.round(seen), 1, 10).tolist()
        overall = [dict(zip(RESPONSES, row, strict=True)) for row in points]
        give(scored, new_rater(scored, f"juror-{number}"), [{"overall": each} for each in overall])
    ranked = answered_study("ranking", slug="ranked", queries=12, owner=owner)
    for number in range(3):
        ranks = (-(worth + 0.5 * rng.normal(size=(12, 3)))).argsort(axis=1).argsort(axis=1) + 1
        places = [dict(zip(RESPONSES, row, strict=True)) for row in ranks.tolist()]
        give(ranked, new_rater(ranked, f"person-{number}"), [{"ranking": each} for each in places])


def duel_twice(owner: User) -> None:
    for slug, strengths in (("one", (8, 6, 4)), ("other", (6, 9, 5))):
        systems = ("aspen", "birch", "cedar")
        judge(
            judged_study(slug, owner=owner, queries=12, systems=systems, items_per_query=3),
            choose=won_by(*strengths),
        )


def test_scores_beside_rankings_and_leaderboards_of_two_studies(
    study: Study, member: Callable[..., Visitor]
) -> None:
    ada = get_user_model().objects.get(username="ada")
    rate_and_rank(ada)
    duel_twice(ada)
    pairs = (("scored", "ranked", "Scores against rankings"), ("one", "other", "Correlation of leaderboards"))
    looking = member()
    for a, b, heading in pairs:
        looking.go(f"/studies/{a}/comparison/?other={b}")
        expect(looking.page.get_by_role("heading", name=heading)).to_be_visible()
        assert_sound_in_both(looking, f"comparison-of-{a}")
