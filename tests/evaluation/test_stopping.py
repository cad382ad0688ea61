"""The stopping rule: what it may be, and where it stands once a study is launched."""

import pytest

from evaluation.services.studies.compilation import compile_spec
from evaluation.stopping import StoppingRule
from tests import factories


@pytest.mark.parametrize(
    ("stored", "said"),
    [
        ({"figure": "alpha"}, "for one of: win_rate, agreement"),
        ({"figure": "agreement"}, "needs a half width"),
        ({"figure": "win_rate", "half_width": 0.5}, "between 0 and 0.5"),
        ({"figure": "win_rate", "half_width": True}, "between 0 and 0.5"),
        ({"figure": "win_rate", "looks": 3}, "has no looks"),
    ],
)
def test_what_is_no_rule(stored, said):
    with pytest.raises(ValueError, match=said):
        StoppingRule.of(stored)


def test_a_rule_comes_back_as_it_was_stored():
    for stored in ({"figure": "win_rate"}, {"figure": "agreement", "half_width": 0.03}):
        rule = StoppingRule.of(stored)
        assert rule is not None
        assert rule.stored == stored
    assert StoppingRule.of({}) is None


def test_the_study_hash_covers_the_rule(db):
    study = factories.make_study("rule")
    before = compile_spec(study)
    assert "stopping" not in before
    study.stopping = {"figure": "win_rate"}
    assert compile_spec(study)["stopping"] == {"figure": "win_rate"}
