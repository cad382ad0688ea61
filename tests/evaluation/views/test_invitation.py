"""The page behind an invitation's link, for members, for strangers, and when the link is used up."""

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from evaluation.services.invitations import invite, withdraw_invitation
from tests.evaluation.admin.conftest import signed_in

PASSWORD = "seven green bottles"
ACCOUNT = {"username": "nadia", "password1": PASSWORD, "password2": PASSWORD}


def link_to(study, by, role="editor"):
    return invite(
        study, role=role, by=by, address=lambda token: reverse("evaluation:invitation", args=[token])
    ).link


def text(response):
    return " ".join(response.content.decode().split())


def overview(study):
    return reverse("admin:evaluation_study_overview", args=[study.slug])


def test_who_is_signed_in_joins_with_one_button(draft, owner, outsider):
    client, link = signed_in(outsider), link_to(draft, owner)
    page = client.get(link)
    assert "You are signed in as <bdi>outsider</bdi>" in text(page)
    assert 'type="password"' not in text(page)
    assert not draft.members.filter(user=outsider).exists()
    answer = client.post(link, follow=True)
    assert answer.redirect_chain == [(overview(draft), 302)]
    assert "You are a member of this study now." in text(answer)
    assert draft.members.get(user=outsider).role == "editor"


def test_pressing_twice_leads_to_the_study_twice(draft, owner, outsider):
    client, link = signed_in(outsider), link_to(draft, owner)
    for _ in range(2):
        assert client.post(link)["Location"] == overview(draft)
    assert "already a member" in text(client.get(link, follow=True))


def test_who_has_no_account_makes_one(draft, owner):
    client, link = Client(), link_to(draft, owner, "viewer")
    page = text(client.get(link))
    assert draft.title in page
    assert f"/admin/login/?next={link.replace('/', '%2F')}" in page
    answer = client.post(link, ACCOUNT, follow=True)
    assert answer.redirect_chain == [(overview(draft), 302)]
    made = get_user_model().objects.get(username="nadia")
    assert (made.is_staff, made.is_superuser) == (True, False)
    assert draft.members.get(user=made).role == "viewer"
    assert Client().login(username="nadia", password=PASSWORD)


def test_signing_in_leads_back(draft, owner, outsider):
    link = link_to(draft, owner)
    answer = Client().post(
        f"/admin/login/?next={link}", {"username": "outsider", "password": "outsider-password", "next": link}
    )
    assert answer["Location"] == link


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"username": "OWNER"}, "already exists"),
        ({"password1": "12345", "password2": "12345"}, "too short"),
        ({"password2": "another one"}, "match"),
        ({"username": ""}, "required"),
        ({"username": "<b>"}, "valid username"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_made(draft, owner, change, says):
    client, link = Client(), link_to(draft, owner)
    answer = client.post(link, ACCOUNT | change)
    assert answer.status_code == 422
    assert says in text(answer)
    assert PASSWORD not in text(answer)
    assert get_user_model().objects.count() == 1
    assert client.post(link, ACCOUNT).status_code == 302


@pytest.mark.parametrize("how", ["used", "withdrawn", "expired"])
def test_a_link_that_is_over_says_so_and_nothing_else(draft, owner, outsider, colleague, how):
    link = link_to(draft, owner)
    if how == "used":
        signed_in(outsider).post(link)
    elif how == "withdrawn":
        withdraw_invitation(draft, invitation=draft.invitations.get().pk, by=owner)
    else:
        draft.invitations.update(expires_at=timezone.now())
    for client in (Client(), signed_in(colleague)):
        for answer in (client.get(link), client.post(link, ACCOUNT)):
            assert answer.status_code == 410
            assert how in text(answer)
            for secret in (draft.slug, "editor", "invites you", '<form method="post" class'):
                assert secret not in text(answer)
    assert not get_user_model().objects.filter(username="nadia").exists()
    assert not draft.members.filter(user=colleague).exists()


def test_a_made_up_link_is_nothing(draft, owner):
    link_to(draft, owner)
    for client in (Client(), signed_in(owner)):
        assert client.get("/invitations/made-up/").status_code == 404
        assert client.post("/invitations/made-up/", ACCOUNT).status_code == 404
    assert get_user_model().objects.count() == 1


def test_nobody_keeps_the_page(draft, owner):
    answer = Client().get(link_to(draft, owner))
    assert "no-store" in answer["Cache-Control"]
    assert answer["Referrer-Policy"] == "same-origin"
    assert Client().put(link_to(draft, owner)).status_code == 405


def test_hostile_names_are_text(draft, owner):
    draft.title, owner.username = "<script>alert(1)</script>", "<img src=x>"
    draft.save()
    owner.save()
    page = text(Client().get(link_to(draft, owner)))
    assert "<script>alert" not in page
    assert "<img src=x>" not in page
    assert "&lt;img src=x&gt;" in page
