"""HREF's tables from small files in the forms of its repository and data sets."""

import json
import random
from collections import Counter

import pytest
import scipy
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from analytics.reproduce.href_results import POOL
from analytics.reproduce.releases.href import draw_agreement
from evaluation.models import Judgment, Rater, Study
from evaluation.services.studies.verification import verify_study
from tests.analytics.reproduce import href_files as small
from tests.analytics.reproduce.reproducing import reproduced, values

pytestmark = pytest.mark.django_db
LOO = "Leave-one-out agreement"
CORRELATION = "Correlation of both sets' leaderboards"
TOLD_APART = "Pairs told apart on the development set"
TOLD_APART_PRIVATE = "Pairs told apart on the evaluation set"
LENGTH_BIAS = "Length bias"
DIFFERENCES = "Differences in agreement"
RATES, RANKS = "Expected win rates on the development set", "Ranks on the development set"


@pytest.fixture
def folder(tmp_path):
    for write in (
        small.agreement_set, small.judges, small.results, small.development_set, small.leaderboard,
    ):  # fmt: skip
        write(tmp_path)
    return tmp_path


def test_table_2_by_hand(folder, capsys):
    """(1, 1, 2, 2): whoever is held out, the other label is the mode of the rest, so people never agree."""
    figures, _ = reproduced(capsys, "href", folder)
    found = values(figures, LOO, digits=2)
    # (0, 1, 2, 2): a 2 held out leaves three modes, a third; 0 and 1 are not the mode of the rest.
    by_pair = [1, 0, 2 * (1 / 3) / 4, 3 / 4, 3 / 4]
    assert found["People: all"] == pytest.approx(100 * sum(by_pair) / 5, abs=0.01)
    assert found["People: Open QA"] == pytest.approx(100 * sum(by_pair[:3]) / 3, abs=0.01)
    # The judge's: a, then the baseline (half of the modes), a tie (where a 2 is held out a third), the baseline.
    outer = [1, 1 / 2, 2 * (1 / 3) / 4, 1]
    assert found["judge-70b: Open QA"] == pytest.approx(100 * sum(outer[:3]) / 3, abs=0.01)
    # The reply that could not be read is left out.
    assert found["judge-70b: all"] == pytest.approx(100 * sum(outer) / 4, abs=0.01)
    assert found["judge-70b: Generation"] == 100
    told = values(figures, "Human agreement set", digits=1)
    assert told == {"Pairs": 5, "Instructions": 4, "Annotations per pair": 4, "Ties, %": 20}
    assert figures["Human agreement set", "Ties, %"]["difference"] == 15.1


def test_as_published_draws_and_counts_unread_replies(folder, capsys):
    figures, _ = reproduced(capsys, "href", folder, "--as-published")
    drawn = values(figures, LOO, "as_published")
    rng = random.Random(42)
    rates = []
    for category in ("Generation", "Open QA"):
        for of, _, _, labels in small.PAIRS:
            if of == category:
                inner = [mode_of(labels, at, rng) == label for at, label in enumerate(labels)]
                [mode_of(labels, at, rng) for at in range(4)]
                rates.append(sum(inner) / 4)
    assert drawn["People: all"] == pytest.approx(100 * sum(rates) / 5, abs=1e-4)
    assert drawn["judge-70b: Generation"] == 50
    assert drawn["judge-70b: all"] < values(figures, LOO)["judge-70b: all"]
    # A reply that could not be read is a loss.
    rates = values(figures, RATES, "as_published", 2)
    assert rates["aspen: Generation"] == 50
    assert values(figures, RATES, digits=2)["aspen: Generation"] == 66.67
    # The script doesn't count 1.5 as a tie.
    assert (rates["birch: Generation"], values(figures, RATES, digits=2)["birch: Generation"]) == (25, 37.5)
    # The second's interval meets the first's, the third's does not.
    ranks = values(figures, RANKS, "as_published")
    assert (ranks["aspen: all"], ranks["birch: all"], ranks["cedar: all"]) == (1, 1, 3)


