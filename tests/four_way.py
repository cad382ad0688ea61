"""Pairwise studies whose votes tell two bad responses from two good ones."""

from evaluation.models import Study
from tests import factories

FORM = {"form": {"both_bad": True}}


def four_way_draft(slug: str = "four-way", **options: object) -> Study:
    """A draft that offers “both are bad”."""
    study = factories.make_study(slug, training=False, checks=0, **options)
    study.questions.filter(key="preference").update(options={"tie": "Tie", **FORM})
    return study


def four_way_study(slug: str = "four-way", **options: object) -> Study:
    """The same, live."""
    return factories.launch(four_way_draft(slug, **options))
