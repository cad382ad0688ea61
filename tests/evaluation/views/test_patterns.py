"""The page of patterns draws every partial, and only with DEBUG."""

import re
from pathlib import Path

import pytest
from django.conf import settings as configured


def test_hidden_without_debug(client, db):
    assert client.get("/patterns/").status_code == 404


def test_shows_every_partial_of_a_screen(client, db, settings):
    settings.DEBUG = True
    response = client.get("/patterns/")
    assert response.status_code == 200
    drawn = {template.name for template in response.templates}
    folder = Path(configured.BASE_DIR) / "templates" / "evaluation"
    kinds = {
        "_query",
        "_context",
        "_responses",
        "_preference",
        "_graded",
        "_checklist",
        "_text",
        "_ranking",
        "_scale",
        "_points",
        "_ends",
        "_meanings",
        "_rated",
        "_documents",
        "_flag",
        "_tags",
        "_choice",
        "_choice_list",
        "_checks",
        "_follow_ups",
        "_entries",
        "_entry",
        "_sets",
        "_offer",
        "_drafted",
        "_rounds",
        "_summary",
        "_feedback",
    }
    assert {f"evaluation/{name}.html" for name in kinds} <= drawn
    assert all((folder / f"{name}.html").exists() for name in kinds)
    ids = re.findall(r' id="([^"]+)"', response.content.decode())
    assert len(ids) == len(set(ids))
    assert "empty response" in response.content.decode()


@pytest.mark.parametrize("method", ["post", "put", "delete"])
def test_wrong_method(client, db, method):
    assert getattr(client, method)("/patterns/").status_code == 405
