"""Two studies, or two views of one, compared: what is matched, what it shows, what it says and what it refuses."""

import json
from datetime import UTC, datetime
from io import StringIO

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from jsonschema import Draft202012Validator

from analytics.awaited import current_comparison
from analytics.reports.build import build_report
from analytics.reports.cache import MOST_VIEWS, compute_report
from analytics.reports.common import NothingToReport
from analytics.reports.comparison import cache
from analytics.reports.comparison.build import build_comparison
from analytics.reports.comparison.cache import compute_comparison
from analytics.reports.comparison.document import comparison_schema
from analytics.reports.comparison.files import FORMATS, comparison_json
from analytics.reports.comparison.sides import ComparisonSide, Sides
from evaluation.filters import Filters
from evaluation.models import CachedReport, Query, Response
from evaluation.protocols import PROTOCOLS
from evaluation.services.exclusions import exclude
from evaluation.services.saved_views import save_view
from tests.analytics.reports.answering import answered_study, give, judged_by_everyone, new_rater
from tests.analytics.reports.judging import judge, judged_study, main_items

pytestmark = pytest.mark.django_db
ALPHA = "Krippendorff's \N{GREEK SMALL LETTER ALPHA}"
# By which a comparison is told from every other.
PLACE = ("question", "form", "group", "figure", "name", "arm", "systems")


def run(*args, **options):
    out = StringIO()
    call_command("compare_studies", *args, stdout=out, **options)
    return out.getvalue()


def compared(a, b, view_a=None, view_b=None):
    sides = Sides.of(
        *(
            ComparisonSide(study, Filters.parse(study, view or {}))
            for study, view in ((a, view_a), (b, view_b))
        )
    )
    return json.loads(comparison_json(build_comparison(sides)))


def of(record, name, group="person", arm=None, systems=()):
    (found,) = [
        each
        for each in record["comparisons"]
        if (each["name"], each["group"], each["arm"], tuple(each["systems"])) == (name, group, arm, systems)
    ]
    return found


def alone(record, kind):
    return {(each["side"], each["name"]) for each in record["without_partner"] if each["kind"] == kind}


def always(label):
    return lambda rater, position: label


def mostly_second(rater, position):
    return "r1" if (position + rater) % 7 == 0 else "r2"


@pytest.fixture
def first():
    """Fourteen queries, three people and a judge."""
    study = judged_study("first", queries=14)
    judge(study)
    judge(study, raters=1, kind="judge", label="cedar")
    return study


@pytest.fixture
def second():
    """The first twelve of them, with other people and the same judge under another pseudonym."""
    study = judged_study("second", queries=12)
    judge(study, raters=4, choose=mostly_second)
    judge(study, raters=1, kind="judge", label="cedar")
    study.raters.filter(kind="judge").update(pseudonym="judge-again")
    return study


def test_the_figures_are_those_of_reports_over_the_shared_queries(first, second):
    found = compared(first, second)
    assert found["queries"] == {"matched": 12, "only_a": 2, "only_b": 0, "other_text": 0}
    # The report of the first study without the queries that the second lacks.
    for item in main_items(first):
        if item.query.key in ("q12", "q13"):
            item.withdrawn_at = timezone.now()
            item.save()
    for side, study in (("a", first), ("b", second)):
        records = {
            record["figure"]: record
            for record in build_report(study)["records"]
            if record["group"] == "person" and record["question"] == "preference"
        }
        same = [
            ("Agreement with ties", records["agreement/percentage"]["overall"]["with_ties"]),
            ("Agreement without ties", records["agreement/percentage"]["overall"]["without_ties"]),
            (f"{ALPHA}, nominal", records["agreement/alpha"]["levels"][0]["alpha"]),
            (f"{ALPHA}, ordinal", records["agreement/alpha"]["levels"][1]["alpha"]),
            ("Ties", records["preferences/tie_rates"]["rates"][0]["rate"]),
        ]
        for name, expected in same:
            ours = of(found, name)
            if ours["difference"]["left_out"]:
                continue
            for key in ("value", "low", "high", "n", "note"):
                assert ours[side][key] == pytest.approx(expected[key]), (name, side, key)
        for rate in records["preferences/win_rates"]["expected"]:
            if rate["system"] == "aspen":
                ours = of(found, "Expected win rate", arm=rate["arm"], systems=("aspen", "birch"))
                assert ours[side]["value"] == pytest.approx(rate["rate"]["value"])
                assert ours[side]["high"] == pytest.approx(rate["rate"]["high"])


