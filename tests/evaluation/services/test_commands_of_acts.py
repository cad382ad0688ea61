"""Acts by command: each does what its page does, and leaves the same line in the history."""

from io import StringIO

import pytest
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command

from evaluation.models import Item, ItemFlag, PublishedLeaderboard, Study, StudyMember
from evaluation.services.history import SERVER, history_of
from evaluation.services.invitations import invite
from tests import factories

pytestmark = pytest.mark.django_db


def command(*args: str) -> str:
    out = StringIO()
    call_command(*args, stdout=out)
    return out.getvalue()


def history(study: Study) -> list[tuple[str, str]]:
    return [(line.user.get_username(), line.get_change_message()) for line in history_of(study)]


@pytest.fixture
def study() -> Study:
    return factories.launched("contrast")


def keys(study: Study) -> list[str]:
    return list(
        Item.objects.filter(study=study, role="main").order_by("pk").values_list("key", flat=True)[:2]
    )


def withdrawn(study: Study) -> list[str]:
    rows = Item.objects.filter(study=study).exclude(withdrawn_at=None)
    return list(rows.order_by("pk").values_list("key", flat=True))


def test_items_are_withdrawn_and_brought_back(study: Study) -> None:
    first, second = keys(study)
    command("withdraw_item", study.slug, first, second, "--reason", "misprinted")
    assert withdrawn(study) == [first, second]
    said = f"Withdrew item {first}."
    assert (SERVER, f"{said} Reason: misprinted") in history(study)
    command("withdraw_item", study.slug, second, "--undo")
    assert withdrawn(study) == [first]


def test_all_of_the_items_or_none(study: Study) -> None:
    first, second = keys(study)
    command("withdraw_item", study.slug, second)
    for more in (second, "nowhere"):
        with pytest.raises(CommandError):
            command("withdraw_item", study.slug, first, more)
    assert withdrawn(study) == [second]


def test_a_viewer_s_name_withdraws_nothing(study: Study) -> None:
    viewer = get_user_model().objects.create_user("viewer")
    StudyMember.objects.create(study=study, user=viewer, role="viewer")
    with pytest.raises(CommandError, match="may read this study"):
        command("withdraw_item", study.slug, keys(study)[0], "--by", "viewer")
    assert withdrawn(study) == []


def test_flags_are_listed_and_resolved_all_or_none(study: Study) -> None:
    first, second = keys(study)
    items = {each.key: each for each in Item.objects.filter(study=study)}
    broken, skipped = (
        ItemFlag.objects.create(item=items[key], reason=reason, note=note)
        for key, reason, note in ((first, "reported", "No image."), (second, "skipped", ""))
    )
    assert f"{broken.pk}  {first}  reported  No image." in command("flags", study.slug)
    for wrong in (("--resolve", str(broken.pk), "0", "--reason", "Seen."), ("--resolve", str(broken.pk))):
        with pytest.raises(CommandError):
            command("flags", study.slug, *wrong)
    assert ItemFlag.objects.count() == 2
    command("flags", study.slug, "--resolve", str(broken.pk), "--reason", "It is there.")
    assert list(ItemFlag.objects.all()) == [skipped]
    said = f"Resolved the flag “reported” of item {items[first]}. Reason: It is there."
    assert (SERVER, said) in history(study)


def test_members_come_change_and_go(study: Study) -> None:
    get_user_model().objects.create_user("colleague")
    assert "colleague: viewer" in command("members", study.slug, "colleague", "--role", "viewer")
    assert "colleague: editor" in command("members", study.slug, "colleague", "--role", "editor")
    assert "colleague:" not in command("members", study.slug, "colleague", "--remove")
    assert [line for line in history(study) if "colleague" in line[1]] == [
        (SERVER, "Added colleague as viewer."),
        (SERVER, "colleague is editor now."),
        (SERVER, "Removed colleague."),
    ]
    with pytest.raises(CommandError, match="no member"):
        command("members", study.slug, "colleague", "--remove")
    with pytest.raises(CommandError, match="together"):
        command("members", study.slug, "colleague")


def test_an_invitation_is_withdrawn(study: Study) -> None:
    made = invite(study, role="editor", email="nadia@example.org", by=None, address=lambda token: token)
    assert f"invitation {made.invitation.pk}: nadia@example.org, editor" in command("members", study.slug)
    said = command("members", study.slug, "--withdraw", str(made.invitation.pk))
    assert said.startswith("Withdrew the invitation of nadia@example.org")
    assert "\ninvitation" not in said


def test_only_owners_manage_members(study: Study) -> None:
    editor = get_user_model().objects.create_user("editor")
    StudyMember.objects.create(study=study, user=editor, role="editor")
    with pytest.raises(CommandError, match="does not own"):
        command("members", study.slug, "editor", "--role", "owner", "--by", "editor")


def test_revisable_answers_are_said_and_noted(study: Study) -> None:
    assert "may revise: all." in command("revisable", study.slug, "all")
    study.refresh_from_db()
    assert study.going_back == "all"
    assert (SERVER, "Revisable answers: all.") in history(study)


def test_a_check_tells_what_a_draft_lacks_and_launches_nothing() -> None:
    draft = factories.make_study("draft")
    assert "confirm: No contact is set" in command("launch", "draft", "--check")
    draft.questions.all().delete()
    assert "blocks: The study has no questions." in command("launch", "draft", "--check")
    draft.refresh_from_db()
    assert draft.status == "draft"


def test_a_leaderboard_without_judgments_is_not_published(study: Study) -> None:
    with pytest.raises(CommandError):
        command("leaderboard", study.slug, "publish")
    assert not PublishedLeaderboard.objects.exists()


def test_a_leaderboard_is_published_and_withdrawn() -> None:
    study = factories.launched_pairs("ranked", 4)
    call_command("run_judge", study.slug, "--judge", "longer", "--yes", stdout=StringIO(), stderr=StringIO())
    assert "Published the leaderboard." in command(
        "leaderboard", study.slug, "publish", "--description", "By length."
    )
    assert PublishedLeaderboard.objects.get().description == "By length."
    assert "Withdrew the published leaderboard." in command("leaderboard", study.slug, "withdraw")
    assert not PublishedLeaderboard.objects.exists()
    assert [who for who, said in history(study) if "leaderboard" in said] == [SERVER, SERVER]
