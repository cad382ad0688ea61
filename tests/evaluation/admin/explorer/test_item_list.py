"""The list of items: found by words and filters in the address, sorted, and read page by page."""

import html
import re

import pytest
from django.test import Client
from django.urls import reverse

from evaluation.admin.explorer import item_list
from evaluation.explorer.item_filters import ItemFilters
from evaluation.models import AnswerText, Item, ItemFlag, ItemTally
from evaluation.services.members import add_member
from evaluation.services.tallies import recount
from tests import factories
from tests.analytics.reports.judging import answer, judge, judged_study, main_items
from tests.judged_contrast import made, owner, shared, study

__all__ = ["made", "owner", "shared", "study"]
KEY = re.compile(r'<a href="/studies/contrast/items/(\d+)/[^"]*"\s*>([^<]+)</a>')


@pytest.fixture
def page(db, study, shared):
    client = Client()
    client.force_login(shared.owner)

    def get(query=""):
        response = client.get(reverse("admin:evaluation_item_list", args=[study.slug]) + query)
        return response.status_code, " ".join(html.unescape(response.content.decode()).split())

    return get


def shown(text):
    return [int(pk) for pk, _ in KEY.findall(text)]


def test_a_row_has_the_prompt_the_systems_and_what_was_answered(study, page):
    item = main_items(study)[0]
    machine = study.raters.create(kind="judge", pseudonym="machine")
    answer(study, machine, item, "r2")
    reason = item.judgments.filter(rater__kind="person").first()
    AnswerText.objects.create(judgment=reason, question="justification", text="It is shorter.")
    ItemFlag.objects.create(item=item, reason="skipped")
    status, text = page()
    assert status == 200
    row = text[text.index("<tbody") :].split("</tr>")[0]
    assert item.key in row
    assert "What about q0?" in row
    assert row.count("<bdi>aspen</bdi>") == row.count("<bdi>birch</bdi>") == 1
    assert '<span class="visually-hidden">1 birch</span>' in row
    assert "flagged" in row
    assert "36 items, 109 judgments" in text
    tally = ItemTally.objects.get(item=item)
    assert f'data-label="vs judges">{tally.against_judges:.2f}</td>' in row
    assert 'data-label="Reasons">1</td>' in row


def test_choices_stand_in_the_address_and_each_can_be_taken_away(page):
    _, text = page("?arm=CtxGen-CtxEval&by=person&q=q1&sort=disagreement")
    assert "3 items, 9 judgments" in text
    chips = text[text.index('class="chips"') : text.index("</ul>", text.index('class="chips"'))]
    assert re.findall(r'href="\?([^"]*)"', chips) == [
        "q=q1&by=person&sort=disagreement",
        "arm=CtxGen-CtxEval&by=person&sort=disagreement",
        "arm=CtxGen-CtxEval&q=q1&sort=disagreement",
    ]
    assert re.search(r"/items/\d+/\?arm=CtxGen-CtxEval&q=q1&by=person&sort=disagreement\"", text)
    assert 'value="q1"' in text
    assert re.search(r'value="disagreement" selected', text)


def test_several_values_of_a_name_are_ticked_and_stay_so(page):
    _, text = page("?by=judge&by=person&answer=preference:tie&answer=preference:r1&role=main")
    for name, ticked, free in (("by", ("judge", "person"), "settled"), ("answer", ("preference:tie",), None)):
        for value in ticked:
            assert f'type="checkbox" name="{name}" value="{value}" checked' in text
        if free:
            assert f'type="checkbox" name="{name}" value="{free}">' in text
    # An answer that the form does not offer is one more that can be unticked.
    assert 'name="answer" value="preference:r1" checked' in text
    assert "Judged by: </span>person, judge</summary>" in text
    assert (
        'type="hidden"'
        not in text[text.index("find-items") : text.index("</form>", text.index("find-items"))]
    )


