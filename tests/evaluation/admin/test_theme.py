"""The admin wears the look's tokens, and its pages hold nothing that the strict security policy would refuse."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from tests.evaluation.admin.conftest import signed_in

CSS = Path(__file__).resolve().parents[3] / "static" / "css"


def tokens(name: str) -> dict[str, list[str]]:
    """Each custom property with its values, in light and dark."""
    found: dict[str, list[str]] = {}
    for token, value in re.findall(r"(--[\w-]+): ([^;{}]+);", (CSS / name).read_text()):
        if not value.startswith("var("):
            found.setdefault(token, []).append(value)
    return found


def test_the_tokens_are_those_of_the_look() -> None:
    look, admin = tokens("assay.css"), tokens("admin.css")
    assert {"--paper", "--ink", "--accent", "--warn", "--bad", "--edge"} <= set(admin)
    assert {token: values for token, values in admin.items() if look.get(token) != values} == {}


@pytest.mark.django_db
def test_no_page_has_inline_styles_or_scripts(mine: Any, owner: Any, chief: Any) -> None:
    names = ("overview", "change", "launch", "members", "exports", "history", "revise", "pause")
    pages = [reverse(f"admin:evaluation_study_{name}", args=[mine.study.slug]) for name in names]
    pages += [
        reverse("admin:index"),
        reverse("admin:evaluation_study_add"),
        reverse("admin:evaluation_study_from_file"),
    ]
    pages += [f"/studies/{mine.study.slug}/{rows}/" for rows in ("items", "raters", "judgments")]
    for user in (owner, chief):
        for address in pages:
            page = signed_in(user).get(address)
            body = page.content.decode()
            assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:", body), address
            assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", body)), address
            assert "unsafe" not in page["Content-Security-Policy"]
