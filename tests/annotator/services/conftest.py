"""The studies that participants take part in here."""

import pytest

from tests.annotator.services.people import ONE_ARM
from tests.crowd import make_crowd_study


@pytest.fixture
def live():
    """Only items: six of them, three for each participant."""
    return make_crowd_study("live", queries=6, arms=ONE_ARM)


@pytest.fixture
def single():
    """One item with one place."""
    return make_crowd_study("single", queries=1, arms=ONE_ARM, redundancy=1, items_per_participant=1)