def mode_of(labels, held_out, rng):
    rest = [label for at, label in enumerate(labels) if at != held_out]
    counts = Counter(rest)
    return rng.choice([label for label in counts if counts[label] == max(counts.values())])


def test_win_rates_and_ranks_beside_the_leaderboard(folder, capsys):
    figures, found = reproduced(capsys, "href", folder)
    shown = values(figures, RATES, digits=2)
    assert shown["aspen: Open QA"] == 87.5
    assert shown["cedar: all"] == 0
    assert figures[RATES, "aspen: Open QA"]["difference"] == 0
    assert figures[RATES, "aspen: all"]["published"] == "71.88"
    assert figures[RATES, "aspen: all"]["ours"] == pytest.approx(100 * 5.5 / 7)
    assert figures[RATES, "aspen: Generation"]["published"] == ""
    assert figures[RANKS, "aspen: all"]["published"] == "1"
    assert values(figures, RANKS)["aspen: all"] == 1
    assert [each["title"].split(" (")[0] for each in found["tables"]] == [
        "Human agreement set", LOO, DIFFERENCES, RATES, RANKS, CORRELATION, TOLD_APART, LENGTH_BIAS,
    ]  # fmt: skip
    assert not Study.objects.exists()


def test_both_sets_are_told_apart_by_their_folders(folder, capsys):
    small.evaluation_results(folder)
    uploaded = {"average": 0.625, "multi-document_synthesis": 0.75, "average_rank": 2}
    small.write(folder / "results_for_upload" / "private" / "aspen.json", uploaded)
    figures, _ = reproduced(capsys, "href", folder)
    # Of the development set as without the other: one instruction is in both, and was judged otherwise there.
    assert values(figures, RATES, digits=2)["aspen: Open QA"] == 87.5
    assert figures[RATES, "aspen: all"]["published"] == "71.88"
    evaluated = "Expected win rates on the evaluation set"
    assert values(figures, evaluated)["aspen: Open QA"] == 50
    assert values(figures, evaluated)["birch: all"] == 87.5
    assert figures[evaluated, "aspen: all"]["published"] == "62.50"
    assert figures[evaluated, "aspen: all"]["difference"] == 0
    found = values(figures, CORRELATION)
    rates = [5.5 / 7, 2 / 8, 0], [2.5 / 4, 3.5 / 4, 0.5 / 4]
    assert found == {
        "Models": 3,
        "Spearman": 0.5,
        "Pearson": pytest.approx(scipy.stats.pearsonr(*rates).statistic, abs=1e-4),
    }
    assert [figures[CORRELATION, name]["published"] for name in ("Spearman", "Pearson")] == ["0.98", "0.99"]
    assert figures[CORRELATION, "Spearman"]["difference"] == -0.48


def test_the_study_of_both_sets(folder, capsys):
    """Both in one arm, against the model that wrote the baseline of both, by whichever name the script calls it."""
    small.evaluation_results(folder)
    call_command("import_published", "href", str(folder), slug="href")
    study = Study.objects.get(slug="href")
    assert set(study.arms.values_list("key", flat=True)) == {"agreement", "results"}
    assert study.baseline == small.BASE
    assert {split: study.queries.filter(split=split).count() for split in ("agreement", "dev", "private")} == {
        "agreement": 4, "dev": 8, "private": 4,
    }  # fmt: skip
    assert "repeated annotations" not in capsys.readouterr().out


def test_a_correlation_needs_both_sets(folder, capsys):
    figures, _ = reproduced(capsys, "href", folder)
    assert values(figures, CORRELATION) == {}
    assert "results of both sets" in figures[CORRELATION, "Spearman"]["note"]


