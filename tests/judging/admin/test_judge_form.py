"""The form of a judge: what every judge needs in sight, the rest folded until it matters."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from django.urls import reverse

from judging.admin.judge import ADVANCED, BASIC
from judging.models import Judge
from judging.services.judges import heuristic_judge
from tests.evaluation.admin.conftest import signed_in

pytestmark = pytest.mark.django_db


class Folds(HTMLParser):
    """The names of a page's fields, each with the summary of the closed part that it stands in, or nothing."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.fields: dict[str, str] = {}
        self.parts: list[tuple[bool, str]] = []
        self.in_summary = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "details":
            self.parts.append(("open" in given, ""))
        elif tag == "summary":
            self.in_summary = True
        elif tag in ("input", "select", "textarea") and given.get("name"):
            closed = [summary for is_open, summary in self.parts if not is_open]
            self.fields[str(given["name"])] = closed[0] if closed else ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "details":
            self.parts.pop()
        elif tag == "summary":
            self.in_summary = False

    def handle_data(self, data: str) -> None:
        if self.in_summary and self.parts:
            is_open, summary = self.parts.pop()
            self.parts.append((is_open, (summary + data).strip()))


def names(sections: Any) -> list[str]:
    return [name for _, each in sections for name in each]


def fields_of(response: Any) -> dict[str, str]:
    return Folds(response.content.decode()).fields


@pytest.fixture
def address(draft: Any) -> str:
    return reverse("admin:judging_judge_new", args=[draft.slug])


def as_sent(client: Any, address: str) -> dict[str, Any]:
    """The form as a browser would send it back, untouched."""
    form = client.get(address).context["form"]
    values = {bound.html_name: bound.value() for bound in form}
    return {name: value for name, value in values.items() if value not in (None, []) and value is not False}


def test_a_new_judge_begins_with_what_every_judge_needs(address: str, owner: Any) -> None:
    found = fields_of(signed_in(owner).get(address))
    assert {name: found[name] for name in names(BASIC)} == dict.fromkeys(names(BASIC), "")
    assert all(found[name].startswith("Advanced") for name in names(ADVANCED))


def test_every_setting_is_on_the_form_once(address: str, owner: Any) -> None:
    page = signed_in(owner).get(address).content.decode()
    for name in set(names(BASIC) + names(ADVANCED)) - {"questions"}:
        assert len(re.findall(rf'<(?:input|select|textarea)[^>]* name="{name}"', page)) == 1, name


def test_nothing_advanced_has_to_be_opened(address: str, owner: Any) -> None:
    client = signed_in(owner)
    answer = client.post(address, as_sent(client, address) | {"name": "longest", "backend": "longer"})
    assert answer.status_code == 302
    assert Judge.objects.get().name == "longest"


@pytest.mark.parametrize(
    ("name", "value"), [("samples", "0"), ("temperature", "warm"), ("extra", "{"), ("max_tokens", "-1")]
)
def test_a_refused_field_is_in_sight(address: str, owner: Any, name: str, value: str) -> None:
    client = signed_in(owner)
    sent = as_sent(client, address) | {"name": "longest", "backend": "longer", name: value}
    answer = client.post(address, sent)
    assert answer.status_code == 422
    assert answer.context["form"][name].errors
    assert fields_of(answer)[name] == ""
    assert not Judge.objects.exists()


def test_a_refused_field_in_sight_opens_nothing(address: str, owner: Any) -> None:
    client = signed_in(owner)
    answer = client.post(address, as_sent(client, address) | {"name": "two words", "backend": "longer"})
    assert answer.status_code == 422
    assert fields_of(answer)["samples"].startswith("Advanced")


def test_what_differs_from_the_usual_is_in_sight(draft: Any, owner: Any) -> None:
    judge = heuristic_judge(draft, "longer")
    address = reverse("admin:judging_judge_edit", args=[judge.pk])
    assert fields_of(signed_in(owner).get(address))["samples"].startswith("Advanced")
    Judge.objects.filter(pk=judge.pk).update(samples=3)
    assert fields_of(signed_in(owner).get(address))["samples"] == ""


def test_options_of_the_chosen_kind_are_open_and_others_folded(address: str, owner: Any) -> None:
    client = signed_in(owner)
    form = client.get(address).context["form"]
    sections = {each["key"]: each["fields"][0].html_name for each in form.option_sections()}
    chosen, other = sorted(sections)[:2]
    answer = client.post(address, as_sent(client, address) | {"name": "", "backend": chosen})
    found = fields_of(answer)
    assert found[sections[chosen]] == ""
    assert found[sections[other]].startswith("Options of")
