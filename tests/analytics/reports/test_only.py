"""Reports of some figures alone: the same records as in the whole report, and nothing that these are not enough for."""

from dataclasses import replace
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from analytics.figures.families import CLAIMS, JUDGED, NOT_ALL, read_tests
from analytics.figures.figure import StudyFigure
from analytics.figures.registry import FIGURES, with_beside
from analytics.figures.report_view import ReportView
from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from analytics.statistics.core.estimates import plain
from evaluation.refusals import Refused
from tests.analytics.reports.judging import judge, judged_study
from tests.analytics.reports.test_deferred import stored
from tests.analytics.reports.test_one_interval import irregular
from tests.analytics.reports.test_one_interval_answers import drawn
from tests.analytics.reports.validator import problems

pytestmark = pytest.mark.django_db
TWO_ARMS = ({"key": "without", "label": "Without context"}, {"key": "with", "label": "With context"})


def paired(queries=12):
    study = judged_study(queries=queries, arms=TWO_ARMS, baseline="birch")
    judge(study, raters=3, choose=irregular)
    judge(study, raters=2, kind="judge", choose=lambda rater, at: irregular(5 + rater, at))
    return study


def shown(figure, report):
    view = ReportView(report)
    # What is open and what is folded is a matter of what else is on the page.
    here = isinstance(figure, StudyFigure) or figure.key in view.figures
    blocks = [replace(block, folded=False) for block in figure.blocks(view)] if here else []
    return repr([blocks, list(figure.methods(view)) if here else []])


@pytest.mark.parametrize("protocol", ["pairwise", "aspects", "custom", "ranking", "condition_calibration"])
def test_a_figure_needs_only_those_beside_it(protocol):
    """Its tests are corrected with no others but the head's; its tables, plots and sentences read no others."""
    study = paired() if protocol == "pairwise" else drawn(protocol)
    whole = build_report(study, replicates=20)
    families = {}
    for record in whole["records"]:
        figure = FIGURES[record["figure"]]
        for each in figure.tests(figure.read(record)):
            if each.family not in (CLAIMS, JUDGED):
                families.setdefault(each.family, set()).add(figure.key)
    for figure in FIGURES.values():
        keys = with_beside([figure.key])
        part = {**whole, "records": [each for each in whole["records"] if each["figure"] in keys]}
        assert shown(figure, part) == shown(figure, whole), figure.key
        assert all(family <= keys for family in families.values() if figure.key in family), figure.key


@pytest.mark.parametrize(
    ("protocol", "only"),
    [
        ("pairwise", ["preferences/win_rates", "agreement/kappa"]),
        ("pairwise", ["leaderboards/length_controlled"]),
        ("custom", ["ratings/yes_shares"]),
        ("custom", ["preferences/picked_places"]),
        ("aspects", ["aspects/scores"]),
    ],
)
def test_records_are_those_of_the_whole_report(protocol, only):
    study = paired() if protocol == "pairwise" else drawn(protocol)
    whole, part = build_report(study, replicates=20), build_report(study, replicates=20, only=only)
    keys = with_beside(only)
    claimed = 0
    for record in whole["records"]:
        figure = FIGURES[record["figure"]]
        found = figure.read(record)
        written = {id(test): of_test for test, of_test in read_tests(found, record)}
        for each in figure.tests(found):
            if each.family in (CLAIMS, JUDGED):
                written[id(each.test)].update(p_corrected=None, tests=0, undefined=NOT_ALL)
                claimed += record["figure"] in keys
        if record["figure"] in keys:
            # Which system is above all is read off the corrected tests.
            record.update(plain(figure.settle(figure.read(record))))
    assert part["records"] == [each for each in whole["records"] if each["figure"] in keys]
    assert not (claimed and part["findings"])
    assert {each["figure"] for each in part["records"]} <= set(part["parameters"]["only"]) == keys
    apart = ("parameters", "records", "findings", "methods")
    assert {key: each for key, each in part.items() if key not in apart} == {
        key: each for key, each in whole.items() if key not in apart
    }
    assert set(part["methods"]) <= set(whole["methods"])
    assert problems(stored(part)) == []


def test_only_some_tests_don_t_say_that_queries_are_too_few():
    study = paired(queries=6)
    assert [each["kind"] for each in build_report(study, replicates=20)["findings"]] == ["too_few"]
    assert build_report(study, replicates=20, only=["preferences/win_rates"])["findings"] == []


def test_what_waits_of_these_figures_is_computed_on_request():
    report = build_report(
        paired(), replicates=20, only=["preferences/bias", "leaderboards/length_controlled"], defer=True
    )
    assert report["deferred"] == ["leaderboards/length_controlled"]
    assert "Figures not computed yet" in report_markdown(report)


def test_an_unknown_figure_is_named_with_those_near_it(study):
    with pytest.raises(Refused, match=r"no figure 'kapa'; near it: agreement/kappa"):
        build_report(study, only=["agreement/alpha", "kapa"])
    with pytest.raises(Refused, match=r"no figure 'agreement/win_rates'; near it: .*preferences/win_rates"):
        build_report(study, only=["agreement/win_rates"])
    with pytest.raises(Refused, match=r"no figure 'zzz'; docs/report\.md has them all"):
        build_report(study, only=["zzz"])


def test_the_command_writes_these_figures():
    study = paired()
    out = StringIO()
    call_command("report", study.slug, "--only", "agreement/kappa", "--only", "raters/judgments", stdout=out)
    text = out.getvalue()
    assert "> This report holds only: agreement/kappa, raters/judgments." in text
    assert "### Pairs of raters" in text
    assert "## Raters" in text
    assert "## Win rates" not in text
    with pytest.raises(CommandError, match=r"near it: agreement/kappa"):
        call_command("report", study.slug, "--only", "kappa", stdout=out)
