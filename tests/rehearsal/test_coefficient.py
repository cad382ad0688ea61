"""One coefficient of agreement more: of a formula for chance alone, it is a figure on every page and in every file."""

import json
from dataclasses import dataclass

import numpy as np
import pytest
from django.urls import reverse
from jsonschema import Draft202012Validator

from analytics.figures.coefficient_figure import OF_LABELS, CoefficientFigure
from analytics.figures.registry import FIGURES, with_beside
from analytics.reports.build import build_report
from analytics.reports.files import FORMATS, report_json
from analytics.reports.paper.archive import text_files
from analytics.reports.paper.credit import credit_of
from analytics.reports.schema import report_schema
from analytics.statistics.agreement.chance_corrected import chance_corrected
from analytics.statistics.agreement.coefficients import Coefficient
from analytics.statistics.core.estimates import Estimate
from evaluation.refusals import Refused
from tests.analytics.reports.judging import judge, judged_study
from tests.analytics.reports.test_schema import line_of

pytestmark = pytest.mark.django_db
KEY = "agreement/even_chance"
NAME = "Even S"


@dataclass(frozen=True)
class EvenChance(Coefficient):
    """Agreement beyond that of labels which are all as likely."""

    even: Estimate
    agreement: float | None
    by_chance: float | None


def even_chance(counts, query, *, resample, unit="items"):
    def by_chance(p):
        return np.full(len(p), 1 / p.shape[1])

    return EvenChance(*chance_corrected(counts, query, by_chance, name=NAME, resample=resample, unit=unit))


class EvenChanceFigure(CoefficientFigure[EvenChance]):
    key = KEY
    coefficient = even_chance
    name = NAME
    definition = f"Even S {OF_LABELS}"
    method = "Even S takes every label to be as likely as any other."


@pytest.fixture
def figure():
    with FIGURES.registered(EvenChanceFigure()) as made:
        report_schema.cache_clear()
        yield made
    report_schema.cache_clear()


@pytest.fixture
def study(owner):
    study = judged_study(owner=owner)
    judge(study, raters=3, choose=lambda rater, position: "tie" if (rater + position) % 4 == 0 else "r1")
    return study


def test_its_record_is_made_of_the_formula_and_described_in_the_schema(figure, study):
    report = json.loads(report_json(build_report(study, replicates=20)))
    (record,) = (each for each in report["records"] if each["figure"] == KEY)
    # Half of all pairs agree, and a third would by chance.
    assert (record["agreement"], record["by_chance"]) == pytest.approx((1 / 2, 1 / 3))
    assert record["even"]["value"] == pytest.approx(1 / 4)
    assert record["even"]["low"] < 1 / 4 < record["even"]["high"]
    validator = Draft202012Validator(report_schema())
    assert validator.is_valid(report)
    assert not validator.is_valid(report | {"records": [record | {"even": 0.25}]})


@pytest.mark.parametrize("form", FORMATS)
def test_it_is_in_every_form_of_the_report(form, figure, study):
    text = FORMATS[form](build_report(study, replicates=20))
    assert ("even_chance" if form == "json" else NAME) in text
    assert "takes every label to be as likely as any other" in text


def test_it_is_on_the_page_and_in_the_files_of_a_paper(figure, study, client, owner):
    client.force_login(owner)
    page = client.get(reverse("analytics:study-report", args=[study.slug])).content.decode()
    assert f"{NAME}, with the observed agreement of two raters" in page
    files = text_files(build_report(study, replicates=20), credit_of(study))
    holding = {path.rpartition(".")[2] for path, write in files.items() if NAME in write()}
    assert holding >= {"csv", "tex"}


def test_it_can_be_asked_for_alone_and_is_named_where_it_is_misspelt(figure, study):
    report = build_report(study, replicates=20, only=[KEY])
    assert {each["figure"] for each in report["records"]} == {KEY}
    with pytest.raises(Refused, match=f"near it: {KEY}"):
        with_beside(["agreement/even_chances"])


def test_its_line_in_the_docs_is_made_of_it(figure):
    line = f"| `{KEY}` | {figure.definition} | `even`, `agreement`, `by_chance` |"
    assert line_of(KEY, figure) == line
