"""Scores of one study beside rankings of another: what is shared, and what is refused."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from evaluation.models import Response
from tests.analytics.reports.answering import answered_study, give, new_rater

pytestmark = pytest.mark.django_db


def run(*args, **options):
    out = StringIO()
    call_command("compare_rankings", *args, stdout=out, **options)
    return out.getvalue()


@pytest.fixture
def scored():
    """A jury that scores the first system highest, and the more so the later the query."""
    study = answered_study("question_quality", slug="scored", queries=6)
    for number in range(2):
        answers = [
            {"overall": {"r1": 9, "r2": 5 - number, "r3": 2 if at else 8}, "usefulness": {"r1": 1}}
            for at in range(6)
        ]
        about = {"jury": {"name": "crowd", "combination": "majority"}}
        give(study, new_rater(study, f"juror {number}", "judge", **about), answers)
    return study


@pytest.fixture
def ranked():
    study = answered_study("ranking", slug="ranked", queries=5)
    give(study, new_rater(study, "person"), [{"ranking": {"r1": 1, "r2": 2, "r3": 3}}] * 5)
    return study


def test_shared_responses_are_compared(scored, ranked):
    found = json.loads(run("scored", "ranked", format="json"))
    assert (found["queries"], found["responses"]) == (5, 15)
    assert (found["only_scored"], found["only_ranked"], found["other_text"]) == (3, 0, 0)
    # On the first query the last two change places: a third of its pairs.
    assert found["found"]["tau"]["value"] == pytest.approx((1 / 3 + 4) / 5)
    assert found["found"]["of_systems"] == 1
    assert found["scored_by"] == "Jury crowd, its members"
    as_one = json.loads(run("scored", "ranked", format="json", scored_by="jury-crowd"))
    assert as_one["found"]["tau"]["value"] == found["found"]["tau"]["value"]
    page = run("scored", "ranked")
    assert "| aspen | 9.00 | 1.00 | 5 |" in page
    assert "3 responses that were only scored" in page


def test_responses_of_another_text_are_left_out(scored, ranked):
    Response.objects.filter(query__study=ranked, query__key="q0").update(text="Something else.")
    found = json.loads(run("scored", "ranked", format="json"))
    assert (found["responses"], found["other_text"], found["found"]["tau"]["value"]) == (12, 3, 1)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"question": "beauty"}, "scored has no scale 'beauty'"),
        ({"scored_by": "experts"}, "no raters 'experts' who answered"),
        ({"question": "clarity"}, "Nobody has answered 'clarity' in scored yet"),
    ],
)
def test_what_is_not_there_is_named(scored, ranked, options, sentence):
    with pytest.raises(CommandError, match=sentence):
        run("scored", "ranked", **options)


def test_studies_that_can_not_be_compared(scored, ranked):
    with pytest.raises(CommandError, match="no study 'nowhere'"):
        run("scored", "nowhere")
    with pytest.raises(CommandError, match="asks for no ranking"):
        run("scored", "scored")
    with pytest.raises(CommandError, match="no scale called overall"):
        run("ranked", "ranked")
    answered_study("ranking", slug="draft", launched=False)
    with pytest.raises(CommandError, match="draft has not been launched"):
        run("scored", "draft")
    other = answered_study("ranking", slug="other", kinds={"dogwood": "model", "elm": "model"})
    give(other, new_rater(other, "person"), [{"ranking": {"r1": 1, "r2": 2}}] * 4)
    with pytest.raises(CommandError, match="share no response"):
        run("scored", "other")
    Response.objects.filter(query__study=ranked).update(text="Something else.")
    with pytest.raises(CommandError, match="another text"):
        run("scored", "ranked")
