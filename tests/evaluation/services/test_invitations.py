"""Invitations: made by owners, good once and for two weeks, and never for more than they say."""

import os
import smtplib
from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model
from django.core import mail
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from evaluation.models import Study, StudyInvitation, StudyMember
from evaluation.refusals import Refused
from evaluation.services import invitations
from evaluation.services.invitations import (
    accept_invitation,
    accept_with_new_account,
    invite,
    withdraw_invitation,
)
from evaluation.services.members import change_member
from evaluation.services.studies.deletion import delete_study
from tests.crowd import at_once

PASSWORD = "seven green bottles"


@pytest.fixture
def mail_server(settings):
    settings.EMAIL_HOST = "mail.example.org"
    settings.DEFAULT_FROM_EMAIL = "assay@example.org"


def invited(study, by=None, role="editor", **values):
    return invite(study, role=role, by=by, address=lambda token: token, **values)


def role_of(study, user):
    return study.members.filter(user=user).values_list("role", flat=True).first()


def lines(study):
    return [each.get_change_message() for each in LogEntry.objects.filter(object_id=str(study.pk))]


def test_a_link_makes_a_member_once(draft, owner, outsider, colleague):
    made = invited(draft, owner)
    assert accept_invitation(made.link, user=outsider) == draft
    assert role_of(draft, outsider) == "editor"
    with pytest.raises(Refused, match="already been used"):
        accept_invitation(made.link, user=colleague)
    assert role_of(draft, colleague) is None
    assert {"Invited a colleague by link as editor.", "Accepted an invitation as editor."} <= {*lines(draft)}
    made.invitation.refresh_from_db()
    assert made.invitation.accepted_by == outsider


def test_the_token_is_kept_as_a_digest_only(draft, owner):
    made = invited(draft, owner)
    assert len(made.link) >= 43  # 256 bits
    row = StudyInvitation.objects.filter(pk=made.invitation.pk).values().get()
    assert made.link not in str(row)
    assert made.link not in str(lines(draft))
    assert invited(draft, owner).link != made.link


@pytest.mark.parametrize("role", ["viewer", "editor", "owner"])
def test_the_role_is_that_of_the_invitation(draft, owner, outsider, role):
    accept_invitation(invited(draft, owner, role).link, user=outsider)
    assert role_of(draft, outsider) == role


def test_there_is_no_other_role(draft, owner):
    with pytest.raises(Refused, match="no role 'superuser'"):
        invited(draft, owner, "superuser")
    assert not draft.invitations.exists()


def test_it_expires_after_two_weeks(draft, owner, outsider):
    made = invited(draft, owner)
    assert made.invitation.expires_at - made.invitation.created_at == timedelta(days=14)
    draft.invitations.update(expires_at=timezone.now())
    with pytest.raises(Refused, match="expired"):
        accept_invitation(made.link, user=outsider)
    assert role_of(draft, outsider) is None
    assert not draft.invitations.open().exists()


def test_what_is_withdrawn_is_over(draft, owner, outsider):
    made = invited(draft, owner)
    assert "Withdrew" in withdraw_invitation(draft, invitation=made.invitation.pk, by=owner)
    with pytest.raises(Refused, match="withdrawn"):
        accept_invitation(made.link, user=outsider)
    with pytest.raises(Refused, match="not open"):
        withdraw_invitation(draft, invitation=made.invitation.pk, by=owner)
    assert role_of(draft, outsider) is None


def test_another_study_s_invitation_is_not_withdrawn(draft, study, owner):
    made = invited(draft, owner)
    other = Study.objects.create(slug="other", title="Other", protocol="pairwise")
    with pytest.raises(Refused):
        withdraw_invitation(other, invitation=made.invitation.pk, by=owner)
    assert draft.invitations.open().exists()


def test_a_member_uses_no_invitation_up(draft, owner, outsider):
    made = invited(draft, owner, "viewer")
    with pytest.raises(Refused, match="already a member"):
        accept_invitation(made.link, user=owner)
    assert role_of(draft, owner) == "owner"
    accept_invitation(made.link, user=outsider)
    assert role_of(draft, outsider) == "viewer"


