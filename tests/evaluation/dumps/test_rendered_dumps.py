"""Dumps and what was rendered: what each version made is read back as it was, conversations by their turns."""

import pytest
from django.urls import reverse

from evaluation.dumps.imports.added_items import add_items
from evaluation.dumps.lines import FileSource
from evaluation.models import Item, Query
from evaluation.refusals import Refused
from evaluation.rendering.markdown import render_markdown
from evaluation.rendering.rules import EARLIER, RENDERER, WITHOUT_BREAKS, RenderRules
from evaluation.services.studies.launch import launch_study
from evaluation.services.studies.verification import verify_study
from tests.evaluation.dumps.build import export_bytes, header, item, read_in, write

pytestmark = pytest.mark.django_db
TEXT = "Half: \\(\\frac{1}{2}\\),\nor $x$\n\n```python\npass\n```"
POEM = "Rain on the tin roof,\nsoft at first.\n\n- a leaf\n  falls"
TURNS = [
    {"role": "system", "text": "Be brief."},
    {"role": "user", "text": "What is \\(x^2\\)?\n\n<script>alert(1)</script>"},
    {"role": "assistant", "text": "A *square*."},
    {"role": "user", "text": "Why?"},
]


def launched(draft):
    launch_study(draft)
    draft.refresh_from_db()
    return draft


def launched_then(tmp_path, monkeypatch, version):
    """A study of one item that was launched when this version was the newest."""
    with monkeypatch.context() as then:
        then.setattr("evaluation.services.studies.freeze.RENDERER", version)
        return launched(read_in(write(tmp_path / "d", header(), item(responses=responses())), "then"))


def responses(first=TEXT):
    return [{"system": "aspen", "text": first}, {"system": "birch", "text": "B"}]


@pytest.mark.parametrize("version", WITHOUT_BREAKS)
def test_what_an_earlier_version_rendered_is_read_back_and_verified(tmp_path, monkeypatch, version):
    """A study that was launched before: its items keep what people saw, and its hash."""
    study = launched_then(tmp_path, monkeypatch, version)
    before = Item.objects.get(study=study).stimulus
    assert before["renderer"] == version
    assert before["responses"][0]["html"] == render_markdown(TEXT, RenderRules(version))
    assert list(verify_study(study)) == []
    exported = export_bytes(study)
    # The first was written before lines named the version.
    assert (b'"renderer"' in exported) == (version != EARLIER)

    again = read_in(write(tmp_path / "d", exported), "again")
    assert again.study_hash == study.study_hash
    assert Item.objects.get(study=again).stimulus == before
    assert list(verify_study(again)) == []
    assert export_bytes(again) == exported.replace(b'"slug":"then"', b'"slug":"again"')


def test_the_version_stands_on_the_line_and_another_one_is_another_stimulus(tmp_path):
    study = launched(read_in(write(tmp_path / "d", header(), item(responses=responses())), "now"))
    exported = export_bytes(study)
    assert f'"renderer":"{RENDERER}"'.encode() in exported
    again = read_in(write(tmp_path / "d", exported), "again")
    assert again.study_hash == study.study_hash
    with pytest.raises(Exception, match="stimulus_hash is"):
        read_in(write(tmp_path / "d", exported.replace(RENDERER.encode(), EARLIER.encode())), "other")
    with pytest.raises(Exception, match="renderer"):
        read_in(write(tmp_path / "d", exported.replace(RENDERER.encode(), b"commonmark-9")), "unknown")


def test_what_is_added_to_a_running_study_looks_as_the_rest_of_it_does(tmp_path, monkeypatch):
    study = launched_then(tmp_path, monkeypatch, "commonmark-3")
    add_items(FileSource(write(tmp_path / "later", item(2, responses=responses(POEM)))), study)
    added = Item.objects.get(study=study, key="i2").stimulus
    assert added["renderer"] == "commonmark-3"
    assert "<br>" not in added["responses"][0]["html"]


