"""Leaderboards in reports: against a baseline, by category and split, between raters, and p against n."""

import json

import numpy as np
import pytest
from django.core.management import call_command
from django.utils import timezone

from analytics.figures.needs import PromptConditions
from analytics.leaderboard import files
from analytics.leaderboard.boards import leaderboard_record
from analytics.reports.build import build_report
from analytics.reports.files import report_html
from analytics.reports.markdown import report_markdown
from analytics.reports.page import report_page
from evaluation.models import Query, Response, Study
from tests import factories
from tests.analytics.reports.judging import judge, judged_study

pytestmark = pytest.mark.django_db
SYSTEMS = {"strong": 0.85, "middle": 0.5, "weak": 0.15}
QUERIES = 40
FIGURES = [
    f"leaderboards/{name}" for name in ("standings", "correlations", "sample_sizes", "length_controlled")
]


@pytest.fixture(scope="module")
def report(around_module, tmp_path_factory):
    """Three systems against a baseline by two judges; even queries are of one category, the first thirty private."""
    rng = np.random.default_rng(5)
    entries = [
        {
            "instruction": f"Instruction {at}",
            "generator_1": "baseline",
            "output_1": f"Baseline on {at}.",
            "generator_2": system,
            "output_2": f"{system} on {at}.",
            "annotator": annotator,
            "preference": 2 if rng.random() < better else 1,
        }
        for at in range(QUERIES)
        for system, better in SYSTEMS.items()
        for annotator in ("cedar", "maple")
    ]
    path = tmp_path_factory.mktemp("board") / "annotations.json"
    path.write_text(json.dumps(entries))
    call_command("import_published", "alpaca_eval", str(path), slug="board", verbosity=0)
    Study.objects.filter(slug="board").update(baseline="baseline")
    for at in range(QUERIES):
        Query.objects.filter(study__slug="board", text=f"Instruction {at}").update(
            category="even" if at % 2 == 0 else "odd", split="private" if at < 30 else "dev"
        )
    return build_report(Study.objects.get(slug="board"), replicates=20, only=FIGURES)


def records(report, figure):
    return {each["group"]: each for each in report["records"] if each["figure"] == figure}


def test_the_leaderboard(report):
    found = records(report, "leaderboards/standings")["judges"]
    assert found["against"] == "baseline"
    assert [(board["category"], board["split"]) for board in found["boards"]] == [
        (None, None),
        ("even", None),
        ("odd", None),
        (None, "private"),
        (None, "dev"),
    ]
    whole = found["boards"][0]["standings"]
    assert [(each["system"], each["rank"], each["place"]) for each in whole] == [
        ("strong", 1, 1),
        ("middle", 2, 2),
        ("weak", 3, 3),
    ]
    assert {each["rate"]["n"] for each in whole} == {QUERIES}
    parts = [{each["system"]: each["rate"] for each in board["standings"]} for board in found["boards"][3:]]
    for each in whole:
        of_parts = [part[each["system"]] for part in parts]
        assert [part["n"] for part in of_parts] == [30, 10]
        assert each["rate"]["value"] == pytest.approx(
            np.average([part["value"] for part in of_parts], weights=[3, 1])
        )


def test_many_categories_are_rows(report):
    study = Study.objects.get(slug="board")
    for at in range(QUERIES):
        study.queries.filter(text=f"Instruction {at}").update(category=f"category {at % 13}")
    _, board, *_ = report_markdown(build_report(study, replicates=20, only=["leaderboards/standings"])).split(
        "| Category | strong | middle | weak |"
    )
    rows = [line.split(" | ")[0].strip("| ") for line in board.splitlines()[2:16]]
    assert rows == ["All", *sorted(f"category {at}" for at in range(13))]


def test_p_against_n(report):
    curves = records(report, "leaderboards/sample_sizes")["judges"]["curves"]
    assert [(curve["split"], curve["queries"]) for curve in curves] == [
        (None, 40),
        ("private", 30),
        ("dev", 10),
    ]
    assert [point["n"] for point in curves[0]["points"]] == [10, 20, 40]
    assert curves[0]["points"][-1]["told_apart"] == 1


def test_correlations(report):
    found = records(report, "leaderboards/correlations")
    assert [(each["one"], each["other"]) for each in found["judges"]["splits"]] == [("private", "dev")]
    assert found["judges"]["groups"] == []
    one, other = (key for key in found if key != "judges")
    [between] = found[one]["groups"]
    assert (between["group"], between["relation"]) == (other, "raters")
    assert (between["spearman"]["value"], between["pearson"]["n"]) == (pytest.approx(1), 3)
    assert found[other]["groups"] == []


