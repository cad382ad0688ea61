"""Maps of tables by the API: saved under a name, given by it, listed and deleted by their owner alone."""

import json

import pytest

from evaluation.models import SavedTableMap, Study
from evaluation.tasks import work_on_job
from tests.evaluation.api.test_making import MAP, fields, table


@pytest.fixture
def saved(as_owner):
    answer = as_owner.post("table-maps/", {"name": "arena pairs", "map": MAP})
    assert answer.status_code == 201, answer.content
    return answer.json()


def test_a_table_is_imported_by_the_name_of_its_map(as_owner, saved):
    begun = as_owner.upload("imports/", table(), "soups.csv", map_name=" arena  pairs ", slug="soups")
    assert begun.status_code == 202, begun.content
    work_on_job(begun.json()["job"]["id"])
    study = Study.objects.get(slug="soups")
    assert set(study.systems.values_list("key", flat=True)) == {"aspen", "birch"}
    # The study keeps its map, whatever becomes of the saved one.
    assert as_owner.delete(f"table-maps/{saved['id']}/").json()["name"] == "arena pairs"
    assert Study.objects.get(slug="soups").table_map["columns"] == saved["map"]["columns"]


def test_a_name_that_is_none_and_a_map_beside_it_are_refused(as_owner, as_outsider, saved):
    unknown = as_owner.upload("imports/", table(), "soups.csv", map_name="arena")
    assert (unknown.status_code, fields(unknown)) == (409, ["map_name"])
    assert "You have no saved map named 'arena'." in unknown.content.decode()
    theirs = as_outsider.upload("imports/", table(), "soups.csv", map_name="arena pairs")
    assert (theirs.status_code, fields(theirs)) == (409, ["map_name"])
    both = as_owner.upload("imports/", table(), "soups.csv", map_name="arena pairs", map=json.dumps(MAP))
    assert (both.status_code, fields(both)) == (400, ["map_name"])
    lacking = as_owner.upload("imports/", b"prompt,other\nWhich?,That\n", "s.csv", map_name="arena pairs")
    assert lacking.status_code == 409
    assert "The table has no column 'model_a_response' (response)" in lacking.content.decode()


def test_the_same_name_is_the_new_map_s(as_owner, saved):
    other = {**MAP, "columns": MAP["columns"][:2]}
    again = as_owner.post("table-maps/", {"name": "arena pairs", "map": other})
    assert (again.status_code, again.json()["id"]) == (200, saved["id"])
    [listed] = as_owner.all("table-maps/")
    assert listed == again.json()
    assert [each["column"] for each in listed["map"]["columns"]] == ["prompt", "model_a_response"]


def test_a_map_is_its_owner_s_alone(as_owner, as_outsider, saved):
    assert as_outsider.all("table-maps/") == []
    assert as_outsider.delete(f"table-maps/{saved['id']}/").status_code == 404
    assert SavedTableMap.objects.exists()
    for body, wrong in (({"name": " ", "map": MAP}, 409), ({"name": "a", "map": {"map": 1}}, 400)):
        refused = as_owner.post("table-maps/", body)
        assert (refused.status_code, fields(refused)) == (wrong, ["name" if wrong == 409 else "map"])
