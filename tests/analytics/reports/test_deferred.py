"""Figures that wait in the report of a large study: the same once they are asked for, and in nobody's way."""

import json
from collections import Counter

import pytest

from analytics.figures.entries.calibrators import FIGURE as CALIBRATORS
from analytics.figures.families import LEAST_QUERIES
from analytics.figures.registry import FIGURES
from analytics.frames import entries
from analytics.reports import cache
from analytics.reports.build import build_report
from analytics.reports.deferred.records import completed, deferred_records, waiting_in
from analytics.reports.deferred.section_jobs import begin_section, compute_section_of
from analytics.reports.files import report_json
from analytics.reports.markdown import report_markdown
from evaluation.filters import Filters
from evaluation.models import CachedReport
from evaluation.services.exclusions import exclude
from tests.analytics.figures.test_order_effects import in_turn
from tests.analytics.reports.answering import items_of
from tests.analytics.reports.judging import judge, judged_study
from tests.analytics.reports.test_one_interval import irregular
from tests.analytics.reports.test_one_interval_answers import drawn
from tests.analytics.reports.validator import problems

pytestmark = pytest.mark.django_db
WAIT = {figure.key for figure in FIGURES.values() if figure.deferred_as}


@pytest.fixture
def large(settings):
    """Every study is taken to be large."""
    settings.ASSAY_REPORT_DEFER_JUDGMENTS = 0


def stored(report):
    return json.loads(report_json(report))


@pytest.fixture
def comparisons(monkeypatch):
    """Comparisons of sets with each other and with their drafts, counted by name."""
    made = Counter()

    def counted(name, compare):
        def call(*given):
            made[name] += 1
            return compare(*given)

        return call

    for name in ("matched_f1", "distance_from_draft"):
        monkeypatch.setattr(entries, name, counted(name, getattr(entries, name)))
    return made


def paired(queries=12):
    study = judged_study(queries=queries, baseline="birch")
    judge(study, raters=4, choose=irregular)
    judge(study, raters=1, kind="judge", choose=lambda rater, at: irregular(7, at))
    return study


@pytest.mark.parametrize(
    "protocol", ["pairwise", "aspects", "ranking", "question_quality", "condition_calibration"]
)
def test_what_waited_makes_the_report_that_never_waited(protocol):
    study = paired() if protocol == "pairwise" else drawn(protocol)
    whole, partial = build_report(study), build_report(study, defer=True)
    assert set(partial["deferred"]) <= WAIT
    assert not WAIT & {record["figure"] for record in partial["records"]}
    assert partial["findings"] == whole["findings"]
    assert problems(stored(partial)) == []
    found = partial
    for key in partial["deferred"]:
        found = completed(study, found, deferred_records(study, found, [key]))
    assert found == whole
    assert {len(places) for places in places_of_families(whole).values()} <= {1}


def places_of_families(report):
    """By family, the headings whose sections have its tests computed; "" of the report as it is at first."""
    found = {}
    for record in report["records"]:
        figure = FIGURES[record["figure"]]
        for each in figure.tests(figure.read(record)):
            found.setdefault(each.family, set()).add(figure.heading if figure.deferred_as else "")
    return found


def test_that_queries_are_too_few_is_not_said_by_what_waits():
    """Before a section is opened and after it the same is said; here the order of the work alone is tested."""
    study = drawn("condition_calibration", queries=6)
    for rater in study.raters.filter(kind="person"):
        in_turn(rater, items_of(study))
    whole, partial = build_report(study), build_report(study, defer=True)
    figures = [(FIGURES[record["figure"]], record) for record in whole["records"]]
    tests = [each.test for figure, record in figures for each in figure.tests(figure.read(record))]
    assert tests
    assert all(test.n < LEAST_QUERIES for test in tests)
    assert whole["findings"] == partial["findings"] == []


def test_a_waiting_figure_says_so_where_it_will_stand():
    report = build_report(paired(), defer=True)
    text = report_markdown(report)
    assert text.count("### Figures not computed yet") == len(
        {FIGURES[key].heading for key in report["deferred"]}
    )
    assert "win rates at equal lengths" in text


def test_nobody_waits_for_what_is_known_not_to_be_there():
    """Two systems have no strengths, people alone no judges, one question no associations."""
    study = judged_study()
    judge(study, raters=2, choose=irregular)
    assert {FIGURES[key].heading for key in build_report(study, defer=True)["deferred"]} == {
        "leaderboard",
        "agreement",
        "raters",
    }
    judge(study, raters=1, kind="judge", choose=irregular)
    waiting = build_report(study, defer=True)["deferred"]
    assert "replacement/differences" in waiting
    # All responses are models'.
    assert "replacement/source_bias" not in waiting