def test_a_correlation_needs_three_models(folder, capsys):
    said_of = {name: small.EVALUATED[name] for name in ("aspen", "birch")}
    small.results(folder, ("Open QA", "Multi-Document Synthesis"), said_of, "results_private")
    figures, _ = reproduced(capsys, "href", folder)
    assert "at least three systems" in figures[CORRELATION, "Pearson"]["note"]
    assert figures[CORRELATION, "Pearson"]["ours"] is None


def test_scientific_categories_of_the_agreement_set_say_nothing_of_results(folder, capsys):
    path = folder / "results" / "human_agreement_analysis" / "multi-document_synthesis" / "longer"
    small.write(path / "annotations.json", [small.annotation("Compare.", "aspen", 1.0)])
    figures, _ = reproduced(capsys, "href", folder)
    assert values(figures, RATES)["aspen: Open QA"] == 87.5


def of_twelve(won):
    """One model that always wins, one that never does, one that wins `won` times."""
    said = {"aspen": [2.0] * 12, "birch": [1.0] * 12, "cedar": [2.0] * won + [1.0] * (12 - won)}
    return {model: {"the only": each} for model, each in said.items()}


def told_apart(won):
    scores = [[float(each == 2.0) for each in of_model["the only"]] for of_model in of_twelve(won).values()]
    # The first two differ by the same everywhere, where the test has no p-value but the limit 0.
    p = [0.0, *(scipy.stats.ttest_rel(scores[at], scores[2]).pvalue for at in (0, 1))]
    return 100 * sum(each < 0.05 for each in p) / 3


def test_figure_6_beside_scipy(tmp_path, capsys):
    small.results(tmp_path, ["Open QA"], of_twelve(10), "results_dev")
    small.results(tmp_path, ["Multi-Document Synthesis"], of_twelve(6))
    figures, _ = reproduced(capsys, "href", tmp_path)
    share = "Pairs told apart by all instructions, %"
    assert told_apart(10) == pytest.approx(200 / 3)
    assert values(figures, TOLD_APART) == {
        "Models": 3, "Instructions": 12, share: pytest.approx(told_apart(10), abs=1e-3),
    }  # fmt: skip
    assert figures[TOLD_APART, share]["published"] == "80"
    # Of any ten instructions, cedar wins four to six, and differs from both by p < 0.05.
    assert values(figures, TOLD_APART_PRIVATE) == {
        "Models": 3, "Instructions": 12, "Instructions that tell 90 % of the pairs apart": 10, share: 100,
    }  # fmt: skip
    assert figures[TOLD_APART_PRIVATE, share]["difference"] == 10
    assert figures[TOLD_APART_PRIVATE, "Instructions"]["published"] == "4258"


def test_figure_6_is_of_the_papers_models_where_all_have_results(tmp_path, capsys):
    """Beside the paper's 13, which win and lose alike, one more that always wins."""
    said = {name.lower(): {"the only": [2.0, 1.0] * 6} for name in POOL}
    small.results(tmp_path, ["Open QA"], said | {"another": {"the only": [2.0] * 12}}, "results_dev")
    figures, _ = reproduced(capsys, "href", tmp_path)
    found = values(figures, TOLD_APART)
    assert found["Models"] == 13
    assert found["Pairs told apart by all instructions, %"] == 0


def test_figure_6_is_of_all_models_where_one_of_the_papers_lacks(tmp_path, capsys):
    said = {name: {"the only": [2.0, 1.0] * 6} for name in POOL[1:]}
    small.results(tmp_path, ["Open QA"], said | {"another": {"the only": [2.0] * 12}}, "results_dev")
    figures, _ = reproduced(capsys, "href", tmp_path)
    found = values(figures, TOLD_APART)
    assert found["Models"] == 13
    # Each of the twelve is told from the one that always wins.
    assert found["Pairs told apart by all instructions, %"] == pytest.approx(100 * 12 / 78, abs=1e-3)


