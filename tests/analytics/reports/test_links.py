"""A report's numbers lead to the items and judgments that they are of, on its page and in its file."""

import re
from html import unescape
from urllib.parse import parse_qsl, urlsplit

import pytest
from django.core.management import call_command
from django.template.loader import render_to_string
from django.urls import reverse

from analytics.display.blocks import Block, Section
from analytics.display.histograms import Bar, histogram
from analytics.display.numbers import to_places
from analytics.display.tables import Where
from analytics.figures import where
from analytics.reports.build import build_report, latest_judgment
from analytics.reports.cache import compute_report
from analytics.reports.files import report_html
from analytics.reports.links import ReportLinks
from analytics.reports.page import report_page
from evaluation.filters import Filters
from tests.analytics.reports.judging import judge, judged_study
from tests.analytics.reports.leading import leading, listed
from tests.factories import PAPER_ARMS

BEHIND = re.compile(r'<a class="behind" href="([^"]+)"\s*>([^<]+)</a')


@pytest.fixture
def study(owner):
    study = judged_study(owner=owner, queries=6, arms=PAPER_ARMS[:2])
    judge(study, raters=2)
    judge(study, raters=1, kind="judge")
    return study


@pytest.fixture
def page(client, study, owner):
    client.force_login(owner)
    address = reverse("analytics:study-report", args=[study.slug])

    def read(query=""):
        text = client.get(f"{address}?whole=1{query}").content.decode()
        return [(unescape(href), label) for href, label in BEHIND.findall(text)]

    return read


def pairs_of(href):
    return parse_qsl(urlsplit(href).query)


def test_a_number_on_the_page_leads_to_what_it_counts(client, study, page):
    numbers = [(href, label) for href, label in page() if label.isdigit()]
    assert len(numbers) > 10
    people = next(href for href, label in numbers if ("by", "person") in pairs_of(href) and label == "6")
    shown = client.get(people).content.decode()
    assert "6 items" in " ".join(re.sub(r"<[^>]+>", " ", shown).split())


def test_a_rater_and_a_setting_lead_to_their_judgments(study, page):
    leads = {label: dict(pairs_of(href)) for href, label in page()}
    assert leads["People"]["by"] == "person"
    arm = study.arms.first()
    assert leads[arm.label]["arm"] == arm.key
    rater = study.raters.get(kind="judge")
    assert leads[str(rater)]["rater"] == rater.pseudonym


def test_it_is_of_the_view_and_of_the_judgments_that_there_were(study, page):
    person = study.raters.filter(kind="person").first().pseudonym
    until = latest_judgment(study)
    for href, _ in page(f"&without_rater={person}"):
        assert ("without_rater", person) in pairs_of(href)
        assert ("until", str(until)) in pairs_of(href)


def test_an_older_report_leads_to_the_judgments_that_it_is_of(study, page, busy_worker):
    compute_report(study)
    before = latest_judgment(study)
    judge(study, raters=1, kind="simulated")
    assert latest_judgment(study) > before
    assert {dict(pairs_of(href))["until"] for href, _ in page()} == {str(before)}


def test_what_a_view_leaves_out_leads_nowhere(study):
    one, other = study.raters.filter(kind="person").values_list("pseudonym", flat=True)
    links = ReportLinks("/items/", Filters(raters=(one,), judges="together").canonical(), 7)
    assert links.pairs(Where((("rater", other),))) is None
    assert links.href(Where((("rater", other),))) == ""
    assert links.pairs(Where((("rater", one),))) == (("rater", one), ("until", "7"))
    assert links.pairs(Where((("by", "judge"),))) == (("rater", one), ("by", "judge"), ("until", "7"))


def test_the_file_leads_to_the_installation_that_made_it(study, settings, capsys):
    settings.ASSAY_PUBLIC_URL = "https://assay.example.org"
    call_command("report", study.slug, format="html")
    found = BEHIND.findall(capsys.readouterr().out)
    assert found
    assert all(
        href.startswith(f"https://assay.example.org/studies/{study.slug}/items/?") for href, _ in found
    )


def test_the_file_of_a_machine_that_nobody_reaches_leads_nowhere(study, settings, capsys):
    settings.ASSAY_PUBLIC_URL = "http://127.0.0.1:8000"
    call_command("report", study.slug, format="html")
    assert 'class="behind"' not in capsys.readouterr().out
    assert 'class="behind"' not in report_html(build_report(study, replicates=20))


def test_a_mark_of_a_plot_leads_where_its_row_does(study):
    marks = [
        each
        for _, _, each in leading(report_page(build_report(study, replicates=20)))
        if hasattr(each, "who")
    ]
    assert {dict(each.where.pairs).get("arm") for each in marks} >= {arm.key for arm in study.arms.all()}


@pytest.mark.parametrize(
    ("pairs", "items"),
    [
        ((("by", "person"), ("least", "2")), 12),
        ((("by", "judge"), ("least", "2")), 0),
        ((("least", "3"),), 12),
        ((("least", "4"),), 0),
        ((("answered", "preference"),), 12),
    ],
)
def test_the_list_counts_raters_and_answers(study, pairs, items):
    assert listed(study, pairs, "items") == items
    assert (listed(study, pairs, "judgments") == 0) == (items == 0)


def test_a_bar_of_a_histogram_leads_to_what_it_counts():
    bars = [Bar(0, 1, 3, Where((where.within("taste", None, 1),), "items", 3)), Bar(1, 2, 5)]
    plot = histogram(
        bars, what="Taste", axis="Taste", counted=("item", "items"), caption="Taste.", form=to_places(0)
    )
    section = Section("taste", "Taste", "Taste", (Block(plot=plot),))
    [block] = ReportLinks("/items/", {}, 7).section(section).blocks
    shown = render_to_string("analytics/_report_plot.html", {"block": block})
    # Once for each width.
    assert shown.count('<a href="/items/?range=taste%3A..%3C1&amp;until=7" tabindex="-1"') == 2
    assert shown.count("<rect") == 4
    assert "<a href" not in render_to_string("analytics/_report_plot.html", {"block": Block(plot=plot)})
