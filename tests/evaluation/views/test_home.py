"""The site's bare address, for members, for strangers, and for participants whose link lost its path."""

import re

import pytest
from django.contrib.auth import get_user_model
from django.urls import reverse

from tests import factories

ADDRESS = "/"
PASSWORD = "seven green bottles"


def text(response):
    return " ".join(response.content.decode().split())


@pytest.mark.parametrize("who", ["owner", "outsider"])
@pytest.mark.parametrize("query", ["", "?PROLIFIC_PID=5f0c"])
def test_who_is_signed_in_comes_to_the_studies(client, request, who, query, db):
    client.force_login(request.getfixturevalue(who))
    assert client.get(ADDRESS + query)["Location"] == "/studies/"


def test_a_stranger_reads_what_this_is_and_gets_no_cookie(client, db):
    response = client.get(ADDRESS)
    assert response.status_code == 200
    assert "people judge what language models write" in text(response)
    assert "use the link that it gave you" in text(response)
    assert not response.cookies
    assert client.head(ADDRESS).status_code == 200


def test_a_member_without_the_staff_flag_signs_in_there(client, db):
    user = get_user_model().objects.create_user("reader", password=PASSWORD)
    factories.make_study("soups", owner=user)
    sign_in = re.search(r'class="button" href="([^"]+)"', text(client.get(ADDRESS)))[1]
    page = client.get(sign_in)
    assert page.context["next"] == "/studies/"
    given = {"username": "reader", "password": PASSWORD, "next": "/studies/"}
    response = client.post(sign_in, given, follow=True)
    assert response.redirect_chain == [("/studies/", 302)]
    assert reverse("admin:evaluation_study_overview", args=["soups"]) in text(response)
    # The installation's own pages are for who runs it.
    assert client.get("/admin/")["Location"] == "/studies/"
    assert client.get(reverse("admin:auth_user_changelist")).status_code == 403


@pytest.mark.parametrize("query", ["?PROLIFIC_PID=5f0c&STUDY_ID=s&SESSION_ID=v", "?worker=5f0c"])
def test_a_participant_reads_that_the_link_is_incomplete(client, query, db):
    response = client.get(ADDRESS + query)
    assert response.status_code == 404
    assert "The link may be incomplete or old." in text(response)
    assert "Sign in" not in text(response)
    assert not response.cookies


def test_nothing_is_posted_there(client, owner):
    assert client.post(ADDRESS).status_code == 405
    client.force_login(owner)
    assert client.post(ADDRESS).status_code == 405