@pytest.mark.parametrize("sort", ["position", "disagreement", "against_judges", "newest", "slowest"])
def test_pages_follow_one_another_in_every_order(study, page, monkeypatch, sort):
    """Forth and back, each item once, those without a number last."""
    monkeypatch.setattr(item_list, "ROWS", 10)
    while recount(study):
        pass
    for at, item in enumerate(main_items(study)):
        numbers = {"disagreement": at % 4 / 4, "longest_ms": at % 3} if at % 5 else {"disagreement": None}
        ItemTally.objects.filter(item=item).update(**numbers)
    filters = ItemFilters.parse(study, {"sort": [sort]})
    wanted = {each.pk for each in filters.items(study)}
    forth, query = [], f"?sort={sort}"
    while query:
        _, text = page(query)
        forth += shown(text)
        found = re.search(r'rel="next" href="([^"]*)"', text)
        query = found[1] if found else ""
    assert len(forth) == len(wanted) == 36
    assert set(forth) == wanted
    back, query = shown(text), re.search(r'rel="prev" href="([^"]*)"', text)[1]
    while query:
        _, text = page(query)
        back = shown(text) + back
        found = re.search(r'rel="prev" href="([^"]*)"', text)
        query = found[1] if found else ""
    assert back == forth
    column = {"disagreement": "disagreement", "slowest": "longest_ms"}.get(sort)
    if column:
        values = dict(ItemTally.objects.values_list("item", column))
        order = [-1 if values[pk] is None else values[pk] for pk in forth]
        assert order == sorted(order, reverse=True)
    middle = Item.objects.get(pk=forth[17])
    assert filters.neighbours(study, middle) == (forth[16], forth[18])
    assert filters.neighbours(study, Item.objects.get(pk=forth[0]))[0] is None
    assert filters.neighbours(study, Item.objects.get(pk=forth[-1]))[1] is None


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("?role=gold", "Role: there is no 'gold', but main"),
        ("?arm=none", "The study has no setting 'none'"),
        ("?after=x", "'x' is no item's id."),
        ("?after=999999999", "The list has no item 999999999"),
        ("?answer=taste:r1", "The study has no question 'taste'"),
        ("?until=x", "'x' is no judgment's id."),
        ("?view=none", "The study has no saved view 'none'"),
    ],
)
def test_what_does_not_fit_is_said_beside_what_was_asked(page, query, sentence):
    status, text = page(query)
    assert status == 422
    assert sentence in text
    assert "<tbody" not in text


def test_a_view_of_the_report_and_a_list_lead_to_each_other(study, page):
    assert (
        f'href="/studies/{study.slug}/report/?arm=CtxGen-CtxEval"'
        in page("?arm=CtxGen-CtxEval&sort=newest")[1]
    )
    assert "Report of this view" not in page("?arm=CtxGen-CtxEval&q=aspen")[1]
    client = Client()
    client.force_login(study.members.first().user)
    report = client.get(f"/studies/{study.slug}/report/?arm=CtxGen-CtxEval").content.decode()
    assert f'href="/studies/{study.slug}/items/?arm=CtxGen-CtxEval">Items of this view' in report


@pytest.mark.parametrize(
    ("query", "some", "all_of_them"),
    [
        ("", "more than 5 items", "36 items, 108 judgments"),
        ("query=q1", "3 items, more than 5 judgments", "3 items, 9 judgments"),
        ("by=person", "more than 5 judgments", "36 items, 108 judgments"),
        ("q=what+about", "36 items", "36 items, 108 judgments"),
    ],
)
def test_many_are_counted_when_that_is_asked_for(page, monkeypatch, query, some, all_of_them):
    monkeypatch.setattr(item_list, "MOST_COUNTED", 5)
    monkeypatch.setattr("evaluation.explorer.search.RARE", 30)
    _, text = page(f"?{query}")
    assert f"<span>{some}</span>" in text
    assert f'<a href="?{query}&count=all">Count all</a>' in text
    _, text = page(f"?{query}&count=all")
    assert f"<span>{all_of_them}</span>" in text
    assert "Count all" not in text


def test_of_a_common_word_a_page_says_that_there_are_more(page, monkeypatch):
    monkeypatch.setattr(item_list, "ROWS", 5)
    monkeypatch.setattr("evaluation.explorer.search.RARE", 30)
    _, text = page("?q=what+about")
    assert "<span>more than 5 items</span>" in text
    after = re.search(r'rel="next" href="([^"]*)"', text)[1]
    assert "<span>more than 5 items</span>" in page(after)[1]


