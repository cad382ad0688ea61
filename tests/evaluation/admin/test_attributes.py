"""The attributes of a relevance draft are edited in fields, a value a line; a launch freezes them."""

from typing import Any

import pytest
from django.urls import reverse

from evaluation.models import Context, Item, Query, Study
from evaluation.protocols.attributes import ATTRIBUTES
from evaluation.refusals import Refused
from evaluation.services.studies.launch import launch_study
from evaluation.services.studies.revision import revise_study
from tests.evaluation.admin.conftest import signed_in
from tests.evaluation.admin.test_forms import address, values_of
from tests.evaluation.admin.test_questions import draft_of

pytestmark = pytest.mark.django_db


def row_of(data: dict[str, Any], key: str) -> str:
    """The beginning of the names of that attribute's fields."""
    return next(
        name.removesuffix("-key")
        for name, value in data.items()
        if name.startswith("attributes-") and name.endswith("-key") and value == key
    )


def page_of(study: Study, user: Any) -> tuple[Any, dict[str, Any]]:
    client = signed_in(user)
    page = client.get(address(study))
    return client, values_of(page)


def add_item(study: Study, follow_ups: list[dict[str, Any]]) -> Item:
    query = Query.objects.create(study=study, key="q", text="How do I begin?")
    context = Context.objects.create(query=query, key="c", follow_ups=follow_ups)
    item = Item.objects.create(study=study, key="i", query=query, context=context, arm=study.arms.get())
    system = study.systems.create(key="oak")
    item.responses.add(query.responses.create(system=system, key="oak", text="With soil."))
    return item


def test_a_new_study_shows_those_of_the_paper_and_saving_untouched_changes_none(colleague: Any) -> None:
    study = draft_of("relevance", colleague)
    before = list(study.attributes.values())
    client, data = page_of(study, colleague)
    text = client.get(address(study)).content.decode()
    for attribute in ATTRIBUTES.values():
        assert attribute.question in text
    assert "Complete beginner\nBasic understanding\nIntermediate" in text
    answer = client.post(address(study), data)
    assert answer.status_code == 302, answer.context["errors"]
    assert list(study.attributes.values()) == before


def test_values_are_lines_and_an_attribute_is_added_and_another_deleted(colleague: Any) -> None:
    study = draft_of("relevance", colleague)
    client, data = page_of(study, colleague)
    expertise, gender, n = row_of(data, "expertise"), row_of(data, "gender"), study.attributes.count()
    data |= {
        f"{expertise}-question": "How well do you know it?",
        f"{expertise}-values": " Not at all \r\n\r\nVery well: I teach it, often\r\n",
        f"{gender}-DELETE": "on",
        "attributes-TOTAL_FORMS": n + 1,
        f"attributes-{n}-id": "",
        f"attributes-{n}-study": study.pk,
        f"attributes-{n}-key": "season",
        f"attributes-{n}-question": "Which season is it for?",
        f"attributes-{n}-values": "Summer\nWinter",
        f"attributes-{n}-position": 20,
    }
    answer = client.post(address(study), data)
    assert answer.status_code == 302, answer.context["errors"]
    changed = study.attributes.get(key="expertise")
    assert changed.question == "How well do you know it?"
    assert changed.values == ["Not at all", "Very well: I teach it, often"]
    assert not study.attributes.filter(key="gender").exists()
    last = study.attributes.last()
    assert last is not None
    assert (last.key, last.values) == ("season", ["Summer", "Winter"])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"values": "Only one"}, "needs 2 to 30 values, has 1"),
        ({"values": ""}, "needs 2 to 30 values, has 0"),
        ({"values": "Same\nSame"}, "a value appears twice"),
        ({"question": ""}, "This field is required"),
        ({"key": "so so"}, "Enter a valid"),
        ({"key": "age"}, "Please correct the duplicate"),
    ],
)
def test_an_attribute_that_can_t_be_asked_of(changes: dict[str, str], said: str, colleague: Any) -> None:
    study = draft_of("relevance", colleague)
    client, data = page_of(study, colleague)
    name = row_of(data, "expertise")
    before = list(study.attributes.values())
    answer = client.post(address(study), data | {f"{name}-{key}": value for key, value in changes.items()})
    assert answer.status_code == 200
    assert said in answer.content.decode()
    assert list(study.attributes.values()) == before


def test_studies_of_other_protocols_have_none(colleague: Any) -> None:
    study = draft_of("aspects", colleague)
    assert "attributes-TOTAL_FORMS" not in signed_in(colleague).get(address(study)).content.decode()


def test_an_item_that_names_one_is_shown_and_previewed_with_its_words(colleague: Any) -> None:
    study = draft_of("relevance", colleague)
    item = add_item(study, [{"attribute": "expertise", "answer": "Expert"}])
    client = signed_in(colleague)
    page = client.get(reverse("admin:evaluation_item_change", args=[item.pk])).content.decode()
    assert ATTRIBUTES["expertise"].question in page
    context = client.get(reverse("admin:evaluation_context_change", args=[item.context_id])).content.decode()
    assert "Complete beginner, Basic understanding" in context
    preview = reverse("admin:evaluation_item_preview", args=[item.pk])
    assert ATTRIBUTES["expertise"].question in client.get(preview).content.decode()
    study.attributes.filter(key="expertise").delete()
    said = client.get(preview, follow=True).content.decode()
    assert "the study has no attribute &#x27;expertise&#x27;; it has: detail" in said


def test_a_launch_freezes_them(colleague: Any) -> None:
    study = draft_of("relevance", colleague)
    add_item(study, [{"attribute": "expertise", "answer": ""}])
    client, data = page_of(study, colleague)
    launch_study(study)
    page = client.get(address(study)).content.decode()
    assert ATTRIBUTES["expertise"].question in page
    assert "Complete beginner" in page
    assert "attributes-0-values" not in page
    before = list(study.attributes.values())
    changed = {f"{row_of(data, 'expertise')}-values": "A\nB"}
    client.post(address(study), data | changed)
    assert list(study.attributes.values()) == before
    with pytest.raises(Refused, match="attributes: can't change in a study that is under way"):
        revise_study(study=study, changes={"attributes": []})
    revised = revise_study(study=study, changes={"title": "Other words"})
    assert revised.spec["attributes"] == [each.as_json() for each in ATTRIBUTES.values()]
