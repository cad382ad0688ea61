"""Measures in reports: beside preferences, ratings, rankings and best picks, and out of every other figure."""

import json

import numpy as np
import pytest
from scipy import stats

from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from analytics.reports.paper.archive import plots_of
from evaluation.dumps.imports.dump_import import import_dump
from evaluation.dumps.imports.scores import import_scores
from evaluation.dumps.published import read_release
from evaluation.models import Item
from evaluation.protocols.answers.measures import GREATEST
from tests.analytics.reports.answering import judged_by_everyone
from tests.analytics.reports.judging import judge, judged_study
from tests.published import published_data

pytestmark = pytest.mark.django_db
KEY, MEANS, SPREAD = "judges/measures", "judges/measure_means", "judges/measure_spread"


def score(study, tmp_path, number, *, judge="script", **options):
    """A score of every response, by the item and the response's place."""
    lines = ["item,system,name,score"]
    for item in Item.objects.filter(study=study, role="main"):
        for place, response in enumerate(item.stimulus["responses"]):
            lines.append(f"{item.key},{response['system']},m,{number(item, place)!r}")
    path = tmp_path / f"{judge}.csv"
    path.write_text("\n".join(lines))
    return import_scores(study, path, judge=judge, **options)


def records(report, group="person"):
    return {
        record["question"]: record["measures"]
        for record in report["records"]
        if record["figure"] == KEY and record["group"] == group
    }


def test_means_by_system_stand_once(owner, tmp_path):
    study = judged_study(owner=owner)
    judge(study, raters=2)
    score(study, tmp_path, lambda item, place: float(item.pk % 5 + 10 * place))
    report = build_report(study, replicates=20, only=[KEY, MEANS, SPREAD])
    [record] = [each for each in report["records"] if each["figure"] == MEANS]
    [measure] = record["measures"]
    by_system = {row["system"]: row for row in measure["by_system"]}
    numbers = {"aspen": [], "birch": []}
    for item in Item.objects.filter(study=study, role="main"):
        for place, response in enumerate(item.stimulus["responses"]):
            numbers[response["system"]].append(item.pk % 5 + 10 * place)
    for system, given in numbers.items():
        found = by_system[system]
        assert found["mean"]["value"] == pytest.approx(np.mean(given))
        assert found["standard_deviation"] == pytest.approx(np.std(given, ddof=1))
        assert found["mean"]["n"] == len(given)
        assert found["mean"]["low"] < np.mean(given) < found["mean"]["high"]
    page = report_markdown(report)
    assert page.count("Measures by system") == 1


def test_the_greatest_scores_have_figures(owner, tmp_path):
    """What is taken has a report, in which JSON knows every number."""
    study = judged_study(owner=owner)
    judge(study, raters=3)
    score(study, tmp_path, lambda item, place: (1, -1)[place] * GREATEST / (1 + item.pk % 3))
    report = build_report(study, replicates=20)
    assert json.loads(json.dumps(report, allow_nan=False)) == report
    assert report_markdown(report)


def test_of_two_responses_the_difference_counts(owner, tmp_path):
    study = judged_study(owner=owner)
    judge(study, raters=3)
    before = build_report(study, replicates=20)
    # In 64ths, whose differences are exact: equal ones are ties in whatever way they are computed.
    numbers = (np.random.default_rng(3).normal(size=(Item.objects.count() + 99, 2)) * 64).round() / 64
    score(study, tmp_path, lambda item, place: float(numbers[item.pk % len(numbers), place]))
    report = build_report(study, replicates=20)
    [found] = records(report)["preference"]
    differences, means, right = [], [], []
    for item in Item.objects.filter(study=study, role="main"):
        first, second = numbers[item.pk % len(numbers)]
        labels = [
            answer.label
            for row in item.judgments.exclude(rater__label="script")
            for answer in row.answers.all()
        ]
        labels = [label for label in labels if label]
        differences.append(second - first)
        means.append(np.mean([{"r1": 0, "tie": 0.5, "r2": 1}[label] for label in labels]))
        chosen = [label for label in labels if label != "tie"]
        right += [0.5 if first == second else (second > first) == (label == "r2") for label in chosen]
    assert found["pearson"]["value"] == pytest.approx(stats.pearsonr(differences, means).statistic)
    assert found["spearman"]["value"] == pytest.approx(stats.spearmanr(differences, means).statistic)
    assert found["accuracy"]["value"] == pytest.approx(np.mean(right))
    assert found["accuracy"]["n"] == len(right)
    # In no other figure, and no rater of any.
    assert report["counts"] == before["counts"]
    assert [each["label"] for each in report["raters"]] == [each["label"] for each in before["raters"]]
    others = [record for record in report["records"] if record["figure"] not in (KEY, MEANS, SPREAD)]
    assert others == before["records"]
    page = report_markdown(report)
    assert "Measures vs answers" in page
    assert "Measures are correlated with the mean answer" in page