def test_they_stand_on_the_page_and_in_the_file(report):
    text, page = report_markdown(report), report_html(report)
    for words in ("## Leaderboard", "Expected win rate by split", "p against the number of queries"):
        assert words in text
    assert "Correlations of leaderboards" in page
    assert "against baseline, the baseline" in text
    assert "of the pairs of 3 systems apart" in page or "Of 3 systems," in page


def test_prompts_of_one_judge_are_told_from_other_judges(report, monkeypatch):
    one, other = (key for key in records(report, "leaderboards/correlations") if key != "judges")
    monkeypatch.setattr(PromptConditions, "of", lambda source: PromptConditions({one: other}))
    again = build_report(Study.objects.get(slug="board"), replicates=20, only=["leaderboards/correlations"])
    [between] = records(again, "leaderboards/correlations")[one]["groups"]
    assert between["relation"] == "prompts"


def test_two_systems_have_no_leaderboard(owner):
    study = judged_study(owner=owner)
    judge(study, raters=2)
    report = build_report(study, replicates=20)
    found = [each for each in report["records"] if each["figure"].startswith("leaderboards/")]
    assert {each["figure"] for each in found} == {"leaderboards/length_controlled"}
    # Of their only pair in each setting.
    assert len(found[0]["rates"]) == 3
    assert {each["rate"]["n"] for each in found[0]["rates"]} == {12}


def test_length_control(report):
    found = {
        each["system"]: each for each in records(report, "leaderboards/length_controlled")["judges"]["rates"]
    }
    assert found.keys() == SYSTEMS.keys()
    standings = records(report, "leaderboards/standings")["judges"]["boards"][0]["standings"]
    plain_rates = {each["system"]: each["rate"]["value"] for each in standings}
    for system, each in found.items():
        assert each["opponent"] == "baseline"
        assert each["plain"]["value"] == pytest.approx(plain_rates[system])
        assert each["change"]["value"] == pytest.approx(each["rate"]["value"] - each["plain"]["value"])
    assert found["strong"]["rate"]["value"] > found["weak"]["rate"]["value"]
    text = report_markdown(report)
    assert "Win rates at equal lengths" in text
    assert "| Pair | At equal lengths | Plain |" in text
    assert (
        "AlpacaEval's length-controlled win rate is another figure: its fit also has published difficulties of the "
        "instructions, and judgments of the baseline's concise and verbose versions."
    ) in text
    assert {(each["difficulties"], each["gamed"]) for each in found.values()} == {("estimated", False)}


@pytest.mark.parametrize("gamed", [False, True])
def test_with_given_difficulties(gamed, tmp_path):
    rng = np.random.default_rng(6)
    systems = ["middle", *(["baseline_concise", "baseline_verbose"] if gamed else [])]
    entries = [
        {
            "instruction": f"Instruction {at}",
            "generator_1": "baseline",
            "output_1": "x" * 60,
            "generator_2": system,
            "output_2": "y" * int(rng.integers(20, 120)),
            "annotator": "cedar",
            "preference": 1 + int(rng.integers(0, 2)),
            "instruction_difficulty": at / 10 - 2,
        }
        for system in systems
        for at in range(QUERIES)
    ]
    path = tmp_path / "annotations.json"
    path.write_text(json.dumps(entries))
    call_command("import_published", "alpaca_eval", str(path), slug="given", verbosity=0)
    report = build_report(Study.objects.get(slug="given"), replicates=20, only=FIGURES)
    groups = records(report, "leaderboards/length_controlled")
    assert {
        (each["difficulties"], each["gamed"]) for record in groups.values() for each in record["rates"]
    } == {("given", gamed)}
    text = report_markdown(report)
    assert ("Length-controlled win rates (AlpacaEval 2)" in text) == gamed
    assert ("Win rates at equal lengths" in text) != gamed
    assert "published difficulties" not in text
    assert ("its fit also has judgments of the baseline's concise and verbose versions." in text) != gamed


def test_every_judge_has_a_leaderboard_of_its_own(report):
    view = report_page(report)
    [section] = [each for each in view.sections if each.key == "leaderboard"]
    headings = " | ".join(block.heading for block in section.blocks)
    for group in (each for each in report["groups"] if each["kind"] == "judge"):
        assert group["label"] in headings


