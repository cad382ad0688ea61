"""The report of every protocol as page and files: the schema it keeps, what it shows, and what it costs."""

import re
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evaluation.protocols import PROTOCOLS
from tests.analytics.reports.answering import judged_by_everyone
from tests.analytics.reports.reading import build_report

pytestmark = pytest.mark.django_db
OTHERS = sorted(key for key, protocol in PROTOCOLS.items() if protocol.key != "pairwise")
# What each page must name, beside what all of them have.
NAMED = {
    "answer_pairs": ("Win rates", "Which is more useful?", "Percentage agreement", "Position"),
    "aspects": ("Best picks", "Acceptability", "Fully acceptable", "Yes/no answers"),
    "condition_calibration": ("Decisions on drafted entries", "Rejected", "Settled sets", "Tags"),
    "context_validation": ("Yes/no answers", "Is the set complete?"),
    "custom": ("Ratings", "Coherence", "Yes/no answers", "Is it sound?"),
    "justification_coding": ("Tags", "Conciseness", "Tags by system"),
    "question_quality": ("Ratings", "interval"),
    "ranking": ("Kendall&#x27;s W", "Mean rank", "Friedman", "Place on the screen", "First places"),
    "relevance": ("Ratings by attribute value", "How much do they know?", "Largest difference"),
}


def page_of(client, study, query=""):
    return client.get(reverse("analytics:study-report", args=[study.slug]) + query).content.decode()


def test_every_protocol_is_looked_at():
    assert set(NAMED) == set(OTHERS) == set(PROTOCOLS) - {"pairwise"}


@pytest.mark.parametrize("protocol", OTHERS)
def test_page_and_files_show_it(client, owner, protocol):
    study = judged_by_everyone(protocol, owner=owner)
    client.force_login(owner)
    page = page_of(client, study)
    for text in (*NAMED[protocol], "Judges vs people", "Simulated raters", "never pooled", 'role="img"'):
        assert text in page
    assert "style=" not in page
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    targets = set(re.findall(r'href="#([^"]+)"', page))
    assert targets <= {*ids, "main"}
    out = StringIO()
    call_command("report", study.slug, "--format", "html", stdout=out)
    assert "Judges vs people" in out.getvalue()
    markdown = client.get(reverse("analytics:study-report-markdown", args=[study.slug])).content.decode()
    assert markdown.startswith("# Answered\n")
    assert "nan" not in re.findall(r"\w+", markdown)


def test_ties_are_a_choice_where_pairs_are_compared(client, owner):
    client.force_login(owner)
    pairs = judged_by_everyone("answer_pairs", owner=owner, slug="pairs")
    assert "Count them as wins" in page_of(client, pairs)
    assert "Count them as half a win" in page_of(client, pairs, "?ties=win")
    aspects = judged_by_everyone("aspects", owner=owner, slug="aspects")
    for query in ("", "?ties=win"):
        page = page_of(client, aspects, query)
        assert "Count them as" not in page
        assert "Ratings" in page
    assert aspects.cached_reports.count() == 1


@pytest.mark.parametrize("protocol", ["aspects", "answer_pairs", "relevance", "condition_calibration"])
def test_a_report_costs_as_many_queries_for_many_items_as_for_few(protocol):
    costs = []
    for slug, queries in (("few", 4), ("many", 24)):
        study = judged_by_everyone(protocol, slug=slug, queries=queries)
        if not costs:
            # A process's first report asks what is then known, such as ids of content types.
            build_report(study, replicates=10)
        with CaptureQueriesContext(connection) as asked:
            build_report(study, replicates=10)
        costs.append(len(asked))
    assert costs[0] == costs[1] <= 60


def test_a_kept_report_costs_few_queries(client, owner, django_assert_max_num_queries):
    study = judged_by_everyone("ranking", owner=owner)
    client.force_login(owner)
    page_of(client, study)
    # Five ask what a view can be of, two which views are saved and who may save one, one for coded texts, two for
    # what pipelines counted.
    with django_assert_max_num_queries(29):
        page_of(client, study)
