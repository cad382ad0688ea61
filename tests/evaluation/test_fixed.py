"""The content of `{% fixed %}` is the same for everybody, and one per language."""

from django.template import engines
from django.utils import translation

fixed = engines["django"].from_string(
    "{% load fixed i18n %}{{ name }}: {% fixed %}{% translate 'Yes' %}{{ name }}{% endfixed %}"
)


def test_it_knows_nothing_of_the_page_around_it():
    assert fixed.render({"name": "A"}) == "A: Yes"
    assert fixed.render({"name": "B"}) == "B: Yes"


def test_it_is_kept_per_language():
    fixed.render({})
    with translation.override("de"):
        assert fixed.render({}) == ": Ja"
    assert fixed.render({}) == ": Yes"
