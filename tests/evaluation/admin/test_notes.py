"""Notes on items and judgments: written by editors, read by members, found by filters and words."""

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse

from evaluation.explorer.item_filters import ItemFilters
from evaluation.models import Note, Study, StudyMember
from evaluation.services.settling import settle_item
from tests import factories
from tests.crowd import come, hand_in
from tests.evaluation.admin.conftest import signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def pairs(owner: Any, colleague: Any, viewer: Any) -> Study:
    study = factories.launched_pairs("noted", 3, owner=owner, steps=factories.NO_STEPS)
    StudyMember.objects.create(study=study, user=colleague, role="editor")
    StudyMember.objects.create(study=study, user=viewer, role="viewer")
    return study


def main_items(study: Study) -> list[Any]:
    return list(study.items.filter(role="main").order_by("pk"))


def write(client: Any, item: Any, **data: Any) -> Any:
    return client.post(
        reverse("admin:evaluation_item_note", args=[item.study.slug, item.pk]), data, follow=True
    )


def delete(client: Any, note: Note) -> Any:
    here = reverse("admin:evaluation_study_delete_note", args=[note.study.slug, note.pk])
    return client.post(here, follow=True)


def test_notes_stand_on_the_item_and_on_its_judgment(pairs: Any, owner: Any, viewer: Any) -> None:
    judgment = hand_in(come(pairs).token).judgment
    client = signed_in(owner)
    assert (
        "Look at <b>this</b>"
        not in write(client, judgment.item, text="Look at <b>this</b>\n again.").content.decode()
    )
    page = write(client, judgment.item, text="A slip?", judgment=judgment.pk).content.decode()
    assert page.index("Look at &lt;b&gt;this&lt;/b&gt;<br> again.") < page.index("A slip?")
    own = reverse("admin:evaluation_judgment_page", args=[pairs.slug, judgment.pk])
    alone = client.get(own).content.decode()
    assert "A slip?" in alone
    assert "Look at" not in alone
    read = signed_in(viewer).get(reverse("admin:evaluation_item_page", args=[pairs.slug, judgment.item_id]))
    assert "A slip?" in read.content.decode()
    assert "Note for colleagues" not in read.content.decode()
    lines = (
        LogEntry.objects.filter(object_id=str(pairs.pk))
        .order_by("pk")
        .values_list("change_message", flat=True)
    )
    assert list(lines)[-2:] == [
        f"Wrote a note on item {judgment.item.key}.",
        f"Wrote a note on {judgment.rater}'s judgment of {judgment.item.key}.",
    ]


def test_own_notes_are_deleted_by_editors_and_any_by_owners(pairs: Any, owner: Any, colleague: Any) -> None:
    item = main_items(pairs)[0]
    editor, chief = signed_in(colleague), signed_in(owner)
    write(editor, item, text="Of an editor.")
    write(editor, item, text="Another.")
    write(chief, item, text="Of the owner.")
    own, other, owners = Note.objects.order_by("pk")
    assert "Only an owner can delete" in delete(editor, owners).content.decode()
    delete(editor, own)
    delete(chief, other)
    assert list(Note.objects.all()) == [owners]


def test_who_may_not_and_what_does_not_fit(pairs: Any, owner: Any, viewer: Any, outsider: Any) -> None:
    item, other_item = main_items(pairs)[:2]
    judgment = hand_in(come(pairs).token).judgment
    elsewhere = other_item if judgment.item_id == item.pk else item
    client = signed_in(owner)
    assert "A note needs a text." in write(client, item, text=" \n").content.decode()
    assert "too long" in write(client, item, text="x" * 5_001).content.decode()
    assert write(client, elsewhere, text="Of another item.", judgment=judgment.pk).status_code == 404
    assert write(client, item, text="Of none.", judgment="x").status_code == 404
    assert write(signed_in(viewer), item, text="Of a viewer.").status_code == 403
    assert write(signed_in(outsider), item, text="Of a stranger.").status_code == 404
    assert client.get(reverse("admin:evaluation_item_note", args=[pairs.slug, item.pk])).status_code == 405
    assert not Note.objects.exists()
    write(client, item, text="It stands.")
    note = Note.objects.get()
    assert delete(signed_in(viewer), note).status_code == 403
    assert delete(signed_in(outsider), note).status_code == 404
    assert Note.objects.get() == note


def test_items_are_found_by_notes_and_by_what_is_settled(pairs: Any, owner: Any, colleague: Any) -> None:
    noted, agreed, disputed = main_items(pairs)
    write(signed_in(owner), noted, text="Überraschend gut.")
    answers = {"preference": "r1", "justification": "It names the source."}
    for member, label in ((owner, "r1"), (colleague, "r2")):
        settle_item(agreed, answers, reason="Because of the zebra.", by=member)
        settle_item(disputed, answers | {"preference": label}, reason="So it is.", by=member)
    for given, expected in (
        ({"note": ["yes"]}, [noted]),
        ({"q": ["überrasch"]}, [noted]),
        ({"q": ["ZEBRA"]}, [agreed]),
        ({"settled": ["yes"]}, [agreed, disputed]),
        ({"settled": ["no"]}, [noted]),
        ({"settled": ["differ"]}, [disputed]),
        ({"by": ["settled"]}, [agreed, disputed]),
    ):
        filters = ItemFilters.parse(pairs, given)
        assert sorted(filters.items(pairs), key=lambda item: item.pk) == expected, given
        [(name, [value])] = given.items()
        assert filters.pairs == [(name, value)]
