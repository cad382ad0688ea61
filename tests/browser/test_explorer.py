"""Items and their judgments as a researcher goes through them: by key, beside the screen, excluding in place."""

from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from analytics.reports.cache import compute_report
from evaluation.models import Exclusion, ItemFlag
from evaluation.protocols import AnswerValue
from evaluation.services.judgments import JudgmentInput, record_judgments
from judging.models import Call, Judge
from tests.analytics.reports.judging import judge, judged_study
from tests.answers import give_answers
from tests.browser.conftest import PHONE, WIDE, Visitor
from tests.browser.looking import look
from tests.browser.test_members import let_in
from tests.browser.walking import leave_by
from tests.crowd import come, hand_in
from tests.evaluation.admin.conftest import make_user, work_on
from tests.judging.build import make_judge_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ARABIC = "هذا الجواب أوضح وأقصر."


@pytest.mark.parametrize("viewport", [WIDE, PHONE], ids=["wide", "phone"])
def test_from_item_to_item_and_from_a_flag_to_the_texts(
    new_visitor: Callable[..., Visitor], viewport: dict[str, int]
) -> None:
    world = work_on("explored", make_user("ada"))
    hand_in(world.participant.token)
    hand_in(come(world.study, "another").token, justification=ARABIC, preference="r2")
    visitor = let_in(new_visitor(viewport=viewport), world.owner)
    page = visitor.page
    items = list(world.study.items.filter(role="main").order_by("position", "pk"))
    address = reverse("admin:evaluation_item_page", args=[world.study.slug, items[0].pk])
    visitor.go(address)
    look(visitor, "item_page")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Item {items[1].key}")
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Item {items[0].key}")
    screen = page.frame_locator("iframe")
    expect(screen.get_by_role("heading", name="Response 1")).to_be_visible()
    expect(screen.locator("textarea").first).to_be_disabled()

    visitor.go(reverse("admin:evaluation_study_quality", args=[world.study.slug]))
    leave_by(page.get_by_role("link", name=str(world.participant.rater), exact=True))
    look(visitor, "participant_page")
    card = page.get_by_role("article").first
    card.get_by_text("Exclude…").click()
    card.get_by_label("Reason").fill("It names the other response.")
    leave_by(card.get_by_role("button", name="Exclude"))
    expect(page.get_by_role("article").first).to_contain_text("It names the other response.")
    excluded = Exclusion.objects.get(reason="It names the other response.").judgment
    assert page.url.endswith(f"{world.participant.pk}/#j{excluded.pk}")
    leave_by(page.get_by_role("article").first.get_by_role("link", name="As filled in"))
    look(visitor, "judgment_page")
    expect(page.frame_locator("iframe").locator("input[name=preference]:checked")).to_have_value("r1")
    visitor.assert_calm()


@pytest.mark.parametrize("viewport", [WIDE, PHONE], ids=["wide", "phone"])
def test_several_values_of_a_filter_are_chosen_by_keys(
    new_visitor: Callable[..., Visitor], viewport: dict[str, int]
) -> None:
    world = work_on("explored", make_user("ada"))
    hand_in(world.participant.token)
    visitor = let_in(new_visitor(viewport=viewport), world.owner)
    page = visitor.page
    visitor.go(reverse("admin:evaluation_item_list", args=[world.study.slug]))
    page.get_by_text("Filters", exact=True).press("Enter")
    page.locator("#find-by").press("Enter")
    for kind in ("person", "judge"):
        page.get_by_role("group", name="Judged by").get_by_role("checkbox", name=kind).press("Space")
    look(visitor, "item_list")
    leave_by(page.get_by_role("button", name="Show", exact=True))
    chosen = page.get_by_role("list", name="Chosen").get_by_role("listitem")
    expect(chosen).to_have_count(2)
    expect(page.get_by_text("2 items, ")).to_be_visible()
    assert "by=person&by=judge" in page.url
    visitor.assert_calm()


@pytest.mark.parametrize("viewport", [WIDE, PHONE], ids=["wide", "phone"])
def test_a_reply_and_its_prompt_are_opened_beside_the_answers(
    new_visitor: Callable[..., Visitor], viewport: dict[str, int]
) -> None:
    world = work_on("explored", make_user("ada"))
    item, revision = world.item, world.study.revisions.get()
    asked = Judge.objects.create(
        study=world.study, name="asked", backend="chat", model="gpt-x", endpoint=world.endpoint
    )
    rater = world.study.raters.create(kind="judge", label="asked v1")
    run = make_judge_run(asked, revision, rater)
    reply = {"state": "final", "outcome": "unparsed", "raw": "Both are fine.", "error": "no choice"}
    Call.objects.create(run=run, item=item, order="r2,r1", **reply)
    given = {"rater_id": rater.pk, "item_id": item.pk, "revision_id": revision.pk}
    failed = JudgmentInput(**given, outcome="unparsed", shown="r2,r1")
    record_judgments(study=world.study, batch=[failed])
    visitor = let_in(new_visitor(viewport=viewport), world.owner)
    visitor.go(reverse("admin:evaluation_item_page", args=[world.study.slug, item.pk]))
    card = visitor.page.get_by_role("article", name="asked v1")
    card.get_by_text("Reply and prompt").press("Enter")
    expect(card.get_by_text("Both are fine.")).to_be_visible()
    expect(card.get_by_text("These are the exact messages that are sent.")).to_be_visible()
    expect(card.get_by_role("link", name="Prompt")).to_have_count(0)
    expect(card.get_by_role("region", name="user")).to_contain_text(item.query.text)
    look(visitor, "item_page_prompt")
    visitor.assert_calm()


def test_from_a_sentence_of_the_report_to_a_reason_in_two_clicks_and_from_a_flag_in_one(
    new_visitor: Callable[..., Visitor],
) -> None:
    ada = make_user("ada")
    study = judged_study("reasoned", owner=ada)
    judge(study, choose=lambda rater, position: "r1")
    for each in study.judgments.select_related("rater"):
        reason = AnswerValue("justification", "text", text=f"{each.rater} misses a source.")
        give_answers(each, [AnswerValue("preference", "preference", label="r1"), reason])
    item = study.items.filter(role="main")[0]
    ItemFlag.objects.create(item=item, reason="reported", note="It names no source.")
    compute_report(study)
    visitor = let_in(new_visitor(), ada)
    page = visitor.page
    visitor.go(reverse("analytics:study-report", args=[study.slug]))
    leave_by(page.locator(".findings").get_by_role("link", name="Its items").first)
    assert f"/studies/{study.slug}/items/?" in page.url
    leave_by(page.locator("tbody th a, tbody td a").first)
    reason = page.get_by_text("misses a source.").first
    expect(reason).to_be_visible()
    visitor.go(reverse("admin:evaluation_study_overview", args=[study.slug]))
    leave_by(page.get_by_role("link", name=item.key, exact=True).first)
    expect(page.get_by_text("misses a source.").first).to_be_visible()
    expect(page.frame_locator("iframe").get_by_role("heading", name="Response 1")).to_be_visible()
    visitor.assert_calm()