def test_pairs_that_are_not_told_apart(tmp_path, capsys):
    small.results(tmp_path, ["Multi-Document Synthesis"], of_twelve(10))
    figures, _ = reproduced(capsys, "href", tmp_path)
    enough = figures[TOLD_APART_PRIVATE, "Instructions that tell 90 % of the pairs apart"]
    assert enough["published"] == "fewer than 2000"
    assert enough["ours"] is None
    assert "not below 0.05" in enough["note"]


def test_figure_6_needs_ten_instructions(folder, capsys):
    figures, _ = reproduced(capsys, "href", folder)
    assert values(figures, TOLD_APART) == {}
    assert "ten instructions" in figures[TOLD_APART, "Models"]["note"]


def test_length_bias_by_hand(folder, capsys):
    """The baseline's outputs are the longer ones."""
    judge = "llama3.1-70b_basic_w_reference"
    for slug in ("open_qa", "generation"):
        path = folder / "results" / "human_agreement_analysis" / slug
        (path / "judge-70b").rename(path / judge)
    # The same judge's preferences between models' results, all for the shorter, are no part of it.
    small.results(folder, ["Open QA"], {"dogwood": {"the only": [2.0] * 4}}, annotator=judge)
    figures, _ = reproduced(capsys, "href", folder)
    # Two for the baseline and one against it, of four with a tie; two and three of five.
    assert values(figures, LENGTH_BIAS, digits=1) == {judge: 25, "longer": -20}
    assert figures[LENGTH_BIAS, judge]["published"] == "1.4"
    assert figures[LENGTH_BIAS, judge]["difference"] == 23.6
    assert figures[LENGTH_BIAS, "longer"]["published"] == ""


def test_an_annotator_of_other_pairs_alone_has_no_rows(folder, capsys):
    of_people = folder / "results" / "human_agreement_analysis"
    of_another_pair = [small.annotation("Who?", "aspen", 1.0)]
    small.write(of_people / "open_qa" / "asked-another" / "annotations.json", of_another_pair)
    # One with results and nothing of the agreement set.
    small.write(of_people / "open_qa" / "href" / "annotations.json", of_another_pair)
    figures, _ = reproduced(capsys, "href", folder)
    assert {name.split(":")[0] for table, name in figures if table == LOO} == {
        "People",
        "judge-70b",
        "longer",
    }
    assert {name for table, name in figures if table == LENGTH_BIAS} == {"judge-70b", "longer"}
    assert values(figures, RATES)["aspen: Open QA"] == 87.5


def test_differences_of_judges_by_hand(folder, capsys):
    small.judges(
        folder,
        {
            "llama3.1-70b_basic_no_reference": [1.0, 1.0, 1.0, 1.0, 1.0],
            "llama3.1-70b_basic_w_reference": [2.0, 2.0, 1.0, 1.0, 1.0],
            "gpt-4_basic_no_reference": [1.0, 1.0, 1.0, 2.0, 1.0],
            "gpt-4-turbo_basic_w_reference": [2.0, 2.0, 1.0, 1.0, 0.0],
            "href": [2.0, 2.0, 1.0, 1.0, 0.0],
        },
    )
    figures, _ = reproduced(capsys, "href", folder, "--as-published")
    # By pair, how often the label is the mode of three others' of (1, 1, 1, 1), (1, 1, 2, 2), (0, 1, 2, 2),
    # (2, 2, 2, 1) and (1, 0, 0, 0); a 2 of a judge is a 1 of people's.
    people = [1, 0, 2 * (1 / 3) / 4, 3 / 4, 3 / 4]
    baseline = (1 + 1 + 1 / 3 + 1 / 3) / 4
    without = [0, 1 / 2, baseline, 1, 0]
    shown = [1, 1 / 2, baseline, 1, 0]
    composite = [1, 1 / 2, baseline, 1, 1]
    gpt_4 = [0, 1 / 2, baseline, 0, 0]

    def gap(one, other):
        return pytest.approx(100 * (sum(one) - sum(other)) / 5, abs=1e-3)

    llama = "Llama-3.1-70B-Instruct"
    assert values(figures, DIFFERENCES) == {
        f"{llama} less GPT-4, without the reference": gap(without, gpt_4),
        f"{llama} less GPT-4-Turbo, with the reference": gap(shown, composite),
        f"{llama} with the reference less people": gap(shown, people),
        f"Composite less {llama} with the reference": gap(composite, shown),
        "Composite less people": gap(composite, people),
        # Of Generation alone, where it changes nothing; Open QA is none of the seven categories.
        f"{llama} with less without the reference, mean of seven categories": 0,
    }
    assert figures[DIFFERENCES, "Composite less people"]["published"] == "2.4"
    assert figures[DIFFERENCES, f"{llama} less GPT-4, with the reference"]["note"].startswith(
        "One of the judges"
    )
    drawn = values(figures, LOO, "as_published")
    assert values(figures, DIFFERENCES, "as_published")["Composite less people"] == pytest.approx(
        drawn["href: all"] - drawn["People: all"], abs=1e-3
    )


