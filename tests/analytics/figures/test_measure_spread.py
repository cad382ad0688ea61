"""Measures by system and setting: beside answers, and in a study that has nothing else."""

import numpy as np
import pytest

from analytics.figures.judges import measure_spread
from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from analytics.reports.page import report_page
from evaluation.dumps.imports.scores import import_scores
from evaluation.models import Item
from tests.analytics.reports.answering import answered_study, judged_by_everyone
from tests.analytics.reports.judging import judge, judged_study

pytestmark = pytest.mark.django_db
KEY = "judges/measure_spread"


def score(study, tmp_path, number, **options):
    """A score of every response, by the item and the response's place."""
    lines = ["item,system,name,score"]
    for item in Item.objects.filter(study=study, role="main"):
        for place, response in enumerate(item.stimulus["responses"]):
            lines.append(f"{item.key},{response['system']},condition_score,{number(item, place)!r}")
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(lines))
    import_scores(study, path, judge="script", **options)


def measures_of(report):
    found = [record for record in report["records"] if record["figure"] == KEY]
    assert len(found) == 1
    return found[0]["measures"]


def test_by_system_with_bands(tmp_path):
    study = judged_by_everyone("condition_calibration")
    score(study, tmp_path, lambda item, place: (item.pk % 5) / 5 + place / 50, low=0.0, high=1.0)
    report = build_report(study, replicates=20, only=[KEY])
    [measure] = measures_of(report)
    items = Item.objects.filter(study=study, role="main")
    for place, cell in enumerate(measure["cells"]):
        wanted = np.array([(item.pk % 5) / 5 + place / 50 for item in items])
        assert cell["mean"]["value"] == pytest.approx(wanted.mean())
        assert cell["standard_deviation"] == pytest.approx(wanted.std(ddof=1))
        assert [band["value"] for band in cell["bands"]] == pytest.approx(
            np.histogram(wanted, [0, 0.2, 0.35, 0.5, 2])[0] / len(wanted)
        )
        # All values lie between 0 and 0.84, in bins of 0.05.
        assert measure["edges"] == pytest.approx(np.arange(0, 0.9, 0.05))
        assert cell["counts"] == np.histogram(np.round(wanted, 9), measure["edges"])[0].tolist()
    text = report_markdown(report)
    assert "Means and spread of measures" in text
    assert "0.20 to 0.35" in text


def distributions(report):
    """The plots of the folded blocks, and the rows of the tables beside them."""
    blocks = [block for section in report_page(report).sections for block in section.blocks]
    found = [block for block in blocks if block.heading.startswith("Distribution of condition_score")]
    assert all(block.folded for block in found)
    return [(block.plot, [[cell.text for cell in row] for row in block.tables[0].rows]) for block in found]


def test_a_histogram_of_every_system_with_its_numbers(tmp_path):
    study = judged_by_everyone("condition_calibration")
    score(study, tmp_path, lambda item, place: (item.pk % 5) / 10 + place / 10, low=0.0, high=1.0)
    report = build_report(study, replicates=20, only=[KEY])
    [(plot, rows)] = distributions(report)
    cells = measures_of(report)[0]["cells"]
    assert len(plot.panels) == len(cells) == 3
    for at, ((name, panel), cell) in enumerate(zip(plot.panels, cells, strict=True)):
        assert [bar.n for bar in panel.bars] == cell["counts"]
        assert [int(row[2 + at]) for row in rows] == cell["counts"]
        assert f"{name}: " in plot.label
    assert rows[1][:2] == ["0.05", "0.10"]


def test_many_systems_have_one_histogram(tmp_path, monkeypatch):
    monkeypatch.setattr(measure_spread, "MOST_HISTOGRAMS", 2)
    study = judged_by_everyone("condition_calibration")
    score(study, tmp_path, lambda item, place: float(item.pk % 4 + place))
    report = build_report(study, replicates=20, only=[KEY])
    [(plot, rows)] = distributions(report)
    counts = np.sum([cell["counts"] for cell in measures_of(report)[0]["cells"]], axis=0).tolist()
    assert [(name, [bar.n for bar in panel.bars]) for name, panel in plot.panels] == [("All systems", counts)]
    # Whole numbers have bins of whole numbers.
    assert rows == [[str(low), str(low + 1), str(n)] for low, n in enumerate(counts)]


def test_by_setting(owner, tmp_path):
    study = judged_study(owner=owner)
    judge(study, raters=2)
    score(study, tmp_path, lambda item, place: float(place + 10 * (item.arm.key > "b")))
    report = build_report(study, replicates=20, only=[KEY])
    [measure] = measures_of(report)
    arms = {item.arm.key for item in Item.objects.filter(study=study, role="main")}
    assert {cell["arm"] for cell in measure["cells"]} == arms
    assert len(distributions(report)) == len(arms)
    for cell in measure["cells"]:
        assert cell["bands"] == []
        assert cell["mean"]["value"] == ["aspen", "birch"].index(cell["system"]) + 10 * (cell["arm"] > "b")


@pytest.mark.parametrize("protocol", ["condition_calibration", "ranking"])
def test_a_study_of_measures_alone_has_a_report(protocol, tmp_path):
    study = answered_study(protocol, queries=12)
    score(study, tmp_path, lambda item, place: (item.pk % 7) / 10, low=0.0, high=1.0)
    report = build_report(study, replicates=20, only=[KEY])
    [measure] = measures_of(report)
    assert len(measure["cells"]) == 3
    assert report["findings"] == []
    assert [each["label"] for each in report["groups"]] == ["script"]
    assert "Means and spread of measures" in report_markdown(report)
    assert report_page(report).sections


def test_a_pairwise_study_of_measures_alone_has_a_report(owner, tmp_path):
    study = judged_study(owner=owner)
    score(study, tmp_path, lambda item, place: (item.pk % 7) / 10)
    report = build_report(study, replicates=20, only=[KEY])
    assert {cell["system"] for cell in measures_of(report)[0]["cells"]} == {"aspen", "birch"}
    assert report_page(report).sections
