"""The cast and the studies that tests share."""

import os

import hypothesis
import pytest
from django.contrib.auth import get_user_model

from tests import factories
from tests.judging.table import pytest_terminal_summary  # noqa: F401 - a hook: only this file's are seen under xdist

# Playwright's sync API keeps an event loop running, and the tests beside it use the database.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")


TOUCHES_A_DATABASE = {"db", "transactional_db", "django_db_setup", "live_server"}
SAYS_SO = ("django_db", "services", "postgres", "redis", "browser")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Marks the tests that touch no database: they say the same whatever DATABASE_URL is."""
    for item in items:
        if TOUCHES_A_DATABASE.isdisjoint(item.fixturenames) and not any(
            map(item.get_closest_marker, SAYS_SO)
        ):
            item.add_marker("pure")


# How long an example takes says how busy the machine is; a test is never about that.
hypothesis.settings.register_profile(
    "assay", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("assay")


def pytest_configure(config):
    from django.conf import settings

    # Slow hashing protects real passwords; here it would only be waited for.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def owner(db):
    return get_user_model().objects.create_user("owner", password="owner-password", is_staff=True)


@pytest.fixture
def colleague(db):
    return get_user_model().objects.create_user("colleague", password="colleague-password", is_staff=True)


@pytest.fixture
def outsider(db):
    return get_user_model().objects.create_user("outsider", password="outsider-password", is_staff=True)


@pytest.fixture
def draft(owner):
    """A small context contrast in three arms: 4 queries, training and attention items."""
    return factories.make_study("contrast", owner=owner)


@pytest.fixture
def study(draft):
    """The same, live."""
    return factories.launch(draft)
