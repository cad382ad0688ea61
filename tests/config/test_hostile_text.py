"""Whatever text anybody stored, it is text: on every page there is, it makes no element, no attribute and no script.

Markup stands in every column and every value of JSON that holds words, so that what is added later is tried as well.
"""

import re
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.db import IntegrityError, models, transaction
from django.test import Client
from django.utils.html import escape

from evaluation.models import Study
from tests import factories
from tests.config.addresses import BY_TOKEN, ROUTES, world_of
from tests.crowd import come
from tests.evaluation.admin.conftest import make_user

OURS = ("evaluation", "annotator", "judging", "auth")
HOSTILE = "<x-hostile>\"'onx=1 {n}</script>"
# What goes by names instead of words: it is looked up, compared or sent, and the site itself chooses most of it.
NAMES = {
    "answer_values",
    "key", "slug", "token", "token_key", "digest", "password", "codename", "protocol", "kind", "part", "question",
    "shown", "order", "systems_key", "lengths", "platform", "status", "applied", "step", "phase", "format", "file",
    "currency", "base_url", "key_name", "recent", "event_id", "consent_version", "category", "username",
}  # fmt: skip
TEXTS_OF_JSON = {
    "text", "answer", "answers", "body", "label", "prompt", "help", "title", "name", "note", "message", "reply", "url",
    "problem", "instruction", "condition", "snippet", "justification", "rationale", "values",
}  # fmt: skip


def poison(*models_: type[models.Model]) -> int:
    """Puts markup into every text of these models' rows; how many columns took it."""
    taken = 0
    for model in models_:
        for field in model._meta.concrete_fields:
            if isinstance(field, models.JSONField):
                _poison_json(model, field.attname)
            elif _holds_words(field):
                taken += _poison_column(model, field)
    return taken


def _holds_words(field: Any) -> bool:
    if not isinstance(field, models.CharField | models.TextField) or field.choices:
        return False
    return field.name not in NAMES and "hash" not in field.name and (field.max_length or 999) >= 60


def _poison_column(model: type[models.Model], field: Any) -> bool:
    rows = model._base_manager.filter(
        **({"question": "justification"} if model.__name__ == "AnswerText" else {})
    )
    try:
        with transaction.atomic():
            for number, pk in enumerate(rows.values_list("pk", flat=True)):
                rows.filter(pk=pk).update(**{field.attname: HOSTILE.replace("{n}", str(number))})
    except IntegrityError:  # the database has its own idea of what may stand there
        return False
    return rows.exists()


def _poison_json(model: type[models.Model], name: str) -> None:
    for row in model._base_manager.all():
        setattr(row, name, _with_markup(getattr(row, name)))
        model._base_manager.filter(pk=row.pk).update(**{name: getattr(row, name)})


def _with_markup(value: Any, *, words: bool = False) -> Any:
    if isinstance(value, dict):
        return {name: _with_markup(each, words=name in TEXTS_OF_JSON) for name, each in value.items()}
    if isinstance(value, list):
        return [_with_markup(each, words=words) for each in value]
    return HOSTILE if words and isinstance(value, str) and value else value


class Elements(HTMLParser):
    """What a page has that nobody but the site may put there."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.wrong: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        inline = tag == "script" and not (given.get("src") or "").startswith(("/static/", "/admin/jsi18n/"))
        led_astray = any(
            (given.get(name) or "").lower().startswith("javascript:") for name in ("href", "src", "action")
        )
        handles = any(name.startswith("on") for name in given)
        if (
            tag.startswith("x-")
            or inline
            or led_astray
            or handles
            or tag in ("style", "object", "embed")
            or (tag == "iframe" and not re.match(r"/[a-z]", given.get("src") or ""))
        ):
            self.wrong.append(self.get_starttag_text() or tag)


@pytest.fixture
def world(db: None) -> SimpleNamespace:
    owner = make_user("chief", is_superuser=True)
    rules = {"arms": factories.PAPER_ARMS[1:2], "training": False, "checks": 0, "steps": factories.NO_STEPS}
    draft = factories.make_study("hostile", owner=owner, queries=3, **rules)
    drafted = ("Query", "Context", "Response", "Question", "Text", "System", "Arm")
    poison(*(apps.get_model("evaluation", name) for name in drafted))
    study = factories.launch(Study.objects.get(pk=draft.pk), title=HOSTILE, contact=HOSTILE)
    made = world_of("hostile", owner, study)
    # After the way of people, which some of it would block.
    taken = poison(
        *(model for model in apps.get_models() if model._meta.app_label in OURS and model._meta.managed)
    )
    assert taken > 40
    return made


def looked_at(world: SimpleNamespace, visitor: Any) -> tuple[list[str], list[str], int]:
    """Every page that a GET brings: what is wrong, the pages that show some of the text, and how many there are."""
    wrong, showing, seen = [], [], 0
    for route in ROUTES:
        page = visitor.get(world.find(route, token=world.token), follow=True)
        if page.streaming or not page["Content-Type"].startswith("text/html"):
            continue
        seen += page.status_code == 200
        body = page.content.decode()
        wrong += [f"{route}: {each}" for each in Elements(body).wrong]
        policy = page["Content-Security-Policy"]
        if "unsafe" in policy or "script-src 'self'" not in policy:
            wrong.append(f"{route}: {policy}")
        if "&lt;x-hostile&gt;" in body:
            showing.append(route)
    return wrong, showing, seen


def test_no_text_becomes_markup_anywhere(world: SimpleNamespace) -> None:
    client = Client()
    client.force_login(world.owner)
    wrong, showing, seen = looked_at(world, client)
    assert not wrong, "\n".join(wrong)
    assert seen > 150
    # Or the pages had been looked at without what they are about.
    assert len(showing) > 80, showing
    assert "p/<token:token>/" in showing


def test_the_way_of_a_participant(world: SimpleNamespace) -> None:
    """From the door to the end, and each form sent back."""
    other = come(world.study, "somebody")
    wrong: list[str] = []
    client = Client()
    for route in [*BY_TOKEN, "s/<slug:slug>/"]:
        address = world.find(route, token=other.token, assignment_id=other.assignments.get().pk)
        for page in (
            client.get(address, follow=True),
            client.post(address, {"justification": HOSTILE}, follow=True),
        ):
            wrong += [f"{route}: {each}" for each in Elements(page.content.decode()).wrong]
    assert not wrong, "\n".join(wrong)


def test_planted_markup_is_found() -> None:
    for planted in (
        "<x-hostile>",
        "<a href=JavaScript:x>",
        "<p onclick=x>",
        "<script>x</script>",
        "<img src=x onerror=y>",
    ):
        assert Elements(f"<p>{planted}</p>").wrong, planted
    assert (
        Elements(
            f'<p title="{escape(HOSTILE)}">{escape(HOSTILE)}</p><script src="/static/js/x.js"></script>'
        ).wrong
        == []
    )
