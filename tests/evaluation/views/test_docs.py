"""The documentation as pages: every page of a study leads to its own, and no link in them leads nowhere."""

import re
from typing import Any

import pytest

from evaluation.admin.pages import docs_url, tabs
from evaluation.views.docs import DOCS

pytestmark = pytest.mark.django_db
NAMES = [path.relative_to(DOCS).with_suffix("").as_posix() for path in sorted(DOCS.rglob("*.md"))]


def ids(page: str) -> set[str]:
    return set(re.findall(r'<h\d id="([^"]+)"', page))


def test_members_alone_read_it(client: Any) -> None:
    assert client.get("/docs/")["Location"].startswith("/admin/login/")


@pytest.mark.parametrize("name", NAMES)
def test_its_links_lead_somewhere(client: Any, owner: Any, name: str) -> None:
    client.force_login(owner)
    page = client.get(f"/docs/{name}/").content.decode()
    _, _, text = page.partition("<main")
    for href in re.findall(r'(?:href|src)="([^"]+)"', text):
        if href.startswith(("https://", "http://")):
            continue
        address, _, anchor = href.partition("#")
        answer = client.get(address or f"/docs/{name}/")
        assert answer.status_code == 200, href
        assert not anchor or anchor in ids(answer.content.decode()), href


def test_every_place_of_a_study_has_a_page(client: Any, owner: Any) -> None:
    client.force_login(owner)
    for key, tab in tabs.items():
        address, _, anchor = docs_url(tab.docs).partition("#")
        page = client.get(address).content.decode()
        assert not anchor or anchor in ids(page), key


@pytest.mark.parametrize("name", ["nowhere", "../README", "images/trust", "..%2fREADME"])
def test_no_other_file_is_read(client: Any, owner: Any, name: str) -> None:
    client.force_login(owner)
    assert client.get(f"/docs/{name}/").status_code == 404
