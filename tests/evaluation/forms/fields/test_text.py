"""The hint of a box for a reason before anything is written in it."""

import pytest
from django.template.loader import render_to_string

from evaluation.forms.screen import build_screen
from evaluation.protocols import Kind
from evaluation.protocols.requirements.questions import SHORT_TEXT
from evaluation.services.studies.freeze import freeze_spec
from evaluation.services.studies.launch import launch_study
from tests import factories

pytestmark = pytest.mark.django_db


def box(*, required, options=None):
    study = factories.make_study("reasons", queries=1)
    launch_study(study)
    spec = study.revisions.get().spec
    [question] = [each for each in spec["questions"] if each["key"] == "justification"]
    question["required"] = required
    question["options"] = question["options"] if options is None else options
    item = study.items.filter(role="main").first()
    screen = build_screen(study.protocol_object, spec, item.stimulus, "r1,r2")
    [field] = [each for each in screen["fields"] if each["template"].endswith(f"_{Kind.TEXT}.html")]
    return render_to_string(field["template"], {"field": field})


def test_it_says_how_short_is_too_short():
    html = box(required=True)
    assert f"Write at least {SHORT_TEXT} characters." in html
    assert f'data-least="{SHORT_TEXT}"' in html
    assert "{n}/{least}" in html
    assert 'aria-describedby="q-justification-h q-justification-l"' in html
    assert 'id="q-justification-l"' in html


def test_what_was_frozen_with_a_hint_alone_keeps_it_and_counts_nothing():
    html = box(required=True, options={})
    assert f"Write at least {SHORT_TEXT} characters." in html
    assert "data-least" not in html
    assert "{n}/{least}" not in html


@pytest.mark.parametrize(
    "asked", [{"required": False}, {"required": True, "options": {"form": {"least": 0}}}]
)
def test_what_may_stay_empty_or_has_no_minimum_may_be_short(asked):
    assert "Write at least" not in box(**asked)


def test_a_draft_that_says_nothing_of_it_is_launched_with_the_minimum_that_its_form_names():
    study = factories.make_study("reasons", queries=1)
    why = study.questions.get(key="justification")
    for options, launched in (({}, SHORT_TEXT), ({"form": {"least": 0}}, 0), ({"form": {"least": 60}}, 60)):
        study.revisions.all().delete()
        study.questions.filter(pk=why.pk).update(options=options)
        [said] = [each for each in freeze_spec(study).spec["questions"] if each["key"] == why.key]
        assert said["options"]["form"]["least"] == launched