def test_sets_are_compared_once_their_section_is_opened(comparisons):
    study = drawn("condition_calibration", queries=5)
    partial = build_report(study, defer=True)
    text = report_markdown(partial)
    assert CALIBRATORS.deferred_as in text
    assert "Settled sets" in text
    assert not comparisons
    found = completed(study, partial, deferred_records(study, partial, [CALIBRATORS.key]))
    assert "Agreement of sets, and distance from the draft" in report_markdown(found)
    # Three people and a judge, each beside all others, on five drafts: once for all groups and for each calibrator.
    assert comparisons == {"matched_f1": 5 * 6, "distance_from_draft": 5 * 4}


def test_of_a_view_only_its_sets_are_compared(large, comparisons):
    study = drawn("condition_calibration", queries=5)
    filters = Filters(without_raters=("person 0",))
    partial = cache.compute_report(study, filters=filters)
    assert CALIBRATORS.key in waiting_in(partial, "entries")
    whole = cache.whole_report(study, filters=filters)
    assert comparisons == {"matched_f1": 5 * 3, "distance_from_draft": 5 * 3}
    assert stored(whole) == stored(build_report(study, filters=filters))


def test_small_studies_wait_for_nothing():
    report = cache.compute_report(paired())
    assert "deferred" not in report


def test_a_section_is_computed_once_and_kept(large, monkeypatch):
    study = paired()
    partial = cache.compute_report(study)
    heading = FIGURES[partial["deferred"][0]].heading
    seen = []
    found = cache.report_with_section(study, heading, watch=lambda *step: seen.append(step))
    assert waiting_in(found, heading) == []
    assert waiting_in(found) == [key for key in waiting_in(partial) if FIGURES[key].heading != heading]
    assert seen[0][0] == "reading judgments"
    assert all(0 <= done < total for _, done, total in seen)
    monkeypatch.setattr(cache, "deferred_records", None)
    assert cache.report_with_section(study, heading) == found
    assert cache.compute_report(study) == found
    assert CachedReport.objects.count() == 1


def test_figures_of_a_large_view_wait_and_are_of_its_judgments(large):
    study = paired()
    cache.compute_report(study)
    name = study.raters.filter(kind="person").order_by("pk")[0].pseudonym
    filters = Filters(without_raters=(name,))
    partial = cache.compute_report(study, filters=filters)
    heading = FIGURES[waiting_in(partial)[0]].heading
    found = cache.report_with_section(study, heading, filters=filters)
    assert waiting_in(found, heading) == []
    assert cache.compute_report(study, filters=filters) == found
    assert stored(cache.whole_report(study, filters=filters)) == stored(build_report(study, filters=filters))
    # The whole study's report still waits: its figures are others.
    assert waiting_in(cache.compute_report(study), heading)


def test_the_job_of_a_view_computes_the_view(large, owner):
    study = paired()
    filters = Filters(without_raters=(study.raters.filter(kind="person").order_by("pk")[0].pseudonym,))
    heading = FIGURES[waiting_in(cache.compute_report(study, filters=filters))[0]].heading
    compute_section_of(begin_section(study, heading, by=owner, filters=filters))
    assert waiting_in(cache.compute_report(study, filters=filters), heading) == []
    assert waiting_in(cache.compute_report(study), heading)


def test_two_sections_at_once_are_both_kept(large, monkeypatch):
    study = paired()
    partial = cache.compute_report(study)
    first, second = list(dict.fromkeys(FIGURES[key].heading for key in waiting_in(partial)))[:2]
    compute, begun = cache.deferred_records, []

    def in_between(*given):
        found = compute(*given)
        if not begun:
            begun.append(True)
            cache.report_with_section(study, second)
        return found

    monkeypatch.setattr(cache, "deferred_records", in_between)
    found = cache.report_with_section(study, first)
    assert waiting_in(found, first) == waiting_in(found, second) == []
    assert cache.compute_report(study) == found


def test_figures_of_other_judgments_are_not_put_into_a_kept_report(large, monkeypatch):
    study = paired()
    kept = cache.compute_report(study)
    compute = cache.deferred_records

    def changed(*given):
        exclude(study=study, rater=study.raters.first(), reason="Too fast.")
        return compute(*given)

    monkeypatch.setattr(cache, "deferred_records", changed)
    cache.whole_report(study)
    assert CachedReport.objects.get().payload == kept


def test_the_whole_report_waits_for_nothing(large):
    study = paired()
    cache.compute_report(study)
    assert stored(cache.whole_report(study)) == stored(build_report(study))