def test_the_differences_are_b_less_a(first, second):
    found = of(
        compared(first, second), "Expected win rate", arm="NoCtxGen-CtxEval", systems=("aspen", "birch")
    )
    back = of(
        compared(second, first), "Expected win rate", arm="NoCtxGen-CtxEval", systems=("aspen", "birch")
    )
    assert found["difference"]["value"] == pytest.approx(found["b"]["value"] - found["a"]["value"])
    assert found["difference"]["value"] == pytest.approx(-back["difference"]["value"])
    assert found["difference"]["low"] == pytest.approx(-back["difference"]["high"])
    assert found["test"]["p_value"] == pytest.approx(back["test"]["p_value"])
    assert (found["queries"], found["test"]["n"], found["difference"]["unit"]) == (12, 12, "queries")


def test_sentences_are_of_what_holds_after_correction(first, second):
    record = compared(first, second)
    tests = [each["test"] for each in record["comparisons"] if each["test"]]
    assert {test["tests"] for test in tests} == {len(tests)}
    said = {finding["comparison"] for finding in record["findings"]}
    supported = {
        at
        for at, each in enumerate(record["comparisons"])
        if each["test"] and each["test"]["p_corrected"] < 0.05
    }
    assert said == supported != set()
    (ordinal,) = [each for each in record["findings"] if each["about"].startswith(f"{ALPHA}, ordinal")]
    assert ordinal["heading"] == "lower in B"
    assert "over 12 queries that both have (p = " in ordinal["text"].replace("\N{NO-BREAK SPACE}", " ")
    page = run("first", "second")
    assert "ordinal, People: lower in B.**" in page


def test_few_queries_say_nothing():
    studies = [judged_study(slug, queries=9) for slug in ("few", "others")]
    for study, label in zip(studies, ("r1", "r2"), strict=True):
        judge(study, choose=always(label))
    record = compared(*studies)
    rate = of(record, "Expected win rate", arm="NoCtxGen-CtxEval", systems=("aspen", "birch"))
    assert rate["test"]["p_value"] == pytest.approx(2 / 2**9)
    assert record["findings"] == []
    assert "Too few queries for conclusions" in run("few", "others")


def test_equal_studies_differ_in_nothing():
    studies = [judged_study(slug, queries=12) for slug in ("one", "two")]
    for study in studies:
        judge(study)
    record = compared(*studies)
    assert {each["difference"]["value"] for each in record["comparisons"]} == {0}
    assert record["findings"] == []
    assert "No difference is beyond chance after correction" in run("one", "two")


def test_judges_are_matched_by_name_and_people_by_being_people(first, second):
    found = compared(first, second)
    assert [(each["a"], each["b"], each["label"]) for each in found["groups"]] == [
        ("person", "person", "People"),
        ("judge-0", "judge-again", "cedar 0"),
    ]
    assert of(found, "Agreement with people", group="judge-0")["difference"]["value"] < 0
    second.raters.filter(kind="judge").update(label="another")
    found = compared(first, second)
    assert alone(found, "raters") == {("a", "cedar 0"), ("b", "another")}


def test_one_group_on_each_side_is_compared_whoever_they_are(first):
    people, judges = ({"rater": ["person-0"]}, {"rater": ["judge-0"]})
    found = compared(first, first, people, judges)
    assert [each["label"] for each in found["groups"]] == ["People / cedar 0"]


def test_two_rounds_of_one_study(first):
    first.judgments.update(judged_at=datetime(2026, 3, 2, 12, tzinfo=UTC))
    first.judgments.filter(rater__pseudonym="person-2").update(judged_at=datetime(2026, 2, 1, 12, tzinfo=UTC))
    day, earlier = "2026-03-01", "2026-02-28"
    found = compared(first, first, {"to": [earlier]}, {"from": [day]})
    assert (found["a"]["judgments"], found["b"]["judgments"]) == (42, 42 * 3)
    assert found["responses"] == {"shared": 0, "other_text": 0}
    # One person alone can't agree with anybody.
    assert ("b", "Agreement with ties") in alone(found, "figure")
    text = run("first", "first", view_a=[f"to={earlier}"], view_b=[f"from={day}"])
    assert f"judged up to {earlier}" in text


