"""One figure more: registered in one place, it is computed, corrected, shown on every page and in every file."""

import json
import logging
from dataclasses import dataclass

import pytest
from django.urls import reverse
from jsonschema import Draft202012Validator

from analytics.display.blocks import Block
from analytics.display.tables import Builder, columns, head
from analytics.figures.families import FamilyTest
from analytics.figures.figure import Figure
from analytics.figures.quantities import Quantity
from analytics.figures.registry import FIGURES
from analytics.reports.build import build_report
from analytics.reports.comparison.build import build_comparison
from analytics.reports.comparison.files import comparison_markdown
from analytics.reports.comparison.sides import ComparisonSide, Sides
from analytics.reports.files import report_html, report_json
from analytics.reports.markdown import report_markdown
from analytics.reports.page import report_page
from analytics.reports.schema import report_schema
from analytics.statistics.core import randomization
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.matched import mean_sums
from analytics.statistics.core.resampling import mean_estimate
from evaluation.registry import EntryRefused
from tests.analytics.reports.answering import judged_by_everyone
from tests.analytics.reports.judging import judge, judged_study

pytestmark = pytest.mark.django_db


@dataclass(frozen=True)
class ShareOfTies:
    """How often nobody is preferred, and a test of it."""

    share: Estimate
    test: randomization.Tested


class Ties(Figure[ShareOfTies]):
    """How often nobody is preferred."""

    key = "preferences/ties"
    heading = "win-rates"
    definition = "The share of judgments that are ties."

    def applies(self, question, form):
        return form == "pairs"

    def compute(self, given):
        judgments = given.group.judgments
        share = mean_estimate(
            (judgments.label == 2) * 1.0,
            given.items.query[judgments.item],
            unit="judgments",
            resample=given.resample("ties"),
            empty="Nobody has judged.",
            share=True,
        )
        return ShareOfTies(share, randomization.Tested(0.001, 36, "made up", 0.0))

    def quantities(self, given):
        judgments = given.group.judgments
        yield Quantity(
            "Nobody preferred",
            mean_sums(
                (judgments.label == 2) * 1.0,
                given.items.query[judgments.item],
                unit="judgments",
                within=(0.0, 1.0),
            ),
        )

    def tests(self, record):
        yield FamilyTest("ties", record.test)

    def findings(self, view, group, question):
        yield {"kind": "ties", "about": "Ties", "heading": "Ties are counted", "text": "So they are."}

    def blocks(self, view):
        for pair in view.pairs:
            build = Builder("Share of ties, in percent.", columns(["Raters", "Ties", "n"]))
            for group in pair.groups:
                share = self.of(group).share
                build.add(head(group.label), build.share(share), build.n(share))
            yield Block("Ties among judgments", tables=(build.build(),))

    def methods(self, view):
        yield "A tie is counted where a judgment prefers neither."


@dataclass(frozen=True)
class HouseStyle:
    """The title of the study."""

    title: str

    @classmethod
    def of(cls, source):
        made.append(cls)
        return cls(source.study.title)


made = []


@dataclass(frozen=True)
class TitledShare(ShareOfTies):
    title: str


class TitledTies(Ties, Figure[TitledShare]):
    """The same with the study's title, which it reads beside the answers."""

    key = Ties.key
    needs = (HouseStyle,)

    def compute(self, given):
        return TitledShare(**vars(super().compute(given)), title=self.need(given, HouseStyle).title)


class Undeclared(TitledTies):
    key = Ties.key
    needs = ()


@pytest.fixture
def ties():
    with FIGURES.registered(Ties()) as figure:
        yield figure


@pytest.fixture
def study(owner):
    study = judged_study(owner=owner)
    judge(study, raters=3, choose=lambda rater, position: "tie" if position % 4 == 0 else "r1")
    return study


def test_it_is_in_the_report_under_its_key(ties, study):
    report = build_report(study, replicates=20)
    (record,) = (each for each in report["records"] if each["figure"] == "preferences/ties")
    assert (record["question"], record["group"]) == ("preference", "person")
    assert record["share"]["value"] == pytest.approx(0.25)
    assert record["test"]["p_corrected"] == 0.001
    assert "A tie is counted where a judgment prefers neither." in report["methods"]
    assert "Ties are counted" in {finding["heading"] for finding in report["findings"]}
    report_schema.cache_clear()
    try:
        assert Draft202012Validator(report_schema()).is_valid(json.loads(report_json(report)))
    finally:
        report_schema.cache_clear()


def test_it_stands_under_its_heading_on_the_page_and_in_every_file(ties, study, client, owner):
    client.force_login(owner)
    page = client.get(reverse("analytics:study-report", args=[study.slug])).content.decode()
    report = build_report(study, replicates=20)
    for text in (page, report_html(report), report_markdown(report)):
        assert "Ties among judgments" in text
    (section,) = (each for each in report_page(report).sections if each.key == "win-rates")
    assert section.blocks[-1].heading == "Ties among judgments"


def test_two_studies_are_compared_by_it(ties, study):
    other = judged_study("other")
    judge(other, raters=3, choose=lambda rater, position: "tie")
    record = build_comparison(Sides(ComparisonSide(study), ComparisonSide(other)))
    (found,) = (each for each in record["comparisons"] if each["figure"] == "preferences/ties")
    assert found["difference"]["value"] == pytest.approx(0.75)
    assert "| Nobody preferred, % | all | 25.0 " in comparison_markdown(record)


def test_it_is_only_where_it_applies(ties):
    study = judged_by_everyone("ranking")
    assert "preferences/ties" not in {
        each["figure"] for each in build_report(study, replicates=20)["records"]
    }


def test_what_it_needs_of_the_study_is_made_once_for_those_who_say_so(study):
    made.clear()
    with FIGURES.registered(TitledTies()):
        report = build_report(study, replicates=20)
        (record,) = (each for each in report["records"] if each["figure"] == "preferences/ties")
        assert record["title"] == study.title
        assert made == [HouseStyle]
        build_report(study, replicates=20, only=["texts/openings"])
        assert made == [HouseStyle]


def test_what_it_reads_without_saying_so_fails_by_name(study, caplog):
    with caplog.at_level(logging.CRITICAL, "assay.figures"), FIGURES.registered(Undeclared()):
        report = build_report(study, replicates=20)
    error = "UndeclaredNeedError: preferences/ties reads HouseStyle, which is not among its needs."
    assert report["failed"] == [{"figure": "preferences/ties", "error": error}]


@pytest.mark.parametrize(
    ("lacking", "sentence"),
    [
        ({"heading": "nowhere"}, "a heading that there is"),
        ({"definition": ""}, "its line in docs/report.md"),
        ({"blocks": Figure.blocks}, "its tables and plots"),
        ({"deferred_as": "the ties of all judgments in every setting"}, "of at most 40 letters"),
        (
            {"deferred_as": "ties", "facts": lambda self, view, group, question: ()},
            "no facts, or no deferred_as",
        ),
    ],
)
def test_a_forgotten_part_is_named(lacking, sentence):
    figure = type("Incomplete", (Ties,), lacking)()
    with pytest.raises(EntryRefused, match=sentence):
        FIGURES.register(figure)


def test_two_figures_can_not_have_one_key(ties):
    with pytest.raises(EntryRefused, match="two of the figure 'preferences/ties'"):
        FIGURES.register(Ties())
