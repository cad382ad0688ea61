"""One number has one interval in reports of answers too, in whatever order the items came."""

import re
from collections import defaultdict
from functools import cache

import pytest

from analytics.display.numbers import decimal, percent
from analytics.reports.build import build_report
from analytics.reports.markdown import escape, report_markdown
from analytics.reports.page import report_page
from evaluation.models import Study
from evaluation.protocols import PROTOCOLS
from tests.analytics.reports.answering import answered_study, drawn_answers, give, items_of, new_rater
from tests.analytics.reports.test_one_interval import estimates

pytestmark = pytest.mark.django_db
ANSWERS = sorted(key for key, protocol in PROTOCOLS.items() if protocol.key != "pairwise")
KINDS = {"aspen": "model", "birch": "model", "cedar": "person"}
NUMBER = r"[-\u2212]?\d[\d.]*"
LIMITS = re.compile(rf"({NUMBER}) to ({NUMBER})")
# Of the study, which its slug and the order of its items are a part of.
HASH = re.compile(r"\b[0-9a-f]{64}\b")
SAID = re.compile(rf"({NUMBER})(?:\u00a0%)? \(({NUMBER} to {NUMBER})\)")


def drawn(protocol: str, draw: int = 0, *, backwards: bool = False, queries: int = 17) -> Study:
    """Three people and a judge on some queries."""
    slug = f"drawn-{draw}-{int(backwards)}"
    study = answered_study(protocol, queries=queries, kinds=KINDS, slug=slug, backwards=backwards)
    Study.objects.filter(pk=study.pk).update(seed=5)
    study.refresh_from_db()
    n = items_of(study)[0].n_responses
    orders = [",".join(f"r{(place + turn) % n + 1}" for place in range(n)) for turn in range(4)]
    for number in range(3):
        given = drawn_answers(study, 10 * draw + number)
        give(study, new_rater(study, f"person {number}"), given, shown=orders[number])
    judge = new_rater(study, "llm", "judge", judge="j", model="j-7b", orders="random", samples=1)
    give(study, judge, drawn_answers(study, 10 * draw + 3), shown=orders[3])
    return study


@cache
def first_report(protocol: str):
    """The report of the first draw, which tests only read."""
    return build_report(drawn(protocol), replicates=20)


def figures_of(report):
    """(path, estimate) of every figure, under its question and group."""
    for record in report["records"]:
        yield from estimates(record, f"{record['question']} of {record['group']}: {record['figure']}")


def over_queries(report):
    """Those whose interval is over queries alone; that over raters, too, is another one and says so."""
    return {path: each for path, each in figures_of(report) if not path.endswith(".over_both")}


@pytest.mark.parametrize("protocol", ANSWERS)
def test_one_number_has_one_interval(protocol):
    """What has one value and one n in each of four studies is one number."""
    more = [build_report(drawn(protocol, draw, queries=17 - draw), replicates=20) for draw in range(1, 4)]
    reports = [over_queries(report) for report in (first_report(protocol), *more)]
    places = defaultdict(list)
    for path in set.intersection(*(set(report) for report in reports)):
        found = [report[path] for report in reports]
        if any(each["value"] not in (None, 0, 0.5, 1) for each in found):
            # A group's own figures and those beside people's are of the same judgments.
            values = (each["value"] and round(each["value"], 9) for each in found)
            places[(*values, *(each["n"] for each in found))].append(path)
    for paths in places.values():
        for report in reports:
            limits = {
                tuple(x and round(x, 6) for x in (report[at]["low"], report[at]["high"])) for at in paths
            }
            assert len(limits) == 1, paths


@pytest.mark.parametrize("protocol", ANSWERS)
def test_limits_hold_their_value(protocol):
    report = first_report(protocol)
    found = [each for _, each in figures_of(report) if each["low"] is not None]
    assert found
    assert all(each["low"] <= each["value"] <= each["high"] for each in found)


def written(report):
    """(value, limits) of every figure of the report, as a share and as any other number."""
    return {
        (form(each["value"]), f"{form(each['low'])} to {form(each['high'])}")
        for _, each in figures_of(report)
        if each["low"] is not None
        for form in (percent, decimal)
    }


def cells_of(page):
    """(value, limits) of every cell of a table that has limits."""
    return {
        (cell.text, cell.detail)
        for section in page.sections
        for block in section.blocks
        for table in block.tables
        for row in table.rows
        for cell in row
        if LIMITS.fullmatch(cell.detail)
    }


@pytest.mark.parametrize("protocol", ANSWERS)
def test_whatever_stands_on_the_page_is_a_figure_of_the_report(protocol):
    report = first_report(protocol)
    page, figures, text = report_page(report), written(report), report_markdown(report)
    assert cells_of(page)
    assert cells_of(page) <= figures
    facts = [*page.facts, *(fact for group in page.others for fact in group.facts)]
    found = [(fact, LIMITS.search(fact.detail)) for fact in facts]
    for fact, limits in found:
        if limits:
            assert (fact.value.removesuffix("\u00a0%"), limits[0]) in figures, fact
            assert f"{fact.value} (" in text
    assert any(limits for _, limits in found)


@pytest.fixture
def sure():
    """Studies in which what is best is told beyond doubt, each with its sentence."""

    def make(protocol, answer):
        study = answered_study(protocol, queries=24, kinds=KINDS)
        for number in range(3):
            given = [answer(number, at) for at in range(24)]
            give(study, new_rater(study, f"person {number}"), given)
        return build_report(study, replicates=20)

    return make


def ranks(number, at):
    """Aspen is nearly always first; the others in turn."""
    one = 1 if (at + number) % 9 else 2
    rest = [place for place in (1, 2, 3) if place != one][:: 1 if at % 2 else -1]
    return {"ranking": {"r1": one, "r2": rest[0], "r3": rest[1]}}


def picks(number, at):
    best = "r2" if (at + number) % 7 else "r1"
    scale = {f"r{place}": (3 if place == 2 else 1) - (at + number + place) % 2 for place in (1, 2, 3)}
    return {"acceptability": scale, "best": best}


@pytest.mark.parametrize(
    ("protocol", "answer", "kinds"),
    [("ranking", ranks, {"ranked"}), ("aspects", picks, {"picked", "rated"})],
)
def test_a_sentence_has_the_figures_of_the_tables(sure, protocol, answer, kinds):
    report = sure(protocol, answer)
    assert kinds <= {finding["kind"] for finding in report["findings"]}
    cells, text = cells_of(report_page(report)), report_markdown(report)
    for finding in report["findings"]:
        said = SAID.findall(finding["text"])
        assert said, finding["text"]
        assert set(said) <= cells, finding["text"]
        assert escape(finding["text"]) in text


def alike(one, other, path=""):
    """Fails where two reports differ; lists may have another order."""
    if isinstance(one, dict):
        assert one.keys() == other.keys(), path
        for key in one.keys() - {"slug", "title", "study_hash", "revisions", "methods"}:
            alike(one[key], other[key], f"{path}.{key}")
    elif isinstance(one, list):
        assert len(one) == len(other), path
        for at, (mine, theirs) in enumerate(zip(one, other, strict=True)):
            alike(mine, theirs, f"{path}[{at}]")
    elif path.endswith(".methods_paragraph"):
        assert HASH.sub("", one) == HASH.sub("", other)
    else:
        assert one == (pytest.approx(other, abs=1e-9) if isinstance(one, float) else other), path


@pytest.mark.parametrize("protocol", ANSWERS)
def test_nothing_changes_with_the_order_of_the_items(protocol):
    alike(first_report(protocol), build_report(drawn(protocol, backwards=True), replicates=20))