def test_length_that_is_nearly_the_system_is_told(owner):
    study = factories.make_study("long", owner=owner, queries=14, training=False, checks=0)
    for response in Response.objects.filter(query__study=study, system__key="aspen"):
        response.text = f"{response.text} And much more on it, at length, in every case."
        response.save()
    factories.launch(study)
    judge(study, raters=2)
    report = build_report(study, replicates=20)
    (found,) = (each for each in report["records"] if each["figure"] == "leaderboards/length_controlled")
    assert {each["longer"] for each in found["rates"]} == {1.0}
    assert "length can't be told from the system itself" in report_markdown(report)


@pytest.fixture(scope="module")
def apart(around_module, tmp_path_factory):
    """Aspen and birch, cedar and dogwood: each is preferred to the other alone."""
    pairs = [("aspen", "birch"), ("cedar", "dogwood")]
    entries = [
        {
            "instruction": f"Instruction {at}",
            "generator_1": one,
            "output_1": f"{one} on {at}.",
            "generator_2": other,
            "output_2": f"{other} on {at}.",
            "annotator": annotator,
            "preference": 2 if at % 4 == 0 else 1,
        }
        for at in range(24)
        for one, other in pairs
        for annotator in ("oak", "maple")
    ]
    path = tmp_path_factory.mktemp("apart") / "annotations.json"
    path.write_text(json.dumps(entries))
    call_command("import_published", "alpaca_eval", str(path), slug="apart", verbosity=0)
    return build_report(Study.objects.get(slug="apart"), replicates=20)


def test_systems_that_never_met_are_ranked_apart(apart):
    standings = records(apart, "leaderboards/standings")["judges"]["boards"][0]["standings"]
    assert [(each["system"], each["place"], each["rank"], each["group"]) for each in standings] == [
        ("aspen", 1, 1, 0), ("birch", 2, 2, 0), ("cedar", 1, 1, 1), ("dogwood", 2, 2, 1),
    ]  # fmt: skip
    text = report_markdown(apart)
    assert (
        "never compared with each other, neither directly nor through other systems: aspen and birch; "
        in text
    )
    assert "Expected win rate among cedar and dogwood, in percent." in text
    boards = leaderboard_record(apart)["raters"][0]["boards"]
    assert [(each["among"], [row["system"] for row in each["rows"]]) for each in boards] == [
        ("aspen and birch", ["aspen", "birch"]),
        ("cedar and dogwood", ["cedar", "dogwood"]),
    ]
    assert [files.heading(each) for each in boards] == [
        "Expected win rate, among aspen and birch",
        "Expected win rate, among cedar and dogwood",
    ]


def test_systems_that_never_met_are_not_tested_against_each_other(apart):
    [curve] = records(apart, "leaderboards/sample_sizes")["judges"]["curves"]
    # Of the six pairs of four systems two were compared, and both are told apart.
    assert [(point["n"], point["pairs"], point["told_apart"]) for point in curve["points"]][-1] == (24, 2, 1)
    assert (curve["systems"], curve["queries"]) == (4, 24)


def test_of_very_many_pairs_those_with_the_most_items_are_listed(report, monkeypatch, around_module):
    monkeypatch.setattr("analytics.figures.figure_input.MOST_PAIRS", 2)
    Query.objects.filter(study__slug="board", text="Instruction 0").first().items.filter(
        systems_key__contains="middle"
    ).update(withdrawn_at=timezone.now())
    short = build_report(
        Study.objects.get(slug="board"), replicates=20, only=[*FIGURES, "preferences/win_rates"]
    )
    agreement = records(short, "agreement/percentage")["judges"]
    assert agreement["unlisted"] == 1
    assert {each["system_2"] for each in agreement["by_cell"]} == {"strong", "weak"}
    rates = records(short, "preferences/win_rates")["judges"]
    assert {each["system"] for each in rates["expected"]} == {"baseline", "strong", "weak"}
    # Rates over all opponents and the leaderboard have every system.
    assert {each["system"] for each in rates["overall"]} == {"baseline", *SYSTEMS}
    assert (
        "Above, the pairs with the most items are listed; 1 other is in the data alone."
        in report_markdown(short)
    )


def test_categories_of_few_items_are_folded(report):
    """Of forty queries the first nine are of one category."""
    study = Study.objects.get(slug="board")
    study.queries.update(category="many")
    study.queries.filter(text__in=[f"Instruction {at}" for at in range(9)]).update(category="few")
    page = report_page(build_report(study, replicates=20, only=["leaderboards/standings"]))
    (section,) = [each for each in page.sections if each.key == "leaderboard"]
    first, small = section.blocks[:2]
    assert [column.label for column in first.tables[1].columns] == ["System", "All", "many"]
    assert (small.heading, small.folded) == ("Systems, small categories", True)
    assert [column.label for column in small.tables[0].columns] == ["System", "All", "few"]
