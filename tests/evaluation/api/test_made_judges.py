"""Judges that are made of what is there: prompt conditions of one judge, composites by a map of another study."""

import pytest

from judging.models import Judge
from judging.services.judges import create_judge
from tests.evaluation.api.test_runs import llm  # noqa: F401 - a fixture
from tests.judging.build import judged
from tests.judging.services.derived.build import people, right_in, study_in_categories

MAP = {"categories": {"facts": "alpha"}, "otherwise": "beta"}


@pytest.fixture
def composed(owner):
    study = study_in_categories({"facts": 40, "style": 40}, owner=owner)
    people(study)
    right_in(study, "alpha", "facts")
    right_in(study, "beta", "style")
    judged(
        study, create_judge(study, name="best", backend="composite", options={"members": ["alpha", "beta"]})
    )
    return study


def test_a_map_is_read_and_makes_a_judge_elsewhere(composed, as_owner, as_outsider):
    best = Judge.objects.get(study=composed, name="best")
    address = f"studies/categories/judges/{best.pk}/map/"
    found = as_owner.get(address).json()
    assert found["categories"] == {"facts": "alpha", "style": "beta"}
    assert found["agreement"]["cross_fitted"] == {"value": 1.0, "n": 80, "n_left_out": 0}
    wanted = {"name": "again", "members": ["alpha", "beta"], "map": found}
    assert as_outsider.get(address).status_code == 404
    assert as_outsider.post("studies/categories/judges/composites/", wanted).status_code == 404
    made = as_owner.post("studies/categories/judges/composites/", wanted)
    assert (made.status_code, made.json()["name"]) == (201, "again")
    again = Judge.objects.get(pk=made.json()["id"])
    assert again.options["map"] == {name: found[name] for name in ("categories", "otherwise")}
    run, _ = judged(composed, again)
    assert run.state == "complete"
    assert as_owner.get(f"studies/categories/judges/{again.pk}/map/").json()["agreement"] is None
    refused = as_owner.post(
        "studies/categories/judges/composites/", {**wanted, "name": "x", "members": ["alpha"]}
    )
    assert (refused.status_code, "'beta'" in refused.json()["detail"]) == (409, True)
    plain = create_judge(composed, name="longer", backend="longer")
    assert as_owner.get(f"studies/categories/judges/{plain.pk}/map/").status_code == 404


def test_prompt_conditions_are_made_all_or_none(as_owner, as_outsider, study, llm):  # noqa: F811
    address = f"studies/contrast/judges/{llm.pk}/conditions/"
    assert as_outsider.post(address, {}).status_code == 404
    refused = as_owner.post(address, {"demonstrations": 20})
    assert (refused.status_code, "worked examples" in refused.json()["detail"]) == (409, True)
    assert Judge.objects.filter(study=study, name__startswith="llm-").count() == 0
    heuristic = create_judge(study, name="plain-longer", backend="longer")
    assert as_owner.post(f"studies/contrast/judges/{heuristic.pk}/conditions/", {}).status_code == 409