def test_table_2_beside_what_the_scripts_wrote(folder, capsys):
    (folder / "human_agreement_analysis_results.csv").write_text(
        ",annotator,average,confidence_interval,Generation,Open QA\n"
        "0,judge-70b,0.6667,0.1<0.6667 <0.9,1.0,0.5556\n"
        "1,human,0.5333,0.1<0.5333 <0.9,0.75,0.3889\n"
    )
    figures, _ = reproduced(capsys, "href", folder)
    assert figures[LOO, "judge-70b: all"]["published"] == "66.7"
    assert figures[LOO, "judge-70b: all"]["difference"] == 0
    assert figures[LOO, "People: Open QA"]["published"] == "38.9"
    assert figures[LOO, "longer: all"]["published"] == ""


def test_the_study(folder, capsys):
    call_command("import_published", "href", str(folder), slug="href")
    study = Study.objects.get(slug="href")
    assert list(study.arms.values_list("key", flat=True)) == ["agreement", "dev"]
    assert study.baseline == small.BASE
    assert study.queries.filter(split="agreement").count() == 4
    assert study.queries.filter(split="dev").count() == 8
    assert study.queries.get(text="Open QA 1?").references == ["A human on Open QA 1?"]
    people = study.raters.filter(kind=Rater.Kind.PERSON)
    assert sorted(people.values_list("label", flat=True)) == [f"annotator {at}" for at in range(1, 5)]
    assert not people.filter(pseudonym__in=small.PEOPLE).exists()
    assert Judgment.objects.filter(study=study, outcome="failed").count() == 2
    assert list(verify_study(study)) == []
    assert "2 failed judgments" in capsys.readouterr().out


def test_the_agreement_set_alone(tmp_path, capsys):
    figures, found = reproduced(capsys, "href", small.agreement_set(tmp_path))
    assert len(found["tables"]) == 2
    assert values(figures, LOO, digits=1)["People: Generation"] == 75


def test_results_alone_keep_the_scripts_name_for_the_baseline(tmp_path, capsys):
    small.results(tmp_path, categories=("Open QA", "Multi-Document Synthesis"))
    figures, _ = reproduced(capsys, "href", tmp_path)
    assert figures["Expected win rates on the evaluation set", "aspen: Open QA"]["ours"] == 87.5
    call_command("import_published", "href", str(tmp_path), slug="href")
    study = Study.objects.get(slug="href")
    assert study.baseline == small.WRONG_NAME
    assert set(study.queries.values_list("split", flat=True)) == {"private"}