def test_the_same_measure_by_two_judges_has_a_row_of_each_in_the_plot(owner, tmp_path):
    study = judged_study(owner=owner)
    judge(study, raters=2)
    for name, sign in (("script", 1.0), ("other", -1.0)):
        score(study, tmp_path, lambda item, place, sign=sign: sign * (item.pk % 5) * place, judge=name)
    (plot,) = [
        each
        for each in plots_of(build_report(study, replicates=20, only=[KEY, MEANS, SPREAD]))
        if each.what == "Spearman's correlation"
    ]
    assert sorted(row.label for row in plot.rows) == ["m by other", "m by script"]


def test_lower_may_be_better_and_neither_end(owner, tmp_path):
    study = judged_study(owner=owner)
    judge(study, raters=3, choose=lambda rater, position: "r1")
    numbers = [1.0, 2.0]
    score(study, tmp_path, lambda item, place: numbers[place], judge="low", direction="lower")
    report = build_report(study, replicates=20, only=[KEY, MEANS, SPREAD])
    [found] = records(report)["preference"]
    assert found["accuracy"]["value"] == 1.0
    assert "same mean throughout" in found["pearson"]["undefined"]
    score(judged_study("other", owner=owner), tmp_path, lambda item, place: 0.0, direction="")


@pytest.mark.parametrize("protocol", ["aspects", "ranking", "question_quality", "answer_pairs"])
def test_of_other_questions_it_is_of_the_same_things(protocol, tmp_path):
    study = judged_by_everyone(protocol)
    numbers = np.random.default_rng(3).normal(size=(97, 9)).round(3)
    score(study, tmp_path, lambda item, place: float(numbers[item.pk % 97, place]))
    report = build_report(study, replicates=20, only=[KEY, MEANS, SPREAD])
    found = records(report)
    forms = {each["key"]: each for each in report["questions"] if each["groups"]}
    wanted = {
        key
        for key, each in forms.items()
        if each["form"] in ("ranking", "picks", "pairs")
        or (each["form"] == "rated" and each["over"] == "response")
    }
    wanted |= {
        key for key, each in forms.items() if protocol == "question_quality" and each["form"] == "rated"
    }
    assert wanted
    assert wanted <= set(found)
    for measures in found.values():
        [each] = measures
        assert each["spearman"]["n"] > 0
        assert each["accuracy"] is None or 0 <= each["accuracy"]["value"] <= 1


def test_a_published_judge_s_ratings_choose_as_often_right_as_its_authors_say(tmp_path):
    """LFQA: the answer that people like best against each other one, ties half, by GPT-4's overall rating: .673."""
    path = published_data("lfqa/gpt4_ratings.jsonl")
    study = import_dump(read_release("lfqa", path.parent), slug="lfqa")
    ratings = {row["answer_id"]: row for row in map(json.loads, path.read_text("utf-8").splitlines())}
    lines = [
        json.dumps(
            {
                "item": item.key,
                "response": response["key"],
                "name": "overall",
                "score": ratings[response["key"]]["overall"],
            }
        )
        for item in Item.objects.filter(study=study)
        for response in item.stimulus["responses"]
    ]
    file = tmp_path / "gpt4.jsonl"
    file.write_text("\n".join(lines))
    import_scores(study, file, judge="GPT-4, overall")
    found = records(build_report(study, replicates=20, only=[KEY, MEANS, SPREAD]))
    by_question = {key: measures[0] for key, measures in found.items()}
    pick = next(each for each in by_question.values() if each["accuracy"] and each["accuracy"]["n"] == 2_700)
    assert pick["accuracy"]["value"] == pytest.approx(0.673, abs=5e-4)
