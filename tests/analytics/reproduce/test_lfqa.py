"""The published figures of long-form answers, reproduced from their release."""

import numpy as np
import pandas as pd
import pytest
from django.core.management import call_command

from analytics.reports.build import build_report
from analytics.statistics.texts.readability import measure_text
from evaluation.models import Study
from tests.analytics.reproduce.reproducing import reproduced, values
from tests.published import published_data

pytestmark = pytest.mark.django_db


@pytest.fixture
def path():
    return published_data("lfqa/mturk_ratings.jsonl").parent


def test_every_published_figure_is_there_or_its_difference_known(path, capsys):
    figures, found = reproduced(capsys, "lfqa", path, "--as-published")
    example = [each for (title, _), each in figures.items() if title == "One question's mean ratings"]
    assert [each["difference"] for each in example] == [0] * 16
    annotation = values(figures, "Annotation", digits=1)
    assert annotation == {
        "Questions": 300, "Annotations": 900, "Workers": 80, "Minutes per annotation, mean": 29.8,
    }  # fmt: skip
    preferred = values(figures, "Preferences")
    assert preferred["All three prefer different answers, questions"] == 41
    assert preferred["Two or three prefer the same, questions: model, formal (MF)"] == 134
    assert preferred["All three prefer the same answer, questions"] == 69
    assert preferred["Two of three do, questions"] == 190
    assert preferred["Model answers preferred, %"] == 83.0
    rated = values(figures, "Acceptability by kind of answer")
    assert rated["Mean: human, top-rated (HT)"] == 1.3844
    assert rated["Mean: model, formal (MF)"] == 2.4578
    assert rated["Mean: model, casual (MC)"] == 2.3556
    shares = values(figures, "Ratings at each level by kind of answer", digits=6)
    for name in ("Acceptability", "Formality", "Amount of information", "Factuality"):
        for kind in ("human, top-rated (HT)", "model, formal (MF)"):
            of_kind = [
                share
                for each, share in shares.items()
                if each.startswith(f"{name} ") and each.endswith(f": {kind}")
            ]
            assert len(of_kind) >= 3
            assert sum(of_kind) == pytest.approx(100, abs=0.001)
    best = values(figures, "Acceptability by kind of answer", digits=6)
    assert shares["Acceptability 3: model, formal (MF)"] == best["Rated 3, % of ratings: model, formal (MF)"]
    assert values(figures, "Krippendorff's alpha") == {
        "Acceptability, ordinal": 0.4673,
        "Formality, ordinal": 0.3961,
        "Amount of information, ordinal": 0.5229,
        "Factuality, ordinal": 0.2844,
        "All aspects at once, pooled, interval": 0.7856,
        "All aspects at once, pooled, ordinal": 0.7889,
    }
    weights = values(figures, "Weights of the aspects", "as_published")
    assert weights == {
        "Weight: Formality": 0.3349,
        "Weight: Amount of information": 0.7387,
        "Weight: Factuality": 2.0485,
        "Pearson, held out": 0.8528,
    }
    assert values(figures, "Weights of the aspects", "difference_as_published") == dict.fromkeys(weights, 0)
    assert preferred["All three prefer the same, questions: model, formal (MF)"] == 45
    assert preferred["All three prefer the same, questions: model, casual (MC)"] == 19
    judges = values(figures, "Judges beside people")
    assert judges["GPT-4, acceptability asked directly, Pearson"] == 0.7007
    assert judges["GPT-4, weighted aspects, Pearson"] == 0.7164
    assert judges["Length in words, Pearson"] == pytest.approx(length_correlation(path), abs=5e-5)
    by_level = values(figures, "Judges by people's acceptability", digits=6)
    for level, given in enumerate(judged_by_level(path)):
        about = f"where people's acceptability is {level}"
        assert by_level[f"GPT-4, mean {about}"] == pytest.approx(np.mean(given), abs=1e-6)
        deviation = by_level[f"GPT-4, standard deviation {about}"]
        assert deviation == pytest.approx(np.std(given, ddof=1), abs=1e-6)
        assert by_level[f"GPT-4, median {about}"] == np.median(given)
    means = values(figures, "Means by kind of answer", digits=3)
    assert means["GPT-4, acceptability asked directly: model, formal (MF)"] == 2.942
    assert means["GPT-4, weighted aspects: human, random (HR)"] == 1.547
    assert means["Length in words: model, formal (MF)"] == 109.53
    tree = values(figures, "Decision tree of depth 3", "as_published")
    assert tree == {"Pearson, held out": 0.8314}
    ours = values(figures, "Weights of the aspects")
    assert ours["Weight: Factuality"] == 2.0473
    assert 0.8 < ours["Pearson, held out"] < 0.85
    assert set(values(figures, "Agreement rates by aspect", digits=1).values()) == {
        21.1, 84.6, 47.1, 97.7, 52.6, 96.0, 22.2, 80.6,
    }  # fmt: skip
    # By the release's own reading or by ours, every printed figure comes out, but for these.
    apart = {
        name
        for (_, name), each in figures.items()
        if each["difference"] and each["difference_as_published"] != 0
    }
    assert apart == {
        "Workers",
        "Mean: human, random (HR)",
        "All aspects at once, pooled, interval",
        "All aspects at once, pooled, ordinal",
        "Llama 2 7B, fine-tuned, acceptability asked directly, Pearson",
        "Llama 2 7B, fine-tuned, mean error of factuality",
        "Pearson, held out",  # of the tree, by .001
    }
    assert all(figures[key]["note"] for key in figures if "pooled" in key[1])
    assert found["missing"]
    assert not Study.objects.exists()


