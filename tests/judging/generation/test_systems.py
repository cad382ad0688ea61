"""The systems that models are: by their names, and by their endpoints where names would be the same."""

import re

import pytest

from judging.generation.pipeline import PlacedModel
from judging.generation.systems import MAX_SYSTEM, model_systems


def keys(*models, **options):
    return [each.key for each in model_systems([PlacedModel(*each) for each in models], **options)]


def test_a_model_at_one_endpoint_has_its_name_however_often_it_is_named():
    assert keys(("aspen", "here"), ("birch", "there"), ("aspen", "here")) == ["aspen", "birch"]


def test_the_same_model_at_two_endpoints_is_two_systems_of_one_family():
    found = model_systems(
        [PlacedModel("aspen", "here"), PlacedModel("aspen", "over there"), PlacedModel("birch", "here")]
    )
    assert [each.key for each in found] == ["aspen-here", "aspen-over-there", "birch"]
    assert [each.label for each in found] == ["aspen @ here", "aspen @ over there", "birch"]
    assert [each.family for each in found] == ["aspen", "aspen", "birch"]


@pytest.mark.parametrize(
    "models",
    [
        [("org/aspen", "here"), ("org-aspen", "here")],
        [("aspen", "here"), ("aspen", "there"), ("aspen-here", "here")],
        [("a" * 200, "here"), ("a" * 201, "here")],
        [("?", "here"), ("!", "here")],
    ],
)
def test_no_two_models_are_ever_one_system(models):
    found = keys(*models)
    assert len(set(found)) == len(models)
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+", key) and len(key) <= MAX_SYSTEM for key in found)
