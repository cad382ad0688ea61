"""The form of a product's content: every step's comes out as it went in, and is refused where it is wrong."""

import pytest
from django import forms
from django.http import QueryDict

from judging.admin.generation.content_form import ContentForm
from judging.generation.pipeline import content_problems
from judging.generation.pipelines import PIPELINES
from tests.judging.generation.contents import CONTENTS, ENTRIES, FOLLOW_UP

EVERY_STEP = [(pipeline.key, step.key) for pipeline in PIPELINES.values() for step in pipeline.steps]


def step_of(place):
    return PIPELINES[place[0]].step(place[1])


def as_sent(form):
    """The form as a browser sends it when nobody touched it."""
    data = QueryDict(mutable=True)
    for bound in form:
        value = bound.value()
        if isinstance(bound.field, forms.BooleanField):
            if value:
                data[bound.html_name] = "on"
        elif isinstance(value, list):
            data.setlist(bound.html_name, value)
        else:
            text = "" if value is None else str(value)
            data[bound.html_name] = text.replace("\r\n", "\n").replace("\n", "\r\n")
    return data


def entered(place, content=None, **changes):
    """The form of a content with some of its fields changed."""
    content, fields = content or CONTENTS[place], step_of(place).shapes
    data = as_sent(ContentForm(content, fields))
    for name, value in changes.items():
        path = "c-" + name.replace("__", ".")
        assert path in data or value == "on"
        data[path] = value
    return ContentForm(content, fields, data)


def raw_parts(parts):
    for part in parts:
        yield from raw_parts(part.parts)
        if part.is_raw:
            yield part.label


def test_every_step_has_a_content_here():
    assert set(CONTENTS) == set(EVERY_STEP)


@pytest.mark.parametrize("place", EVERY_STEP, ids=".".join)
def test_a_content_that_nobody_touched_stays_as_it_is(place):
    content = CONTENTS[place]
    assert content_problems(step_of(place), content) == []
    form = entered(place)
    assert list(raw_parts(form.parts)) == []
    assert form.is_valid(), form.errors
    assert form.cleaned_data["content"] == content
    assert step_of(place).shown(content).text


@pytest.mark.parametrize("place", EVERY_STEP, ids=".".join)
def test_an_emptied_form_is_refused_at_a_field(place):
    step, content = step_of(place), CONTENTS[place]
    form = ContentForm(content, step.shapes, QueryDict("c-nothing=1"))
    if form.is_valid():
        by_path = {
            problem.path: [problem.sentence]
            for problem in content_problems(step, form.cleaned_data["content"])
        }
        form.show(by_path)
    allowed = {
        ("adaptability", "filter"), ("contexts", "need"), ("contexts", "validity"), ("condition_drafts", "screening"),
        ("condition_drafts", "drafts"), ("condition_drafts", "merged"), ("condition_drafts", "answers"),
    }  # fmt: skip
    assert bool(form.errors) == (place not in allowed)
    assert "__all__" not in form.errors


def test_rows_are_added_changed_and_taken_out():
    place = ("condition_drafts", "drafts")
    form = entered(
        place, entries__0__answers__2="In spring", entries__0__citations="3, 2", entries__1__remove="on",
        entries__2__condition="The bridge for cars", entries__2__answers__0="1903",
    )  # fmt: skip
    assert form.is_valid(), form.errors
    changed = {**ENTRIES[0], "answers": ["1849", "In March", "In spring"], "citations": [3, 2]}
    new = {"condition": "The bridge for cars", "answers": ["1903"], "citations": [], "reason": ""}
    assert form.cleaned_data["content"] == {"entries": [changed, new]}


def test_blank_rows_are_none():
    form = entered(("contexts", "follow_ups"), answers__0="", answers__3="A family")
    assert form.is_valid()
    assert form.cleaned_data["content"]["answers"] == ["Two", "A family"]


def test_a_refusal_stands_at_the_row_that_it_is_about():
    place = ("condition_drafts", "drafts")
    form = entered(place, entries__0__remove="on", entries__1__citations="0")
    assert form.is_valid()
    # The second row is the first entry of what is left.
    [problem] = content_problems(step_of(place), form.cleaned_data["content"])
    assert problem.path == "entries.0.citations"
    form.show({problem.path: [problem.sentence]})
    assert list(form.errors) == ["entries.1.citations"]
    twice = entered(("contexts", "answers"), answers__1="One", answer="One")
    assert twice.is_valid()
    for problem in content_problems(step_of(("contexts", "answers")), twice.cleaned_data["content"]):
        twice.show({problem.path: [problem.sentence]})
    assert list(twice.errors) == ["answers.0"]


def test_numbers_must_be_numbers():
    form = entered(("contexts", "follow_ups"), rank="")
    assert form.errors == {"rank": ["Enter a number."]}
    form = entered(("clarifying_questions", "scores"), relevance="much")
    assert list(form.errors) == ["relevance"]
    form = entered(("condition_drafts", "drafts"), entries__0__citations="1 and 2")
    assert "Enter whole numbers" in str(form.errors["entries.0.citations"])


def test_fragments_keep_their_numbers():
    place = ("condition_drafts", "fragments")
    form = entered(place, fragments__2__text="Painted red.", fragments__2__title="Colour")
    assert form.is_valid()
    assert form.cleaned_data["content"]["fragments"][2] == {
        "number": 3, "title": "Colour", "text": "Painted red.", "source": "",
    }  # fmt: skip
    assert not any(name.endswith("remove") for name in form.fields)
    blank = entered(place, fragments__0__text="", fragments__0__title="")
    assert blank.is_valid()
    [problem] = content_problems(step_of(place), blank.cleaned_data["content"])
    assert (problem.sentence, problem.path) == ("Fragment 1 has no text.", "fragments.0.text")


def test_more_rows_keep_what_was_entered_and_check_nothing():
    place = ("condition_drafts", "drafts")
    content, fields = CONTENTS[place], step_of(place).shapes
    data = as_sent(ContentForm(content, fields))
    data["c-entries.0.citations"] = "1 and 2"
    data["c-entries.3.condition"] = "A fourth"
    form = ContentForm(content, fields, data, more=True)
    assert form.errors == {}
    assert form["entries.0.citations"].value() == "1 and 2"
    assert form["entries.3.condition"].value() == "A fourth"
    assert "entries.4.condition" in form.fields
    assert "entries.5.condition" not in form.fields


def test_what_has_no_other_shape_is_json():
    odd = {**FOLLOW_UP, "sources": [{"a": [[1]]}, 2], "note": None}
    place = ("contexts", "follow_ups")
    form = entered(place, odd)
    assert list(raw_parts(form.parts)) == ["Sources", "Note"]
    assert form.is_valid(), form.errors
    assert form.cleaned_data["content"] == odd
    wrong = entered(place, odd, sources="[1")
    assert "not valid JSON" in str(wrong.errors["sources"])
    changed = entered(place, odd, sources='{"b": "ü"}')
    assert changed.is_valid()
    assert changed.cleaned_data["content"]["sources"] == {"b": "ü"}
    quoted = {"entries": [{**ENTRIES[0], "citations": [1, {"title": "", "text": "By hand."}]}]}
    assert list(raw_parts(entered(("condition_drafts", "drafts"), quoted).parts)) == ["Entries"]


def test_a_choice_that_is_no_longer_one_is_shown():
    place = ("question_categories", "categories")
    form = ContentForm({**CONTENTS[place], "pattern": "sung"}, step_of(place).shapes)
    assert ("sung", "Sung") in form.fields["pattern"].choices