def test_a_made_up_link_opens_nothing(draft, owner, outsider):
    invited(draft, owner)
    for token in ("", "x", draft.invitations.get().token_hash):
        with pytest.raises(Refused, match="no such invitation"):
            accept_invitation(token, user=outsider)


@pytest.mark.parametrize("leaving", ["viewer", "remove"])
def test_who_is_no_owner_any_more_leaves_no_invitation(draft, owner, outsider, colleague, leaving):
    second = StudyMember.objects.create(study=draft, user=colleague, role="owner")
    made, of_owner = invited(draft, colleague), invited(draft, owner)
    change_member(draft, member=second.pk, role=leaving, by=owner)
    with pytest.raises(Refused, match="withdrawn"):
        accept_invitation(made.link, user=outsider)
    accept_invitation(of_owner.link, user=outsider)


def test_nor_does_a_closed_account(draft, owner, outsider):
    made = invited(draft, owner)
    owner.is_active = False
    owner.save()
    assert not draft.invitations.open().exists()
    with pytest.raises(Refused, match="withdrawn"):
        accept_invitation(made.link, user=outsider)


def test_so_many_are_open_at_once(draft, owner, monkeypatch):
    monkeypatch.setattr(invitations, "MAX_OPEN", 2)
    first, _ = invited(draft, owner), invited(draft, owner)
    with pytest.raises(Refused, match="Withdraw one"):
        invited(draft, owner)
    withdraw_invitation(draft, invitation=first.invitation.pk, by=owner)
    invited(draft, owner)


def test_so_many_are_made_in_a_day(draft, owner, monkeypatch):
    monkeypatch.setattr(invitations, "MAX_A_DAY", 2)
    for _ in range(2):
        made = invited(draft, owner)
        withdraw_invitation(draft, invitation=made.invitation.pk, by=owner)
    with pytest.raises(Refused, match="tomorrow"):
        invited(draft, owner)


def test_a_draft_is_deleted_with_its_invitations(draft, owner):
    invited(draft, owner)
    delete_study(draft, by=owner)
    assert not StudyInvitation.objects.exists()


# --- accounts ---------------------------------------------------------------------------------------------------------


def test_a_new_account_has_a_researcher_s_rights_and_no_more(draft, owner):
    user = accept_with_new_account(invited(draft, owner, "viewer").link, username="nadia", password=PASSWORD)
    assert (user.is_staff, user.is_superuser, user.email) == (True, False, "")
    assert not user.user_permissions.exists()
    assert user.check_password(PASSWORD)
    assert role_of(draft, user) == "viewer"


@pytest.mark.parametrize(
    ("username", "password", "says"),
    [
        ("owner", PASSWORD, "already exists"),
        ("two words", PASSWORD, "valid username"),
        ("<script>", PASSWORD, "valid username"),
        ("", PASSWORD, "blank"),
        ("nadia", "12345", "too short"),
        ("nadia", "password", "too common"),
        ("nadia-maria", "nadia-maria", "too similar"),
    ],
)
def test_a_bad_name_or_password_makes_no_account(draft, owner, username, password, says):
    made = invited(draft, owner)
    with pytest.raises(Refused, match=says):
        accept_with_new_account(made.link, username=username, password=password)
    assert get_user_model().objects.count() == 1
    assert draft.invitations.open().exists()


def test_no_account_without_an_open_invitation(draft, owner):
    made = invited(draft, owner)
    withdraw_invitation(draft, invitation=made.invitation.pk, by=owner)
    for token in (made.link, "made-up"):
        with pytest.raises(Refused):
            accept_with_new_account(token, username="nadia", password=PASSWORD)
    assert get_user_model().objects.count() == 1


def test_an_account_gets_the_address_that_was_written_to_and_no_other(draft, owner, mail_server):
    made = invited(draft, owner, email="nadia@example.org")
    user = accept_with_new_account(made.link, username="nadia", password=PASSWORD)
    assert user.email == "nadia@example.org"


def test_an_address_that_nobody_wrote_to_is_nobody_s(draft, owner, settings):
    settings.EMAIL_HOST = ""
    made = invited(draft, owner, email="nadia@example.org")
    assert accept_with_new_account(made.link, username="nadia", password=PASSWORD).email == ""
    assert mail.outbox == []


# --- mail -------------------------------------------------------------------------------------------------------------


