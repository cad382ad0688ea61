"""Views: which judgments each filter leaves, in every figure, and what is refused."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.frames.study import study_frame
from evaluation import filters as filter_module
from evaluation.filters import EVERYTHING, NAMES, Filters, choices_of, view_in_words
from evaluation.models import Judgment, Study
from evaluation.refusals import FieldsRefused
from tests.analytics.reports.judging import judge, judged_study

KEYS = st.lists(
    st.text("abc-. \N{LATIN SMALL LETTER E WITH ACUTE}", min_size=1, max_size=5), max_size=3, unique=True
).map(lambda found: tuple(sorted(found)))


@pytest.fixture(scope="module")
def made(around_module):
    """Twelve queries in two categories and splits, three systems, three people and a judge."""
    study = judged_study("contrast", systems=("aspen", "birch", "cedar"), items_per_query=3)
    judge(study, raters=3)
    judge(study, raters=1, kind="judge")
    study.raters.filter(pseudonym__in=["person-0", "person-1"]).update(group="crowd")
    study.raters.filter(pseudonym="person-2").update(group="experts")
    odd = study.queries.filter(key__in=["q1", "q3", "q5", "q7", "q9", "q11"])
    odd.update(category="odd", split="dev", source="clinic")
    return study.pk


@pytest.fixture
def study(db, made):
    return Study.objects.get(pk=made)


def left(study, **given):
    """The judgments that the frame is made of, by the naive reading of each of them."""
    filters = Filters.parse(study, {name.rstrip("_"): value for name, value in given.items()})
    frame = study_frame(study, filters)
    return sum(group.judgments for group in frame.judges_apart), frame


def naive(study, keep):
    rows = Judgment.objects.filter(study=study).select_related("item__query", "item__arm", "rater")
    return sum(bool(keep(row)) for row in rows)


def systems(row):
    return {each.system.key for each in row.item.responses.select_related("system")}


@pytest.mark.parametrize(
    ("given", "keep"),
    [
        ({"category": ["odd"]}, lambda row: row.item.query.category == "odd"),
        ({"category": ["odd", "even"]}, lambda row: True),
        ({"query": ["q1", "q4"]}, lambda row: row.item.query.key in ("q1", "q4")),
        ({"source": ["clinic"]}, lambda row: row.item.query.source == "clinic"),
        (
            {"query": ["q1", "q2"], "source": ["clinic"]},
            lambda row: row.item.query.key == "q1",
        ),
        ({"split": ["dev"]}, lambda row: row.item.query.split == "dev"),
        ({"split": ["none"]}, lambda row: row.item.query.split == ""),
        ({"system": ["cedar"]}, lambda row: "cedar" in systems(row)),
        ({"system": ["aspen", "birch"]}, lambda row: systems(row) & {"aspen", "birch"}),
        ({"rater": ["person-0", "judge-0"]}, lambda row: row.rater.pseudonym in ("person-0", "judge-0")),
        ({"group": ["crowd"]}, lambda row: row.rater.kind == "judge" or row.rater.group == "crowd"),
        (
            {"group": ["crowd", "experts"], "rater": ["person-0", "person-2"]},
            lambda row: row.rater.pseudonym in ("person-0", "person-2"),
        ),
        ({"without_rater": ["person-0"]}, lambda row: row.rater.pseudonym != "person-0"),
        (
            {"category": ["odd"], "system": ["cedar"], "without_rater": ["person-1"]},
            lambda row: (
                row.item.query.category == "odd"
                and "cedar" in systems(row)
                and row.rater.pseudonym != "person-1"
            ),
        ),
        ({"revision": ["1"]}, lambda row: True),
    ],
)
def test_every_filter_leaves_what_a_look_at_each_judgment_leaves(study, given, keep):
    found, _ = left(study, **given)
    assert found == naive(study, keep)


def test_settings_and_the_items_that_are_counted(study):
    first, *_ = study.arms.values_list("key", flat=True)
    found, frame = left(study, arm=[first])
    assert found == naive(study, lambda row: row.item.arm.key == first)
    assert frame.items == study.items.filter(arm__key=first).count()
    assert {frame.study_items.arms[code] for code in frame.study_items.arm} == {first}


def test_days_are_whole_and_of_utc(study):
    judgments = list(study.judgments.order_by("pk"))
    moments = (
        datetime(2026, 3, 1, 0, 0, tzinfo=UTC),
        datetime(2026, 3, 2, 23, 59, 59, 999999, tzinfo=UTC),
        datetime(2026, 3, 3, 0, 0, tzinfo=UTC),
    )
    study.judgments.update(judged_at=None)
    for judgment, at in zip(judgments, moments, strict=False):
        Judgment.objects.filter(pk=judgment.pk).update(judged_at=at)
    assert left(study, from_=["2026-03-01"], to=["2026-03-02"])[0] == 2
    assert left(study, from_=["2026-03-03"])[0] == 1
    assert left(study, to=["2026-02-28"])[0] == 0


def test_no_rater_of_another_group_is_left(study):
    _, frame = left(study, rater=["judge-0"])
    assert [group.key for group in frame.groups] == ["judge-0"]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"category": ["prime"]}, "The study has no category 'prime' (its categories: even, odd)."),
        ({"query": ["q99"]}, "The study has no query 'q99' (its queries: q0, q1, "),
        ({"source": ["x"]}, "The study has no source 'x' (its sources: clinic)."),
        ({"system": ["fir"]}, "The study has no system 'fir' (its systems: aspen, birch, cedar)."),
        ({"rater": ["x"]}, "(its raters: judge-0, person-0, person-1, person-2)"),
        ({"without_rater": ["x"]}, "The study has no rater 'x'"),
        ({"group": ["x"]}, "The study has no group 'x' (its groups: crowd, experts)."),
        ({"arm": ["x"]}, "The study has no setting 'x' (its settings: "),
        ({"split": ["test"]}, "The study has no split 'test' (its splits: dev, none)."),
        ({"revision": ["2"]}, "The study has no revision '2' (its revisions: 1)."),
        ({"revision": ["1", "2"]}, "A view has one value of revision, not 2: 1, 2."),
        ({"from": ["soon"]}, "'soon' is no day: write it as 2026-01-31."),
        ({"to": ["9999-12-31"]}, "No judgment is of the year 9999."),
        (
            {"from": ["2026-02-02"], "to": ["2026-02-01"]},
            "ends on 2026-02-01, before it begins on 2026-02-02",
        ),
        ({"judges": ["apart"]}, "Judges are 'together' or, left out, each by itself; not 'apart'."),
        ({"rater": ["person-0"], "without_rater": ["person-0"]}, "asks for and leaves out the same rater"),
    ],
)
def test_what_there_is_not_is_refused_with_what_there_is(study, given, sentence):
    with pytest.raises(FieldsRefused) as refused:
        Filters.parse(study, given)
    assert sentence in str(refused.value)


def test_many_queries_are_not_offered_and_can_be_named_all_the_same(study, monkeypatch):
    offered = choices_of(study)
    assert list(offered["query"]) == [f"q{number}" for number in range(12)]
    monkeypatch.setattr(filter_module, "MOST_OFFERED", 11)
    del offered["query"]
    assert choices_of(study) == offered
    assert Filters.parse(study, {"query": ["q11"]}).queries == ("q11",)


def test_nothing_given_is_everything(study):
    assert Filters.parse(study, {"category": [""], "revision": [""], "from": []}) == EVERYTHING
    assert not EVERYTHING
    assert EVERYTHING.canonical() == {}
    assert EVERYTHING.digest == ""


@given(KEYS, KEYS, KEYS, st.none() | st.integers(1, 9), st.none() | st.dates())
def test_the_canonical_form_is_the_view(categories, raters, systems, revision, day):
    filters = Filters(
        categories=categories, without_raters=raters, systems=systems, splits=("",), revision=revision,
        first_day=day,
    )  # fmt: skip
    assert Filters.of(filters.canonical()) == filters
    assert set(filters.canonical()) <= set(NAMES)
    assert view_in_words(filters.canonical())


def test_the_order_of_asking_makes_no_other_view(study):
    one, other = (
        Filters.parse(study, {"rater": names})
        for names in (["person-1", "person-0"], ["person-0", "person-1"])
    )
    assert one.digest == other.digest != EVERYTHING.digest
    assert view_in_words(one.canonical()) == "raters person-0, person-1"