def test_a_saved_view_stands_for_its_filters(first, owner):
    filters = {"arm": ["CtxGen-CtxEval"]}
    save_view(first, name="With context", filters=filters, by=owner)
    found = json.loads(run("first", "first", view_a=["view=With context"], format="json"))
    assert (found["a"]["view"], found["b"]["view"]) == (filters, {})
    assert run("first", "first", view_a=["view=With context"]) == run(
        "first", "first", view_a=["arm=CtxGen-CtxEval"]
    )
    with pytest.raises(CommandError, match="leave out arm"):
        run("first", "first", view_a=["view=With context", "arm=CtxGen-CtxEval"])


def test_a_view_beside_the_whole_says_what_they_share(first):
    name = first.raters.filter(kind="person").order_by("pk")[0].pseudonym
    record = compared(first, first, view_b={"without_rater": [name]})
    theirs = first.judgments.filter(rater__kind="person").exclude(rater__pseudonym=name).count()
    others = first.judgments.exclude(rater__kind="person").count()
    assert record["shared_judgments"] == theirs + others
    assert f"{theirs + others:,} judgments are in both sides" in run(
        first.slug, first.slug, view_b=[f"without_rater={name}"]
    )
    # Judges say the same in both, so that nothing is tested of them but what holds them against people.
    of_judges = [each for each in record["comparisons"] if each["group"] != "person"]
    assert of_judges
    assert {each["figure"] for each in of_judges if each["test"]} == {"judges/labels_vs_people"}
    assert any(each["test"] for each in record["comparisons"])


def test_a_setting_beside_another(first):
    arms = ["NoCtxGen-NoCtxEval", "CtxGen-CtxEval"]
    found = compared(first, first, *({"arm": [arm]} for arm in arms))
    expected = of(found, "Expected win rate", systems=("aspen", "birch"))
    whole = {
        (rate["arm"], rate["system"]): rate["rate"]["value"]
        for record in build_report(first, only=["preferences/win_rates"])["records"]
        if record["figure"] == "preferences/win_rates" and record["group"] == "person"
        for rate in record["expected"]
    }
    assert [expected[side]["value"] for side in ("a", "b")] == pytest.approx(
        [whole[arm, "aspen"] for arm in arms]
    )
    assert alone(found, "setting") == set()


def test_what_has_no_partner_is_listed(first):
    other = judged_study("other", queries=12, systems=("aspen", "birch", "cedar"), items_per_query=2)
    judge(other)
    Query.objects.filter(study=other, key="q3").update(text="Another question altogether.")
    Response.objects.filter(query__study=other, query__key="q4", system__key="aspen").update(
        text="New words."
    )
    found = compared(first, other)
    assert found["queries"] == {"matched": 11, "only_a": 2, "only_b": 0, "other_text": 1}
    assert found["responses"]["other_text"] == found["responses"]["shared"] // 22
    assert alone(found, "system") == {("b", "cedar")}
    text = run("first", "other")
    assert "1 with the same key and another text" in text
    assert "have another text: what is compared is the system" in text
    assert "do not have the same systems" in text
    assert "| B | System | cedar | A has no system of this key. |" in text


def won_by(*strengths):
    """The chance that the first of a pair is preferred grows with what its system is worth beyond the other's."""
    return lambda rater, position: "r1" if (position * 7 + rater * 3) % 10 < strengths[position % 3] else "r2"


def by_hand(first, second, arm):
    """Mean scores of systems on the queries that both studies have, and their correlation by numpy."""
    rates = []
    for study in (first, second):
        scores = {}
        for judgment in study.judgments.filter(
            item__arm__key=arm, item__query__key__in=[f"q{n}" for n in range(12)]
        ):
            picked = judgment.answers.get(question="preference").label
            for response in judgment.item.stimulus["responses"]:
                place = scores.setdefault(response["system"], {}).setdefault(judgment.item_id, [])
                place.append(float(response["part"] == picked))
        rates.append(
            [np.mean([np.mean(each) for each in scores[key].values()]) for key in ("aspen", "birch", "cedar")]
        )
    return np.corrcoef(rates)[0, 1]