def test_the_mail_has_the_link(draft, owner, mail_server):
    made = invited(draft, owner, email="nadia@example.org")
    (sent,) = mail.outbox
    assert (sent.to, sent.from_email) == (["nadia@example.org"], "assay@example.org")
    assert draft.title in sent.subject
    for words in (made.link, "owner invites you", "as editor", f"{made.invitation.expires_at:%Y-%m-%d}"):
        assert words in sent.body
    assert made.invitation.mailed_at


def test_hostile_names_stay_text(draft, owner, mail_server):
    draft.title = "Tea\r\nBcc: all@example.org\r\n\r\n<b>&amp;"
    draft.save()
    owner.username = "a\nb&<i>"
    owner.save()
    invited(draft, owner, email="nadia@example.org")
    (sent,) = mail.outbox
    assert sent.subject == "Invitation to the study “Tea Bcc: all@example.org <b>&amp;”"
    assert sent.recipients() == ["nadia@example.org"]
    # A mail of plain text: nothing in it is markup, and nothing is escaped as if it were.
    assert "<b>&amp;" in sent.body
    assert "&lt;" not in sent.body
    assert sent.message().get_content_type() == "text/plain"


@pytest.mark.parametrize(
    "error", [smtplib.SMTPRecipientsRefused({}), ConnectionRefusedError(), TimeoutError()]
)
def test_a_server_that_is_away_leaves_the_link(draft, owner, outsider, mail_server, monkeypatch, error):
    def fail(*args, **kwargs):
        raise error

    monkeypatch.setattr(invitations, "send_mail", fail)
    made = invited(draft, owner, email="nadia@example.org")
    assert made.problem == "The e-mail could not be sent."
    assert made.invitation.mailed_at is None
    accept_invitation(made.link, user=outsider)


# --- at once ----------------------------------------------------------------------------------------------------------


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_of_several_who_accept_at_once_one_is_a_member(draft, owner):
    if connection.vendor != "postgresql":
        if os.environ.get("ASSAY_REQUIRE_ALL") == "1":
            pytest.fail("DATABASE_URL names no PostgreSQL")
        pytest.skip("DATABASE_URL names no PostgreSQL")
    made = invited(draft, owner)
    people = [get_user_model().objects.create_user(f"person-{n}") for n in range(4)]

    def try_to_join(user):
        def call():
            try:
                return accept_invitation(made.link, user=user)
            except Refused as refused:
                return str(refused)

        return call

    said = at_once(*map(try_to_join, people))
    assert sorted(map(str, said)) == sorted([str(draft), *["This invitation has already been used."] * 3])
    assert draft.members.exclude(user=owner).count() == 1


# --- the command ------------------------------------------------------------------------------------------------------


def test_the_command_prints_a_link_that_works(draft, outsider, settings, capsys):
    settings.ASSAY_PUBLIC_URL = "https://assay.example.org"
    call_command("invite", draft.slug, "--role", "viewer")
    link = capsys.readouterr().out.strip()
    before, _, token = link.rstrip("/").rpartition("/")
    assert before == "https://assay.example.org/invitations"
    accept_invitation(token, user=outsider)
    assert role_of(draft, outsider) == "viewer"


def test_the_command_says_what_became_of_the_mail(draft, owner, settings, capsys):
    settings.EMAIL_HOST = ""
    call_command("invite", draft.slug, "--email", "nadia@example.org", "--by", "owner")
    assert "No mail server is set up" in capsys.readouterr().err
    settings.EMAIL_HOST = "mail.example.org"
    call_command("invite", draft.slug, "--email", "nadia@example.org", "--by", "owner")
    assert "Sent to nadia@example.org." in capsys.readouterr().err
    assert len(mail.outbox) == 1


def test_the_command_asks_for_an_owner(draft, colleague, outsider):
    StudyMember.objects.create(study=draft, user=colleague, role="editor")
    for by, says in (("colleague", "does not own"), ("outsider", "no study"), ("nobody", "no user")):
        with pytest.raises(CommandError, match=says):
            call_command("invite", draft.slug, "--by", by)
    with pytest.raises(CommandError, match="no e-mail address"):
        call_command("invite", draft.slug, "--email", "nadia")
    assert not StudyInvitation.objects.exists()
