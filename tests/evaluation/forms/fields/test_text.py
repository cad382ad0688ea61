"""The hint of a box for a reason before anything is written in it."""

import pytest
from django.template.loader import render_to_string

from evaluation.forms import build_screen
from evaluation.protocols import Kind
from evaluation.protocols.requirements.questions import SHORT_TEXT
from evaluation.services import launch_study
from tests import factories

pytestmark = pytest.mark.django_db


def box(*, required):
    study = factories.make_study("reasons", queries=1)
    launch_study(study)
    spec = study.revisions.get().spec
    [question] = [each for each in spec["questions"] if each["key"] == "justification"]
    question["required"] = required
    item = study.items.filter(role="main").first()
    screen = build_screen(study.protocol_object, spec, item.stimulus, "r1,r2")
    [field] = [each for each in screen["fields"] if each["template"].endswith(f"_{Kind.TEXT}.html")]
    return render_to_string(field["template"], {"field": field})


def test_it_says_how_short_is_too_short():
    html = box(required=True)
    assert f"Write at least {SHORT_TEXT} characters." in html
    assert 'aria-describedby="q-justification-h q-justification-l"' in html
    assert 'id="q-justification-l"' in html


def test_what_may_stay_empty_may_be_short():
    assert "Write at least" not in box(required=False)
