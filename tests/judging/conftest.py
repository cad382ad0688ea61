"""The study of a test: made for it, or once for its module, where that has a `make_once`, and found by every test as it
was made.

Not for modules with tests that commit.
"""

import pytest
from django.contrib.auth import get_user_model

from evaluation.models import Study
from tests import factories


def make_owner():
    return get_user_model().objects.create_user("owner", password="owner-password", is_staff=True)


@pytest.fixture(scope="module", autouse=True)
def made_once(request):
    make = getattr(request.module, "make_once", None)
    if make is None:
        return None
    request.getfixturevalue("around_module")
    return make(make_owner()).pk


@pytest.fixture
def owner(made_once, db):
    return make_owner() if made_once is None else get_user_model().objects.get(username="owner")


@pytest.fixture
def study(made_once, request, db):
    if made_once is None:
        return factories.launch(request.getfixturevalue("draft"))
    return Study.objects.get(pk=made_once)