def test_a_line_break_is_one_on_the_screen_but_in_documents(tmp_path):
    query = {"key": "q", "turns": [{"role": "user", "text": POEM}], "document": POEM}
    study = launched(
        read_in(write(tmp_path / "d", header(), item(query=query, responses=responses(POEM))), "now")
    )
    stimulus = Item.objects.get(study=study).stimulus
    shown = (
        '<p dir="auto">Rain on the tin roof,<br>\nsoft at first.</p>\n'
        '<ul>\n<li dir="auto">a leaf<br>\nfalls</li>\n</ul>'
    )
    assert stimulus["responses"][0]["html"] == shown
    assert stimulus["query"]["turns"][0]["html"] == shown
    assert stimulus["query"]["document"]["html"] == shown.replace("<br>", "")


def test_rules_of_rendering_are_in_the_spec_only_where_they_are_on(tmp_path):
    plain = launched(read_in(write(tmp_path / "d", header(), item(responses=responses())), "plain"))
    spec = plain.revisions.get().spec
    assert {"single_dollars", "show_images"}.isdisjoint(spec)
    assert "<mi>x</mi>" not in Item.objects.get(study=plain).stimulus["responses"][0]["html"]

    rules = {"single_dollars": True, "show_images": True, "texts_language": "fa"}
    line = header()
    line["spec"] = {**line["spec"], **rules}
    picture = "![A dot](data:image/gif;base64,R0lGODlhAQABAAAAACw=)"
    study = launched(
        read_in(write(tmp_path / "d", line, item(responses=responses(f"$x$ {picture}"))), "rules")
    )
    assert {name: study.revisions.get().spec[name] for name in rules} == rules
    row = Item.objects.get(study=study)
    html = row.stimulus["responses"][0]["html"]
    assert "<mi>x</mi>" in html
    assert '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" alt="A dot">' in html
    assert row.lengths == f"{len('$x$ [image: A dot]')},1"
    again = read_in(write(tmp_path / "d", export_bytes(study)), "again")
    assert (again.single_dollars, again.show_images, again.study_hash) == (True, True, study.study_hash)
    assert again.texts_language == "fa"


def test_a_conversation_is_a_query_of_turns(tmp_path, admin_client):
    query = {"key": "talk", "turns": TURNS}
    draft = read_in(write(tmp_path / "d", header(), item(query=query, responses=responses())), "talk")
    row = Item.objects.get(study=draft)
    preview = admin_client.get(reverse("admin:evaluation_item_preview", args=[row.pk])).content.decode()
    assert preview.count('class="turn ') == len(TURNS)
    assert "<em>square</em>" in preview
    assert "<script>alert(1)" not in preview

    study = launched(draft)
    asked = Item.objects.get(study=study).stimulus["query"]
    assert [(turn["role"], turn["text"]) for turn in asked["turns"]] == [
        (t["role"], t["text"]) for t in TURNS
    ]
    assert asked["turns"][2]["html"] == '<p dir="auto">A <em>square</em>.</p>'
    assert asked["text"].startswith("System: Be brief.\n\nUser: What is")
    exported = export_bytes(study)
    assert b'"html"' not in exported
    assert b"System: Be brief" not in exported, "the transcript follows from the turns"
    again = read_in(write(tmp_path / "d", exported), "again")
    assert again.study_hash == study.study_hash
    assert Query.objects.get(study=again).turns == TURNS
    assert export_bytes(again) == exported.replace(b'"slug":"talk"', b'"slug":"again"')


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ({"key": "q"}, "query"),
        ({"key": "q", "text": "So?", "turns": TURNS}, "query: 'text' can't stand beside the others"),
        ({"key": "q", "turns": []}, "turns"),
        ({"key": "q", "turns": [{"role": "robot", "text": "x"}]}, "role"),
        ({"key": "q", "turns": [{"role": "user", "text": "x", "html": "<b>"}]}, "html"),
    ],
)
def test_turns_that_are_wrong_are_named(tmp_path, query, problem):
    with pytest.raises(Refused, match=problem):
        read_in(write(tmp_path / "d", header(), item(query=query)), "wrong")
