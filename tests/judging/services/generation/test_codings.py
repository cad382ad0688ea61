"""Codes that pipelines gave, in the report of their study, in its files and in its bundle."""

import pytest

from analytics.reports.build import build_report, fingerprint
from analytics.reports.bundle.replication import replicate
from analytics.reports.bundle.writing import export_bundle
from analytics.reports.markdown import report_markdown
from analytics.reports.paper.archive import tables_of
from judging.models import Product
from judging.services.generation.products import drop_products, edit_product, restore_products
from tests.analytics.reports.judging import judge, judged_study
from tests.judging import endpoint
from tests.judging.generating import generated, make_endpoint

pytestmark = pytest.mark.django_db
HELD = (["ambiguous", "subjective"], ["ambiguous"], ["open_ended"])


@pytest.fixture
def study():
    study = judged_study(queries=6)
    judge(study)
    with endpoint.serve() as served:
        make_endpoint(served)
        yield study


def typed(study, **settings):
    """A run of `query_types`, whose products have these types in turn."""
    run = generated(study, "query_types", **settings)
    for number, product in enumerate(products(run)):
        product.content = {"types": HELD[number % 3], "reason": "It depends."}
        product.save(update_fields=["content"])
    return run


def products(run):
    return list(Product.objects.filter(unit__run=run, dropped_at=None).order_by("pk"))


def shares(report, system=""):
    [coding] = report["codings"]
    at = coding["systems"].index(system)
    return {
        (each["list"], row["code"]): row["shares"][at]["value"]
        for each in coding["lists"]
        for row in each["codes"]
        if row["shares"][at]["value"]
    }


def test_every_type_of_a_query_is_in_the_report(study):
    typed(study)
    report = build_report(study, replicates=20, only=["texts/codes"])
    assert shares(report) == {
        ("types", "ambiguous"): pytest.approx(2 / 3),
        ("types", "subjective"): pytest.approx(1 / 3),
        ("types", "open_ended"): pytest.approx(1 / 3),
    }
    page = report_markdown(report)
    assert "Types of queries" in page
    assert r"Coded by aspen, pipeline query\_types, version 1 of its prompts." in page
    assert "Several codes may be right, so shares may add up to more than 100." in page
    [table] = [each for each in tables_of(report) if each.caption.startswith("Share of each code among")]
    assert [cell.text for cell in table.rows[0]] == ["ambiguous", "66.7"]
    assert [cell.text for cell in table.rows[-1]] == ["Number of queries", "6"]


def test_categories_of_questions_by_system(study):
    run = typed(study)
    for number, product in enumerate(products(run)):
        product.unit.run.generating.pipeline = "question_categories"
        product.unit.run.generating.save()
        product.unit.step = "categories"
        product.unit.save()
        product.content = {
            "question": "Which?", "system": ("aspen", "birch")[number % 2], "pattern": "which",
            "purpose": ("facet", "facet", "preference")[number % 3], "response_type": "factual",
        }  # fmt: skip
        product.save()
    report = build_report(study, replicates=20, only=["texts/codes"])
    assert report["codings"][0]["systems"] == ["aspen", "birch"]
    assert shares(report, "aspen") == {
        ("pattern", "which"): 1,
        ("purpose", "facet"): pytest.approx(2 / 3),
        ("purpose", "preference"): pytest.approx(1 / 3),
        ("response_type", "factual"): 1,
    }
    assert "response type" in report_markdown(report)


def test_what_a_researcher_changed_is_in_a_new_report(study):
    first, second = products(typed(study))[:2]
    run, before = first.unit.run, fingerprint(study)
    drop_products(run, [first.pk])
    dropped = fingerprint(study)
    assert build_report(study, replicates=20, only=["texts/codes"])["codings"][0]["queries"] == 5
    assert "Coded for 5 of 6 queries." in report_markdown(
        build_report(study, replicates=20, only=["texts/codes"])
    )
    restore_products(run, [first.pk])
    assert (fingerprint(study), dropped != before) == (before, True)
    edit_product(second, {"types": ["closed_ended"], "reason": "It does not."})
    assert fingerprint(study) != before
    report = build_report(study, replicates=20, only=["texts/codes"])
    assert shares(report)["types", "closed_ended"] == pytest.approx(1 / 6)
    assert report["codings"][0]["by"].endswith("; 1 edited by hand")


def test_a_later_run_replaces_one_but_not_a_trial_of_some_queries(study):
    typed(study)
    later = typed(study, models=("birch",))
    typed(study, models=("cedar",), max_queries=2)
    [coding] = build_report(study, replicates=20, only=["texts/codes"])["codings"]
    assert (coding["by"].split(",")[0], coding["queries"]) == ("birch", 6)
    assert later.pk


def test_a_study_without_codes_shows_none(study):
    report = build_report(study, replicates=20, only=["texts/codes"])
    assert report["codings"] == []
    assert "Coded by" not in report_markdown(report)


def test_a_bundle_has_the_codes(study, tmp_path):
    typed(study)
    path = tmp_path / "bundle.zip"
    export_bundle(study, path)
    done = replicate(path)
    assert done.succeeded
    assert [each.figure for each in done.figures if each.figure == "codings"] == ["codings"]
