"""Generation in a browser: products that are looked through and edited, and the whole way from queries to a report."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluation.models import Judgment, Response, Study
from judging.models import GenerationUnit, PipelineRun, Product, Run, WorkKind
from tests.browser.conftest import Visitor
from tests.browser.test_admin import DESK, at_once, press, researcher, sign_in, tab  # noqa: F401 - fixtures
from tests.browser.test_new_researcher import look, take_part
from tests.browser.walking import leave_by
from tests.judging import endpoint
from tests.judging.generating import make_endpoint, study_of_queries
from tests.judging.generation.contents import CONTENTS

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

QUERIES = [{"key": f"q{n}", "text": f"Which soup can I make on day {n}?"} for n in range(3)]


def product_of(study: Study, pipeline: str, step: str, content: Any) -> Product:
    """A product of a complete run, in a study that has queries."""
    run = Run.objects.create(study=study, work=WorkKind.GENERATION, state="complete", last_subject=None)
    PipelineRun.objects.create(run=run, pipeline=pipeline, version="1", seed=1)
    query = study.queries.order_by("pk")[0]
    unit = GenerationUnit.objects.create(run=run, query=query, step=step, key="d1", outcome="ok")
    return Product.objects.create(
        unit=unit, number=1, content=content, provenance={"model": "aspen", "endpoint": "here"}
    )


@pytest.fixture
def queries(researcher: Any, tmp_path: Any) -> Study:  # noqa: F811 - the fixture
    study = study_of_queries(tmp_path, QUERIES)
    study.members.create(user=researcher, role="owner")
    return study


def test_entries_of_a_draft_are_edited_row_by_row(
    new_visitor: Callable[..., Visitor], queries: Study
) -> None:
    product = product_of(queries, "condition_drafts", "drafts", CONTENTS["condition_drafts", "drafts"])
    visitor = new_visitor(viewport=DESK)
    page = visitor.page
    sign_in(visitor)
    visitor.go(f"/studies/{queries.slug}/generation/products/{product.pk}/")
    look(visitor, "product-entries")
    first, second = page.get_by_role("group", name="Entry 1"), page.get_by_role("group", name="Entry 2")
    first.get_by_label("Answer 3").fill("In spring")
    first.get_by_label("Citations").fill("1, two")
    second.get_by_label("Remove").check()
    press(page, "More rows")
    first.get_by_label("Answer 5").fill("A fifth")
    press(page, "Save")
    page.get_by_text("Enter whole numbers with commas between them").wait_for()
    look(visitor, "product-refused")
    first.get_by_label("Citations").fill("1, 2")
    press(page, "Save")
    page.get_by_role("listitem").get_by_text(f"Edited product {product.pk}").wait_for()
    product.refresh_from_db()
    [entry] = product.edited["entries"]
    assert entry["answers"] == ["1849", "In March", "In spring", "A fifth"]
    assert entry["citations"] == [1, 2]
    leave_by(page.get_by_role("link", name="Edit"))
    look(visitor, "product-edited")
    press(page, "Take the original back")
    page.get_by_role("listitem").get_by_text("Took back the original").wait_for()
    product.refresh_from_db()
    assert product.edited is None


def test_from_a_file_of_queries_to_a_judged_study(
    new_visitor: Callable[..., Visitor],
    researcher: Any,  # noqa: F811 - the fixture
    tmp_path: Path,
    settings: Any,
) -> None:
    (tmp_path / "corpora").mkdir()
    settings.ASSAY_CORPORA = str(tmp_path / "corpora")
    desk = new_visitor(viewport=DESK)
    page = desk.page
    sign_in(desk)
    with endpoint.serve() as served:
        make_endpoint(served, models=("aspen", "birch", "longer"))
        generate_responses(desk, tmp_path)
        drop_and_edit(desk)
        make_and_launch(desk)
        made = Study.objects.get(slug="soup-pairs")
        # The pair whose response was dropped is none.
        assert made.items.count() == 3
        edited = Response.objects.get(query__study=made, text="A soup of leek, as somebody wrote it.")
        assert edited.items.exists()

        take_part(new_visitor().page, page.text_content("code.link") or "")
        assert Judgment.objects.filter(outcome="ok", rater__kind="person").count() == 3
        tab(page, "Judges")
        press(page, "New judge")
        page.get_by_label("Name", exact=True).fill("model")
        page.get_by_label("Endpoint").select_option(label="here")
        page.get_by_label("Model", exact=True).fill("longer")
        press(page, "Save judge")
        press(page, "Start a run")
        press(page, "Start the run")  # the first press tries a few items
        page.locator("#try .status", has_text="readable").wait_for()
        press(page, "Start the run")
        page.locator("#run-status .status", has_text="complete").wait_for()
    tab(page, "Report")
    look(desk, "generation-report")
    said = " ".join((page.text_content("main") or "").split())
    for words in ("Agreement with people", "model v1"):
        assert words in said


def generate_responses(desk: Visitor, folder: Path) -> None:
    """From an empty draft and a CSV to the products of a run."""
    page = desk.page
    press(page, "New study")
    page.get_by_label("Title").fill("Soups")
    press(page, "Begin the study")
    tab(page, "Design")
    leave_by(page.get_by_role("link", name="Generation", exact=True))
    look(desk, "generation-empty")
    press(page, "Corpora")
    look(desk, "generation-corpora-empty")
    corpus = folder / "soups.jsonl"
    corpus.write_text('{"id": "leek", "text": "Leek soup takes an hour."}\n{"id": "pea"}\n')
    page.get_by_label("File", exact=True).set_input_files(corpus)
    press(page, "Upload and check")
    page.get_by_text("text is no text").wait_for()
    look(desk, "generation-corpus-refused")
    press(page, "Upload another file")
    corpus.write_text(
        '{"id": "leek", "text": "Leek soup takes an hour."}\n{"id": "pea", "text": "Peas are green."}\n'
    )
    page.get_by_label("File", exact=True).set_input_files(corpus)
    press(page, "Upload and check")
    page.get_by_text("soups.jsonl is a corpus of 2 documents.").wait_for()
    press(page, "To the generation page")
    press(page, "Corpora")
    look(desk, "generation-corpora")
    press(page, "Back")

    press(page, "Upload queries")
    look(desk, "generation-upload")
    table = folder / "soups.csv"
    table.write_text(
        "prompt,topic\n" + "".join(f"Which soup can I make on day {n}?,soup\n" for n in range(4))
    )
    page.get_by_label("File", exact=True).set_input_files(table)
    press(page, "Upload and check")
    page.get_by_text("4 queries added.", exact=True).wait_for()
    look(desk, "generation-queries-added")
    press(page, "To the generation page")
    look(desk, "generation-queries")

    page.get_by_role("link", name="Responses", exact=True).click()
    page.get_by_label("Systems", exact=True).fill("aspen\nbirch")
    page.get_by_label("Responses are written").select_option("without")
    press(page, "Estimate")
    page.get_by_role("heading", name="At most").wait_for()
    look(desk, "generation-start")
    press(page, "Start")
    page.get_by_text("complete", exact=True).first.wait_for()
    look(desk, "generation-run")


def drop_and_edit(desk: Visitor) -> None:
    page = desk.page
    page.locator('input[name="product"]').first.check()
    press(page, "Drop")
    page.get_by_text("Dropped 1 product").first.wait_for()
    leave_by(page.get_by_role("link", name="Edit").last)
    look(desk, "generation-product")
    text = page.get_by_label("Text", exact=True)
    text.fill(" ")
    press(page, "Save")
    page.get_by_text("must be a text.").wait_for()
    text.fill("A soup of leek, as somebody wrote it.")
    press(page, "Save")
    page.get_by_role("listitem").get_by_text("Edited product").wait_for()
    look(desk, "generation-edited")


def make_and_launch(desk: Visitor) -> None:
    page = desk.page
    press(page, "Make a study of the products")
    page.get_by_label("Arms", exact=True).select_option("without")
    page.get_by_label("Title", exact=True).fill("Soup pairs")
    page.get_by_label("Slug", exact=True).fill("soup-pairs")
    look(desk, "generation-make")
    press(page, "Create the draft")
    page.get_by_text("Soup pairs is a draft of 3 items.").wait_for()
    look(desk, "generation-made")
    press(page, "To the overview")
    press(page, "Launch")
    page.get_by_label("I confirm all of these").check()
    press(page, "Launch now")
    page.get_by_text("is live.").first.wait_for()


def test_products_of_a_file_come_into_a_study(
    new_visitor: Callable[..., Visitor], queries: Study, tmp_path: Path
) -> None:
    desk = new_visitor(viewport=DESK)
    page = desk.page
    sign_in(desk)
    desk.go(f"/studies/{queries.slug}/generation/")
    press(page, "Import products")
    look(desk, "generation-import")
    lines = [{"assay_products": 1, "pipeline": "responses"}]
    for n, text in enumerate(["Leek.", " ", "Pea."]):
        content = {"system": "aspen", "text": text}
        lines.append({"query": f"q{n}", "step": "responses", "unit": "aspen:without", "content": content})
    file = tmp_path / "products.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    page.get_by_label("File", exact=True).set_input_files(file)
    press(page, "Upload and check")
    page.get_by_role("row", name="line 3").get_by_text("must be a text.").wait_for()
    look(desk, "generation-import-refused")
    press(page, "Upload another file")
    file.write_text("".join(f"{json.dumps(line)}\n" for line in [*lines[:2], lines[3]]))
    page.get_by_label("File", exact=True).set_input_files(file)
    press(page, "Upload and check")
    page.get_by_text("2 products are in run").wait_for()
    press(page, "To the generation page")
    page.get_by_role("row", name="Responses").get_by_role("link").click()
    with page.expect_download() as export:
        page.get_by_role("link", name="Export products").click()
    exported = Path(export.value.path()).read_text().splitlines()
    assert [json.loads(line)["content"]["text"] for line in exported[1:]] == ["Leek.", "Pea."]
