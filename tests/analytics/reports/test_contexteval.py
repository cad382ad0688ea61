"""The report on ContextEval's rebuilt judgments says what the paper says."""

import pytest
from django.core.management import call_command

from analytics.reports.markdown import report_markdown
from analytics.reports.page import report_page
from evaluation.models import Study
from tests.analytics.reports.contexteval import write_dump
from tests.analytics.reports.reading import build_report
from tests.fixtures.contexteval import ARMS, CC, NC, NN, PAIRS, TABLE_4A, TABLE_6

# Without the mark no test database is made for this file alone.
pytestmark = pytest.mark.django_db
# The paper cuts some figures where it rounds others, so they may be off by one in the last place.
WITHIN = 0.01 + 1e-9


@pytest.fixture(scope="module")
def report(django_db_setup, django_db_blocker, tmp_path_factory):
    path = write_dump(tmp_path_factory.mktemp("contexteval") / "contexteval.jsonl")
    with django_db_blocker.unblock():
        call_command("import_study", str(path), slug="contexteval", verbosity=0)
        study = Study.objects.get(slug="contexteval")
        yield build_report(study)
        from evaluation.services.imports import discard_import

        discard_import(study)


@pytest.fixture
def people(report):
    (group,) = report["groups"]
    return group


def test_all_judgments_are_there(report):
    assert report["counts"]["judgments"] == 2_700
    assert report["counts"]["items"] == 900
    assert report["counts"]["left_out"] == []


@pytest.mark.parametrize("pair", PAIRS)
def test_table_4a_agreement_over_all_items(people, pair):
    cells = {
        (cell["arm"], cell["system_1"], cell["system_2"]): cell for cell in people["agreement"]["by_cell"]
    }
    for arm, published in zip(ARMS, TABLE_4A[pair], strict=True):
        assert cells[(arm, *pair)]["with_ties"]["value"] * 100 == pytest.approx(published, abs=WITHIN)
        assert cells[(arm, *pair)]["with_ties"]["n"] == 100


@pytest.mark.parametrize(("arm", "pair"), list(TABLE_6))
def test_table_6_win_rates_of_people(people, arm, pair):
    rates = {
        (rate["cell"]["arm"], rate["cell"]["system_1"], rate["cell"]["system_2"]): rate
        for rate in people["win_rates"]["majority"]
    }
    found = [rates[(arm, *pair)][key]["value"] * 100 for key in ("system_1", "system_2", "tie")]
    assert found == pytest.approx(TABLE_6[(arm, pair)], abs=WITHIN)


def test_the_pairs_that_flip_are_the_papers(people):
    turned = {
        (flip["system_1"], flip["system_2"])
        for flip in people["flips"]["pairs"]
        if flip["flipped"] and (flip["first_arm"], flip["second_arm"]) == (NN, CC)
    }
    assert turned == {PAIRS[0], PAIRS[2]}
    assert not any(
        flip["flipped"]
        for flip in people["flips"]["pairs"]
        if (flip["first_arm"], flip["second_arm"]) == (NN, NC)
    )


def test_no_finding_claims_what_a_hundred_queries_cannot_bear(report):
    """Of two pairs the preferred system differs, but in neither setting is it preferred beyond chance."""
    kinds = {finding["kind"] for finding in report["findings"]}
    assert not kinds & {"pair_flip", "margin_change"}
    people = report["groups"][0]
    tests = [flip["flip_test"] for flip in people["flips"]["pairs"] if flip["flipped"]]
    assert len(tests) == 4
    assert {test["tests"] for test in tests} == {25}
    assert min(test["p_value"] for test in tests) > 0.05
    # By itself the margin of one pair changes; one of so many tests may well come out so.
    margins = [flip["margin_test"] for flip in people["flips"]["pairs"]]
    assert min(test["p_value"] for test in margins) < 0.05 < min(test["p_corrected"] for test in margins)


def test_agreement_is_higher_where_the_responses_differ(people):
    """Table 5's comparison, on the one cell with checklists."""
    (cell,) = people["follow_ups"]["by_cell"]
    assert (cell["arm"], cell["system_1"]) == (NC, "GPT-4o")
    differing, equal = (cell[f"{name}_by_majority"]["without_ties"] for name in ("differing", "equal"))
    assert differing["value"] > equal["value"]
    assert differing["n"] == 85
    # A rater sees at most one follow-up's difference here, so their mean is one where all three prefer the same.
    assert (cell["differing"]["without_ties"]["n"], cell["differing"]["without_ties"]["value"]) == (29, 1.0)
    assert cell["equal"]["without_ties"]["value"] < 1


def test_page_and_markdown_say_it(report):
    page = report_page(report)
    assert [section.key for section in page.sections] == [
        "win-rates", "leaderboard", "flips", "strengths", "agreement", "bias", "follow-ups", "texts", "raters",
        "methods",
    ]  # fmt: skip
    text = report_markdown(report)
    assert "| No context | 40.2 (30.0 to 51.4) | 48.8" in text
    assert "**within chance**" in text
    plots = [block.plot for section in page.sections for block in section.blocks if block.plot]
    # Leaderboards of pairs that never met have none.
    assert len(plots) == 13
    # Of p-values by number of queries there is one curve for each setting, whose heading names the people.
    curves = [plot for plot in plots if plot.label.startswith("p-value")]
    assert len(curves) == 3
    nobodys = [plot.what for plot in plots if plot not in curves and "People" not in plot.label]
    assert nobodys == ["Share of queries by category", "Differences of length"]