def test_leaderboards_are_correlated_over_the_systems_that_both_have():
    """HREF, section 4.2: two temperatures of one judge."""
    systems = ("aspen", "birch", "cedar")
    one = judged_study("one", queries=14, systems=systems, items_per_query=3)
    other = judged_study("other", queries=12, systems=systems, items_per_query=3)
    judge(one, choose=won_by(8, 6, 4))
    judge(other, choose=won_by(6, 9, 5))
    found = compared(one, other)
    Draft202012Validator(comparison_schema()).validate(found)
    arms = [arm.key for arm in one.arms.all()]
    assert [each["arm"] for each in found["leaderboards"]] == arms
    for each in found["leaderboards"]:
        assert each["pearson"]["n"] == 3
        assert each["pearson"]["value"] == pytest.approx(by_hand(one, other, each["arm"]))
        assert each["pearson"]["value"] < 0.999
    assert "Correlation of leaderboards" in run("one", "other")
    assert "Win rates of A and of B correlated" in run("one", "other")


def test_two_systems_make_no_correlation(first, second):
    assert compared(first, second)["leaderboards"] == []


def test_questions_of_another_scale_are_not_compared():
    one, other = (answered_study("aspects", slug=slug, queries=10) for slug in ("one", "other"))
    rng = np.random.default_rng(1)
    for study in (one, other):
        answers = [
            {"acceptability": {part: int(rng.integers(0, 4)) for part in ("r1", "r2", "r3")}}
            for _ in range(10)
        ]
        give(study, new_rater(study, "person"), answers)
    found = compared(one, other)
    assert of(found, "Mean", systems=("aspen",))["a"]["n"] == 10
    revision = other.revisions.get()
    for question in revision.spec["questions"]:
        if question["key"] == "acceptability":
            question["options"]["form"]["high"] = 4
    type(revision).objects.filter(pk=revision.pk).update(spec=revision.spec)
    with pytest.raises(NothingToReport, match="no question that the same raters answered in both"):
        compared(one, other)


@pytest.mark.parametrize("protocol", sorted(set(PROTOCOLS) - {"pairwise"}))
def test_every_protocol_keeps_the_schema(protocol):
    study = judged_by_everyone(protocol, kinds={"aspen": "person", "birch": "model", "cedar": "model"})
    record = compared(study, study, {"without_rater": ["person 1"]})
    Draft202012Validator.check_schema(comparison_schema())
    assert [each.message for each in Draft202012Validator(comparison_schema()).iter_errors(record)] == []
    places = [tuple(map(str, (each[key] for key in PLACE))) for each in record["comparisons"]]
    assert len(set(places)) == len(places)
    # Who is not touched by the view differs in nothing.
    assert {each["difference"]["value"] for each in record["comparisons"] if each["group"] == "robot"} <= {0}
    for form in FORMATS.values():
        assert form(record)


def test_a_study_that_may_stop_early_has_no_test_of_that_figure(first, second):
    revision = second.revisions.get()
    revision.spec["stopping"] = {"figure": "win_rate"}
    type(revision).objects.filter(pk=revision.pk).update(spec=revision.spec)
    found = of(
        compared(first, second), "Expected win rate", arm="NoCtxGen-CtxEval", systems=("aspen", "birch")
    )
    assert found["test"] is None
    assert "may stop early" in found["untested"]
    # Of the study that may not stop by it, the interval stands.
    assert found["a"]["low"] is not None
    for stopped in (found["b"], found["difference"]):
        assert stopped["value"] is not None
        assert stopped["low"] is stopped["high"] is None
        assert "Stopping early" in stopped["undefined"]


def test_a_comparison_is_kept_until_a_study_changes(first, second, monkeypatch):
    sides = Sides(ComparisonSide(first), ComparisonSide(second))
    kept = compute_comparison(sides)
    built = []
    monkeypatch.setattr(
        cache, "build_comparison", lambda sides, watch: built.append(sides) or build_comparison(sides)
    )
    assert compute_comparison(sides) == kept
    assert built == []
    exclude(study=second, rater=second.raters.first(), reason="Too fast.")
    second.refresh_from_db()
    assert compute_comparison(Sides(ComparisonSide(first), ComparisonSide(second))) != kept
    assert CachedReport.objects.filter(view=sides.digest).count() == 1


