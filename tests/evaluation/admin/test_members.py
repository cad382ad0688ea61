"""The members' page: owners invite by mail or by a link, and see and withdraw what is open."""

import re
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core import mail
from django.urls import reverse

from evaluation.services import invitations
from tests.evaluation.admin.conftest import signed_in
from tests.evaluation.admin.test_confirmations import history, text


@pytest.fixture
def mail_server(settings: Any) -> None:
    settings.EMAIL_HOST = "mail.example.org"
    settings.DEFAULT_FROM_EMAIL = "assay@example.org"


def address(study: Any, name: str, *more: Any) -> str:
    return reverse(f"admin:evaluation_study_{name}", args=[study.slug, *more])


def link_in(page: str) -> str:
    found = re.search(r'id="invitation-link">(http://testserver/invitations/[\w-]+/)<', page)
    return found[1] if found else ""


def test_a_link_is_shown_once(editors_draft: Any, owner: Any, outsider: Any) -> None:
    client = signed_in(owner)
    assert "No mail server is set up here" in text(client.get(address(editors_draft, "members")))
    answer = client.post(address(editors_draft, "invite"), {"role": "viewer"})
    link = link_in(text(answer))
    assert link
    assert "no-store" in answer["Cache-Control"]
    again = text(client.get(address(editors_draft, "members")))
    assert "Open invitations" in again
    assert link_in(again) == ""
    assert link.rsplit("/", 2)[1] not in again + history(client, editors_draft)
    signed_in(outsider).post(link)
    assert editors_draft.members.get(user=outsider).role == "viewer"
    assert "Open invitations" not in text(client.get(address(editors_draft, "members")))
    assert "Accepted an invitation as viewer." in history(client, editors_draft)


def test_an_address_gets_the_link_and_the_page_does_not(
    editors_draft: Any, owner: Any, mail_server: Any
) -> None:
    answer = text(
        signed_in(owner).post(
            address(editors_draft, "invite"), {"role": "editor", "email": "nadia@example.org"}
        )
    )
    assert "nadia@example.org can join as editor" in answer
    assert link_in(answer) == ""
    (sent,) = mail.outbox
    assert re.search(r"http://testserver/invitations/[\w-]{43}/", sent.body)


def test_with_a_mail_server_a_link_can_be_had_all_the_same(
    editors_draft: Any, owner: Any, mail_server: Any
) -> None:
    answer = signed_in(owner).post(address(editors_draft, "invite"), {"role": "editor", "email": ""})
    assert link_in(text(answer))
    assert mail.outbox == []


def test_a_mail_that_fails_leaves_the_link(
    editors_draft: Any, owner: Any, mail_server: Any, monkeypatch: Any
) -> None:
    def fail(*args: Any, **kwargs: Any) -> None:
        raise ConnectionRefusedError

    monkeypatch.setattr(invitations, "send_mail", fail)
    answer = text(
        signed_in(owner).post(
            address(editors_draft, "invite"), {"role": "editor", "email": "nadia@example.org"}
        )
    )
    assert "The e-mail could not be sent." in answer
    assert link_in(answer)


def test_without_a_mail_server_no_address_is_asked_for(editors_draft: Any, owner: Any) -> None:
    given = {"role": "editor", "email": "nadia@example.org"}
    assert link_in(text(signed_in(owner).post(address(editors_draft, "invite"), given)))
    assert mail.outbox == []
    assert not get_user_model().objects.filter(email="nadia@example.org").exists()


@pytest.mark.parametrize("given", [{"role": "emperor"}, {}, {"role": "editor", "email": "nadia"}])
def test_what_is_wrong_invites_nobody(editors_draft: Any, owner: Any, mail_server: Any, given: Any) -> None:
    assert signed_in(owner).post(address(editors_draft, "invite"), given).status_code == 422
    assert not editors_draft.invitations.exists()


def test_too_many_are_refused_in_a_sentence(editors_draft: Any, owner: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(invitations, "MAX_OPEN", 1)
    client = signed_in(owner)
    for status in (200, 422):
        answer = client.post(address(editors_draft, "invite"), {"role": "viewer"})
        assert answer.status_code == status
    assert "Withdraw one that nobody needs any more." in text(answer)


def test_an_open_invitation_can_be_withdrawn(editors_draft: Any, owner: Any) -> None:
    client = signed_in(owner)
    link = link_in(text(client.post(address(editors_draft, "invite"), {"role": "viewer"})))
    withdraw = address(editors_draft, "withdraw_invitation", editors_draft.invitations.get().pk)
    assert withdraw in text(client.get(address(editors_draft, "members")))
    assert "Withdrew the invitation" in text(client.post(withdraw, follow=True))
    assert client.get(withdraw).status_code == 405
    assert "not open any more" in text(client.post(withdraw, follow=True))
    assert "was withdrawn" in text(signed_in(get_user_model().objects.create_user("new")).get(link))


def test_owners_alone_invite_and_withdraw(
    editors_draft: Any, owner: Any, colleague: Any, viewer: Any
) -> None:
    signed_in(owner).post(address(editors_draft, "invite"), {"role": "viewer"})
    withdraw = address(editors_draft, "withdraw_invitation", editors_draft.invitations.get().pk)
    for user in (colleague, viewer):
        client = signed_in(user)
        assert client.post(address(editors_draft, "invite"), {"role": "owner"}).status_code == 403
        assert client.post(withdraw).status_code == 403
        page = text(client.get(address(editors_draft, "members")))
        assert "Owners invite, add and remove members." in page
        assert "Open invitations" not in page
    assert editors_draft.invitations.open().count() == 1
    assert signed_in(owner).get(address(editors_draft, "invite")).status_code == 302
