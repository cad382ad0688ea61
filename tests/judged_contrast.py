"""Fixtures: a judged study and its owner, made once for all tests of a module."""

import copy
from types import SimpleNamespace

import pytest
from django.contrib.auth import get_user_model

from tests.analytics.reports.judging import judge, judged_study

__all__ = ["made", "owner", "shared", "study"]


@pytest.fixture(scope="module")
def made(around_module):
    """The study and its owner, for all tests here."""
    owner = get_user_model().objects.create_user("owner", password="owner-password", is_staff=True)
    study = judged_study("contrast", owner=owner)
    judge(study, raters=3)
    return SimpleNamespace(owner=owner, study=study)


@pytest.fixture
def shared(db, made):
    """A copy of each test's own, as the database is."""
    return copy.deepcopy(made)


@pytest.fixture
def owner(shared):
    return shared.owner


@pytest.fixture
def study(shared):
    return shared.study