def test_majorities_are_said_to_be_today_s_where_many_items_were_judged_since(study, page, monkeypatch):
    monkeypatch.setattr("evaluation.explorer.majorities.MOST_RECOUNTED", 0)
    monkeypatch.setattr(item_list, "MOST_RECOUNTED", 0)
    first, *_, last = study.judgments.order_by("pk").values_list("pk", flat=True)
    said = "Majorities are today's"
    assert said in page(f"?majority=r1&until={first}")[1]
    assert said in page(f"?vs=differ&until={first}")[1]
    for query in (f"?majority=r1&until={last}", f"?by=person&until={first}", "?majority=r1"):
        assert said not in page(query)[1], query
    monkeypatch.undo()
    assert said not in page(f"?majority=r1&until={first}")[1]


def test_what_is_not_counted_yet_is_said(study, page, monkeypatch):
    monkeypatch.setattr("evaluation.services.tallies.CHUNK", 3)
    assert "33 items are still being counted" in page()[1]
    while recount(study):
        pass
    assert "still being counted" not in page()[1]


def test_members_alone_read_it_and_nobody_writes_to_it(study, outsider):
    address = reverse("admin:evaluation_item_list", args=[study.slug])
    client = Client()
    client.force_login(outsider)
    assert client.get(address).status_code == 404
    add_member(study, user=outsider, role="viewer", by=study.members.first().user)
    assert client.get(address).status_code == 200
    assert client.post(address).status_code == 405


def test_a_draft_s_items_are_previewed_and_an_empty_one_is_filled(owner):
    draft = factories.make_study("draft", owner=owner, queries=1)
    client = Client()
    client.force_login(owner)
    address = reverse("admin:evaluation_item_list", args=[draft.slug])
    text = client.get(address).content.decode()
    item = draft.items.first()
    assert reverse("admin:evaluation_item_preview", args=[item.pk]) in text
    assert '<span class="mark">draft</span>' in text
    assert "<bdi>birch</bdi>" in text
    draft.items.all().delete()
    assert "Upload items" in client.get(address).content.decode()


def test_items_stand_in_the_design_until_the_launch_and_then_among_judgments(owner):
    draft = factories.make_study("draft", owner=owner, queries=1)
    client = Client()
    client.force_login(owner)

    def bar(*names):
        answers = [client.get(reverse(name, args=[draft.slug])).context for name in names]
        places = {name for each in answers for name, _, here in each["study_places"] if here}
        return places, [label for label, *_ in answers[0]["study_pages"]]

    assert bar("admin:evaluation_item_list") == ({"Design"}, ["Form", "Items", "Plan", "Generation"])
    factories.launch(draft)
    judgments = ["Judgments", "Items", "Settle", "Raters"]
    pages = ("admin:evaluation_item_list", "admin:evaluation_judgment_list")
    assert bar(*pages) == ({"Judgments"}, judgments)
    assert "Items" not in bar("admin:evaluation_study_change")[1]


def test_many_answers_are_counted_and_those_of_scales_are_told(owner):
    many = judged_study("many", owner=owner, queries=1)
    judge(many, raters=12)
    client = Client()
    client.force_login(owner)
    text = client.get(reverse("admin:evaluation_item_list", args=[many.slug])).content.decode()
    assert '<span class="sign of-1">A</span><span class="times">12</span>' in text


@pytest.mark.parametrize("query", ["", "?q=aspen&by=person&answer=preference:r1&sort=disagreement"])
def test_a_page_takes_as_many_queries_with_many_items_as_with_few(
    study,
    page,
    monkeypatch,
    django_assert_max_num_queries,
    query,
):
    page(query)
    for rows in (2, 30):
        monkeypatch.setattr(item_list, "ROWS", rows)
        with django_assert_max_num_queries(30):
            page(query)


def test_a_reason_is_found_among_judgments(study, owner):
    reasoned, other = study.judgments.order_by("pk")[:2]
    AnswerText.objects.create(judgment=reasoned, question="justification", text="An Exception to the rule")
    client = Client()
    client.force_login(owner)
    address = reverse("admin:evaluation_judgment_list", args=[study.slug])
    for words in ("exception", "RULE exc"):
        assert "1 judgment" in client.get(f"{address}?q={words}").content.decode()
    assert "0 judgments" in client.get(f"{address}?q=exception person-9").content.decode()
    assert (
        f"{other.item.judgments.count()} judgments"
        in client.get(f"{address}?q={other.item.key}").content.decode()
    )
