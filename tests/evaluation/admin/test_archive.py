"""Archived studies: out of the list, as they were, and nothing begins with them until they are taken out."""

from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from evaluation.models import Study
from evaluation.refusals import WrongState
from evaluation.services.progress import studies_to_count
from evaluation.services.studies.launch import archive_study, launch_study, pause_study
from tests import factories
from tests.evaluation.admin.conftest import signed_in
from tests.evaluation.admin.test_confirmations import history, text

pytestmark = pytest.mark.django_db


@pytest.fixture
def draft(owner: Any) -> Study:
    return factories.make_study("soups", owner=owner)


def test_a_draft_is_archived_found_and_taken_out(draft: Study, owner: Any, viewer: Any) -> None:
    client, address = signed_in(owner), reverse("admin:evaluation_study_archive", args=[draft.slug])
    assert "Soups" in text(client.get("/studies/"))
    assert "No study is archived." in text(client.get("/studies/?status=archived"))
    assert client.post(address, {"reason": "The pilot."}, follow=True).status_code == 200
    listed = text(client.get("/studies/"))
    assert "Soups" not in listed
    assert "1 archived study" in listed
    assert "All studies are archived." in listed
    assert "Soups" in text(client.get("/studies/?status=archived"))
    assert "Archived. Reason: The pilot." in history(client, draft)
    draft.refresh_from_db()
    assert studies_to_count() == []
    with pytest.raises(WrongState, match="take it out of the archive first"):
        launch_study(draft)
    assert "Take it out of the archive" in text(client.get(f"/studies/{draft.slug}/"))
    assert signed_in(viewer).post(address).status_code == 404
    assert client.post(address, follow=True).status_code == 200
    assert "Soups" in text(client.get("/studies/"))


def test_a_study_under_way_is_not_archived(draft: Study) -> None:
    live = factories.launch(draft)
    for _ in range(2):
        with pytest.raises(WrongState, match="A draft or a closed study"):
            archive_study(live)
        if live.status == "live":
            pause_study(live)
    with pytest.raises(CommandError, match="A draft or a closed study"):
        call_command("status", live.slug, "archive")


def test_by_command(draft: Study, capsys: Any) -> None:
    call_command("status", draft.slug, "archive")
    with pytest.raises(CommandError, match="and once"):
        call_command("status", draft.slug, "archive")
    call_command("status", draft.slug, "unarchive")
    assert capsys.readouterr().out.splitlines() == ["Soups is draft, archived.", "Soups is draft."]
