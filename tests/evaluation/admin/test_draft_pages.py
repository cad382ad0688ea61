"""The three pages of a draft's design: plain words for a plain study, and one list of what is missing everywhere."""

import re
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from evaluation.admin.design.frozen import describe_spec
from evaluation.admin.design.sections import PAGES
from evaluation.admin.study.missing import missing_for
from evaluation.models import Study
from evaluation.services.studies.compilation import compile_spec
from evaluation.services.studies.creation import PAPER_ARMS, add_arms, create_study
from tests.evaluation.admin.conftest import signed_in

pytestmark = pytest.mark.django_db
RARE = re.compile(r"\b(contexts?|arms?|epsilon|revisions?|NoCtxGen-NoCtxEval)\b", re.IGNORECASE)


@pytest.fixture
def plain(owner: Any) -> Study:
    study = create_study(slug="plain", title="Plain", protocol="pairwise", owner=owner)
    add_arms(study, PAPER_ARMS[:1])
    return study


def page_of(client: Client, study: Study, page: str) -> str:
    where = reverse("admin:evaluation_study_change", args=[study.slug])
    return client.get(where, {"page": page}).content.decode()


def in_view(page: str) -> str:
    """The words of a page's form that are in no closed part, nor among what is written by somebody."""
    form = page[page.index('class="design-form"') : page.index('class="preview-pane"')]
    innermost = re.compile(r"<details([^>]*)>((?:(?!<details).)*?)</details>", re.DOTALL)
    while innermost.search(form):
        form = innermost.sub(lambda part: part[2] if "open" in part[1] else "", form)
    form = re.sub(r"<(textarea|script|noscript|div[^>]*empty-form).*?</\1>", "", form, flags=re.DOTALL)
    return unescape(re.sub(r"<[^>]*>", " ", form))


@pytest.mark.parametrize("page", list(PAGES))
def test_a_plain_study_is_told_nothing_of_contexts(plain: Study, owner: Any, page: str) -> None:
    assert RARE.findall(in_view(page_of(signed_in(owner), plain, page))) == []


def test_a_study_with_contexts_has_its_arms_in_view(plain: Study, owner: Any) -> None:
    add_arms(plain, PAPER_ARMS[1:])
    client = signed_in(owner)
    assert "Arms" in in_view(page_of(client, plain, "material"))
    assert "Guideline, with context" in in_view(page_of(client, plain, "questions"))
    assert "in arms that show a context" in page_of(client, plain, "questions")
    assert "Does each response take" in page_of(client, plain, "questions")


def test_a_study_without_contexts_is_asked_nothing_of_them(plain: Study, owner: Any) -> None:
    questions = page_of(signed_in(owner), plain, "questions")
    assert "Does each response take" not in questions
    assert "each follow-up question" not in questions
    assert "each response" in questions
    judge = signed_in(owner).get(reverse("admin:judging_judge_new", args=[plain.slug])).content.decode()
    assert "Does each response take" not in judge
    assert "Which response is better overall?" in judge
    frozen = describe_spec(compile_spec(plain))
    assert "satisfied" not in [each["key"] for each in frozen["questions"]]


def test_folded_settings_say_how_many_differ(plain: Study, owner: Any) -> None:
    client = signed_in(owner)
    assert "all as usual" in page_of(client, plain, "people")
    Study.objects.filter(pk=plain.pk).update(seed=9, epsilon=0.2, groups=["experts"])
    assert re.search(r"3 of \d+ differ from the usual", page_of(client, plain, "people"))
    assert "all as usual" in page_of(client, plain, "questions")


def test_the_same_list_of_what_is_missing_stands_everywhere(plain: Study, owner: Any) -> None:
    client = signed_in(owner)
    plain.steps = plain.steps | {"attention": {"checks": 1, "allowed_failures": None}}
    plain.save()
    missing = missing_for(plain, owner)
    assert {"blocks", "confirm", "consider"} == {each.weight for each in missing}
    assert all(each.label and each.url for each in missing)
    study_pages = [
        reverse(f"admin:evaluation_study_{name}", args=[plain.slug]) for name in ("launch", "overview")
    ]
    design = reverse("admin:evaluation_study_change", args=[plain.slug])
    walk = reverse("annotator:walk-through", args=[plain.slug])
    for address in (*study_pages, *(f"{design}?page={page}" for page in PAGES), walk):
        page = client.get(address, follow=True).content.decode()
        found = re.search(r'<ul class="missing-list">(.*?)</ul>', page, re.DOTALL)
        assert found, address
        lines = [unescape(line).split() for line in re.findall(r"<li[^>]*>(.*?)</li>", found[1], re.DOTALL)]
        assert [" ".join(line) for line in lines] == [
            " ".join(line) for line in ([*_drawn(each)] for each in missing)
        ], address
        assert f"Missing before launch ({len(missing)})" in re.sub(r"\s+", " ", page), address


def _drawn(each: Any) -> list[str]:
    marks = {
        "blocks": "<b>blocks the launch</b>",
        "confirm": '<span class="quiet">to confirm at launch</span>',
        "consider": "",
    }
    return f'{each.text} <a href="{each.url}">{each.label}</a> {marks[each.weight]}'.split()


def test_each_page_counts_what_is_missing_on_it(plain: Study, owner: Any) -> None:
    page = page_of(signed_in(owner), plain, "people")
    said = dict(re.findall(r">([^<>]+?)\s*<span class=\"quiet\">\((\d+) missing\)", page))
    found = [each.page for each in missing_for(plain, owner)]
    assert {unescape(label.strip()): int(n) for label, n in said.items()} == {
        each.label: found.count(key) for key, each in PAGES.items() if key in found
    }


def test_every_missing_thing_is_mended_where_it_leads(plain: Study, owner: Any) -> None:
    client = signed_in(owner)
    for each in missing_for(plain, owner):
        answer = client.get(each.url.partition("#")[0])
        assert answer.status_code == 200, each
        anchor = each.url.partition("#")[2]
        assert not anchor or f'id="{anchor}"' in answer.content.decode(), each