def test_what_belongs_elsewhere_is_left_out_and_counted(folder, capsys):
    path = folder / "results" / "human_agreement_analysis" / "open_qa" / "longer" / "annotations.json"
    entries = json.loads(path.read_text())
    elsewhere = small.annotation("Sing.", "aspen", 1.0, dataset="href_Generation")
    stranger = small.annotation("Which?", "aspen", 1.0, dataset="href_Open QA")
    path.write_text(json.dumps([*entries, elsewhere, stranger, entries[0]]))
    small.write(folder / "results" / "aspen" / "longer_href_aggregated" / "longer" / "annotations.json", [1])
    call_command("import_published", "href", str(folder), slug="href")
    printed = capsys.readouterr().out
    assert "1 annotations in the folder of another category, left out" in printed
    assert "1 annotations of pairs that are not in the agreement set, left out" in printed
    assert "1 repeated annotations, read as replicates" in printed


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"annotations": [1, 2, 3, 0]}, "annotations are .* and not of 0, 1 and 2"),
        ({"annotaters": ["a"]}, "annotations and annotaters are not as many"),
        ({"generator_b": "aspen"}, "both outputs are by 'aspen'"),
        ({"instruction": None}, "instruction is None"),
    ],
)
def test_pairs_of_another_form_are_refused(changed, said, tmp_path):
    row = small.pair(*small.PAIRS[0]) | changed
    (tmp_path / "dev.jsonl").write_text(json.dumps(row))
    with pytest.raises(CommandError, match=said):
        call_command("reproduce", "href", str(tmp_path))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"preference": 3}, "the preference must be 0, 1, 1.5, 2 or null, and is 3"),
        ({"preference": [1]}, r"and is \[1\]"),
        ({"generator_2": small.BASE}, "both outputs are by"),
        ({"output_1": None}, "output_1 is None"),
    ],
)
def test_annotations_of_another_form_are_refused(changed, said, tmp_path):
    entry = small.annotation("Why?", "aspen", 1.0) | changed
    small.write(tmp_path / "aspen" / "open_qa" / "href" / "annotations.json", [entry])
    with pytest.raises(CommandError, match=said) as refused:
        call_command("import_published", "href", str(tmp_path), slug="href")
    # Every file of the scripts has the same name.
    assert "aspen/open_qa/href/annotations.json, entry 0: " in str(refused.value)


@pytest.mark.parametrize("content", ["[]", "{", "{}"])
def test_a_file_that_is_no_list_is_named_with_its_folders(content, tmp_path):
    path = tmp_path / "aspen" / "open_qa" / "href" / "annotations.json"
    path.parent.mkdir(parents=True)
    path.write_text(content)
    with pytest.raises(CommandError, match=r"aspen/open_qa/href/annotations\.json is not"):
        call_command("import_published", "href", str(tmp_path), slug="href")


def test_neither_a_set_nor_annotations(tmp_path):
    with pytest.raises(CommandError, match="has neither HREF's human agreement set"):
        call_command("reproduce", "href", str(tmp_path))
    (tmp_path / "rows.csv").write_text("a")
    with pytest.raises(CommandError, match=r"rows.csv is neither Parquet nor JSON lines"):
        call_command("reproduce", "href", str(tmp_path / "rows.csv"))


@given(st.lists(st.lists(st.sampled_from([0, 1, 2]), min_size=4, max_size=4), min_size=1, max_size=20))
def test_a_draw_agrees_with_everybody_where_all_do(all_labels):
    rows = [
        {
            "category": "Open QA",
            "instruction": str(at),
            "generator_a": "a",
            "generator_b": "b",
            "annotations": labels,
        }
        for at, labels in enumerate(all_labels)
    ]
    said = {(str(at), "a", "b"): labels[0] for at, labels in enumerate(all_labels)}
    drawn = draw_agreement(rows, said)
    assert 0 <= drawn.inner["all"] <= 1
    alike = [labels for labels in all_labels if len(set(labels)) == 1]
    if len(alike) == len(all_labels):
        assert drawn.inner["all"] == drawn.outer["all"] == 1
    assert drawn.inner["all"] == draw_agreement(rows, {}).inner["all"]
