"""Studies made of studies: a rehearsal with its refusals, a copy, items added, a second round; each page looked at."""

from pathlib import Path
from typing import Any

import pytest

from annotator.services.work.submit import submit
from config.celery import app
from evaluation.models import Item, Job, Study
from evaluation.services.studies.creation import PAPER_ARMS
from evaluation.tasks import work_on_job
from tests.browser.test_admin import DESK, at_once, press, researcher, sign_in  # noqa: F401 - fixtures
from tests.browser.test_new_researcher import look
from tests.crowd import before, come, filled_in, make_crowd_study
from tests.evaluation.dumps import build

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def judged(researcher: Any) -> Study:  # noqa: F811 - the fixture
    """A live study of three pairs, on which two people never agree."""
    study = make_crowd_study("soups", owner=researcher, queries=3, arms=PAPER_ARMS[:1], redundancy=2)
    for preference in ("r1", "r2"):
        token = come(study).token
        while assignment := before(token):
            submit(token, assignment.pk, filled_in(assignment, preference=preference))
    return study


def test_a_rehearsal_is_refused_and_then_filled_in_the_background(
    new_visitor: Any, judged: Study, tmp_path: Path
) -> None:
    visitor = new_visitor(viewport=DESK)
    page = visitor.page
    owner = judged.members.get().user
    file = build.write(tmp_path / "draft.jsonl", build.header(), build.item())
    draft = build.read_in(file, slug="draft", owner=owner)
    sign_in(visitor)
    visitor.go(f"/studies/{draft.slug}/rehearse/")
    page.get_by_label("Hurried (%)").fill("80")
    page.get_by_label("Random (%)").fill("30")
    press(page, "Rehearse")
    page.get_by_text("from 0 to 100 % together").wait_for()
    look(visitor, "making-rehearse-refused")
    page.get_by_label("Random (%)").fill("20")
    app.conf.task_always_eager = False  # a worker that is still busy with something else
    press(page, "Rehearse")
    page.get_by_text("Waiting for the worker.").wait_for()
    look(visitor, "making-rehearse-waiting")
    work_on_job(Job.objects.get().pk)
    page.get_by_text("simulated participants:").wait_for()  # the page asks by itself
    press(page, "Report of the rehearsal")
    look(visitor, "making-rehearsal-report")
    # What was refused made none, and the draft is as it was.
    rehearsal = Study.objects.get(rehearsal_of=draft)
    assert rehearsal.judgments.exists()
    assert not draft.judgments.exists()


def test_a_copy_of_a_study(new_visitor: Any, judged: Study) -> None:
    visitor = new_visitor(viewport=DESK)
    sign_in(visitor)
    visitor.go(f"/studies/{judged.slug}/duplicate/")
    look(visitor, "making-duplicate")
    visitor.page.get_by_label("Slug").fill("soups")
    press(visitor.page, "Create the draft")
    visitor.page.locator(".errorlist, .errornote").first.wait_for()
    look(visitor, "making-duplicate-refused")
    visitor.page.get_by_label("Slug").fill("more-soups")
    press(visitor.page, "Create the draft")
    visitor.page.get_by_text("Duplicated as").wait_for()
    look(visitor, "making-copy")
    assert Study.objects.get(slug="more-soups").items.count() == 3


def test_items_are_added_from_a_file(new_visitor: Any, judged: Study, tmp_path: Path) -> None:
    visitor = new_visitor(viewport=DESK)
    page = visitor.page
    sign_in(visitor)
    visitor.go(f"/studies/{judged.slug}/add-items/")
    look(visitor, "making-add-items")
    app.conf.task_always_eager = False  # the worker is a moment behind
    arm = judged.arms.get().key
    systems = list(judged.systems.values_list("key", flat=True))
    responses = [{"system": key, "text": f"Of {key}"} for key in systems]
    for name, given, said in (
        ("bad", {"arm": "nowhere"}, "no arm"),
        ("good", {"arm": arm, "responses": responses}, "Add these items?"),
    ):
        file = build.write(tmp_path / f"{name}.jsonl", build.item(9, **given))
        visitor.go(f"/studies/{judged.slug}/add-items/")
        page.get_by_label("File", exact=True).set_input_files(file)
        press(page, "Upload and check")
        page.get_by_text("Waiting for the worker.").wait_for()
        work_on_job(Job.objects.first().pk)
        # The page asks again by itself, and leads on once there is something to confirm.
        page.get_by_text(said).first.wait_for()
        look(visitor, f"making-add-items-{name}")
    press(page, "Add the items")
    page.get_by_text("Waiting for the worker.").wait_for()
    work_on_job(Job.objects.first().pk)
    page.get_by_text("Added 1 item as revision 2.").wait_for()
    assert Item.objects.filter(study=judged).count() == 4


def test_a_second_round_is_derived(new_visitor: Any, judged: Study) -> None:
    visitor = new_visitor(viewport=DESK)
    page = visitor.page
    sign_in(visitor)
    visitor.go(f"/studies/{judged.slug}/derive/")
    look(visitor, "making-derive")
    press(page, "Second round of disagreements")
    look(visitor, "making-derive-options")
    press(page, "Preview the draft")
    page.get_by_role("heading", name="The first item").wait_for()
    look(visitor, "making-derive-plan")
    press(page, "Create the draft")
    page.get_by_text("is a draft. Check it, then launch it.").wait_for()
    look(visitor, "making-derived")
    assert Study.objects.exclude(pk=judged.pk).get().items.count() == 3
