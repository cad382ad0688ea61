"""Replies of models, errors of endpoints and notes of people that would run, load or spread where staff read them."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.urls import reverse
from django.utils import timezone

from annotator.models import KnownMismatch, PanelRecord
from evaluation.models import ItemFlag
from tests.browser.conftest import PHONE, WIDE, Visitor
from tests.browser.test_admin import sign_in
from tests.browser.walking import resize
from tests.config.addresses import world_of
from tests.judging.build import create_calls, make_judge, make_judge_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
HOSTILE = (
    "</pre></textarea><script>alert(1)</script><img src=http://elsewhere.example/x onerror=alert(1)>"
    "\u202e\u2066\x1b[2J=1+1" + "\u0301" * 50 + "W" * 300
)


@pytest.fixture
def world(db: Any) -> SimpleNamespace:
    owner = get_user_model().objects.create_superuser("ada", password="a-long-password-of-ada")
    made = world_of("hostile", owner)
    judge = make_judge(made.study, SimpleNamespace(url="http://127.0.0.1:9/v1"), name="babbler")
    made.run = make_judge_run(
        judge, made.study.revisions.get(), made.study.raters.create(kind="judge", pseudonym="babbler")
    )
    create_calls(made.run)
    reply = HOSTILE + "<b>x</b>\u202e" * 100_000
    made.run.calls.update(
        state="final", outcome="unparsed", finished_at=timezone.now(),
        raw=reply, rationale=reply, error=HOSTILE, reply={"text": reply},
    )  # fmt: skip
    ItemFlag.objects.update(note=HOSTILE)
    KnownMismatch.objects.update(note=HOSTILE[:200])
    PanelRecord.objects.update(external_id=HOSTILE[-64:])
    return made


def test_nothing_runs_loads_or_spreads(new_visitor: Callable[..., Visitor], world: SimpleNamespace) -> None:
    visitor = new_visitor()
    sign_in(visitor)
    visitor.cookies_set.clear()
    rows = world.rows
    pages = {
        "run": reverse("admin:judging_run_watch", args=[world.run.pk]),
        "calls": reverse("admin:judging_call_list", args=[world.study.slug]),
        "call": reverse("admin:judging_call_change", args=[world.run.calls.first().pk]),
        "flag": reverse("admin:evaluation_itemflag_resolve", args=[rows["itemflag"].pk]),
        "submission": world.find("studies/<slug:slug>/panel/visit/<int:record>/"),
    }
    for window in (WIDE, PHONE):
        resize(visitor.page, window)
        for name, address in pages.items():
            visitor.go(address)
            assert "WWWW" in visitor.page.content(), name
            width = visitor.page.evaluate("document.documentElement.scrollWidth")
            assert width <= window["width"], (name, width)
    visitor.assert_calm()
