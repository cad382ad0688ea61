"""Scores of one study beside rankings of another: what is shared, and what is refused."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from jsonschema import Draft202012Validator

from analytics.reports.common import NothingToReport
from analytics.reports.comparison.build import build_comparison
from analytics.reports.comparison.document import comparison_schema
from analytics.reports.comparison.files import BY_SUFFIX
from analytics.reports.comparison.page import comparison_page
from analytics.reports.comparison.sides import ComparisonSide, Sides
from evaluation.models import Query, Response
from tests.analytics.reports.answering import answered_study, give, new_rater
from tests.analytics.reports.test_latex import is_balanced, is_nested

pytestmark = pytest.mark.django_db


def run(*args, **options):
    out = StringIO()
    call_command("compare_rankings", *args, stdout=out, **options)
    return out.getvalue()


def compared(a, b):
    """Both studies as a comparison has them, as a file."""
    return json.loads(BY_SUFFIX["json"](build_comparison(Sides(ComparisonSide(a), ComparisonSide(b)))))


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
    assert "| aspen | 9.00 | 100.0 | 5 |" in page
    assert "3 responses that were only scored" in page


@pytest.mark.parametrize("changed", [Response, Query])
def test_responses_of_another_text_are_left_out(scored, ranked, changed):
    of = {"key": "q0", "study": ranked} if changed is Query else {"query__key": "q0", "query__study": ranked}
    changed.objects.filter(**of).update(text="Something else.")
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


def test_a_comparison_of_both_studies_has_the_same(scored, ranked):
    """They share no question, so that scores and rankings are all that there is to compare."""
    record = compared(scored, ranked)
    Draft202012Validator(comparison_schema()).validate(record)
    assert record["comparisons"] == []
    by_default = json.loads(run("scored", "ranked", format="json"))
    found = {
        (each["question"]["key"], each["scored_by"]["label"]): each for each in record["scores_and_rankings"]
    }
    # On each scale that somebody answered the jury's members, who lead, and the jury as one rater.
    assert set(found) == {
        (key, by)
        for key in ("overall", "usefulness")
        for by in ("Jury crowd, its members", "Jury crowd")
    }  # fmt: skip
    first = found["overall", "Jury crowd, its members"]
    assert (first["scored"], first["ranking"]["key"], first["ranked_by"]["key"]) == ("a", "ranking", "person")
    for name in ("tau", "linear", "quadratic", "of_systems"):
        assert first[name] == by_default["found"][name]
    assert first["systems"] == by_default["systems"]
    assert [first[name] for name in ("queries", "responses", "only_scored", "only_ranked")] == [5, 15, 3, 0]
    # One response of each query was rated on usefulness, which is no order.
    assert found["usefulness", "Jury crowd"]["tau"]["value"] is None


def test_the_order_of_the_sides_changes_no_figure(scored, ranked):
    one, other = (compared(*sides)["scores_and_rankings"] for sides in ((scored, ranked), (ranked, scored)))
    assert [each.pop("scored") for each in (one[0], other[0])] == ["a", "b"]
    assert one[0] == other[0]


def test_it_is_a_section_of_the_page_and_of_every_file(scored, ranked):
    record = compared(scored, ranked)
    (section,) = [each for each in comparison_page(record).sections if each.key == "scores-and-rankings"]
    heading = "Scores in A by Jury crowd, its members; rankings in B by People"
    assert section.blocks[0].heading == heading
    assert [block.folded for block in section.blocks] == [False, True]
    tau = "0.87"
    for suffix in ("md", "html", "tex", "csv"):
        text = BY_SUFFIX[suffix](record)
        assert heading in text, suffix
        assert tau in text, suffix
    latex = BY_SUFFIX["tex"](record)
    assert is_balanced(latex)
    assert is_nested(latex)
    assert f"| Overall | {tau} (" in BY_SUFFIX["md"](record)
    header, *rows = BY_SUFFIX["csv"](record).splitlines()
    assert header.endswith("A with B,A with B: low,A with B: high,A with B: note")
    (mean,) = [
        row for row in rows if row.startswith(f'Overall,"{heading}",Mean score and share outranked,aspen,')
    ]
    assert mean.split("aspen,")[1].split(",")[:2] == ["9.00", "100.0 %"]


def test_a_scale_on_which_less_is_better_is_read_from_its_better_end(scored, ranked):
    revision = scored.revisions.get()
    for question in revision.spec["questions"]:
        if question["key"] == "overall":
            question["options"]["form"]["direction"] = "lower"
    type(revision).objects.filter(pk=revision.pk).update(spec=revision.spec)
    rankings = compared(scored, ranked)["scores_and_rankings"]
    first = next(each for each in rankings if each["question"]["key"] == "overall")
    assert first["tau"]["value"] == pytest.approx(-(1 / 3 + 4) / 5)
    assert (first["systems"][0]["system"], first["systems"][0]["score"]) == ("aspen", 9)


def test_studies_without_a_shared_response_are_not_held_against_each_other(scored, ranked):
    Response.objects.filter(query__study=ranked).update(text="Something else.")
    with pytest.raises(NothingToReport, match="no response that one scored and the other ranked"):
        compared(scored, ranked)