def acceptability(path):
    """People's mean of each answer, read from the release itself."""
    ratings = pd.read_json(path / "mturk_ratings.jsonl", lines=True)
    return ratings.groupby("answer_id")["acceptability"].mean()


def length_correlation(path):
    answers = pd.read_json(path / "answers.jsonl", lines=True).set_index("answer_id")["answer"]
    # The tags of line breaks are no words.
    words = answers.str.replace(r"<br ?/?>", "\n", regex=True).map(lambda text: measure_text(text).words)
    return acceptability(path).corr(words)


def judged_by_level(path):
    """GPT-4's ratings of the answers at each level of people's mean, halves up."""
    given = pd.read_json(path / "gpt4_ratings.jsonl", lines=True).set_index("answer_id")["overall"]
    level = np.floor(acceptability(path) + 0.5)
    found = [given.loc[level.index[level == each]].to_numpy() for each in range(4)]
    assert sum(map(len, found)) == 1200
    return found


def test_a_kept_study_reports_what_was_printed(path, capsys):
    figures, _ = reproduced(capsys, "lfqa", path, "--keep", "lfqa")
    # The release's own reading is asked for.
    assert {each["as_published"] for each in figures.values()} == {None}
    report = build_report(
        Study.objects.get(slug="lfqa"), only=["preferences/best_picks", "aspects/weights", "agreement/alpha"]
    )
    found = {
        (each["figure"], each["question"]): each for each in report["records"] if each["group"] == "person"
    }
    picks = found["preferences/best_picks", "best"]
    [models] = [each for each in picks["by_kind"] if each["kind"] == "model"]
    printed = {name: each["ours"] for (_, name), each in figures.items()}
    assert printed["Model answers preferred, %"] == 100 * models["share"]["value"]
    assert printed["All three prefer the same answer, questions"] == picks["same"]["n_all_same"]
    fit = found["aspects/weights", "acceptability"]["fit"]
    assert printed["Gain in held-out R squared: Factuality"] == fit["added"][0]["gain"]["mean"]
    [level] = found["agreement/alpha", "factuality"]["levels"]
    assert printed["Factuality, ordinal"] == level["alpha"]["value"]
    with pytest.raises(Exception, match="There is a study 'lfqa' already"):
        call_command("reproduce", "lfqa", str(path), "--keep", "lfqa")
