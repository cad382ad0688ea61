"""A study in Arabic: its pages run from right to left on a laptop and on a phone, without an error that axe finds."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotator.models import Participant
from annotator.services.admission.entry import enter
from annotator.visit import Visit
from evaluation.models import Context, Judgment, Query, Response
from tests import protocol_factories as make
from tests.browser import material
from tests.browser.conftest import Visitor
from tests.browser.looking import Setting, look
from tests.browser.test_screens import ITEMS_ONLY, PANEL
from tests.browser.walking import resize, segment, until

pytestmark = [pytest.mark.browser, pytest.mark.audit, pytest.mark.django_db(transaction=True)]

BOTH = (Setting(), Setting(width=390))
QUERY = "هل القهوة مفيدة للصحة؟"
FIRST = (
    "بالنسبة إلى معظم البالغين الأصحاء، لا ضرر في ثلاثة أو أربعة فناجين يوميًا ضمن نظام غذائي متوازن.\n\n"
    "مع ارتفاع ضغط الدم يُنصح بالحذر: يرفع الكافيين الضغط بضع ساعات بعد الفنجان."
)
SECOND = "القهوة من أكثر المشروبات دراسةً. من فوائدها:\n\n- زيادة اليقظة والتركيز،\n- مضادات الأكسدة.\n\nSee `coffee`."
FOLLOW_UPS = [
    {"question": "هل تعاني من ارتفاع ضغط الدم؟", "answers": ["نعم", "لا"], "answer": "نعم"},
    {"question": "كم فنجانًا تشرب في اليوم؟", "answers": ["واحدًا", "اثنين"], "answer": "اثنين"},
]


def in_arabic(**fields: Any) -> Participant:
    """At the first item of a pairwise study whose own texts are Arabic, too."""
    study = material.make_draft(
        "arabic", arms=(material.WITH,), language="ar", title="مقارنة الردود", asker="السائل", **fields
    )
    for n in range(3):
        material.add_item(study, study.arms.get(), f"item-{n}", QUERY, (FIRST, SECOND))
    Query.objects.update(text=QUERY)
    Response.objects.filter(system__key="aspen").update(text=FIRST)
    Response.objects.filter(system__key="birch").update(text=SECOND)
    Context.objects.update(follow_ups=FOLLOW_UPS)
    return enter(make.launch(study), PANEL)


def is_right_of(page: Page, one: str, other: str) -> bool:
    boxes = [page.locator(each).first.bounding_box() for each in (one, other)]
    assert boxes[0]
    assert boxes[1]
    return boxes[0]["x"] > boxes[1]["x"]


def test_responses_and_choices_begin_at_the_right(visitor: Visitor) -> None:
    participant = in_arabic(steps=ITEMS_ONLY)
    page = visitor.page
    visitor.go(f"/p/{participant.token}/")
    assert page.evaluate("[document.documentElement.lang, document.dir]") == ["ar", "rtl"]
    look(visitor, "arabic-pairwise", BOTH)
    resize(page, {"width": 1280, "height": 900})
    assert is_right_of(page, ".pane >> nth=0", ".pane >> nth=1")
    assert page.locator(".query").evaluate("node => parseFloat(getComputedStyle(node).paddingRight)") > 10
    for name in ("preference", "satisfied.f1.r1"):
        first, last = (f'label:has([name="{name}"]) >> nth={n}' for n in (0, -1))
        assert is_right_of(page, first, last)
    # What is left to answer is counted in the forms of Arabic: six, then two, then one, then none.
    left = page.locator(".missing")
    expect(left).to_have_text("بقيت 6 إجابات")
    for part in ("f1.r1", "f1.r2", "f2.r1", "f2.r2"):
        segment(page, f"satisfied.{part}", "1")
    expect(left).to_have_text("بقيت إجابتان")
    # A key of an Arabic keyboard, which has another letter where T is.
    page.locator("h2").first.click()
    page.keyboard.press("Escape")
    page.evaluate(
        """document.body.dispatchEvent(
            new KeyboardEvent("keydown", {key: "ف", code: "KeyT", bubbles: true, cancelable: true}))"""
    )
    expect(page.locator('[name="preference"][value="tie"]')).to_be_checked()
    expect(left).to_have_text("بقيت إجابة واحدة")
    page.locator('[name="justification"]').fill("كلاهما يذكر ضغط الدم، والأول أوضح.")
    expect(left).to_have_text("تمت الإجابة عن كل الأسئلة")
    with page.expect_navigation():
        page.get_by_role("button", name="إرسال ومتابعة").click()
    answers = Judgment.objects.get().answers
    assert answers.get(question="preference").label == "tie"
    expect(page.locator(".count")).to_have_text("2 من 3")


def test_the_numbers_of_a_list_stand_inside_the_page(visitor: Visitor) -> None:
    """As the instructions have them that an Arabic study begins with."""
    participant = in_arabic(steps={**ITEMS_ONLY, "instructions": True})
    page = visitor.page
    visitor.go(f"/p/{participant.token}/")
    expect(page.locator("h1")).to_have_text("التعليمات")
    look(visitor, "arabic-instructions", BOTH)
    listed = page.locator(".prose ol")
    assert listed.locator("li").count() == 3
    assert listed.evaluate("node => parseFloat(getComputedStyle(node).paddingRight)") > 20


def test_the_door_a_refused_form_and_the_dialog_that_asks(visitor: Visitor) -> None:
    participant = in_arabic(steps=ITEMS_ONLY)
    page = visitor.page
    visitor.go(f"/s/{participant.study.slug}/")
    look(visitor, "arabic-door", BOTH)
    visitor.go(f"/p/{participant.token}/")
    resize(page, {"width": 1280, "height": 900})
    with page.expect_navigation():
        page.get_by_role("button", name="إرسال ومتابعة").click()
    expect(page.locator(".errors h2")).to_have_text("هناك مشكلة في 3 إجابات")
    look(visitor, "arabic-refused", BOTH)
    resize(page, {"width": 1280, "height": 900})
    page.get_by_role("button", name="تخطي هذا العنصر").click()
    expect(page.locator("#skip-title")).to_have_text("هل تريد تخطي هذا العنصر؟")
    visitor.go(f"/p/{participant.token}/withdraw/")
    with page.expect_navigation():
        page.get_by_role("button", name="الانسحاب").click()
    look(visitor, "arabic-end", BOTH)


@pytest.mark.parametrize(
    ("name", "build"),
    [
        ("aspects", make.make_aspects_study),
        ("ranking", make.make_ranking_study),
        ("quality", make.make_question_quality_study),
        ("relevance", make.make_relevance_study),
        ("validation", make.make_context_validation_study),
        ("calibration", make.make_condition_calibration_study),
    ],
)
def test_every_arrangement_is_mirrored_and_fits(visitor: Visitor, name: str, build: Any) -> None:
    participant = enter(build(f"ar-{name}", language="ar"), Visit("prolific", "5f0c", "study", "visit"))
    page = visitor.page
    visitor.go(f"/p/{participant.token}/")
    while not page.locator("#judge").count():
        with page.expect_navigation():
            page.locator("form.actions button").first.click()
    until(page, lambda: page.evaluate("document.readyState") == "complete")
    look(visitor, f"arabic-{name}", BOTH)
    resize(page, {"width": 1280, "height": 900})
    group = page.locator("#judge .seg:not(.lines):visible").first
    if group.count():
        xs = [each.bounding_box()["x"] for each in group.locator("label").all()]  # type: ignore[index]
        assert xs == sorted(xs, reverse=True)


def test_arrow_keys_move_between_tabs_the_way_they_point(visitor: Visitor) -> None:
    participant = enter(make.make_aspects_study("ar-tabs", language="ar"), Visit("prolific", "5f", "s", "v"))
    page = visitor.page
    visitor.go(f"/p/{participant.token}/")
    while not page.locator("#judge").count():
        with page.expect_navigation():
            page.locator("form.actions button").first.click()
    tabs = page.locator("[role=tab]")
    assert is_right_of(page, "[role=tab] >> nth=0", "[role=tab] >> nth=1")
    tabs.first.focus()
    page.keyboard.press("ArrowLeft")
    expect(tabs.nth(1)).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(tabs.first).to_be_focused()
