"""The systems that models are: by their names, and by their endpoints where names would be the same."""

import re

import pytest

from judging.generation.pipeline import PlacedModel
from judging.generation.systems import MAX_SYSTEM, clean_variants, model_systems, variant_systems


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


def test_each_model_is_a_system_under_each_variant():
    models = [PlacedModel("aspen", "here"), PlacedModel("birch", "here")]
    found = variant_systems(models, ["formal: Answer: as a book.", "plain"])
    assert [(each.key, each.label, each.family, each.instruction) for each in found] == [
        ("aspen-formal", "aspen, formal", "aspen", "Answer: as a book."),
        ("birch-formal", "birch, formal", "birch", "Answer: as a book."),
        ("aspen-plain", "aspen, plain", "aspen", ""),
        ("birch-plain", "birch, plain", "birch", ""),
    ]
    assert [each.key for each in variant_systems(models, [])] == ["aspen", "birch"]


def test_no_two_variants_are_ever_one_system():
    models = [PlacedModel("a", "here"), PlacedModel("a-b", "here"), PlacedModel("x" * 200, "here")]
    keys = [each.key for each in variant_systems(models, ["b-c", "c", "y" * 30])]
    assert len(set(keys)) == 9
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+", key) and len(key) <= MAX_SYSTEM for key in keys)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["so formal: Answer."], "'so formal' is no name of a variant"),
        ([": Answer."], "'' is no name of a variant"),
        (["formal: Answer.", "Formal: Reply."], "two variants have the same name"),
    ],
)
def test_variants_without_names_of_their_own_are_refused(lines, said):
    with pytest.raises(ValueError, match=said):
        clean_variants(lines)