def test_comparisons_are_kept_among_the_latest_views(first, second):
    compute_report(first)
    for rater in ("person-0", "person-1", "person-2"):
        for view in (
            {"rater": [rater]},
            {"without_rater": [rater]},
            {"rater": [rater], "arm": ["CtxGen-CtxEval"]},
        ):
            compute_comparison(
                Sides(ComparisonSide(first, Filters.parse(first, view)), ComparisonSide(second))
            )
    assert CachedReport.objects.filter(study=first).exclude(view="").count() == MOST_VIEWS
    assert CachedReport.objects.filter(study=first, view="").count() == 1


def test_the_worker_reads_both_sides_from_the_job(first, second, owner):
    sides = Sides(ComparisonSide(first), ComparisonSide(second))
    found, awaited = current_comparison(sides, by=owner)
    assert found["schema"] == "assay-comparison/1"
    assert awaited.job.state == "done"
    assert current_comparison(sides, by=owner) == (compute_comparison(sides), None)


@pytest.mark.parametrize(
    ("arguments", "options", "sentence"),
    [
        (("first", "nowhere"), {}, "There is no study 'nowhere'"),
        (("first", "first"), {}, "with another view of itself"),
        (("first", "second"), {"view_b": ["arm"]}, "'arm' is no view: write NAME=VALUE"),
        (("first", "second"), {"view_a": ["length=3"]}, "with a name of query, category"),
        (("first", "second"), {"view_a": ["arm=none"]}, "first: The study has no setting 'none'"),
        (("first", "second"), {"view_b": ["view=old"]}, "second: The study has no saved view 'old'"),
        (("first", "draft"), {}, "draft has not been launched"),
        (("first", "unjudged"), {}, "unjudged: Nobody has judged an item yet"),
        (("first", "elsewhere"), {}, "share no query: the keys of their queries must be the same"),
        (("first", "changed"), {}, r"those of the same key \(12\) have another text there"),
        (("first", "first"), {"view_b": ["to=2001-01-01"]}, "leaves no judgment"),
    ],
)
def test_what_can_not_be_compared_is_refused(first, second, arguments, options, sentence):
    answered_study("ranking", slug="draft", launched=False)
    judged_study("unjudged")
    for slug in ("elsewhere", "changed"):
        if slug in arguments:
            judge(judged_study(slug))
    for query in Query.objects.filter(study__slug="elsewhere"):
        Query.objects.filter(pk=query.pk).update(key=f"other-{query.key}")
    Query.objects.filter(study__slug="changed").update(text="Something else.")
    with pytest.raises(CommandError, match=sentence):
        run(*arguments, **options)


def test_csv_and_json_have_every_comparison(first, second):
    text = run("first", "second", format="json")
    assert '\n  "comparisons": [\n    {' in text
    assert ALPHA in text
    record = json.loads(text)
    header, *rows = run("first", "second", format="csv").splitlines()
    assert len(rows) == len(record["comparisons"])
    assert header.startswith("Question,Raters,Figure,Of,A,A: low,A: high")


def test_a_figure_that_fails_is_left_out_and_told(monkeypatch, figures_may_fail):
    def broken(self, given):
        raise ZeroDivisionError("no division")
        yield

    a, b = (judged_study(slug, queries=12) for slug in ("one", "two"))
    for each in (a, b):
        judge(each)
    whole = build_comparison(Sides(ComparisonSide(a), ComparisonSide(b)))
    monkeypatch.setattr("analytics.figures.preferences.bias.BiasFigure.quantities", broken)
    record = build_comparison(Sides(ComparisonSide(a), ComparisonSide(b)))
    assert {each["figure"] for each in whole["comparisons"]} - {
        each["figure"] for each in record["comparisons"]
    } == {"preferences/bias"}
    (told,) = [each for each in record["without_partner"] if each["name"] == "preferences/bias"]
    assert told["reason"] == "It failed and is left out: ZeroDivisionError: no division"
