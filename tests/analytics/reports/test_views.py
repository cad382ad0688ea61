"""Reports of a view: what they say they are of, and what every part of them is of."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from analytics.reports import cache
from analytics.reports.build import build_report, fingerprint
from analytics.reports.cache import MOST_VIEWS, compute_report
from analytics.reports.common import NothingToReport
from analytics.reports.files import report_html
from analytics.reports.markdown import report_markdown
from analytics.reports.paper.archive import folder
from analytics.reports.paper.citation import bibtex, citation
from analytics.reports.paper.credit import Credit
from analytics.reports.paper.latex import report_latex
from evaluation.filters import Filters
from evaluation.models import CachedReport, Exclusion
from evaluation.services.exclusions import exclude
from tests.analytics.figures.test_looks import stopping_study
from tests.analytics.reports.judging import fail, judge, judged_study
from tests.analytics.reports.validator import problems

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    study = judged_study("contrast", systems=("aspen", "birch", "cedar"), items_per_query=3)
    people = judge(study, raters=3)
    judge(study, raters=1, kind="judge")
    study.queries.filter(key__in=["q1", "q3", "q5"]).update(category="odd")
    exclude(study=study, rater=people[2], reason="Too fast.")
    return study


def view(study, **given):
    return Filters.parse(study, given)


def test_every_part_is_of_the_view(study):
    filters = view(study, category=["odd"], rater=["person-0", "person-2"])
    report = build_report(study, replicates=20, filters=filters)
    assert problems(report) == []
    # Three queries, three settings, three pairs.
    assert report["parameters"]["view"] == {"category": ["odd"], "rater": ["person-0", "person-2"]}
    counts = report["counts"]
    assert (counts["queries"], counts["items"], counts["judgments"], counts["raters"]) == (3, 27, 27, 1)
    assert counts["left_out"] == [{"reason": "excluded", "n": 27, "by_kind": [{"kind": "person", "n": 27}]}]
    assert counts["excluded_raters"] == 1
    assert [each["rater"] for each in report["raters"]] == ["person-0"]
    assert report["judges"] == []
    assert {each["key"] for each in report["groups"]} == {"person"}


def test_a_view_is_the_report_of_a_study_of_its_judgments_alone(study):
    """The slow twin: the same study, whose other judgments and items were never there."""
    filters = view(study, category=["odd"], without_rater=["person-1", "person-2", "judge-0"])
    seen = build_report(study, replicates=20, filters=filters)
    study.judgments.exclude(rater__pseudonym="person-0").delete()
    study.judgments.exclude(item__query__category="odd").delete()
    study.items.exclude(query__category="odd").update(withdrawn_at=timezone.now())
    Exclusion.objects.filter(study=study).delete()
    study.raters.exclude(pseudonym="person-0").delete()
    alone = build_report(study, replicates=20)
    for key in ("groups", "raters", "times", "records", "findings", "questions"):
        assert seen[key] == alone[key]
    assert seen["counts"] == {**alone["counts"], "left_out": [], "excluded_raters": 0}


def test_every_format_says_which_view_it_is(study):
    report = build_report(
        study, replicates=20, filters=view(study, system=["cedar"], without_rater=["person-1"])
    )
    words = "system cedar; without rater person-1"
    assert f"view of the study: {words}." in " ".join(report["methods"])
    assert f"This is a part of the study: {words}." in report["methods_paragraph"]
    for text in (report_markdown(report), report_html(report), report_latex(report)):
        assert words in text.replace("\\", "")
    digest = view(study, system=["cedar"], without_rater=["person-1"]).digest[:12]
    assert f"; view {digest}: {words}." in citation(report)
    assert f"{digest}," in bibtex(report, Credit()).splitlines()[0]
    assert folder(report) == f"contrast-report-{digest}"
    whole = build_report(study, replicates=20)
    assert "view" not in whole["parameters"]
    assert folder(whole) == "contrast-report"
    assert " view " not in citation(whole)


def test_what_other_systems_and_settings_there_are_is_not_said_of_a_view(study):
    first = study.arms.values_list("key", flat=True)[0]
    report = build_report(study, replicates=20, filters=view(study, arm=[first]))
    assert [arm["key"] for arm in report["study"]["arms"]] == [first]
    assert "settings" not in report["methods_paragraph"].split("This is a part")[0]


def test_a_judge_without_judgments_in_the_view_is_not_in_it(study):
    judges = build_report(study, replicates=20)["judges"]
    assert [each["rater"] for each in judges] == ["judge-0"]
    fail(study, study.raters.get(pseudonym="judge-0"))
    (seen,) = build_report(study, replicates=20, filters=view(study, category=["odd"]))["judges"]
    assert seen["judgments"] == 27
    assert build_report(study, replicates=20, filters=view(study, rater=["person-0"]))["judges"] == []


def test_a_view_that_leaves_nothing_says_so(study):
    with pytest.raises(
        NothingToReport, match=r"The view \(judged from 2030-01-01 on\) leaves no judgment: no judgment"
    ):
        build_report(study, filters=view(study, **{"from": ["2030-01-01"]}))
    with pytest.raises(NothingToReport, match=r"The view \(rater person-2\) leaves no judgment that counts"):
        build_report(study, filters=view(study, rater=["person-2"]))


def test_days_of_judgments_without_a_day(owner):
    study = judged_study(owner=owner)
    judge(study, raters=2)
    study.judgments.update(judged_at=timezone.now())
    with pytest.raises(NothingToReport, match="leaves no judgment, so"):
        build_report(study, filters=view(study, **{"from": ["2099-01-01"]}))
    study.judgments.update(judged_at=None)
    with pytest.raises(NothingToReport, match="no judgment of the study has a recorded day"):
        build_report(study, filters=view(study, **{"from": ["2020-01-01"]}))


def test_a_view_claims_nothing_by_the_stopping_rule():
    study = stopping_study({"figure": "win_rate"})
    judge(study, raters=3)
    name = study.raters.order_by("pk").values_list("pseudonym", flat=True)[0]
    report = build_report(study, replicates=20, filters=view(study, without_rater=[name]))
    assert "planning/looks" in {each["figure"] for each in build_report(study, replicates=20)["records"]}
    assert "planning/looks" not in {each["figure"] for each in report["records"]}
    (rates,) = [each for each in report["records"] if each["figure"] == "preferences/win_rates"]
    assert all(each["test"]["p_corrected"] is None for each in rates["overall"])
    assert all(each["rate"]["low"] is None for each in rates["overall"])
    assert "a view has no interval that holds at every look" in " ".join(report["methods"])
    # Judges together are of all judgments.
    asked = build_report(study, replicates=20, filters=view(study, judges=["together"]))
    assert "planning/looks" in {each["figure"] for each in asked["records"]}


def test_only_a_handful_of_views_is_kept_and_the_whole_stays(study, monkeypatch):
    monkeypatch.setattr(
        cache, "build_report", lambda study, **options: build_report(study, replicates=2, **options)
    )
    compute_report(study)
    categories = [f"c{number}" for number in range(MOST_VIEWS + 3)]
    for number, category in enumerate(categories):
        study.queries.filter(key=f"q{number}").update(category=category)
    filters = [view(study, category=[each]) for each in categories]
    for each in filters:
        compute_report(study, filters=each)
    kept = set(CachedReport.objects.filter(study=study).values_list("view", flat=True))
    assert kept == {"", *(each.digest for each in filters[-MOST_VIEWS:])}
    assert compute_report(study, filters=filters[-1])["parameters"]["view"] == filters[-1].canonical()


def test_views_have_fingerprints_of_their_own(study):
    prints = {fingerprint(study), fingerprint(study, filters=view(study, category=["odd"])),
              fingerprint(study, filters=view(study, split=["none"]))}  # fmt: skip
    assert len(prints) == 3


def written(**options):
    out = StringIO()
    call_command("report", "contrast", stdout=out, stderr=StringIO(), **options)
    return out.getvalue()


def test_the_command_takes_every_filter(study):
    report = json.loads(
        written(format="json", category=["odd"], system=["cedar"], without_rater=["person-1"], revision="1")
    )
    assert report["parameters"]["view"] == {
        "category": ["odd"], "system": ["cedar"], "without_rater": ["person-1"], "revision": 1,
    }  # fmt: skip
    assert json.loads(written(format="json", judges="together"))["parameters"]["view"] == {
        "judges": "together"
    }
    with pytest.raises(CommandError, match="no category 'prime' \\(its categories: even, odd\\)"):
        written(category=["prime"])
    with pytest.raises(CommandError, match="leaves no judgment"):
        written(**{"from": "2030-01-01"})
