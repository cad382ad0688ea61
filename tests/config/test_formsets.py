"""No request builds forms without end: of every formset that the site has, so many as fit what it is for."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.admin.options import InlineModelAdmin
from django.forms.formsets import BaseFormSet
from django.test import Client
from django.urls import reverse

from annotator.admin.entry_rules import MAX_RULES
from evaluation.admin.design.sections import PAGES, PLACES
from evaluation.models import Study
from tests import factories
from tests.config.reading import PACKAGES, ROOT
from tests.evaluation.admin.conftest import make_user, signed_in, work_on
from tests.evaluation.admin.test_forms import values_of
from tests.evaluation.admin.test_questions import draft_of

pytestmark = pytest.mark.django_db
MOST, TOO_MANY = 100, 99_999_999_999_999_999_999


@pytest.fixture
def chief(db: Any) -> Any:
    return make_user("chief", is_superuser=True)


@pytest.fixture
def built(monkeypatch: Any) -> Counter[str]:
    """How many forms of each formset were built, by its prefix."""
    counted: Counter[str] = Counter()
    build = BaseFormSet._construct_form  # type: ignore[attr-defined] # Django's own, by which all are built

    def count(formset: Any, i: int, **kwargs: Any) -> Any:
        counted[formset.prefix] += 1
        return build(formset, i, **kwargs)

    monkeypatch.setattr(BaseFormSet, "_construct_form", count)
    return counted


def inlines_of(base: type) -> Iterator[type]:
    for each in base.__subclasses__():
        if each.__module__.partition(".")[0] in PACKAGES and getattr(each, "model", None):
            yield each
        yield from inlines_of(each)


def change_pages(client: Client, rows: list[Any]) -> Iterator[tuple[str, Any]]:
    for row in rows:
        key = row.slug if isinstance(row, Study) else row.pk
        address = reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[key])
        for part in PAGES if isinstance(row, Study) else ("",):
            where = f"{address}?page={part}" if part else address
            page = client.get(where)
            if page.status_code == 200:
                yield where, page


def test_no_formset_builds_what_a_request_asks_for(chief: Any, built: Counter[str]) -> None:
    """On the pages of a row of every model, and of a draft that has rows of every kind."""
    client = signed_in(chief)
    rows = {type(row): row for row in work_on("mine", chief).rows.values()}
    draft = draft_of("relevance", chief)
    met = set()
    for address, page in change_pages(client, [*rows.values(), draft, chief]):
        sent = values_of(page)
        for inline in page.context["inline_admin_formsets"]:
            met.add(type(inline.opts))
            built.clear()
            answer = client.post(address, sent | {f"{inline.formset.prefix}-TOTAL_FORMS": TOO_MANY})
            assert answer.status_code in (200, 422), inline.opts
            assert re.search(r"There can be \d+ [a-z ]+ at most", answer.content.decode()), inline.opts
            assert built[inline.formset.prefix] <= MOST, inline.opts
    assert met == set(inlines_of(InlineModelAdmin)), "a formset on no page that was asked"


def test_the_rules_on_who_may_take_part_have_their_limit(chief: Any, built: Counter[str]) -> None:
    study = factories.make_study("limited", queries=1, owner=chief)
    address = reverse("admin:evaluation_study_entry_rules", args=[study.slug])
    for more in ({}, {"another": "1"}):
        built.clear()
        sent = {"form-TOTAL_FORMS": str(TOO_MANY), "form-INITIAL_FORMS": "0", "reason": "Many."} | more
        assert signed_in(chief).post(address, sent).status_code in (200, 422)
        assert built["form"] <= MAX_RULES


def test_other_formsets_are_of_the_admin_s_pages_alone() -> None:
    """Others would need their limit, and their place in the tests above."""
    others = re.compile(r"formset_factory|Base(?:Model)?FormSet|list_editable")
    files = [path for name in PACKAGES for path in (ROOT / name).rglob("*.py")]
    found = [path for path in files if others.search(path.read_text())]
    assert found == [ROOT / "annotator" / "admin" / "entry_rules.py"]


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
def test_a_preview_builds_no_more(chief: Any, built: Counter[str], headers: dict[str, str]) -> None:
    client, draft = signed_in(chief), draft_of("relevance", chief)
    form = reverse("admin:evaluation_study_change", args=[draft.slug])
    address = reverse("admin:evaluation_study_draft_preview", args=[draft.slug])
    for prefix in ("questions", "attributes", "texts", "arms"):
        page = f"?page={PLACES[prefix][0]}"
        sent = values_of(client.get(form + page))
        built.clear()
        answer = client.post(address + page, sent | {f"{prefix}-TOTAL_FORMS": TOO_MANY}, headers=headers)
        assert answer.status_code == (200 if headers else 422)
        assert f" {prefix} at most" in answer.content.decode()
        assert built[prefix] <= MOST


def with_arms(n: int, owner: Any) -> Study:
    study = factories.make_study("a-draft", owner=owner)
    for place in range(study.arms.count(), n):
        study.arms.create(key=f"arm-{place}", label=f"Arm {place}", position=place)
    return study


def more_arms(client: Client, study: Study, n: int) -> Any:
    """What comes of a form with so many further arms."""
    address = reverse("admin:evaluation_study_change", args=[study.slug])
    sent, there = values_of(client.get(address)), study.arms.count()
    sent["arms-TOTAL_FORMS"] = there + n
    for place in range(there, there + n):
        row = {"id": "", "study": study.pk, "key": f"arm-{place}", "label": f"Arm {place}", "position": place}
        sent |= {f"arms-{place}-{name}": value for name, value in row.items()}
    return client.post(address, sent)


def test_a_draft_is_given_as_many_arms_as_the_limit(owner: Any) -> None:
    client, study = signed_in(owner), with_arms(18, owner)
    refused = more_arms(client, study, 3).content.decode()
    assert "There can be 20 arms at most; more were sent." in refused
    assert study.arms.count() == 18
    assert more_arms(client, study, 2).status_code == 302
    assert study.arms.count() == 20
    page = client.get(reverse("admin:evaluation_study_change", args=[study.slug])).content.decode()
    assert "Save and add: arm" not in page
    where = reverse("admin:evaluation_study_change", args=[study.slug])
    assert "Save and add: question" in client.get(where, {"page": "questions"}).content.decode()


def test_a_draft_that_came_with_more_is_edited_like_any(owner: Any) -> None:
    client, study = signed_in(owner), with_arms(25, owner)
    assert more_arms(client, study, 0).status_code == 302
    assert "There can be 25 arms at most" in more_arms(client, study, 1).content.decode()
    assert study.arms.count() == 25
